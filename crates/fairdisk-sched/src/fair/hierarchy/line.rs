//! A line: the members of one level of the tree that want the disk, ordered by the service they
//! have received.

use crate::fair::claims::{self, Claim};
use fairdisk_core::tree::Tree;
use fairdisk_core::{Instant, Weight};

/// The state of a member in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It wants the disk and is in the line.
    InLine,
    /// It has nothing queued, but is expected back soon.
    Expected,
    Away,
}

/// A member of a line: a group, or the own tasks of the group around the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) claim: Claim,
    /// Index of the line it belongs to.
    pub(super) line: u32,
    pub(super) state: State,
    /// When it was last in line or expected.
    pub(super) left: Instant,
    /// Whether it was served out of turn, and has been ahead of others in its line since.
    pub(super) is_brought: bool,
}

impl Member {
    pub(super) const fn new(line: u32) -> Self {
        let weight = Weight::DEFAULT.get() as u64;
        let (state, left) = (State::Away, Instant::ZERO);
        Self { claim: Claim::new(weight), line, state, left, is_brought: false }
    }
}

/// The members of one level.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Those that want the disk. Virtual time may be a smaller one there (`brought`).
    pub(super) claims: claims::Line,
    /// The expected members, by start.
    pub(super) expected: Tree,
    /// The sum of the weights of the members in the line, and of those expected.
    pub(super) weight: u64,
    pub(super) expected_weight: u64,
}

impl Line {
    pub(super) const EMPTY: Self =
        Self { claims: claims::Line::EMPTY, expected: Tree::new(), weight: 0, expected_weight: 0 };

    /// The sum of the weights of the members in the line and of `member`, which belongs to it.
    pub(super) const fn weight_with(&self, member: &Member) -> u64 {
        match member.state {
            State::InLine => self.weight,
            State::Expected | State::Away => self.weight + member.claim.weight,
        }
    }

    /// The sum of the weights of the members with this state.
    pub(super) const fn weight_of(&mut self, state: State) -> Option<&mut u64> {
        match state {
            State::InLine => Some(&mut self.weight),
            State::Expected => Some(&mut self.expected_weight),
            State::Away => None,
        }
    }

    /// The tree that holds the members with this state.
    pub(super) const fn tree_of(&mut self, state: State) -> Option<&mut Tree> {
        match state {
            State::InLine => Some(&mut self.claims.tree),
            State::Expected => Some(&mut self.expected),
            State::Away => None,
        }
    }
}

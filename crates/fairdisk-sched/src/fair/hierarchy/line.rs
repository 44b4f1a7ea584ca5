//! A line: those that want the disk at one level of the tree, by what they have had.

use crate::groups::VirtualTime;
use fairdisk_core::tree::Tree;
use fairdisk_core::{Instant, Weight};

/// What a member is to its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It stands there.
    InLine,
    /// It has nothing queued, but will soon.
    Expected,
    Away,
}

/// One that stands in a line: a group among others, or the own tasks of a group among the groups
/// inside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) start: VirtualTime,
    pub(super) weight: u64,
    /// Its line, of those there are.
    pub(super) line: u32,
    pub(super) state: State,
    /// When it was last known to its line.
    pub(super) left: Instant,
}

impl Member {
    pub(super) const fn new(line: u32) -> Self {
        let weight = Weight::DEFAULT.get() as u64;
        Self { start: 0, weight, line, state: State::Away, left: Instant::ZERO }
    }
}

/// Members that want the disk, by start.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) tree: Tree,
    /// Members that will want it soon, by start.
    pub(super) expected: Tree,
    /// The least start there was when somebody was served last: what all have, more or less.
    pub(super) reached: VirtualTime,
    /// The sum of the weights of those that want it.
    pub(super) weight: u64,
}

impl Line {
    /// The weights of the member, which is of this line, and of all that want it.
    pub(super) const fn weight_with(&self, member: &Member) -> u64 {
        match member.state {
            State::InLine => self.weight,
            State::Expected | State::Away => self.weight + member.weight,
        }
    }

    /// Where members of this state are.
    pub(super) const fn tree_of(&mut self, state: State) -> Option<&mut Tree> {
        match state {
            State::InLine => Some(&mut self.tree),
            State::Expected => Some(&mut self.expected),
            State::Away => None,
        }
    }
}

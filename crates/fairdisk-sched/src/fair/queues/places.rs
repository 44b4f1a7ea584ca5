//! The places of queues with nothing queued, by priority.

use super::super::NIL;
use crate::groups::VirtualTime;
use alloc::vec::Vec;
use fairdisk_core::Span;
use fairdisk_core::tree::{Forest, Tree};

/// The queues of a group that have one priority.
#[derive(Clone, Debug)]
pub(super) struct Rank {
    /// The class and the level in it; the lower is served first.
    pub(super) rank: u8,
    /// The number of queues that requests can still be added to.
    pub(super) queues: u32,
    /// Those with nothing queued, unless they have been found not to be expected any more.
    pub(super) places: Tree,
}

/// The priorities of a group's queues; most groups have one.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    pub(super) ranks: Vec<Rank>,
    /// Whether queues with nothing queued keep a place.
    pub(super) are_kept: bool,
    /// The queue that streamed last, or `NIL`.
    pub(super) stream: u32,
}

impl Ranks {
    pub(super) const NONE: Self = Self { ranks: Vec::new(), are_kept: false, stream: NIL };

    pub(super) const fn are_mixed(&self) -> bool {
        self.ranks.len() > 1
    }

    pub(super) fn of(&mut self, rank: u8) -> &mut Rank {
        let at = self.ranks.iter().position(|one| one.rank == rank).unwrap_or_else(|| {
            self.ranks.push(Rank { rank, queues: 0, places: Tree::new() });
            self.ranks.len() - 1
        });
        &mut self.ranks[at]
    }
}

/// For which expected queues of its group a queue waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum For {
    /// Those of another class or level.
    OtherRanks,
    /// And those of its own that do not stream.
    Seekers,
}

/// What is kept of queues with nothing queued.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) starts: Forest<VirtualTime>,
    /// Whether the device serves several requests at once.
    pub(super) are_of_use: bool,
    /// The longest think time that makes a task expected.
    pub(super) idle_max: Span,
    /// How much of the service of its class a queue keeps a claim to while it is expected.
    pub(super) lag: Span,
}

impl Places {
    pub(super) const fn new(idle_max: Span) -> Self {
        Self { starts: Forest::new(), are_of_use: false, idle_max, lag: Span::ZERO }
    }
}

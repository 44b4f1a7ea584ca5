//! The queues of one `ionice` class of a group.

use crate::fair::NIL;
use crate::fair::claims::Line;
use crate::groups::VirtualTime;
use alloc::vec::Vec;
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{Instant, Sectors, Span, Turns};

/// The queues of one class of a group that have requests queued: its line.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// The queues in line, and `away`.
    pub(super) line: Line,
    /// The queue that left the line last, or `NIL`. It keeps its place in the tree, as a task with
    /// one request at a time comes and goes with each.
    pub(super) away: u32,
    /// Those in line, by level, the best first.
    pub(super) levels: Vec<Level>,
    /// Since when the class has had requests without being served.
    pub(super) waits_since: Instant,
    /// The number of requests of the group that went before it since then.
    pub(super) passed: u32,
}

/// A class is passed over only once 32 requests of other classes went before it, so that time in
/// which the whole group waits does not count. On a disk with a head 32 random requests take a few
/// hundred ms, about the default of `expire`.
pub(super) const PASSED_OVER_REQUESTS: u32 = 32;

impl Class {
    pub(super) const EMPTY: Self = Self {
        line: Line::EMPTY,
        away: NIL,
        levels: Vec::new(),
        waits_since: Instant::ZERO,
        passed: 0,
    };

    /// The number of queues in line.
    pub(super) fn len(&self) -> u32 {
        self.line.tree.len() - u32::from(self.away != NIL)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The queue in line that has received the least service for its level.
    #[inline]
    pub(super) fn first(&self, order: &Forest<VirtualTime>) -> Option<u32> {
        let first = self.line.first(order)?;
        if first == self.away { order.next(first) } else { Some(first) }
    }

    /// Notes that the class is served, or begins to have requests: it has not been passed over.
    pub(super) const fn note_served(&mut self, now: Instant) {
        (self.waits_since, self.passed) = (now, 0);
    }

    /// Whether the class has been passed over for long enough to be served once.
    pub(super) fn is_passed_over(&self, now: Instant, patience: Span) -> bool {
        self.passed >= PASSED_OVER_REQUESTS && now.since(self.waits_since) >= patience
    }
}

/// A task goes first once others of its class and level had this many turns for each of them that
/// was in line when it began to wait, and for each request of its own last turn that began where
/// the one before ended: a stream waits for longer after its turn. Chosen: a request then waits a
/// few times as long as others do in the mean, and what tasks get is shared by service received
/// unless a request takes several times as long as others.
pub(super) const PASSED_OVER_TURNS: u64 = 3;

/// The bound that follows. Who was passed over for longer goes before, and a turn that was
/// interrupted for a floor may go on.
pub(in super::super) const TURNS_MOST: Turns =
    Turns { each: 5, length: Span::from_s(1), continued: 256, near: Sectors(2048) };

/// The queues of a class that have one level. The queue for asynchronous writes has none.
#[derive(Clone, Debug)]
pub(super) struct Level {
    level: u8,
    /// The turns of those by which these are passed over.
    pub(super) turns: u64,
    /// The queues in line, by the number of turns from which on they go first.
    pub(super) waits: Tree,
}

impl Class {
    pub(super) fn level(&mut self, level: u8) -> &mut Level {
        let at = self.levels.partition_point(|one| one.level < level);
        if self.levels.get(at).is_none_or(|one| one.level != level) {
            self.levels.insert(at, Level { level, turns: 0, waits: Tree::new() });
        }
        &mut self.levels[at]
    }

    /// A queue in line that was passed over for so long that it goes first, of the best level that
    /// has one.
    #[inline]
    pub(super) fn passed_over(&self, due: &Forest<u64>) -> Option<u32> {
        self.levels.iter().find_map(|level| {
            due.first(&level.waits).filter(|first| due.key(*first) <= level.turns)
        })
    }
}

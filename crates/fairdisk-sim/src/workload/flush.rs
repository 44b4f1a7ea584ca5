//! When a task makes its writes durable.

use fairdisk_core::Op;
use std::num::NonZeroU32;

/// Flushes after every so many writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushEvery {
    /// `fsync` after so many writes.
    pub fsync: Option<NonZeroU32>,
    /// `fdatasync` after so many writes.
    pub fdatasync: Option<NonZeroU32>,
}

#[derive(Debug)]
pub(super) struct Flushes {
    every: FlushEvery,
    writes: u64,
    /// Whether something was issued after the last flush.
    behind: bool,
}

impl Flushes {
    pub(super) const fn new(every: FlushEvery) -> Self {
        Self { every, writes: 0, behind: false }
    }

    pub(super) const fn issued(&mut self, op: Op) {
        self.writes += matches!(op, Op::Write) as u64;
        self.behind = true;
    }

    /// As fio has it, a flush at the end of a pass is followed by another.
    pub(super) const fn begin_pass(&mut self) {
        self.behind = true;
    }

    /// Whether it is time to flush. As fio has it, a read right after the flush, with no write in
    /// between, is followed by another.
    pub(super) fn take_due(&mut self) -> bool {
        let FlushEvery { fsync, fdatasync } = self.every;
        let round = |every: NonZeroU32| self.writes.is_multiple_of(u64::from(every.get()));
        let due = self.behind
            && self.writes > 0
            && (fsync.is_some_and(round) || fdatasync.is_some_and(round));
        self.behind &= !due;
        due
    }
}

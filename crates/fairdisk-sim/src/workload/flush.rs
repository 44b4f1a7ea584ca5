//! Flushes: when a task makes its writes durable.

use fairdisk_core::Op;
use std::num::NonZeroU32;

/// How often a task flushes its writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushEvery {
    /// Number of writes after which to call `fsync`; `None` for never.
    pub fsync: Option<NonZeroU32>,
    /// Number of writes after which to call `fdatasync`; `None` for never.
    pub fdatasync: Option<NonZeroU32>,
}

/// What a flush makes durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Durable {
    /// The data and everything the file system knows about the file: `fsync`.
    #[default]
    All,
    /// The data and what is needed to read it again: `fdatasync`.
    Data,
}

#[derive(Debug)]
pub(super) struct Flushes {
    every: FlushEvery,
    writes: u64,
    /// Whether the task has taken up a completion after the last flush.
    behind: bool,
}

impl Flushes {
    pub(super) const fn new(every: FlushEvery) -> Self {
        Self { every, writes: 0, behind: true }
    }

    pub(super) const fn issued(&mut self, op: Op) {
        self.writes += matches!(op, Op::Write) as u64;
    }

    /// Notes that the task has taken up an I/O that has completed.
    pub(super) const fn took_up(&mut self) {
        self.behind = true;
    }

    /// Starts a pass. As in fio, a flush at the end of a pass is followed by another one.
    pub(super) const fn begin_pass(&mut self) {
        self.behind = true;
    }

    /// The flush that is due now, if any. As in fio, a read right after a flush, with no write in
    /// between, is followed by another flush, and a task with several I/Os in flight flushes no
    /// more before it takes up one of them.
    pub(super) fn take_due(&mut self) -> Option<Durable> {
        if !self.behind || self.writes == 0 {
            return None;
        }
        let FlushEvery { fsync, fdatasync } = self.every;
        let round = |every: NonZeroU32| self.writes.is_multiple_of(u64::from(every.get()));
        let durable = match (fsync.is_some_and(round), fdatasync.is_some_and(round)) {
            (true, _) => Some(Durable::All),
            (false, true) => Some(Durable::Data),
            (false, false) => None,
        };
        self.behind &= durable.is_none();
        durable
    }

    /// The number of writes before the flush that makes the last issued write durable.
    pub(super) fn ahead(&self) -> Option<u64> {
        let FlushEvery { fsync, fdatasync } = self.every;
        let ahead = |every: NonZeroU32| {
            let every = u64::from(every.get());
            self.writes.next_multiple_of(every) - self.writes
        };
        [fsync, fdatasync].into_iter().flatten().map(ahead).min()
    }
}

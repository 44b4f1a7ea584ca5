//! What a task has written is read back, as when it is verified.

use super::stream::FileIo;
use fairdisk_core::Op;
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// When a task reads back what it has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadBack {
    /// Whether it does so at the end of each pass.
    pub at_end: bool,
    /// The number of writes not read back at which it does so.
    pub backlog: Option<NonZeroU32>,
    /// How many of them it reads then; all if not given.
    pub batch: Option<NonZeroU32>,
    /// Whether blocks may have been written twice, so that they are read once, in their order at
    /// the end of a pass.
    pub overlaps: bool,
}

/// The writes that have not been read back.
#[derive(Debug)]
pub(super) struct Written {
    spec: ReadBack,
    ios: VecDeque<FileIo>,
    /// How many of them are to be read now.
    due: usize,
}

impl Written {
    pub(super) const fn new(spec: ReadBack) -> Self {
        Self { spec, ios: VecDeque::new(), due: 0 }
    }

    /// Notes an I/O of the task.
    pub(super) fn issued(&mut self, io: &FileIo) {
        let ReadBack { at_end, backlog, batch, .. } = self.spec;
        if io.op != Op::Write || !at_end && backlog.is_none() {
            return;
        }
        self.ios.push_back(FileIo { op: Op::Read, begins: false, ..*io });
        if backlog.is_some_and(|most| self.ios.len() >= most.get() as usize) {
            self.due = batch.map_or(usize::MAX, |ios| ios.get() as usize).min(self.ios.len());
        }
    }

    /// Makes all that is left due, at the end of a pass. Returns whether there is anything.
    pub(super) fn end_pass(&mut self) -> bool {
        let ios = self.ios.make_contiguous();
        if !self.spec.overlaps {
            ios.sort_by_key(|io| io.slot);
        } else {
            ios.sort_by_key(|io| (io.slot, io.offset));
            let mut last = None;
            self.ios.retain(|io| last.replace((io.slot, io.offset)) != Some((io.slot, io.offset)));
        }
        self.due = if self.spec.at_end { self.ios.len() } else { 0 };
        self.due > 0
    }

    /// Drops all of them: nothing is read back any more.
    pub(super) fn forget(&mut self) {
        self.ios.clear();
        self.due = 0;
    }

    /// The next write to read back, if that is due.
    pub(super) fn next(&mut self) -> Option<FileIo> {
        self.due = self.due.checked_sub(1)?;
        self.ios.pop_front()
    }
}

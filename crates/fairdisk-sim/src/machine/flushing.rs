//! Waiting for dirty pages to be written back. For `fsync`, a task's buffered data goes to the
//! disk, and then the disk makes everything durable. For direct I/O, dirty data in its range is
//! written back first.

use super::Machine;
use super::config::PAGE_BYTES;
use super::io::{Io, IoKind};
use super::paging::PageWaiter;
use super::task::Step;
use super::writing_back::Writer;
use crate::host::DirtyMark;
use crate::workload::{Durable, FileIo};
use fairdisk_core::{Bio, Elevator, Instant, Op};
use std::ops::Range;

/// The progress of a task through pages that were dirty when it began, as it waits for each to be
/// written back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CleanWalk {
    mark: DirtyMark,
    /// Index of the file among the task's files.
    slot: usize,
    page: u64,
}

impl<E: Elevator> Machine<E> {
    /// Starts to make everything the task has written durable. The engine keeps the flush behind
    /// the writes of the task's group submitted before it.
    pub(super) fn sync(&mut self, now: Instant, index: u32, durable: Durable) -> bool {
        let task = self.task(index);
        task.io_started = now;
        task.durable = durable;
        if self.write_back.is_some() {
            self.sync_files(now, index);
        } else if self.task(index).dirty_bytes > 0 {
            self.task(index).step = Step::Syncing;
        } else {
            self.flush(now, index);
        }
        false
    }

    /// Writes back the dirty data of the task's files, whoever wrote it, and waits for it.
    fn sync_files(&mut self, now: Instant, index: u32) {
        let Some(back) = &mut self.write_back else { return };
        let mark = back.pages.mark();
        for slot in 0..self.tasks[index as usize].stream.files() {
            let file = self.tasks[index as usize].stream.file(slot);
            self.write_older(now, Writer::Syncing(index), file, 0..u64::MAX, mark);
        }
        self.task(index).clean_walk = CleanWalk { mark, ..CleanWalk::default() };
        self.task(index).step = Step::Syncing;
        self.walk_on(now, index);
    }

    /// Writes back pages that became dirty before the mark and are not being written back.
    pub(super) fn write_older(
        &mut self,
        now: Instant,
        writer: Writer,
        file: u32,
        mut pages: Range<u64>,
        mark: DirtyMark,
    ) {
        while let Some(back) = &mut self.write_back
            && let Some(stretch) = back.pages.take_older(file, pages.clone(), mark)
        {
            pages.start = stretch.start + stretch.pages;
            self.write_stretch(now, writer, stretch);
        }
    }

    /// Continues to wait for the dirty pages of the task's files; flushes once all are written
    /// back.
    pub(super) fn walk_on(&mut self, now: Instant, index: u32) -> bool {
        loop {
            let task = &self.tasks[index as usize];
            let CleanWalk { mark, slot, .. } = task.clean_walk;
            if self.write_back.is_none() {
                return false;
            }
            if slot == task.stream.files() {
                self.flush(now, index);
                return false;
            }
            let file = task.stream.file(slot);
            if !self.await_written_back(now, index, file, u64::MAX) {
                return false;
            }
            self.task(index).clean_walk = CleanWalk { mark, slot: slot + 1, page: 0 };
        }
    }

    /// Waits until the file's pages up to page `end` that were dirty at the mark are written back.
    /// Returns whether they are; if not, the task waits for the next one. A page that became dirty
    /// again while it was being written back is written once more.
    fn await_written_back(&mut self, now: Instant, index: u32, file: u32, end: u64) -> bool {
        let CleanWalk { mark, page, .. } = self.tasks[index as usize].clean_walk;
        let Some(back) = &self.write_back else { return true };
        let Some(page) = back.pages.next_older(file, page..end, mark) else { return true };
        if back.pages.is_waiting(file, page) {
            self.write_older(now, Writer::Syncing(index), file, page..end, mark);
        }
        self.task(index).clean_walk.page = page;
        self.page_waiters.push(PageWaiter { file, page, task: index });
        false
    }

    /// Writes back dirty data in the range of the current direct I/O before that I/O begins.
    #[inline(never)]
    pub(super) fn clean(&mut self, now: Instant, index: u32) -> bool {
        let (file, pages) = self.pages_of_current(index);
        let Some(back) = &mut self.write_back else { return false };
        if back.pages.next_held(file, pages.start).is_none_or(|page| page >= pages.end) {
            return self.transfer(index);
        }
        let mark = back.pages.mark();
        self.write_older(now, Writer::Syncing(index), file, pages.clone(), mark);
        let task = self.task(index);
        task.clean_walk = CleanWalk { mark, page: pages.start, ..CleanWalk::default() };
        task.step = Step::Cleaning;
        true
    }

    /// Waits until that data is written back.
    pub(super) fn await_clean(&mut self, now: Instant, index: u32) -> bool {
        let (file, pages) = self.pages_of_current(index);
        self.await_written_back(now, index, file, pages.end) && self.transfer(index)
    }

    fn pages_of_current(&self, index: u32) -> (u32, Range<u64>) {
        let FileIo { file, offset, bytes, .. } = self.tasks[index as usize].current;
        (file, offset / PAGE_BYTES..(offset + bytes).div_ceil(PAGE_BYTES))
    }

    /// Flushes after the task's data has been written. Waits for journal commits first, if needed.
    pub(super) fn flush(&mut self, now: Instant, index: u32) {
        if self.await_commit(now, index) {
            return;
        }
        let task = &mut self.tasks[index as usize];
        let (group, ioprio, started) = (task.group, task.ioprio, task.io_started);
        let numbers = task.numbers.clone();
        task.step = Step::Flushing { disks: numbers.all().count() as u32, failed: false };
        for (disk, number) in numbers.all() {
            let ios = &mut self.disks[disk].ios;
            let io = ios.insert(Io::new(IoKind::Flush { task: index }, started, Op::Flush));
            let bio = Bio::flush(ios.add_part(io).0, number, group, ioprio);
            self.submit(now, disk, bio);
            self.all_made(now, disk, io);
        }
    }

    /// Handles the end of a flush of one disk; the task continues after the last.
    #[inline(never)]
    pub(super) fn flush_done(&mut self, now: Instant, index: u32, io: &Io) {
        let task = self.task(index);
        let Step::Flushing { disks, failed } = task.step else { return };
        let failed = failed || io.failed;
        task.step = Step::Flushing { disks: disks - 1, failed };
        if disks > 1 {
            return;
        }
        task.step = Step::Fetch;
        task.stream.note_done(now);
        if task.report.counts(now) {
            self.tell(index, |report| report.flushes.count(0, now - io.started, failed));
        }
        self.turn_around(now, index);
    }
}

//! I/O through the page cache: which page comes next, what is read for it, and waiting for a page
//! that this or another task has requested.

use super::Machine;
use super::allocating::TAKEN_MAX;
use super::config::PAGE_BYTES;
use super::io::{Io, IoKind, Pending};
use super::task::Step;
use crate::host::{File, Mapping, ReadAhead, Window};
use crate::workload::FileIo;
use fairdisk_core::{Elevator, Instant, Op};
use std::ops::Range;

/// The progress of a task's I/O through the page cache.
#[derive(Debug, Default)]
pub(super) struct Paging {
    /// The read-ahead state of each of the task's files.
    pub(super) readers: Vec<ReadAhead>,
    /// The mapping of each of the task's files; empty if it does not map them.
    pub(super) mappings: Vec<Mapping>,
    /// The next page, and the page after the last one.
    pub(super) page: u64,
    pub(super) end: u64,
    /// Pages to read that have not been checked yet.
    pub(super) window: Window,
    /// The page that is to carry the mark of the window.
    pub(super) mark: Option<u64>,
    /// Reads submitted and not completed.
    pub(super) coming: u32,
    /// Whether the task waits for its page.
    pub(super) waits: bool,
    /// Whether the task has waited for anything since the present call began.
    pub(super) slept: bool,
}

impl Paging {
    pub(super) const fn is_mapped(&self) -> bool {
        !self.mappings.is_empty()
    }
}

/// A task that waits for a page on its way from or to the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageWaiter {
    pub(super) file: u32,
    pub(super) page: u64,
    pub(super) task: u32,
}

impl<E: Elevator> Machine<E> {
    /// Maps the files of a task that starts, if it maps its files.
    pub(super) fn map_files(&mut self, index: u32) {
        let task = &self.tasks[index as usize];
        if task.paging.is_mapped() {
            task.stream.used_files().for_each(|file| self.pages.map(file));
        }
    }

    /// Unmaps the files of a task that has ended.
    pub(super) fn unmap_files(&mut self, index: u32) {
        let task = &self.tasks[index as usize];
        if task.paging.is_mapped() && task.report.started.is_some() {
            task.stream.used_files().for_each(|file| self.pages.unmap(file));
        }
    }

    /// Starts on the pages of the task's current I/O.
    pub(super) fn begin_pages(&mut self, index: u32) {
        let task = &mut self.tasks[index as usize];
        let FileIo { slot, offset, bytes, .. } = task.current;
        let paging = &mut task.paging;
        paging.page = offset / PAGE_BYTES;
        paging.end = (offset + bytes).div_ceil(PAGE_BYTES);
        paging.slept = false;
        let end = paging.end;
        self.reader(index, slot).begin(end);
    }

    /// The read-ahead state of a file that the task has open.
    pub(super) fn reader(&mut self, index: u32, slot: u32) -> &mut ReadAhead {
        let stream_of = self.task(index).stream_of;
        &mut self.task(stream_of).paging.readers[slot as usize]
    }

    /// Begins a window with its mark for the task.
    pub(super) fn begin_window(&mut self, index: u32, window: Window, mark: Option<u64>) {
        let paging = &mut self.task(index).paging;
        (paging.window, paging.mark) = (window, mark);
    }

    /// Whether the disk of a file has so many requests of the task's group that nothing is read
    /// ahead. Where memory is an amount, nobody looks.
    pub(super) fn is_read_congested(&self, index: u32, file: u32) -> bool {
        let disk = self.files[file as usize].disk;
        let group = self.tasks[index as usize].group;
        self.reclaiming.is_some() && self.disks[disk].engine.is_congested(group, Op::Read, true)
    }

    /// Submits the next part of the task's window that nobody has requested. Returns whether there
    /// was one.
    pub(super) fn read_missing(&mut self, now: Instant, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        let file = task.current.file;
        let Window { start, pages } = task.paging.window;
        let Some((from, to)) = self.pages.missing(file, start, start + pages) else {
            task.paging.window = Window::default();
            if self.reclaiming.is_some() {
                self.give_frames_back(now, index);
            }
            return false;
        };
        let to = if self.reclaiming.is_some() { to.min(from + TAKEN_MAX) } else { to };
        if !self.has_frames(index, to - from) {
            let missing = self.pages.count_missing(file, start..start + pages);
            self.begin_allocation(index, missing.min(TAKEN_MAX));
            return true;
        }
        let task = &mut self.tasks[index as usize];
        task.paging.window = Window { start: to, pages: start + pages - to };
        task.paging.coming += 1;
        let File { disk, spec, .. } = self.files[file as usize];
        let mark = task.paging.mark;
        self.pages.expected_by(&mut self.hands[index as usize], file, from..to);
        self.pages.set_mark(file, mark, from..to);
        self.pages.count_reads(file, from..to);
        let kind = IoKind::Pages { task: index, file, start: from as u32 };
        let mut io = Io::new(kind, now, Op::Read);
        io.bytes = (to - from) * PAGE_BYTES;
        let io = self.disks[disk].ios.insert(io);
        let (at, end) = (from * PAGE_BYTES, (to * PAGE_BYTES).min(spec.bytes));
        self.task(index).step = Step::Submit(Pending { disk, io, at, end });
        true
    }

    /// Continues with the task's pages after all missing ones have been requested.
    pub(super) fn missing_sent(&mut self, index: u32) -> bool {
        let task = self.task(index);
        task.step = if task.paging.is_mapped() { Step::AwaitPage } else { Step::Copy };
        true
    }

    /// Waits for the task's next page, which is on its way.
    pub(super) fn wait_for_page(&mut self, index: u32) {
        let task = &mut self.tasks[index as usize];
        task.paging.waits = true;
        task.paging.slept = true;
        let (file, page) = (task.current.file, task.paging.page);
        self.page_waiters.push(PageWaiter { file, page, task: index });
    }

    /// Ends the page part of the call. A task that found every page in memory continues at once;
    /// one that slept was woken, and spends its turnaround time before its next I/O.
    pub(super) fn pages_used(&mut self, now: Instant, index: u32) -> bool {
        let task = self.task(index);
        let call = task.call();
        if task.paging.slept {
            self.come_back(now, index, call);
            return false;
        }
        task.step = Step::Fetch;
        self.returned(now, index, call, now);
        true
    }

    /// Counts uses of pages by a task, and how many of them are the first since the page was read,
    /// where memory is page by page.
    pub(super) fn count_uses(&mut self, now: Instant, index: u32, uses: u64, misses: u64) {
        if self.reclaiming.is_some() {
            self.pages.count_used(uses);
            self.tell(index, |report| report.count_uses(now, uses, misses));
        }
    }

    /// Handles pages that have arrived: tasks that wait for one of them continue.
    #[inline(never)]
    pub(super) fn pages_read(&mut self, now: Instant, io: &Io) {
        let IoKind::Pages { task: index, file, start } = io.kind else { return };
        let start = u64::from(start);
        let end = start + io.bytes / PAGE_BYTES;
        self.pages.arrived(file, start, end);
        self.task(index).paging.coming -= 1;
        self.wake_waiters(now, file, start..end);
        self.forget(now, index);
    }

    /// Wakes the tasks that wait for one of the pages.
    pub(super) fn wake_waiters(&mut self, now: Instant, file: u32, pages: Range<u64>) {
        let mut at = 0;
        while let Some(waiter) = self.page_waiters.get(at).copied() {
            if waiter.file == file && pages.contains(&waiter.page) {
                self.page_waiters.remove(at);
                self.task(waiter.task).paging.waits = false;
                self.wake(now, waiter.task);
            } else {
                at += 1;
            }
        }
    }
}

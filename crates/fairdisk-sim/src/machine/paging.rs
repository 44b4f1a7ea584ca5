//! I/O through the page cache: the pages it comes to, what is read for it, and waiting for a page
//! that this task or another has asked for.

use super::Machine;
use super::io::{Io, IoKind};
use super::task::{PAGE_BYTES, Pending, Step};
use crate::host::{Mapping, ReadAhead, Window};
use crate::workload::FileIo;
use fairdisk_core::{Elevator, Instant, Op, Request};
use std::ops::Range;

/// Where a task is in an I/O through the page cache.
#[derive(Debug, Default)]
pub(super) struct Paging {
    /// The read-ahead of each of its files.
    pub(super) readers: Vec<ReadAhead>,
    /// The mapping of each of its files; none: it does not map them.
    pub(super) mappings: Vec<Mapping>,
    /// The page it comes to next, and the first it does not want.
    pub(super) page: u64,
    pub(super) end: u64,
    /// What is to be read and has not been looked at.
    pub(super) window: Window,
    /// Reads it sent off that have not come.
    pub(super) coming: u32,
    /// It waits for its page.
    pub(super) waits: bool,
    /// It has waited for something since the present call began.
    pub(super) slept: bool,
}

impl Paging {
    pub(super) const fn is_mapped(&self) -> bool {
        !self.mappings.is_empty()
    }
}

/// A task that waits for a page on its way from the disk or to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageWaiter {
    pub(super) file: u32,
    pub(super) page: u64,
    pub(super) task: u32,
}

impl<E: Elevator> Machine<E> {
    /// The task, which starts, maps its files, if it does.
    pub(super) fn map_files(&mut self, index: u32) {
        let task = &self.tasks[index as usize];
        if task.paging.is_mapped() {
            task.stream.used_files().for_each(|file| self.pages.map(file));
        }
    }

    /// The task is no more.
    pub(super) fn unmap_files(&mut self, index: u32) {
        let task = &self.tasks[index as usize];
        if task.paging.is_mapped() && task.report.started.is_some() {
            task.stream.used_files().for_each(|file| self.pages.unmap(file));
        }
    }

    /// The task begins with the pages of its current I/O.
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

    /// The read-ahead of a file that the task has open.
    pub(super) fn reader(&mut self, index: u32, slot: u32) -> &mut ReadAhead {
        let stream_of = self.task(index).stream_of;
        &mut self.task(stream_of).paging.readers[slot as usize]
    }

    /// Sends off the next stretch of the task's window that nobody has asked for; whether there was
    /// one.
    pub(super) fn read_missing(&mut self, now: Instant, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        let file = task.current.file;
        let Window { start, pages } = task.paging.window;
        let Some((from, to)) = self.pages.missing(file, start, start + pages) else {
            task.paging.window = Window::default();
            return false;
        };
        task.paging.window = Window { start: to, pages: start + pages - to };
        task.paging.coming += 1;
        let file_bytes = self.files[file as usize].spec.bytes;
        self.pages.expect(file, from, to);
        let kind = IoKind::Pages { task: index, file, start: from as u32 };
        let mut io = Io::new(kind, now, Op::Read);
        io.bytes = (to - from) * PAGE_BYTES;
        let io = self.ios.insert(io);
        let (at, end) = (from * PAGE_BYTES, (to * PAGE_BYTES).min(file_bytes));
        self.task(index).step = Step::Submit(Pending { io, at, end });
        true
    }

    /// What was missing has been sent off; the task goes on with its pages.
    pub(super) fn missing_sent(&mut self, index: u32) -> bool {
        let task = self.task(index);
        task.step = if task.paging.is_mapped() { Step::AwaitPage } else { Step::Copy };
        true
    }

    /// The task waits for the page it has come to, which is on its way.
    pub(super) fn wait_for_page(&mut self, index: u32) {
        let task = &mut self.tasks[index as usize];
        task.paging.waits = true;
        task.paging.slept = true;
        let (file, page) = (task.current.file, task.paging.page);
        self.page_waiters.push(PageWaiter { file, page, task: index });
    }

    /// The call is through with its pages. Who found them all in memory goes on at once; the others
    /// were woken, and do what a task does from there to its next I/O.
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

    /// Pages have come: those who wait for one of them go on.
    #[inline(never)]
    pub(super) fn pages_read(&mut self, now: Instant, io: &Io, issue: &mut Vec<Request>) {
        let IoKind::Pages { task: index, file, start } = io.kind else { return };
        let start = u64::from(start);
        let end = start + io.bytes / PAGE_BYTES;
        self.pages.arrived(file, start, end);
        self.task(index).paging.coming -= 1;
        self.wake_waiters(now, file, start..end);
        self.forget(now, index, issue);
    }

    /// Those who wait for one of the pages go on.
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

//! Reads and writes through a mapping: a page fault for each page, and what it waits for.
//!
//! Every page of an I/O counts as a fault, also one that is in memory. A write fault on a page that
//! is not reads it first; once all pages are there the write goes to the disk as every other one
//! through the page cache does.

use super::Machine;
use super::io::{Io, IoKind};
use super::task::{Coming, PAGE_BYTES, Pending, Step};
use crate::host::{Mapping, Window};
use crate::workload::FileIo;
use fairdisk_core::{Elevator, Instant, Op, Request, Span};

/// Where a task is in an I/O through a mapping.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// The mapping of each of its files; none: it does not map them.
    mappings: Vec<Mapping>,
    /// The page it touches next, and the first it does not want.
    page: u64,
    end: u64,
    /// What the last fault reads and has not been sent off.
    window: Window,
    /// Passes over its files when it last dropped them from memory.
    passes: u32,
}

impl Faults {
    pub(super) fn new(mappings: Vec<Mapping>) -> Self {
        Self { mappings, ..Self::default() }
    }

    pub(super) const fn are_mapped(&self) -> bool {
        !self.mappings.is_empty()
    }
}

/// A task that waits for a page that another task reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageWaiter {
    file: u32,
    page: u64,
    task: u32,
}

impl<E: Elevator> Machine<E> {
    /// The task, which starts, maps its files.
    pub(super) fn map_files(&mut self, index: u32) {
        let task = &self.tasks[index as usize];
        if task.faults.are_mapped() {
            task.stream.used_files().for_each(|file| self.pages.map(file));
        }
    }

    pub(super) fn unmap_files(&mut self, index: u32) {
        let task = &self.tasks[index as usize];
        if task.faults.are_mapped() && task.report.started.is_some() {
            task.stream.used_files().for_each(|file| self.pages.unmap(file));
        }
    }

    /// The task begins to touch the pages of its current I/O.
    pub(super) fn begin_faults(&mut self, index: u32) {
        let task = &mut self.tasks[index as usize];
        let FileIo { offset, bytes, .. } = task.current;
        task.faults.page = offset / PAGE_BYTES;
        task.faults.end = (offset + bytes).div_ceil(PAGE_BYTES);
        task.step = Step::Fault;
        let passes = task.stream.passes();
        if passes != task.faults.passes {
            task.faults.passes = passes;
            task.stream.used_files().for_each(|file| self.pages.drop_unshared(file));
        }
    }

    /// Touches what is in memory; then the page that must be read or waited for, or whose mark asks
    /// for more.
    pub(super) fn fault(&mut self, now: Instant, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        let FileIo { slot, file, .. } = task.current;
        let file_pages = self.files[file as usize].spec.bytes.div_ceil(PAGE_BYTES);
        let Faults { mappings, page, end, window, .. } = &mut task.faults;
        let mapping = &mut mappings[slot as usize];
        let first = *page;
        while *page < *end && self.pages.is_present(file, *page) && !mapping.is_mark(*page) {
            mapping.hit(*page, file_pages);
            self.pages.touch(file, *page);
            *page += 1;
        }
        if *page > first {
            let touched = *page - first;
            self.copy_pages(now, index, touched);
            return false;
        }
        if *page == *end {
            return self.touched(now, index);
        }
        let known = self.pages.is_present(file, *page) || self.pages.is_coming(file, *page);
        *window = match known {
            true => mapping.hit(*page, file_pages),
            false => mapping.miss(*page, file_pages),
        };
        task.step = Step::AwaitPage;
        true
    }

    /// Sends off what the fault reads, then waits for its page and touches it.
    pub(super) fn await_page(&mut self, now: Instant, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        let file = task.current.file;
        let Window { start, pages } = task.faults.window;
        if let Some((from, to)) = self.pages.missing(file, start, start + pages) {
            task.faults.window = Window { start: to, pages: start + pages - to };
            self.read_pages(now, index, from, to);
            return true;
        }
        task.faults.window = Window::default();
        let page = task.faults.page;
        if self.pages.is_present(file, page) {
            self.pages.touch(file, page);
            task.faults.page += 1;
            self.copy_pages(now, index, 1);
        } else if self.pages.is_coming(file, page) {
            self.wait_for_page(index, file, page);
        } else {
            // It came, and had to go before the task ran.
            task.step = Step::Fault;
            return true;
        }
        false
    }

    fn wait_for_page(&mut self, index: u32, file: u32, page: u64) {
        let task = &mut self.tasks[index as usize];
        let own = |coming: &Coming| coming.file == file && coming.covers(page);
        if task.coming.iter().any(own) {
            task.waits_for_page = true;
        } else {
            self.page_waiters.push(PageWaiter { file, page, task: index });
        }
    }

    fn read_pages(&mut self, now: Instant, index: u32, start: u64, end: u64) {
        let FileIo { file, slot, .. } = self.tasks[index as usize].current;
        let file_bytes = self.files[file as usize].spec.bytes;
        self.pages.expect(file, start, end);
        let io = self.ios.insert(Io::new(IoKind::Pages { task: index }, now, Op::Read));
        let task = &mut self.tasks[index as usize];
        task.coming.push(Coming { slot, file, start, end, io });
        let (at, end) = (start * PAGE_BYTES, (end * PAGE_BYTES).min(file_bytes));
        task.step = Step::Submit(Pending { io, at, end, sync: true });
    }

    /// The reads of a fault were sent off.
    pub(super) fn await_read(&mut self, index: u32) -> bool {
        self.tasks[index as usize].step = Step::AwaitPage;
        true
    }

    /// Pages have come: their reader goes on if it waits for one of them, and so do others.
    pub(super) fn pages_read(
        &mut self,
        now: Instant,
        index: u32,
        io: u32,
        issue: &mut Vec<Request>,
    ) {
        let task = &mut self.tasks[index as usize];
        let Some(at) = task.coming.iter().position(|coming| coming.io == io) else { return };
        let coming = task.coming.swap_remove(at);
        self.pages.arrived(coming.file, coming.start, coming.end);
        let page = task.faults.page;
        if task.waits_for_page && task.current.file == coming.file && coming.covers(page) {
            task.waits_for_page = false;
            self.wake(now, index);
        }
        let mut at = 0;
        while let Some(waiter) = self.page_waiters.get(at).copied() {
            if waiter.file == coming.file && coming.covers(waiter.page) {
                self.page_waiters.remove(at);
                self.wake(now, waiter.task);
            } else {
                at += 1;
            }
        }
        self.forget(now, index, issue);
    }

    /// The CPU's part: the faults, and copying the pages.
    fn copy_pages(&mut self, now: Instant, index: u32, pages: u64) {
        let spec = self.cpus.spec();
        let burst = (spec.page_fault.as_ns() + spec.page_copy.as_ns()) * pages;
        self.tasks[index as usize].step = Step::Fault;
        self.run_later(now, index, Span::from_ns(burst));
    }

    /// All pages of the current I/O were touched. Nothing sets a file's times for that.
    fn touched(&mut self, now: Instant, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        if task.current.op == Op::Write {
            return self.begin_transfer(index);
        }
        let call = task.call();
        self.come_back(now, index, call);
        false
    }
}

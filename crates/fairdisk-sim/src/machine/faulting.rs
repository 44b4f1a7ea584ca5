//! Reads and writes through a mapping: a page fault for each page, and what it waits for.
//!
//! Every page of an I/O counts as a fault, also one that is in memory. A write fault on a page that
//! is not reads it first; once all pages are there the write goes to the disk as every other one
//! through the page cache does.

use super::Machine;
use super::paging::Paging;
use super::task::Step;
use crate::workload::FileIo;
use fairdisk_core::{Elevator, Instant, Op, Span};

impl<E: Elevator> Machine<E> {
    /// Touches what is in memory; then the page that must be read or waited for, or whose mark asks
    /// for more.
    pub(super) fn fault(&mut self, now: Instant, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        let FileIo { slot, file, .. } = task.current;
        let file_pages = self.pages.of_file(file);
        let Paging { mappings, page, end, window, .. } = &mut task.paging;
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
        *window = match self.pages.is_absent(file, *page) {
            true => mapping.miss(*page, file_pages),
            false => mapping.hit(*page, file_pages),
        };
        task.step = Step::AwaitPage;
        true
    }

    /// Sends off what the fault reads, then waits for its page and touches it.
    pub(super) fn await_page(&mut self, now: Instant, index: u32) -> bool {
        if self.read_missing(now, index) {
            return true;
        }
        let task = &mut self.tasks[index as usize];
        let (file, page) = (task.current.file, task.paging.page);
        if self.pages.is_present(file, page) {
            self.pages.touch(file, page);
            task.paging.page += 1;
            self.copy_pages(now, index, 1);
        } else if self.pages.is_absent(file, page) {
            // It came, and had to go before the task ran.
            task.step = Step::Fault;
            return true;
        } else {
            self.wait_for_page(index);
        }
        false
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
        self.pages_used(now, index)
    }
}

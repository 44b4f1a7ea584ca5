//! Reads and writes through a mapping: the page faults, and what they wait for.
//!
//! Every page of an I/O counts as a fault, even if it is in memory. A write fault on an absent page
//! reads the page first. Once all pages are in memory, the write is handled like any other write
//! through the page cache.

use super::Machine;
use super::paging::Paging;
use super::task::Step;
use crate::workload::FileIo;
use fairdisk_core::{Elevator, Instant, Op, Span};

impl<E: Elevator> Machine<E> {
    /// Touches pages up to one that must be read or waited for, or whose mark triggers read-ahead.
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

    /// Submits the reads of the fault, then waits for its page and touches it.
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
            // The page arrived, and was evicted before the task ran.
            task.step = Step::Fault;
            return true;
        } else {
            self.wait_for_page(index);
        }
        false
    }

    /// Spends the CPU time for the faults and for copying the pages.
    fn copy_pages(&mut self, now: Instant, index: u32, pages: u64) {
        let spec = self.cpus.spec();
        let burst = (spec.page_fault.as_ns() + spec.page_copy.as_ns()) * pages;
        self.tasks[index as usize].step = Step::Fault;
        self.run_later(now, index, Span::from_ns(burst));
    }

    /// Ends an I/O through a mapping, all of whose pages have been touched. This does not set the
    /// file's times.
    fn touched(&mut self, now: Instant, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        if task.current.op == Op::Write {
            return self.begin_transfer(index);
        }
        self.pages_used(now, index)
    }
}

//! Reads and writes through a mapping: the page faults, and what they wait for.
//!
//! Every page of an I/O counts as a fault, even if it is in memory. A write fault on an absent page
//! reads the page first. Once all pages are in memory, the write is handled like any other write
//! through the page cache.

use super::Machine;
use super::paging::Paging;
use super::task::Step;
use crate::host::{Mapping, Window};
use crate::workload::FileIo;
use fairdisk_core::{Elevator, Instant, Op, Span};

impl<E: Elevator> Machine<E> {
    /// Touches pages up to one that must be read or waited for, or whose mark triggers read-ahead.
    pub(super) fn fault(&mut self, now: Instant, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        let FileIo { slot, file, .. } = task.current;
        let Paging { mappings, page, end, .. } = &mut task.paging;
        let mapping = &mut mappings[slot as usize];
        let (first, mut misses) = (*page, 0);
        let own = |mapping: &Mapping, page| mapping.is_mark(page).then_some(page);
        while *page < *end && self.pages.is_unmarked(file, *page, own(mapping, *page)) {
            mapping.hit(*page);
            misses += u64::from(self.pages.touch(file, *page));
            *page += 1;
        }
        if *page > first {
            let touched = *page - first;
            self.count_uses(now, index, touched, misses);
            self.copy_pages(now, index, touched);
            return false;
        }
        if *page == *end {
            return self.touched(now, index);
        }
        self.fault_in(now, index);
        self.task(index).step = Step::AwaitPage;
        true
    }

    /// Begins what a fault reads that found its page absent, on its way, or with a mark.
    fn fault_in(&mut self, now: Instant, index: u32) {
        let task = &mut self.tasks[index as usize];
        let FileIo { slot, file, .. } = task.current;
        let (page, mut mapping) = (task.paging.page, task.paging.mappings[slot as usize]);
        let file_pages = self.pages.of_file(file);
        let is_absent = self.pages.is_absent(file, page);
        let own = mapping.is_mark(page).then_some(page);
        let is_marked = !is_absent && self.pages.has_mark(file, page, own);
        self.pages.clear_mark(file, page);
        let mut window = Window::default();
        if is_absent || is_marked && !self.is_read_congested(index, file) {
            let nearby = self.pages.nearby(now, (file, page), is_absent, mapping.windows());
            window = match is_absent {
                true => mapping.miss(page, file_pages, nearby),
                false => mapping.hit_mark(page, file_pages, nearby),
            };
        } else {
            mapping.hit(page);
        }
        self.task(index).paging.mappings[slot as usize] = mapping;
        self.begin_window(index, window, mapping.windows().mark_in(window));
    }

    /// Submits the reads of the fault, then waits for its page and touches it.
    pub(super) fn await_page(&mut self, now: Instant, index: u32) -> bool {
        if self.read_missing(now, index) {
            return true;
        }
        let task = &mut self.tasks[index as usize];
        let (file, page) = (task.current.file, task.paging.page);
        if self.pages.is_present(file, page) {
            task.paging.page += 1;
            let is_miss = self.pages.touch(file, page);
            self.count_uses(now, index, 1, u64::from(is_miss));
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

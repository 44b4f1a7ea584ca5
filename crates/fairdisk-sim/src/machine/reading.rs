//! Buffered reads: reading ahead, and copying pages that have arrived.

use super::Machine;
use super::task::Step;
use crate::workload::FileIo;
use fairdisk_core::{Elevator, Instant, Span};

impl<E: Elevator> Machine<E> {
    /// Submits what is to be read, waits for the next page, and copies pages up to one that must be
    /// waited for or triggers read-ahead.
    pub(super) fn copy(&mut self, now: Instant, index: u32) -> bool {
        if self.read_missing(now, index) {
            return true;
        }
        let FileIo { slot, file, .. } = self.task(index).current;
        let mut reader = *self.reader(index, slot);
        let task = &mut self.tasks[index as usize];
        let paging = &mut task.paging;
        let (page, end) = (paging.page, paging.end);
        if page >= end {
            task.step = Step::TouchAfter(task.call());
            return true;
        }
        let is_absent = self.pages.is_absent(file, page);
        if is_absent || self.pages.has_mark(file, page, reader.mark()) {
            self.pages.clear_mark(file, page);
            let file_pages = self.pages.of_file(file);
            let nearby = self.pages.nearby(now, (file, page), is_absent, reader.windows());
            if is_absent || !self.is_read_congested(index, file) {
                let window = reader.next(page, end - page, is_absent, file_pages, nearby);
                *self.reader(index, slot) = reader;
                if window.pages > 0 {
                    self.begin_window(index, window, reader.windows().mark_in(window));
                    return true;
                }
            }
        }
        if !self.pages.is_present(file, page) {
            self.wait_for_page(index);
            return false;
        }
        let mark = reader.mark();
        let stops = |page: &u64| !self.pages.is_unmarked(file, *page, mark);
        let stop = (page + 1..end).find(stops).unwrap_or(end);
        // Reading on within a page is not a second use of it.
        let used = page + u64::from(reader.goes_on_in(page));
        self.task(index).paging.page = stop;
        let misses = self.pages.read(file, used..stop);
        self.count_uses(now, index, stop - used, misses);
        let burst = Span::from_ns(self.cpus.spec().page_copy.as_ns() * (stop - page));
        self.run_later(now, index, burst);
        false
    }
}

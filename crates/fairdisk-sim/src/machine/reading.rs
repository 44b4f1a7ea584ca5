//! Buffered reads: read-ahead windows, and copying what has come.

use super::Machine;
use super::io::{Io, IoKind};
use super::task::{Coming, PAGE_BYTES, Pending, Step};
use crate::workload::FileIo;
use fairdisk_core::{Elevator, Instant, Op, Request, Span};

impl<E: Elevator> Machine<E> {
    pub(super) fn copy(&mut self, now: Instant, index: u32, page: u64, end: u64) -> bool {
        let file_pages = {
            let file = self.tasks[index as usize].current.file as usize;
            self.files[file].spec.bytes.div_ceil(PAGE_BYTES)
        };
        let task = &mut self.tasks[index as usize];
        if page >= end {
            return self.copied(index);
        }
        let slot = task.current.slot;
        let ahead = &mut task.readers[slot as usize];
        if ahead.is_due(page) {
            let window = ahead.next(page, end - page, file_pages);
            task.read_position = page;
            if window.pages > 0 {
                self.fetch_window(now, index, window.start, window.pages);
                return true;
            }
        }
        let task = &mut self.tasks[index as usize];
        let mut coming = task.coming.iter().filter(|coming| coming.slot == slot);
        if coming.clone().any(|coming| coming.covers(page)) {
            task.step = Step::Copy(page, end);
            task.waits_for_page = true;
            return false;
        }
        let mark = task.readers[slot as usize].mark().filter(|mark| *mark > page);
        let stops = coming.by_ref().map(|coming| coming.start).filter(|start| *start > page);
        let stop = stops.chain(mark).min().unwrap_or(end).min(end);
        task.step = Step::Copy(stop, end);
        let burst = Span::from_ns(self.cpus.spec().page_copy.as_ns() * (stop - page));
        self.run_later(now, index, burst);
        false
    }

    fn fetch_window(&mut self, now: Instant, index: u32, start: u64, pages: u64) {
        let FileIo { file, slot, .. } = self.task(index).current;
        let file_bytes = self.files[file as usize].spec.bytes;
        let mut io = Io::new(IoKind::Window { task: index }, now, Op::Read);
        io.bytes = pages * PAGE_BYTES;
        let io = self.ios.insert(io);
        let task = self.task(index);
        task.coming.push(Coming { slot, file, start, end: start + pages, io });
        let at = start * PAGE_BYTES;
        let end = ((start + pages) * PAGE_BYTES).min(file_bytes);
        task.step = Step::Submit(Pending { io, at, end, sync: true });
    }

    pub(super) fn window_done(
        &mut self,
        now: Instant,
        index: u32,
        io: u32,
        issue: &mut Vec<Request>,
    ) {
        let task = self.task(index);
        task.coming.retain(|coming| coming.io != io);
        if std::mem::take(&mut task.waits_for_page) {
            self.wake(now, index);
        }
        self.forget(now, index, issue);
    }

    /// The current buffered read has all its pages.
    fn copied(&mut self, index: u32) -> bool {
        let task = self.task(index);
        task.step = Step::TouchAfter(task.call());
        true
    }
}

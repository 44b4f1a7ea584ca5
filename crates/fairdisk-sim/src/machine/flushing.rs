//! `fsync`: a task's buffered data goes to the disk, then the disk makes everything durable.

use super::Machine;
use super::io::{Io, IoKind};
use super::paging::PageWaiter;
use super::task::Step;
use super::writing_back::Writer;
use fairdisk_core::{Bio, Elevator, Flags, Instant, Lba, Op, Request, Sectors, TaskId};

/// A task on its way through the pages of its files, which waits for those being written back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SyncWalk {
    /// The place of the file among the task's.
    slot: usize,
    page: u64,
    /// How often it has waited for the page.
    waits: u8,
}

impl<E: Elevator> Machine<E> {
    /// The task asks for all written so far to be durable, and waits for it. The engine keeps
    /// the flush behind the writes already submitted.
    pub(super) fn sync(&mut self, now: Instant, index: u32, issue: &mut Vec<Request>) -> bool {
        self.task(index).io_started = now;
        if self.write_back.is_some() {
            self.sync_files(now, index, issue);
        } else if self.task(index).dirty_bytes > 0 {
            self.task(index).step = Step::Syncing;
        } else {
            self.flush(now, index, issue);
        }
        false
    }

    /// The task writes back what is dirty of its files, whoever made it so, and waits for it.
    fn sync_files(&mut self, now: Instant, index: u32, issue: &mut Vec<Request>) {
        for slot in 0..self.tasks[index as usize].stream.files() {
            let file = self.tasks[index as usize].stream.file(slot);
            let mut from = 0;
            while let Some(end) = self.write_from(now, index, file, from, issue) {
                from = end;
            }
        }
        self.task(index).sync_walk = SyncWalk::default();
        self.task(index).step = Step::Syncing;
        self.walk_on(now, index, issue);
    }

    /// Writes back the first stretch of the file from `from` on that nobody does; where it ends.
    fn write_from(
        &mut self,
        now: Instant,
        index: u32,
        file: u32,
        from: u64,
        issue: &mut Vec<Request>,
    ) -> Option<u64> {
        let stretch = self.write_back.as_mut()?.pages.take_from(file, from)?;
        self.write_stretch(now, Writer::Syncing(index), stretch, issue);
        Some(stretch.start + stretch.pages)
    }

    /// Waits for the next page of its files that is being written back; after the last the task
    /// flushes. One that had become dirty again when the task came to it is written once more.
    pub(super) fn walk_on(&mut self, now: Instant, index: u32, issue: &mut Vec<Request>) -> bool {
        let mut walk = self.tasks[index as usize].sync_walk;
        while walk.slot < self.tasks[index as usize].stream.files() {
            let file = self.tasks[index as usize].stream.file(walk.slot);
            let Some(back) = &self.write_back else { return false };
            if walk.waits == 1 && back.pages.holds(file, walk.page) {
                if back.pages.is_waiting(file, walk.page) {
                    self.write_from(now, index, file, walk.page, issue);
                }
            } else if walk.waits > 0 {
                walk = SyncWalk { page: walk.page + 1, waits: 0, ..walk };
            }
            let page =
                self.write_back.as_ref().and_then(|it| it.pages.next_written_back(file, walk.page));
            let Some(page) = page else {
                walk = SyncWalk { slot: walk.slot + 1, ..SyncWalk::default() };
                continue;
            };
            walk = SyncWalk { page, waits: walk.waits + 1, ..walk };
            self.task(index).sync_walk = walk;
            self.page_waiters.push(PageWaiter { file, page, task: index });
            return false;
        }
        self.flush(now, index, issue);
        false
    }

    pub(super) fn flush(&mut self, now: Instant, index: u32, issue: &mut Vec<Request>) {
        let task = &mut self.tasks[index as usize];
        task.step = Step::Flushing;
        let (group, ioprio) = (task.group, task.ioprio);
        let io = Io::new(IoKind::Flush { task: index }, task.io_started, Op::Flush);
        let io = self.ios.insert(io);
        let bio = Bio {
            id: self.ios.add_part(io),
            task: TaskId(index),
            group,
            op: Op::Flush,
            start: Lba(0),
            sectors: Sectors(0),
            sync: true,
            flags: Flags::NONE,
            ioprio,
        };
        self.submit(now, &bio, issue);
        self.part_done(now, io, issue);
    }

    pub(super) fn flush_done(&mut self, now: Instant, index: u32, io: u32) {
        let Io { started, failed, .. } = *self.ios.get(io);
        let task = self.task(index);
        if now >= task.report.counted_from {
            task.report.flushes.count(0, now - started, failed);
        }
        task.step = Step::Fetch;
        self.turn_around(now, index);
    }
}

//! `fsync`: a task's buffered data goes to the disk, then the disk makes everything durable.

use super::Machine;
use super::io::{Io, IoKind};
use super::task::Step;
use fairdisk_core::{Bio, Elevator, Flags, Instant, Lba, Op, Request, Sectors, TaskId};

impl<E: Elevator> Machine<E> {
    /// The task asks for all written so far to be durable, and waits for it. The engine keeps
    /// the flush behind the writes already submitted.
    pub(super) fn sync(&mut self, now: Instant, index: u32, issue: &mut Vec<Request>) -> bool {
        let task = self.task(index);
        task.io_started = now;
        if task.dirty_bytes > 0 {
            task.step = Step::Syncing;
        } else {
            self.flush(now, index, issue);
        }
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

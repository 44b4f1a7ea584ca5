//! Unplugging a disk that the engine keeps from starting (spec: cfq, section 1.5; memory, 4.3):
//! by a task that waits for its I/O, or by a submission that asks to start at once.

use super::Machine;
use super::io::IoKind;
use super::task::{Step, Task};
use fairdisk_core::{Elevator, Input, Instant, Op};

/// Which submissions unplug the disk before any task waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unplugs {
    /// Read-ahead.
    pub read_ahead: bool,
    /// Direct writes.
    pub direct_writes: bool,
}

impl Task {
    /// Whether the task, which is not running, waits for its own I/O or for pages. A task with too
    /// much data on its way to the disk waits for no particular I/O.
    const fn awaits_io(&self) -> bool {
        match self.step {
            Step::Full | Step::Settling | Step::Draining => self.outstanding > 0,
            // Waits for an indirect block in the middle of submitting.
            Step::Submit(_) | Step::DirtyPages(_) => true,
            Step::Trimming | Step::AwaitPage => true,
            Step::Cleaning | Step::Syncing | Step::Committing | Step::Flushing { .. } => true,
            Step::Copy => self.paging.waits,
            Step::Begin
            | Step::Fetch
            | Step::TouchBefore
            | Step::TouchAfter(_)
            | Step::Written
            | Step::Clean
            | Step::Balance
            | Step::AwaitSlots
            | Step::Fault
            | Step::Waiting
            | Step::Exited => false,
        }
    }
}

impl<E: Elevator> Machine<E> {
    #[inline(never)]
    pub(super) fn unplug(&mut self, now: Instant, disk: u32) {
        if self.disks[disk as usize].engine.is_plugged() {
            self.feed(now, disk, Input::Unplug);
        }
    }

    /// Unplugs the disks of the task, which stops running, if it may wait for what it has
    /// submitted.
    #[inline]
    pub(super) fn went_to_sleep(&mut self, now: Instant, index: u32) {
        let task = &self.tasks[index as usize];
        let (home, is_elsewhere) = (task.numbers.home, !task.numbers.elsewhere.is_empty());
        if self.disks[home as usize].engine.is_plugged() && task.awaits_io() {
            self.unplug(now, home);
        }
        if is_elsewhere {
            self.unplug_elsewhere(now, index);
        }
    }

    #[cold]
    fn unplug_elsewhere(&mut self, now: Instant, index: u32) {
        let mut others = 0;
        while let task = &self.tasks[index as usize]
            && task.awaits_io()
            && let Some((disk, _)) = task.numbers.elsewhere.get(others).copied()
        {
            self.unplug(now, disk);
            others += 1;
        }
    }

    /// Unplugs the disk if an I/O of this kind, now fully submitted, is to start at once.
    #[inline]
    pub(super) fn sent_off(&mut self, now: Instant, disk: u32, kind: IoKind, op: Op) {
        let starts = match kind {
            IoKind::Pages { .. } => self.config.unplugs.read_ahead,
            IoKind::Data { .. } => op == Op::Write && self.config.unplugs.direct_writes,
            _ => false,
        };
        if starts {
            self.unplug(now, disk);
        }
    }
}

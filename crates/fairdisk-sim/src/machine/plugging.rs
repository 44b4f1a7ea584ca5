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
            | Step::Allocate
            | Step::Fetch
            | Step::TouchBefore
            | Step::TouchAfter(_)
            | Step::Written
            | Step::Clean
            | Step::Balance
            | Step::AwaitSlots
            | Step::AwaitRoom
            | Step::Fault
            | Step::Waiting(_)
            | Step::Exited => false,
        }
    }
}

impl<E: Elevator> Machine<E> {
    #[inline]
    pub(super) fn unplug(&mut self, now: Instant, disk: u32) {
        if self.disks[disk].engine.is_plugged() {
            self.feed(now, disk, Input::Unplug);
        }
    }

    /// Unplugs the disks of the task, which stops running, if it may wait for what it has
    /// submitted.
    #[inline]
    pub(super) fn went_to_sleep(&mut self, now: Instant, index: u32) {
        if self.plugs && self.tasks[index as usize].awaits_io() {
            self.unplug_disks_of(now, index);
        }
    }

    #[inline(never)]
    fn unplug_disks_of(&mut self, now: Instant, index: u32) {
        self.unplug(now, self.tasks[index as usize].numbers.home);
        let mut others = 0;
        while let Some((disk, _)) =
            self.tasks[index as usize].numbers.elsewhere.get(others).copied()
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

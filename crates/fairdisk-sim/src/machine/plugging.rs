//! Who starts a device that the engine keeps from starting (spec: cfq, section 1.5; memory, 4.3): a
//! task that waits for its I/O, and whatever is sent off with a word to start at once.

use super::Machine;
use super::io::IoKind;
use super::task::{Step, Task};
use fairdisk_core::{Elevator, Input, Instant, Op, Request};

/// What starts a plugged device although nobody waits yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unplugs {
    /// Read-ahead that has been sent off.
    pub read_ahead: bool,
    /// A direct write that has been sent off.
    pub direct_writes: bool,
}

impl Task {
    /// Whether it, not running, waits for I/O of its own or for pages. One that has too much on the
    /// way to the disk waits for no I/O in particular.
    const fn awaits_io(&self) -> bool {
        match self.step {
            Step::Full | Step::Settling | Step::Draining => self.outstanding > 0,
            // A block of addresses, in the midst of sending off.
            Step::Submit(_) | Step::DirtyPages(_) => true,
            Step::Trimming | Step::AwaitPage => true,
            Step::Cleaning | Step::Syncing | Step::Committing | Step::Flushing => true,
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
    pub(super) fn unplug(&mut self, now: Instant, issue: &mut Vec<Request>) {
        if self.engine.is_plugged() {
            self.feed(now, Input::Unplug, issue);
        }
    }

    /// The task does not go on; it may wait for what it has sent off.
    #[inline]
    pub(super) fn went_to_sleep(&mut self, now: Instant, index: u32, issue: &mut Vec<Request>) {
        if self.engine.is_plugged() && self.tasks[index as usize].awaits_io() {
            self.unplug(now, issue);
        }
    }

    /// All of an I/O was sent off.
    #[inline]
    pub(super) fn sent_off(
        &mut self,
        now: Instant,
        kind: IoKind,
        op: Op,
        issue: &mut Vec<Request>,
    ) {
        let starts = match kind {
            IoKind::Pages { .. } => self.config.unplugs.read_ahead,
            IoKind::Data { .. } => op == Op::Write && self.config.unplugs.direct_writes,
            _ => false,
        };
        if starts {
            self.unplug(now, issue);
        }
    }
}

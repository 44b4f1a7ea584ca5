//! A queue of requests: a task's synchronous ones, or the asynchronous ones of a class and level.

use super::jiffies::Jiffies;
use super::params::Quirks;
use super::pending::Pending;
use super::priority::Priority;
use fairdisk_core::{IoPrio, Why};

/// No queue, no context, no request.
pub(crate) const NIL: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(crate) layer: u32,
    pub(crate) sync: bool,
    pub(crate) pending: Pending,
    /// Handed over and not completed.
    pub(crate) dispatched: u32,
    /// The priority it is counted under in its layer.
    pub(crate) counted: Option<(u8, bool)>,
    /// While the turn is suspended: how much of the slice is left.
    pub(crate) slice_end: Jiffies,
    /// No request of this slice has completed yet.
    pub(crate) slice_new: bool,
    /// The turn goes on when its layer has the disk again.
    pub(crate) suspended: bool,
    /// What was left of the last slice when it was taken away.
    pub(crate) slice_residual: Jiffies,
    /// Asynchronous requests handed over in this slice.
    pub(crate) slice_dispatched: u32,
    pub(crate) priority: Priority,
    /// It is in its layer's service tree.
    pub(crate) on_tree: bool,
    /// The disk waits for its next request.
    pub(crate) waits: bool,
    /// Its task may be waited for.
    pub(crate) idle_window: bool,
    /// Its task seeks.
    pub(crate) seeks: bool,
    /// The FIFO has been looked at in this slice.
    pub(crate) fifo_checked: bool,
    /// Its task passed a full pool in this slice.
    pub(crate) passed_full_pool: bool,
    /// Why it got the disk; told with the first request of the turn.
    pub(crate) turn: Option<Why>,
    /// Nobody puts requests into it any more; it goes when it is empty.
    pub(crate) orphan: bool,
}

impl Queue {
    pub(crate) fn new(layer: u32, sync: bool, ioprio: IoPrio) -> Self {
        let priority = Priority::of(ioprio);
        Self {
            layer,
            sync,
            pending: Pending::new(),
            dispatched: 0,
            counted: None,
            slice_end: 0,
            slice_new: false,
            suspended: false,
            slice_residual: 0,
            slice_dispatched: 0,
            priority,
            on_tree: false,
            waits: false,
            idle_window: sync && !priority.is_idle(),
            seeks: false,
            fifo_checked: false,
            passed_full_pool: false,
            turn: None,
            orphan: false,
        }
    }

    /// Takes class and level from the task.
    pub(crate) const fn set_priority(&mut self, ioprio: IoPrio) {
        self.priority = Priority::of(ioprio);
        if self.priority.is_idle() {
            self.idle_window = false;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub(crate) const fn is_idle_class(&self) -> bool {
        self.priority.is_idle()
    }

    pub(crate) const fn slice_used(&self, now: Jiffies) -> bool {
        !self.slice_new && !self.suspended && now >= self.slice_end
    }

    /// What a queue that loses the disk now has done to lose it.
    pub(crate) const fn why_turn_ends(&self, now: Jiffies) -> Why {
        if self.slice_used(now) {
            Why::SliceExpired
        } else if self.waits {
            Why::IdleWaitFailed
        } else {
            Why::QueueEmptied
        }
    }

    /// The queue gets the disk.
    pub(crate) const fn begin_turn(&mut self, why: Why) {
        self.slice_end = 0;
        self.slice_new = true;
        self.slice_dispatched = 0;
        self.passed_full_pool = false;
        self.fifo_checked = false;
        // A queue that took the disk says so, not why its victim lost it.
        if !matches!(self.turn, Some(Why::Preempted)) {
            self.turn = Some(why);
        }
    }

    /// The clock of the slice starts.
    pub(crate) const fn start_clock(&mut self, now: Jiffies, slice: Jiffies) {
        self.slice_end = if self.suspended { slice } else { now + slice };
        self.slice_new = false;
    }

    /// The queue loses the disk; `timed_out` leaves it with a residual.
    pub(crate) const fn end_turn(&mut self, now: Jiffies, timed_out: bool) {
        self.resume(now);
        self.waits = false;
        if timed_out && !self.slice_new {
            self.slice_residual = self.slice_end - now;
        }
    }

    /// The layer loses the disk: the clock of the slice stops.
    pub(crate) const fn suspend(&mut self, now: Jiffies) {
        self.waits = false;
        if !self.suspended {
            self.suspended = true;
            self.slice_end -= now;
        }
    }

    /// The layer has the disk again: the clock of the slice goes on.
    pub(crate) const fn resume(&mut self, now: Jiffies) {
        if self.suspended {
            self.suspended = false;
            self.slice_end += now;
        }
    }

    /// What the residual adds to the next key.
    pub(crate) fn take_residual(&mut self, quirks: &Quirks) -> Jiffies {
        let residual = core::mem::take(&mut self.slice_residual);
        if quirks.q1_residual_sign { residual } else { -residual }
    }
}

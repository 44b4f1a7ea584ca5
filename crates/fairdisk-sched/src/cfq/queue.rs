//! A CFQ queue: the synchronous requests of one task, or the asynchronous requests of one class and
//! level.

use super::jiffies::Jiffies;
use super::params::Quirks;
use super::pending::Pending;
use super::priority::Priority;
use fairdisk_core::{IoPrio, Why};

/// Stands for "no queue", "no context" and "no request".
pub(crate) const NIL: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(crate) layer: u32,
    pub(crate) sync: bool,
    pub(crate) pending: Pending,
    /// Requests dispatched and not completed.
    pub(crate) dispatched: u32,
    /// The priority and seekiness under which the layer counts the queue, if it does.
    pub(crate) counted: Option<(u8, bool)>,
    /// When the slice ends; while the turn is suspended, how much of the slice is left.
    pub(crate) slice_end: Jiffies,
    /// Whether no request of this slice has completed yet, so that its clock has not started.
    pub(crate) slice_new: bool,
    /// Whether the turn is suspended until the layer has the disk again.
    pub(crate) suspended: bool,
    /// How much of the last slice was left when the queue lost the disk.
    pub(crate) slice_residual: Jiffies,
    /// Asynchronous requests dispatched in this slice.
    pub(crate) slice_dispatched: u32,
    pub(crate) priority: Priority,
    /// Whether the queue is in its layer's service tree.
    pub(crate) on_tree: bool,
    /// Whether the disk is idling for the queue's next request.
    pub(crate) waits: bool,
    /// Whether the task's statistics allow idling for it.
    pub(crate) idle_window: bool,
    /// Whether the task is seeky.
    pub(crate) seeks: bool,
    /// Whether the head of the FIFO has been checked in this slice.
    pub(crate) fifo_checked: bool,
    /// Whether the task has exceeded a full pool in this slice.
    pub(crate) passed_full_pool: bool,
    /// Why the queue got the disk, until the first dispatch of the turn reports it.
    pub(crate) turn: Option<Why>,
    /// Whether no more requests will be added; an orphan is freed once it is empty.
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

    /// Takes class and level from the task's priority.
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

    /// Why the queue loses the disk if its turn ends now.
    pub(crate) const fn why_turn_ends(&self, now: Jiffies) -> Why {
        if self.slice_used(now) {
            Why::SliceExpired
        } else if self.waits {
            Why::IdleWaitFailed
        } else {
            Why::QueueEmptied
        }
    }

    /// Gives the disk to the queue.
    pub(crate) const fn begin_turn(&mut self, why: Why) {
        self.slice_end = 0;
        self.slice_new = true;
        self.slice_dispatched = 0;
        self.passed_full_pool = false;
        self.fifo_checked = false;
        // A preempting queue reports the preemption rather than why the other queue lost the disk.
        if !matches!(self.turn, Some(Why::Preempted)) {
            self.turn = Some(why);
        }
    }

    /// Starts the clock of the slice.
    pub(crate) const fn start_clock(&mut self, now: Jiffies, slice: Jiffies) {
        self.slice_end = if self.suspended { slice } else { now + slice };
        self.slice_new = false;
    }

    /// Takes the disk from the queue. If it `timed_out`, it remembers the rest of its slice.
    pub(crate) const fn end_turn(&mut self, now: Jiffies, timed_out: bool) {
        self.resume(now);
        self.waits = false;
        if timed_out && !self.slice_new {
            self.slice_residual = self.slice_end - now;
        }
    }

    /// Stops the clock of the slice because the layer loses the disk.
    pub(crate) const fn suspend(&mut self, now: Jiffies) {
        self.waits = false;
        if !self.suspended {
            self.suspended = true;
            self.slice_end -= now;
        }
    }

    /// Restarts the clock of the slice because the layer has the disk again.
    pub(crate) const fn resume(&mut self, now: Jiffies) {
        if self.suspended {
            self.suspended = false;
            self.slice_end += now;
        }
    }

    /// Takes the residual of the last slice as an offset to the queue's next key.
    pub(crate) fn take_residual(&mut self, quirks: &Quirks) -> Jiffies {
        let residual = core::mem::take(&mut self.slice_residual);
        if quirks.q1_residual_sign { residual } else { -residual }
    }
}

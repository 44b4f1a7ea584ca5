//! A queue of requests: a task's synchronous ones, those of tasks that read close to each other, or
//! the asynchronous ones of a priority.

use super::group::{BEST_EFFORT, SYNC, tree_number};
use crate::cfq::context::Seeks;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::pending::Pending;
use crate::cfq::priority::Priority;
use crate::cfq::queue::NIL;
use fairdisk_core::{IoPrio, Why};

/// Where a queue stands: the group and which of its trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: u32,
    pub(super) tree: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) sync: bool,
    pub(super) priority: Priority,
    /// The group it was made for.
    pub(super) home: u32,
    /// Where it is, or was last, in the service trees.
    pub(super) place: Place,
    /// It is in a service tree.
    pub(super) on_tree: bool,
    /// The number of the class it is counted in there.
    pub(super) counted: usize,
    /// The level it is in the trees of positions at.
    pub(super) position_level: u8,
    pub(super) pending: Pending,
    /// Handed over and not completed.
    pub(super) dispatched: u32,

    // ---- the turn ------------------------------------------------------------------------
    pub(super) slice_end: Jiffies,
    /// No request of this slice has completed yet.
    pub(super) slice_new: bool,
    /// What was left of the last slice when it was taken away.
    pub(super) slice_residual: Jiffies,
    /// Requests handed over in this slice.
    pub(super) slice_dispatched: u32,
    /// When the turn began.
    pub(super) turn_began: Jiffies,
    /// When the slice began, and how long it is to be.
    pub(super) slice_began: Jiffies,
    pub(super) slice_length: Jiffies,
    /// The FIFO has been looked at in this slice.
    pub(super) fifo_checked: bool,
    /// Its task passed a full pool in this slice.
    pub(super) passed_full_pool: bool,
    /// Why it got the disk; told with the first request of the turn.
    pub(super) turn: Option<Why>,

    // ---- waiting -------------------------------------------------------------------------
    /// The disk waits for its next request.
    pub(super) waits: bool,
    /// Its task may be waited for.
    pub(super) idle_window: bool,
    /// A request that came while it was waited for is to be served in this slice.
    pub(super) must_dispatch: bool,
    /// Its slice has ended and it is waited for, for the sake of its group.
    pub(super) wait_busy: bool,
    /// A request came meanwhile.
    pub(super) wait_busy_done: bool,
    /// It had several requests at once.
    pub(super) deep: bool,

    // ---- seeking and cooperation ---------------------------------------------------------
    pub(super) seeks: Seeks,
    /// One bit for each of the last 32 requests: it was far away.
    pub(super) history: u32,
    /// Since when it has been seeking.
    pub(super) seeky_since: Option<Jiffies>,
    /// It got the disk for being close, in this turn.
    pub(super) coop: bool,
    /// It took the disk for being close.
    pub(super) coop_preempt: bool,
    /// Several tasks use it, or did.
    pub(super) shared: bool,
    /// It is to be split.
    pub(super) split: bool,
    /// The queue its tasks are to use from their next request on.
    pub(super) merge_into: u32,
    /// Queues whose tasks are to use this one.
    pub(super) merging_here: u32,
    /// Tasks that use it.
    pub(super) owners: u32,
}

impl Queue {
    pub(super) fn new(home: u32, sync: bool, ioprio: IoPrio) -> Self {
        let priority = Priority::of(ioprio);
        Self {
            sync,
            priority,
            home,
            place: Place { group: home, tree: tree_number(BEST_EFFORT, SYNC) },
            on_tree: false,
            counted: BEST_EFFORT,
            position_level: 0,
            pending: Pending::new(),
            dispatched: 0,
            slice_end: 0,
            slice_new: false,
            slice_residual: 0,
            slice_dispatched: 0,
            turn_began: 0,
            slice_began: 0,
            slice_length: 0,
            fifo_checked: false,
            passed_full_pool: false,
            turn: None,
            waits: false,
            idle_window: sync && !priority.is_idle(),
            must_dispatch: false,
            wait_busy: false,
            wait_busy_done: false,
            deep: false,
            seeks: Seeks::default(),
            history: 0,
            seeky_since: None,
            coop: false,
            coop_preempt: false,
            shared: false,
            split: false,
            merge_into: NIL,
            merging_here: 0,
            owners: 0,
        }
    }

    /// Takes class and level from the task.
    pub(super) const fn set_priority(&mut self, ioprio: IoPrio) {
        self.priority = Priority::of(ioprio);
        if self.priority.is_idle() {
            self.idle_window = false;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub(super) const fn is_idle_class(&self) -> bool {
        self.priority.is_idle()
    }

    pub(super) const fn slice_used(&self, now: Jiffies) -> bool {
        !self.slice_new && now >= self.slice_end
    }

    /// The queue gets the disk.
    pub(super) const fn begin_turn(&mut self, now: Jiffies, why: Why) {
        self.slice_end = 0;
        self.slice_new = true;
        self.slice_dispatched = 0;
        self.turn_began = now;
        self.slice_length = 0;
        self.passed_full_pool = false;
        self.fifo_checked = false;
        self.waits = false;
        self.must_dispatch = false;
        self.coop_preempt = false;
        // A queue that took the disk says so, not why its victim lost it.
        if !matches!(self.turn, Some(Why::Preempted)) {
            self.turn = Some(why);
        }
    }

    /// The clock of the slice starts.
    pub(super) const fn start_clock(&mut self, now: Jiffies, slice: Jiffies) {
        self.slice_end = now + slice;
        self.slice_began = now;
        self.slice_length = slice;
        self.slice_new = false;
    }

    /// The queue loses the disk; `timed_out` leaves it with a residual.
    pub(super) const fn end_turn(&mut self, now: Jiffies, timed_out: bool) {
        self.waits = false;
        self.must_dispatch = false;
        self.wait_busy = false;
        self.wait_busy_done = false;
        if timed_out && !self.slice_new {
            self.slice_residual = self.slice_end - now;
        }
    }

    /// What the turn is charged: the time since it began if its slice has not, at least a tick,
    /// else what was used of the slice.
    pub(super) fn used(&self, now: Jiffies) -> Jiffies {
        if self.slice_new || self.slice_began == now {
            return (now - self.turn_began).max(1);
        }
        (now - self.slice_began).min(self.slice_length)
    }

    /// The queue has requests of its own or will have.
    pub(super) fn is_in_use(&self) -> bool {
        self.owners > 0 || self.merging_here > 0 || self.dispatched > 0 || !self.is_empty()
    }
}

//! A queue of the revised CFQ: the synchronous requests of one task or of several tasks that read
//! close to each other, or the asynchronous requests of one priority.

use super::group::{BEST_EFFORT, SYNC, tree_number};
use crate::cfq::context::Seeks;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::pending::Pending;
use crate::cfq::priority::Priority;
use crate::cfq::queue::NIL;
use fairdisk_core::{IoPrio, Why};

/// A queue's place: a group and one of its trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: u32,
    pub(super) tree: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) sync: bool,
    pub(super) priority: Priority,
    /// The group for which the queue was created.
    pub(super) home: u32,
    /// The queue's present or last place in the service trees.
    pub(super) place: Place,
    /// Whether the queue is in a service tree.
    pub(super) on_tree: bool,
    /// The index of the class under which the group counts the queue.
    pub(super) counted: usize,
    /// The level of the tree of positions that contains the queue.
    pub(super) position_level: u8,
    pub(super) pending: Pending,
    /// Requests dispatched and not completed.
    pub(super) dispatched: u32,

    // ---- the turn ------------------------------------------------------------------------
    pub(super) slice_end: Jiffies,
    /// Whether no request of this slice has completed yet, so that its clock has not started.
    pub(super) slice_new: bool,
    /// How much of the last slice was left when the queue lost the disk.
    pub(super) slice_residual: Jiffies,
    /// Requests dispatched in this slice.
    pub(super) slice_dispatched: u32,
    /// When the turn began.
    pub(super) turn_began: Jiffies,
    /// When the slice began, and its length.
    pub(super) slice_began: Jiffies,
    pub(super) slice_length: Jiffies,
    /// Whether the head of the FIFO has been checked in this slice.
    pub(super) fifo_checked: bool,
    /// Whether the task has exceeded a full pool in this slice.
    pub(super) passed_full_pool: bool,
    /// Why the queue got the disk, until the first dispatch of the turn reports it.
    pub(super) turn: Option<Why>,

    // ---- waiting -------------------------------------------------------------------------
    /// Whether the disk is idling for the queue's next request.
    pub(super) waits: bool,
    /// Whether the task's statistics allow idling for it.
    pub(super) idle_window: bool,
    /// Whether a request that arrived while the disk was idling for it must be served in this
    /// slice.
    pub(super) must_dispatch: bool,
    /// Whether the disk idles for the queue after the end of its slice, for the sake of its group.
    pub(super) wait_busy: bool,
    /// Whether a request has arrived during that wait.
    pub(super) wait_busy_done: bool,
    /// Whether the queue has had several requests at once.
    pub(super) deep: bool,

    // ---- seeking and cooperation ---------------------------------------------------------
    pub(super) seeks: Seeks,
    /// One bit for each of the last 32 requests, set if the request was far from the previous one.
    pub(super) history: u32,
    /// Since when the queue has been seeky.
    pub(super) seeky_since: Option<Jiffies>,
    /// Whether the queue got the disk in this turn for being close.
    pub(super) coop: bool,
    /// Whether the queue preempted another for being close.
    pub(super) coop_preempt: bool,
    /// Whether several tasks use the queue, or did.
    pub(super) shared: bool,
    /// Whether the queue is to be split.
    pub(super) split: bool,
    /// The queue that its tasks use from their next request on; `NIL` for no merge.
    pub(super) merge_into: u32,
    /// Queues that are to be merged into this one.
    pub(super) merging_here: u32,
    /// Tasks that use the queue.
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

    /// Takes class and level from the task's priority.
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

    /// Gives the disk to the queue.
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
        // A preempting queue reports the preemption rather than why the other queue lost the disk.
        if !matches!(self.turn, Some(Why::Preempted)) {
            self.turn = Some(why);
        }
    }

    /// Starts the clock of the slice.
    pub(super) const fn start_clock(&mut self, now: Jiffies, slice: Jiffies) {
        self.slice_end = now + slice;
        self.slice_began = now;
        self.slice_length = slice;
        self.slice_new = false;
    }

    /// Takes the disk from the queue. If it `timed_out`, it remembers the rest of its slice.
    pub(super) const fn end_turn(&mut self, now: Jiffies, timed_out: bool) {
        self.waits = false;
        self.must_dispatch = false;
        self.wait_busy = false;
        self.wait_busy_done = false;
        if timed_out && !self.slice_new {
            self.slice_residual = self.slice_end - now;
        }
    }

    /// The time to charge for the turn: how much of the slice was used, or, if its clock has not
    /// started, the time since the turn began and at least one tick.
    pub(super) fn used(&self, now: Jiffies) -> Jiffies {
        if self.slice_new || self.slice_began == now {
            return (now - self.turn_began).max(1);
        }
        (now - self.slice_began).min(self.slice_length)
    }

    /// Whether the queue still has tasks, requests or queues to be merged into it.
    pub(super) fn is_in_use(&self) -> bool {
        self.owners > 0 || self.merging_here > 0 || self.dispatched > 0 || !self.is_empty()
    }
}

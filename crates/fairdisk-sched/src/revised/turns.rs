//! Turns of queues: which queue gets the disk, for how long, and how it loses it (spec: cfq,
//! sections 2.4, 2.9, 3.2, 3.6, 4.5, 4.8, 4.9).

use super::close::Aim;
use super::group::{IDLE, SYNC};
use super::state::State;
use crate::cfq::dispatch::Step;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::queue::NIL;
use fairdisk_core::Why;

impl State {
    /// The queue that has the disk, or the one that gets it now.
    pub(super) fn select(&mut self, now: Jiffies) -> Result<u32, Step> {
        let active = self.active;
        if active != NIL {
            let queue = &self.queues[active];
            if self.waited_long_enough(active) {
                self.expire(now, active, false);
            } else if queue.slice_used(now) && !queue.must_dispatch {
                if self.outlasts_slice(active) {
                    return Err(Step::Refuse(Why::OwnRequestInFlight));
                }
                self.expire(now, active, false);
            } else if !queue.is_empty() {
                return Ok(active);
            } else if let Some(close) = self.close_cooperator(Aim::Serve) {
                self.prepare_merge(active, close);
                self.expire(now, active, false);
                self.queues[close].coop = true;
                self.begin_turn(now, close);
                return Ok(close);
            } else if self.device.idle_timer.is_some() {
                return Err(Step::Refuse(Why::IdleWait));
            } else if queue.dispatched > 0 && self.should_idle(active) {
                return Err(Step::Refuse(Why::OwnRequestInFlight));
            } else {
                self.expire(now, active, false);
            }
        }
        self.begin_next_turn(now).ok_or(Step::Nothing)
    }

    /// Gives the disk to the queue whose turn it is, if there is one.
    fn begin_next_turn(&mut self, now: Jiffies) -> Option<u32> {
        if self.busy == 0 {
            return None;
        }
        let queue = self.next_queue(now)?;
        // A queue chosen by the ordinary rules may be chosen for being close again later.
        let q = &mut self.queues[queue];
        q.coop &= q.coop_preempt;
        self.begin_turn(now, queue);
        Some(queue)
    }

    fn begin_turn(&mut self, now: Jiffies, queue: u32) {
        let why = self.turn_ended;
        self.active = queue;
        self.device.idle_timer = None;
        self.queues[queue].begin_turn(now, why);
    }

    /// Takes the disk from the queue. If it `timed_out`, it keeps the rest of its slice.
    pub(super) fn expire(&mut self, now: Jiffies, queue: u32, timed_out: bool) {
        self.turn_ended = self.why_turn_ends(now, queue);
        if self.queues[queue].waits {
            self.device.idle_timer = None;
        }
        self.mark_split(queue);
        self.queues[queue].end_turn(now, timed_out);
        self.charge_turn(now, queue);
        self.active = NIL;
        self.device.active_context = NIL;
        if !self.queues[queue].on_tree {
            return;
        }
        if self.queues[queue].is_empty() {
            self.unplace(queue);
        } else {
            self.place(now, queue);
        }
    }

    /// Why the queue loses the disk if its turn ends now.
    fn why_turn_ends(&self, now: Jiffies, queue: u32) -> Why {
        let q = &self.queues[queue];
        if q.slice_used(now) {
            Why::SliceExpired
        } else if q.waits && !self.on.dispatch_one {
            Why::IdleWaitFailed
        } else {
            Why::QueueEmptied
        }
    }

    /// Handles a completion of the queue that has the disk.
    pub(super) fn active_completed(&mut self, now: Jiffies, sync: bool, noidle: bool) {
        let queue = self.active;
        if self.queues[queue].slice_new {
            let slice = self.slice(queue);
            self.queues[queue].start_clock(now, slice);
        }
        self.wait_for_group(now, queue);
        let q = &self.queues[queue];
        if q.slice_used(now) || q.is_idle_class() {
            self.expire(now, queue, true);
            return;
        }
        let runs_dry = sync && q.is_empty() && self.close_cooperator(Aim::Probe).is_none();
        if runs_dry && self.assess_idling(queue, noidle) {
            self.arm_idle(now, queue);
        }
    }

    /// Whether the disk should idle after the completed request, which may be the one that makes
    /// idling worthwhile for its whole tree.
    fn assess_idling(&mut self, queue: u32, noidle: bool) -> bool {
        let alone = self.on.noidle_single_group && self.others_in_group(queue) == 0;
        if self.on.idle_corner_b {
            self.serving.tree_requires_idle |= !noidle;
            return self.serving.kind == SYNC || self.serving.tree_requires_idle || alone;
        }
        !(self.on.noidle_flag && noidle) || alone
    }

    /// The slice for a queue. It is shortened if a round of all queues would exceed the target
    /// latency, but stays long enough to idle for the task twice (spec: cfq, section 4.5).
    pub(super) fn slice(&mut self, queue: u32) -> Jiffies {
        let q = &self.queues[queue];
        let slice = self.tunables.slice(q.sync, q.priority.level);
        if !(self.low_latency && self.on.slice_scaling) {
            return slice;
        }
        let (group, class) = (q.place.group, q.priority.class.rank());
        if class == IDLE {
            return slice;
        }
        let average = self.groups[group].update_average(class);
        self.tunables.slice_in_round(slice, average, self.group_slice(group))
    }
}

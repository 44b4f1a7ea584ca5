//! The effect of an arrival: it ends an idle wait or preempts the active queue (spec: cfq, sections
//! 2.12, 3.6, 4.9, 4.11).

use super::close::Aim;
use super::group::{NOIDLE, is_noidle};
use super::state::State;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::queue::NIL;
use fairdisk_core::{Flags, Request, Why};

/// The size above which a request is not delayed in the hope of a merge.
const PAGE_BYTES: u64 = 4096;

impl State {
    /// Handles the arrival of a request in `queue`: the disk may have been idling for it, or it may
    /// preempt the active queue.
    pub(super) fn arrived(&mut self, now: Jiffies, queue: u32, request: &Request) {
        let active = self.active;
        if active == queue {
            if self.queues[queue].waits {
                self.end_wait(queue, request);
            }
        } else if active != NIL && self.assess_preemption(now, queue, request) {
            self.expire(now, active, true);
            self.place_first(now, queue);
            let q = &mut self.queues[queue];
            q.slice_end = 0;
            q.slice_new = true;
            q.turn = Some(Why::Preempted);
            self.kicks.kick_at_once();
        }
    }

    /// Ends an idle wait, since the awaited request has arrived.
    fn end_wait(&mut self, queue: u32, request: &Request) {
        let kick = !self.on.must_dispatch
            || (self.on.kick_for_large && request.sectors.bytes() > PAGE_BYTES)
            || (self.on.kick_when_busy && self.busy > 1);
        if kick {
            self.device.idle_timer = None;
            self.kicks.kick_at_once();
        }
        let on = &self.on;
        let q = &mut self.queues[queue];
        q.wait_busy_done = q.wait_busy;
        q.waits &= !(kick && on.clear_wait_on_kick);
        q.must_dispatch |= on.must_dispatch && !(kick && on.must_dispatch_else);
    }

    /// Whether the new queue preempts the active one; the first rule that applies decides.
    fn assess_preemption(&mut self, now: Jiffies, new: u32, request: &Request) -> bool {
        let (active, candidate) = (&self.queues[self.active], &self.queues[new]);
        let isolate = self.on.group_isolate_ops;
        if !isolate && active.slice_used(now) {
            return true;
        }
        if candidate.is_idle_class() {
            return false;
        }
        if active.is_idle_class() {
            return true;
        }
        let real_time = |queue: &super::queue::Queue| queue.priority.is_real_time();
        let (served, asks) = (real_time(active), real_time(candidate));
        if self.on.real_time_not_preempted && served && !asks {
            return false;
        }
        if (!isolate && self.is_next_in_round(new)) || (request.sync && !active.sync) {
            return true;
        }
        if isolate {
            if active.place.group != candidate.place.group {
                return false;
            }
            if active.slice_used(now) || self.is_next_in_round(new) {
                return true;
            }
        }
        if request.flags.contains(Flags::META) && active.pending.meta == 0 {
            return true;
        }
        if self.on.real_time_preempts && asks && !served {
            return true;
        }
        self.claim_closeness(new, request)
    }

    /// Whether the new queue preempts because the disk is idling and the request is close to the
    /// head. Records the preemption, where a queue is allowed only one of them.
    fn claim_closeness(&mut self, new: u32, request: &Request) -> bool {
        let waits = self.queues[self.active].waits;
        if self.device.active_context == NIL || !waits {
            return false;
        }
        if !self.is_close(request.start, Aim::Preempt) {
            return false;
        }
        if !self.on.one_close_preemption || self.on.coop_preempt_unlimited {
            return true;
        }
        let (others, shared_means) = (self.busy > 1, self.on.coop_flag_shared);
        let q = &mut self.queues[new];
        if others && if shared_means { q.shared } else { q.coop } {
            return false;
        }
        (q.coop, q.coop_preempt) = (true, true);
        true
    }

    /// Whether the new queue may follow at once because the disk idles for neither of the two.
    fn is_next_in_round(&self, new: u32) -> bool {
        if !self.on.noidle_preempt || self.serving.kind != NOIDLE {
            return false;
        }
        let (active, new) = (&self.queues[self.active], &self.queues[new]);
        if !self.on.noidle_preempt_fix {
            return active.place == new.place;
        }
        let count = self.tree(new.place).len();
        let first = if self.on.keep_on_tree { count == 2 && active.is_empty() } else { count == 1 };
        first && is_noidle(new.place.tree)
    }
}

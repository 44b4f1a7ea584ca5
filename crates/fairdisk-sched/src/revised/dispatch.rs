//! Dispatch: which request goes to the device next, or why none does (spec: cfq, sections 2.7, 2.8,
//! 2.16, 3.3, 4.9, 4.14).

use super::group::Group;
use super::queue::Place;
use super::state::State;
use crate::cfq::dispatch::Step;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::pending::Choice;
use crate::cfq::queue::NIL;
use fairdisk_core::{RequestId, Why};

impl State {
    /// The next request. A round moves up to a quantum of requests, or one. With nothing queued the
    /// first round does not begin; later ones do, so that a queue that a round has emptied may lose
    /// the disk at once.
    pub(super) fn dispatch(&mut self, now: Jiffies) -> Step {
        if self.round.is_none() && self.queued == 0 {
            return Step::Nothing;
        }
        loop {
            if let Some(step) = self.continue_round(now) {
                return step;
            }
            let queue = match self.select(now) {
                Ok(queue) => queue,
                Err(step) => return step,
            };
            if let Some(why) = self.refusal(now, queue) {
                return Step::Refuse(why);
            }
            if self.on.dispatch_one {
                return self.dispatch_one(now, queue);
            }
            let q = &mut self.queues[queue];
            (q.waits, q.must_dispatch) = (false, false);
            self.device.idle_timer = None;
            self.round = Some((queue, 0));
        }
    }

    fn dispatch_one(&mut self, now: Jiffies, queue: u32) -> Step {
        let (index, why) = self.next_request(now, queue);
        self.hand_over(now, index);
        let q = &mut self.queues[queue];
        q.must_dispatch = false;
        self.end_round(now, queue, 1);
        Step::Dispatch(RequestId(index), why)
    }

    fn refusal(&self, now: Jiffies, queue: u32) -> Option<Why> {
        let q = &self.queues[queue];
        let beside_async = if self.on.async_in_flight {
            self.device.in_flight[0]
        } else {
            self.device.in_driver[0]
        };
        if self.on.no_mix_with_async && beside_async > 0 && self.should_idle(queue) {
            return Some(Why::AsyncInFlight);
        }
        if q.dispatched >= self.limit(now, queue) {
            return Some(Why::QuantumUsed);
        }
        (!q.sync && self.device.in_flight[1] > 0).then_some(Why::SyncInFlight)
    }

    /// The most requests of the queue that may be at the device.
    fn limit(&self, now: Jiffies, queue: u32) -> u32 {
        let q = &self.queues[queue];
        let limit = self.shared_limit(now, queue);
        if q.sync || !self.low_latency || !self.on.async_depth_ramp {
            return limit;
        }
        let since = now - self.device.last_sync_end.unwrap_or(now);
        let depth = (since / self.tunables.slice(true, 4)).clamp(0, Jiffies::from(u32::MAX)) as u32;
        let depth = if q.dispatched == 0 { depth.max(1) } else { depth };
        limit.min(depth)
    }

    fn shared_limit(&self, now: Jiffies, queue: u32) -> u32 {
        let (q, quantum) = (&self.queues[queue], self.tunables.quantum);
        let alone = self.busy <= 1;
        if q.is_idle_class() {
            // Before the switch `dispatch_one`, a queue on its own was allowed more, whatever its
            // class.
            return if alone && !self.on.dispatch_one { self.alone_limit(1) } else { 1 };
        }
        if alone {
            return self.alone_limit(quantum);
        }
        if self.on.soft_quantum && self.is_slice_soon_used(now, queue) {
            return (quantum / 2).max(1);
        }
        quantum
    }

    const fn alone_limit(&self, limit: u32) -> u32 {
        let uncapped = if self.on.dispatch_one {
            self.on.sole_queue_unlimited
        } else {
            self.on.sole_queue_uncapped
        };
        if uncapped { u32::MAX } else { 4 * limit }
    }

    /// Whether waiting for its requests at the device may take the queue to the end of its slice.
    fn is_slice_soon_used(&self, now: Jiffies, queue: u32) -> bool {
        let q = &self.queues[queue];
        let wait = self.tunables.slice_idle * Jiffies::from(q.dispatched);
        q.slice_new || now + wait > q.slice_end
    }

    fn round_limit(&self, queue: u32) -> u32 {
        if self.queues[queue].is_idle_class() { 1 } else { self.tunables.quantum }
    }

    /// The next request of the current round, or `None` if the round is over.
    fn continue_round(&mut self, now: Jiffies) -> Option<Step> {
        let (queue, moved) = self.round?;
        if moved < self.round_limit(queue) && !self.queues[queue].is_empty() {
            let (index, why) = self.next_request(now, queue);
            self.round = Some((queue, moved + 1));
            self.hand_over(now, index);
            return Some(Step::Dispatch(RequestId(index), why));
        }
        self.round = None;
        self.end_round(now, queue, moved);
        None
    }

    /// After a round, ends the turn of a queue of the idle class or of an asynchronous queue that
    /// has used up its budget.
    fn end_round(&mut self, now: Jiffies, queue: u32, moved: u32) {
        let per_round = self.tunables.quirks.q3_async_budget_per_round;
        let (busy, active) = (self.busy, self.active);
        let q = &mut self.queues[queue];
        q.slice_dispatched += moved;
        let counted = if per_round { moved } else { q.slice_dispatched };
        let over = !q.sync && counted >= self.tunables.async_budget(q.priority.level);
        if busy > 1 && active == queue && (q.is_idle_class() || over) {
            q.slice_end = now + 1;
            self.expire(now, queue, false);
        }
    }

    /// The head of the queue's FIFO if it is overdue, which is checked once per slice, else the
    /// best request by position.
    fn next_request(&mut self, now: Jiffies, queue: u32) -> (u32, Why) {
        let q = &mut self.queues[queue];
        let turn = q.turn.take().unwrap_or(Why::SliceContinues);
        if !core::mem::replace(&mut q.fifo_checked, true) {
            let (head, next) = (q.pending.oldest(), q.pending.next);
            let expire = self.tunables.fifo_expire(self.queues[queue].sync);
            if now >= self.ticker.jiffies(self.requests[head].arrived) + expire {
                return (head, if head == next { turn } else { Why::DeadlineExpired });
            }
        }
        (self.queues[queue].pending.next, turn)
    }

    /// Moves a request from its queue to the dispatch list.
    pub(super) fn hand_over(&mut self, now: Jiffies, index: u32) {
        let queue = self.requests[index].queue;
        if self.on.next_after_any {
            let by = Choice { head: self.device.last_position, tunables: &self.tunables };
            let pending = &self.queues[queue].pending;
            let best = self.requests.best_neighbour(pending, index, by);
            self.remove(index);
            self.queues[queue].pending.next = best;
        } else {
            self.remove(index);
        }
        let context = self.requests[index].context;
        let q = &mut self.queues[queue];
        q.dispatched += 1;
        let (sync, late) = (usize::from(q.sync), q.slice_new);
        self.device.in_flight[sync] += 1;
        if !self.tunables.slice_from_completion && late {
            let slice = self.slice(queue);
            self.queues[queue].start_clock(now, slice);
        }
        if self.device.active_context == NIL {
            self.device.active_context = context;
        }
    }

    /// Removes one request for a drain, queue by queue in the order of the trees.
    pub(super) fn drain(&mut self, now: Jiffies) -> Option<RequestId> {
        self.round = None;
        self.device.idle_timer = None;
        if self.active_queue().is_some_and(super::queue::Queue::is_empty) {
            self.expire(now, self.active, false);
        }
        let Some(queue) = self.first_in_trees() else {
            if self.active != NIL {
                self.expire(now, self.active, false);
            }
            return None;
        };
        let index = self.queues[queue].pending.next;
        self.remove(index);
        let context = self.requests.take(index).context;
        self.let_go(now, queue, context);
        Some(RequestId(index))
    }

    fn first_in_trees(&self) -> Option<u32> {
        let groups = 0..self.groups.len();
        let places =
            groups.flat_map(|group| Group::all_trees().map(move |tree| Place { group, tree }));
        places.map(|place| self.service.first(self.tree(place))).find_map(|first| first)
    }
}

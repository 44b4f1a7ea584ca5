//! Dispatch: which request goes to the device next, or why none does (spec: cfq, sections 2.7, 2.8,
//! 2.16).

use super::engine::Cfq;
use super::jiffies::Jiffies;
use super::queue::{NIL, Queue};
use fairdisk_core::{Decision, RequestId, Why};

/// A layer's answer to the question for its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Dispatch this request.
    Dispatch(RequestId, Why),
    /// Dispatch nothing for now, although queues are waiting.
    Refuse(Why),
    /// Nothing to dispatch: no queue has the disk or wants it.
    Nothing,
}

impl Step {
    /// Converts the step to a decision; `wait` determines what a refusal waits for.
    #[inline]
    pub(crate) fn or_wait(self, wait: impl FnOnce(Why) -> Decision) -> Decision {
        match self {
            Self::Dispatch(id, why) => Decision::Dispatch(id, why),
            Self::Refuse(why) => wait(why),
            Self::Nothing => wait(Why::NothingQueued),
        }
    }
}

impl Cfq {
    /// The layer's next request. A round moves up to a quantum of requests from one queue, and
    /// rounds follow each other until the layer refuses. With nothing queued the first round does
    /// not begin. Later ones do, so that a queue that a round has emptied loses the disk at once
    /// unless the disk idles for it; not so if tasks are served together.
    #[inline]
    pub(crate) fn dispatch(&mut self, now: Jiffies, layer: u32) -> Step {
        let mut ends_if_none_queued = true;
        loop {
            if self.round.is_some() {
                if let Some(step) = self.continue_round(now) {
                    return step;
                }
                ends_if_none_queued = self.tunables.serve_together;
            }
            if ends_if_none_queued && self.queued == 0 {
                return Step::Nothing;
            }
            let queue = match self.select(now, layer) {
                Ok(queue) => queue,
                Err(step) => return step,
            };
            if let Some(why) = self.refusal(queue, layer) {
                return Step::Refuse(why);
            }
            self.queues[queue].waits = false;
            self.driver.idle_timer = None;
            self.round = Some((queue, 0));
        }
    }

    /// The queue that has the disk, or the one that gets it now.
    #[inline]
    fn select(&mut self, now: Jiffies, layer: u32) -> Result<u32, Step> {
        let active = self.layers[layer as usize].active;
        if active != NIL {
            let queue = &self.queues[active];
            if queue.slice_used(now) {
                self.expire(now, active, false);
            } else if !queue.is_empty() {
                return Ok(active);
            } else if self.driver.idle_timer.is_some() {
                return Err(Step::Refuse(Why::IdleWait));
            } else if queue.dispatched > 0 && self.will_wait(active) {
                return Err(Step::Refuse(Why::OwnRequestInFlight));
            } else {
                self.expire(now, active, false);
            }
        }
        if self.waiting_layer == layer && self.layers[layer as usize].busy == 0 {
            return Err(Step::Refuse(Why::IdleWait));
        }
        self.begin_next_turn(layer).ok_or(Step::Nothing)
    }

    fn refusal(&self, queue: u32, layer: u32) -> Option<Why> {
        let q = &self.queues[queue];
        let limit = self.round_limit(q);
        let alone = || self.busy_beside(layer) <= 1;
        if q.dispatched >= limit && (q.dispatched >= 4 * limit || !alone()) {
            return Some(Why::QuantumUsed);
        }
        (!q.sync && self.driver.sync_flight > 0).then_some(Why::SyncInFlight)
    }

    const fn round_limit(&self, queue: &Queue) -> u32 {
        if queue.is_idle_class() { 1 } else { self.tunables.quantum }
    }

    /// The next request of the current round, or `None` if the round is over.
    #[inline]
    pub(crate) fn continue_round(&mut self, now: Jiffies) -> Option<Step> {
        let (queue, moved) = self.round?;
        let q = &self.queues[queue];
        if moved < self.round_limit(q) && !q.is_empty() {
            self.round = Some((queue, moved + 1));
            return Some(self.hand_over_next(now, queue));
        }
        self.round = None;
        self.end_round(now, queue, moved);
        None
    }

    #[inline(never)]
    fn hand_over_next(&mut self, now: Jiffies, queue: u32) -> Step {
        let (index, why) = self.next_request(now, queue);
        self.hand_over(now, index);
        Step::Dispatch(RequestId(index), why)
    }

    /// After a round, ends the turn of a queue of the idle class or of an asynchronous queue that
    /// has used up its budget.
    fn end_round(&mut self, now: Jiffies, queue: u32, moved: u32) {
        let q = &mut self.queues[queue];
        q.slice_dispatched += moved;
        if !q.sync || q.is_idle_class() {
            self.end_turn_after(now, queue, moved);
        }
    }

    #[inline(never)]
    fn end_turn_after(&mut self, now: Jiffies, queue: u32, moved: u32) {
        let q = &self.queues[queue];
        let counted =
            if self.tunables.quirks.q3_async_budget_per_round { moved } else { q.slice_dispatched };
        let over = !q.sync && counted >= self.tunables.async_budget(q.priority.level);
        let (layer, must_go) = (q.layer, q.is_idle_class() || over);
        let is_active = self.layers[layer as usize].active == queue;
        if must_go && is_active && self.busy_beside(layer) > 1 {
            self.queues[queue].slice_end = now + 1;
            self.expire(now, queue, false);
        }
    }

    /// The head of the queue's FIFO if it is overdue, which is checked once per slice, else the
    /// best request by position.
    #[inline]
    fn next_request(&mut self, now: Jiffies, queue: u32) -> (u32, Why) {
        let q = &mut self.queues[queue];
        let turn = q.turn.take().unwrap_or(Why::SliceContinues);
        let next = q.pending.next;
        let is_checked = core::mem::replace(&mut q.fifo_checked, true);
        if !is_checked && let Some(overdue) = self.overdue(now, queue) {
            return (overdue, if overdue == next { turn } else { Why::DeadlineExpired });
        }
        (next, turn)
    }

    /// The head of the queue's FIFO, if it is overdue.
    #[inline(never)]
    fn overdue(&self, now: Jiffies, queue: u32) -> Option<u32> {
        let q = &self.queues[queue];
        let (head, expire) = (q.pending.oldest(), self.tunables.fifo_expire(q.sync));
        let arrived = self.ticker.jiffies(self.requests[head].arrived);
        (now >= arrived + expire).then_some(head)
    }

    /// Moves a request from its queue to the dispatch list.
    #[inline(always)]
    pub(crate) fn hand_over(&mut self, now: Jiffies, index: u32) {
        let queue = self.remove(index);
        let context = self.requests[index].context;
        let q = &mut self.queues[queue];
        q.dispatched += 1;
        if !self.tunables.slice_from_completion && q.slice_new {
            let busy = self.layers[q.layer as usize].busy;
            q.start_clock(now, self.tunables.slice_among(busy, q.sync, q.priority.level));
        }
        self.driver.sync_flight += u32::from(q.sync);
        self.driver.outstanding += 1;
        if let Some(patience) = &mut self.patience {
            patience.handed_over(self.driver.outstanding);
        }
        let layer = q.layer as usize;
        self.layers[layer].dispatched += 1;
        self.count(queue);
        if self.driver.active_context == NIL {
            self.driver.active_context = context;
        }
    }

    /// Dispatches the request that has waited too long, if waiting is bounded. No turn, quantum or
    /// other condition holds it back. Returns the request and its layer.
    #[inline]
    pub(crate) fn dispatch_overdue(&mut self, now: Jiffies) -> Option<(RequestId, u32)> {
        let index = self.patience.as_ref()?.overdue(now)?;
        Some(self.dispatch_at_once(now, index))
    }

    #[cold]
    fn dispatch_at_once(&mut self, now: Jiffies, index: u32) -> (RequestId, u32) {
        let queue = self.requests[index].queue;
        self.hand_over(now, index);
        // This dispatch ends the wait for all other queues as well.
        self.kicks.kick();
        (RequestId(index), self.queues[queue].layer)
    }

    /// Removes one request of the layer for a drain, queue by queue in the order of the service
    /// tree.
    pub(crate) fn drain(&mut self, now: Jiffies, layer: u32) -> Option<RequestId> {
        self.round = None;
        self.driver.idle_timer = None;
        let tree = self.layers[layer as usize].tree.whole(&mut self.service);
        let Some(queue) = self.service.first(tree) else {
            let active = self.layers[layer as usize].active;
            if active != NIL {
                self.expire(now, active, false);
            }
            return None;
        };
        let index = self.queues[queue].pending.next;
        self.remove(index);
        let context = self.requests.take(index).context;
        self.let_go(now, queue, context);
        Some(RequestId(index))
    }
}

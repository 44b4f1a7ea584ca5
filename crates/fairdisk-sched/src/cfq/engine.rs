//! The working parts of CFQ over any number of layers: arrival, statistics, completion.
//! How queues take turns is in `turns`, which request is handed over in `dispatch`.

use super::choose::{Candidate, is_better};
use super::context::Context;
use super::driver::Driver;
use super::jiffies::{Jiffies, Ticker};
use super::layer::{Layer, ServiceKey};
use super::params::{CfqParams, Tunables};
use super::queue::{NIL, Queue, Rq};
use alloc::vec::Vec;
use fairdisk_core::tree::Forest;
use fairdisk_core::{
    Bio, Decision, Flags, Instant, IoPrio, Lba, MayQueue, Merge, Request, RequestId, TaskId, Why,
};

/// The state of CFQ on one device.
#[derive(Debug)]
pub(crate) struct Cfq {
    pub(crate) tunables: Tunables,
    pub(crate) ticker: Ticker,
    pub(crate) driver: Driver,
    pub(crate) layers: Vec<Layer>,
    pub(crate) queues: Vec<Queue>,
    free_queues: Vec<u32>,
    pub(crate) contexts: Vec<Context>,
    free_contexts: Vec<u32>,
    by_task: Vec<u32>,
    pub(crate) rqs: Vec<Option<Rq>>,
    pub(crate) sort: Forest<u64>,
    pub(crate) service: Forest<ServiceKey>,
    /// Requests in the queues of all layers.
    pub(crate) queued: u32,
    /// A dispatch round under way: its queue and how many requests it has moved.
    pub(crate) round: Option<(u32, u32)>,
    /// The request withdrawn last, if it was the next one of its queue.
    withdrawn_next: Option<RequestId>,
    /// The wait last decided for; `None` once something asked for another look.
    standing: Option<Decision>,
}

impl Cfq {
    pub(crate) fn new(params: &CfqParams) -> Self {
        let tunables = Tunables::new(params);
        Self {
            tunables,
            ticker: Ticker::new(params.hz, params.tick_phase),
            driver: Driver::new(tunables.quirks.q6_queueing_latched),
            layers: Vec::new(),
            queues: Vec::new(),
            free_queues: Vec::new(),
            contexts: Vec::new(),
            free_contexts: Vec::new(),
            by_task: Vec::new(),
            rqs: Vec::new(),
            sort: Forest::new(),
            service: Forest::new(),
            queued: 0,
            round: None,
            withdrawn_next: None,
            standing: None,
        }
    }

    pub(crate) fn rq(&self, index: u32) -> &Rq {
        match &self.rqs[index as usize] {
            Some(rq) => rq,
            None => unreachable!("request {index} is not queued"),
        }
    }

    pub(crate) fn rq_mut(&mut self, index: u32) -> &mut Rq {
        match &mut self.rqs[index as usize] {
            Some(rq) => rq,
            None => unreachable!("request {index} is not queued"),
        }
    }

    /// Makes sure that layer `layer` exists.
    pub(crate) fn add_layer(&mut self, layer: u32) {
        while self.layers.len() <= layer as usize {
            self.layers.push(Layer::new());
        }
    }

    // ---- waiting -------------------------------------------------------------------------

    /// Asks for another look at what to do: what Linux calls kicking the queue. Between kicks a
    /// wait stands, as there the driver does not ask again.
    pub(crate) const fn kick(&mut self) {
        self.standing = None;
    }

    /// The wait that still stands.
    pub(crate) const fn standing(&self) -> Option<Decision> {
        self.standing
    }

    /// Turns a refusal into the wait it means, and lets it stand.
    pub(crate) fn wait(&mut self, why: Why) -> Decision {
        let decision = match self.driver.idle_timer {
            Some(timer) if self.queued > 0 => {
                Decision::WaitUntil(self.ticker.instant(timer), Why::IdleWait)
            }
            _ if self.driver.outstanding > 0 && self.queued == 0 => {
                Decision::WaitCompletion(Why::NothingQueued)
            }
            _ if self.driver.outstanding > 0 => Decision::WaitCompletion(why),
            _ => {
                debug_assert!(self.queued == 0, "refused with {why:?}, nothing in flight");
                Decision::Idle
            }
        };
        self.standing = Some(decision);
        decision
    }

    // ---- tasks ---------------------------------------------------------------------------

    pub(crate) fn context_of(&mut self, task: TaskId, layer: u32) -> Option<u32> {
        let mut at = *self.by_task.get(task.0 as usize)?;
        while at != NIL {
            let context = &self.contexts[at as usize];
            if context.layer == layer {
                return Some(at);
            }
            at = context.next;
        }
        None
    }

    fn context_or_new(&mut self, now: Jiffies, task: TaskId, layer: u32, ioprio: IoPrio) -> u32 {
        if let Some(context) = self.context_of(task, layer) {
            return context;
        }
        let index = task.0 as usize;
        if index >= self.by_task.len() {
            self.by_task.resize(index + 1, NIL);
        }
        let mut context = Context::new(layer, ioprio, now);
        context.next = self.by_task[index];
        let at = put(&mut self.contexts, &mut self.free_contexts, context);
        self.by_task[index] = at;
        at
    }

    /// A changed priority takes effect with the task's next request: at once for the choice of the
    /// asynchronous queue, on its own queue when that is used next (spec: cfq, section 2.3).
    fn reprioritise(&mut self, context: u32, ioprio: IoPrio) {
        let context = &mut self.contexts[context as usize];
        if context.ioprio != ioprio {
            context.ioprio = ioprio;
            context.async_queue = NIL;
            context.priority_due = true;
        }
    }

    /// The task's own queue is used: it takes on a priority that changed before.
    fn catch_up_priority(&mut self, context: u32) {
        let context = &mut self.contexts[context as usize];
        if core::mem::take(&mut context.priority_due) && context.sync_queue != NIL {
            self.queues[context.sync_queue as usize].set_priority(context.ioprio);
        }
    }

    fn queue_of(&mut self, context: u32, sync: bool) -> u32 {
        let Context { layer, ioprio, sync_queue, async_queue, .. } =
            self.contexts[context as usize];
        let known = if sync { sync_queue } else { async_queue };
        if known != NIL {
            return known;
        }
        let shared = if sync { NIL } else { *self.layers[layer as usize].async_queue(ioprio) };
        let queue = if shared == NIL {
            let new = Queue::new(layer, sync, ioprio);
            put(&mut self.queues, &mut self.free_queues, new)
        } else {
            shared
        };
        let context = &mut self.contexts[context as usize];
        if sync {
            context.sync_queue = queue;
        } else {
            context.async_queue = queue;
            *self.layers[layer as usize].async_queue(ioprio) = queue;
        }
        queue
    }

    /// The task is gone from all layers; its queues go when they are empty.
    pub(crate) fn task_exited(&mut self, now: Jiffies, task: TaskId) {
        let Some(head) = self.by_task.get_mut(task.0 as usize) else { return };
        let mut at = core::mem::replace(head, NIL);
        while at != NIL {
            let context = &mut self.contexts[at as usize];
            context.alive = false;
            let (next, queue) = (context.next, context.sync_queue);
            if queue == NIL {
                self.release_context(at);
            } else {
                self.queues[queue as usize].doomed = true;
                self.queues[queue as usize].idle_window = false;
                self.bury(now, queue, at);
            }
            at = next;
        }
    }

    /// Frees a doomed queue and its context once nothing of it is left.
    fn bury(&mut self, now: Jiffies, queue: u32, context: u32) {
        let q = &self.queues[queue as usize];
        if !q.doomed || !q.is_empty() || q.dispatched > 0 {
            return;
        }
        if self.layers[q.layer as usize].active == queue {
            self.expire(now, queue, false);
            self.kick();
        }
        self.free_queues.push(queue);
        self.release_context(context);
    }

    fn release_context(&mut self, context: u32) {
        if self.driver.active_context == context {
            self.driver.active_context = NIL;
        }
        self.free_contexts.push(context);
    }

    // ---- arrival -------------------------------------------------------------------------

    /// Whether the disk waits for this very task (spec: cfq, section 2.15).
    pub(crate) fn may_queue(&mut self, bio: &Bio, layer: u32) -> MayQueue {
        let Some(context) = self.context_of(bio.task, layer) else { return MayQueue::May };
        if bio.sync {
            self.catch_up_priority(context);
        }
        let Context { sync_queue, async_queue, .. } = self.contexts[context as usize];
        let queue = if bio.sync { sync_queue } else { async_queue };
        let Some(queue) = self.queues.get_mut(queue as usize) else { return MayQueue::May };
        if queue.waits && !queue.passed_full_pool {
            queue.passed_full_pool = true;
            return MayQueue::Must;
        }
        MayQueue::May
    }

    /// Takes a request over; gives back one at the same position that must go first.
    pub(crate) fn admit(
        &mut self,
        now: Jiffies,
        request: &Request,
        layer: u32,
    ) -> Option<RequestId> {
        let context = self.context_or_new(now, request.task, layer, request.ioprio);
        self.reprioritise(context, request.ioprio);
        let queue = self.queue_of(context, request.sync);
        if request.sync {
            self.catch_up_priority(context);
        }
        if self.queued == 0 {
            self.kick();
        }
        let displaced = self.store(now, request, queue, context);
        self.observe(now, request, queue, context);
        self.arrived(now, queue, request);
        displaced
    }

    fn store(
        &mut self,
        now: Jiffies,
        request: &Request,
        queue: u32,
        context: u32,
    ) -> Option<RequestId> {
        let index = request.id.0;
        if index as usize >= self.rqs.len() {
            self.rqs.resize_with(index as usize + 1, || None);
        }
        let rq = Rq { request: *request, queue, context, fifo_prev: NIL, fifo_next: NIL };
        self.rqs[index as usize] = Some(rq);
        let alias = self.at_position(queue, request.start);
        if let Some(alias) = alias {
            self.hand_over(now, alias);
        }
        self.queued += 1;
        self.sort.insert(&mut self.queues[queue as usize].sorted, index, request.start.0);
        self.fifo_append(queue, index);
        if request.flags.contains(Flags::META) {
            self.queues[queue as usize].meta_pending += 1;
        }
        self.prefer(queue, index, self.driver.last_position);
        if !self.queues[queue as usize].on_tree {
            self.becomes_busy(now, queue);
        }
        alias.map(RequestId)
    }

    fn at_position(&self, queue: u32, start: Lba) -> Option<u32> {
        let sorted = &self.queues[queue as usize].sorted;
        self.sort.lower_bound(sorted, start.0).filter(|at| self.sort.key(*at) == start.0)
    }

    fn observe(&mut self, now: Jiffies, request: &Request, queue: u32, context: u32) {
        let first_seeks = self.tunables.quirks.q5_first_request_seeks;
        let think_max = 2 * self.tunables.slice_idle;
        let context = &mut self.contexts[context as usize];
        context.observe(now, request.start, request.end(), think_max, first_seeks);
        let queue = &mut self.queues[queue as usize];
        if !queue.sync || queue.is_idle_class() {
            return;
        }
        if !context.alive
            || self.tunables.slice_idle == 0
            || (self.driver.queueing && context.seeks())
        {
            queue.idle_window = false;
        } else if context.think.is_valid() {
            queue.idle_window = context.think.mean() <= self.tunables.slice_idle as u64;
        }
    }

    /// Whether `bio` may join the queued `request`: only within a queue, and nothing synchronous
    /// into something asynchronous (spec: cfq, section 2.13).
    pub(crate) fn may_merge(&self, request: &Request, bio: &Bio, layer: u32) -> bool {
        if bio.sync && !request.sync {
            return false;
        }
        let Some(Some(rq)) = self.rqs.get(request.id.0 as usize) else { return false };
        let mut at = self.by_task.get(bio.task.0 as usize).copied().unwrap_or(NIL);
        while at != NIL {
            let context = &self.contexts[at as usize];
            if context.layer == layer {
                let queue = if bio.sync { context.sync_queue } else { context.async_queue };
                return queue == rq.queue;
            }
            at = context.next;
        }
        false
    }

    pub(crate) fn merged(&mut self, request: &Request, how: Merge) {
        let index = request.id.0;
        let queue = self.rq(index).queue;
        self.rq_mut(index).request = *request;
        match how {
            Merge::Back => {}
            Merge::Front => {
                self.unsort(queue, index);
                let sorted = &mut self.queues[queue as usize].sorted;
                self.sort.insert(sorted, index, request.start.0);
                self.prefer(queue, index, self.driver.last_position);
            }
            Merge::Absorbed { absorbed, arrived } => {
                if !self.tunables.quirks.q4_no_fifo_inheritance {
                    self.fifo_move_up(queue, index, arrived);
                }
                // The fix of Q7 also lets the survivor be next (spec: cfq, section 4.12).
                if !self.tunables.quirks.q7_reference_is_driver
                    && self.withdrawn_next == Some(absorbed)
                {
                    self.queues[queue as usize].next_rq = index;
                }
            }
        }
    }

    // ---- the requests of a queue ---------------------------------------------------------

    /// Makes `index` the next request of its queue if it is the better choice.
    fn prefer(&mut self, queue: u32, index: u32, reference: Lba) {
        let next = self.queues[queue as usize].next_rq;
        let best = self.better(next, index, reference);
        self.queues[queue as usize].next_rq = best;
    }

    fn better(&self, first: u32, second: u32, reference: Lba) -> u32 {
        if first == NIL || second == NIL {
            return if first == NIL { second } else { first };
        }
        let candidate = |index| Candidate::from(&self.rq(index).request);
        let (one, two) = (candidate(first), candidate(second));
        if is_better(&one, &two, reference, &self.tunables) { first } else { second }
    }

    /// Takes a request out of the order of positions; if it was the next one, its neighbours
    /// compete for that.
    fn unsort(&mut self, queue: u32, index: u32) {
        let q = &mut self.queues[queue as usize];
        if q.next_rq == index {
            let follower = self
                .sort
                .next(index)
                .or_else(|| self.sort.first(&q.sorted).filter(|first| *first != index));
            let (follower, previous) =
                (follower.unwrap_or(NIL), self.sort.prev(index).unwrap_or(NIL));
            let reference = if self.tunables.quirks.q7_reference_is_driver {
                self.driver.last_position
            } else {
                self.rq(index).request.start
            };
            let best = self.better(follower, previous, reference);
            self.queues[queue as usize].next_rq = best;
        }
        self.sort.remove(&mut self.queues[queue as usize].sorted, index);
    }

    /// Takes a request out of its queue.
    pub(crate) fn remove(&mut self, index: u32) -> u32 {
        let rq = self.rq(index);
        let (queue, meta) = (rq.queue, rq.request.flags.contains(Flags::META));
        self.unsort(queue, index);
        self.fifo_remove(queue, index);
        self.queued -= 1;
        let q = &mut self.queues[queue as usize];
        q.meta_pending -= u32::from(meta);
        if q.is_empty() {
            self.becomes_empty(queue);
        }
        queue
    }

    pub(crate) fn withdraw(&mut self, now: Jiffies, id: RequestId) {
        let Rq { queue, context, .. } = *self.rq(id.0);
        let was_next = self.queues[queue as usize].next_rq == id.0;
        self.withdrawn_next = was_next.then_some(id);
        self.remove(id.0);
        self.rqs[id.0 as usize] = None;
        // A merge does not make the driver ask again; a queue that is gone from the tree must.
        if self.queues[queue as usize].is_empty() {
            self.kick();
        }
        self.bury(now, queue, context);
    }

    fn fifo_append(&mut self, queue: u32, index: u32) {
        let tail = self.queues[queue as usize].fifo_tail;
        self.fifo_link(queue, tail, index);
    }

    /// Puts `index` right after `previous`, or first if that is `NIL`.
    fn fifo_link(&mut self, queue: u32, previous: u32, index: u32) {
        let next = match previous {
            NIL => self.queues[queue as usize].fifo_head,
            previous => self.rq(previous).fifo_next,
        };
        let rq = self.rq_mut(index);
        (rq.fifo_prev, rq.fifo_next) = (previous, next);
        match previous {
            NIL => self.queues[queue as usize].fifo_head = index,
            previous => self.rq_mut(previous).fifo_next = index,
        }
        match next {
            NIL => self.queues[queue as usize].fifo_tail = index,
            next => self.rq_mut(next).fifo_prev = index,
        }
    }

    fn fifo_remove(&mut self, queue: u32, index: u32) {
        let Rq { fifo_prev, fifo_next, .. } = *self.rq(index);
        match fifo_prev {
            NIL => self.queues[queue as usize].fifo_head = fifo_next,
            previous => self.rq_mut(previous).fifo_next = fifo_next,
        }
        match fifo_next {
            NIL => self.queues[queue as usize].fifo_tail = fifo_prev,
            next => self.rq_mut(next).fifo_prev = fifo_prev,
        }
    }

    /// Gives a request the place in the FIFO of one that arrived at `arrived`.
    fn fifo_move_up(&mut self, queue: u32, index: u32, arrived: Instant) {
        let mut previous = self.rq(index).fifo_prev;
        while previous != NIL && self.rq(previous).request.arrived > arrived {
            previous = self.rq(previous).fifo_prev;
        }
        self.fifo_remove(queue, index);
        self.fifo_link(queue, previous, index);
    }

    // ---- at the device -------------------------------------------------------------------

    pub(crate) fn activate(&mut self, id: RequestId) {
        let end = self.rq(id.0).request.end();
        self.driver.activated(end, self.tunables.quirks.q6_queueing_latched);
    }

    /// A request finished (spec: cfq, section 2.9). Says which layer it was of.
    pub(crate) fn complete(&mut self, now: Jiffies, id: RequestId) -> u32 {
        let Some(rq) = self.rqs[id.0 as usize].take() else {
            unreachable!("{id:?} finished but was not handed over")
        };
        let queue = rq.queue;
        if !self.tunables.quirks.q6_queueing_latched {
            self.driver.sample_depth(self.queued);
        }
        self.driver.in_driver -= 1;
        self.driver.outstanding -= 1;
        let q = &mut self.queues[queue as usize];
        q.dispatched -= 1;
        let layer = q.layer;
        self.layers[layer as usize].dispatched -= 1;
        self.driver.sync_flight -= u32::from(q.sync);
        if rq.request.sync {
            self.contexts[rq.context as usize].completed_sync(now);
        }
        if self.layers[layer as usize].active == queue {
            self.active_completed(now, queue, rq.request.sync);
        }
        self.kick();
        self.bury(now, queue, rq.context);
        layer
    }
}

/// Puts `item` into a free place of `items`.
fn put<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(at) => {
            items[at as usize] = item;
            at
        }
        None => {
            items.push(item);
            items.len() as u32 - 1
        }
    }
}

//! The working parts of CFQ over any number of layers: its state, arrival and completion. Whose
//! queue a request goes to is in `owners`, what a queue does with it in `pending`, how queues take
//! turns in `turns`, which request is handed over in `dispatch`, and when none is in `waits`.

use super::driver::Driver;
use super::jiffies::{Jiffies, Ticker};
use super::kicks::Kicks;
use super::layer::Layer;
use super::params::{CfqParams, Tunables};
use super::patience::Patience;
use super::queue::{NIL, Queue};
use super::requests::Requests;
use super::service::ServiceKey;
use super::tasks::Tasks;
use crate::slab::Slab;
use alloc::vec::Vec;
use fairdisk_core::tree::Forest;
use fairdisk_core::{Completion, Instant, Request, RequestId};

/// What became of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    /// The layer it was of.
    pub(crate) layer: u32,
    /// How long the disk may be kept for that layer if it has nothing else.
    pub(crate) wait: Jiffies,
}

/// The state of CFQ on one device.
#[derive(Debug)]
pub(crate) struct Cfq {
    pub(crate) tunables: Tunables,
    pub(crate) ticker: Ticker,
    pub(crate) driver: Driver,
    pub(crate) layers: Vec<Layer>,
    pub(crate) queues: Slab<Queue>,
    pub(crate) tasks: Tasks,
    pub(crate) requests: Requests,
    pub(crate) service: Forest<ServiceKey>,
    /// Requests in the queues of all layers.
    pub(crate) queued: u32,
    /// Queues of all layers with a pending request.
    pub(crate) busy: u32,
    /// Whether what depends on how many queues are busy looks at all of them, or at its layer's.
    pub(crate) device_wide_busy_count: bool,
    /// A dispatch round under way: its queue and how many requests it has moved.
    pub(crate) round: Option<(u32, u32)>,
    /// The request withdrawn last, if it was the next one of its queue.
    pub(crate) withdrawn_next: Option<RequestId>,
    /// Whether there is reason to look again at what to do.
    pub(crate) kicks: Kicks,
    /// Whether a layer that has run empty with its last task's slice may wait for that task.
    pub(crate) layer_idle: bool,
    /// The layer that does.
    pub(crate) waiting_layer: u32,
    /// The bound on waiting, where there is one. History had none.
    pub(crate) patience: Option<Patience>,
}

impl Cfq {
    pub(crate) fn new(params: &CfqParams) -> Self {
        let tunables = Tunables::new(params);
        Self {
            tunables,
            ticker: Ticker::new(params.hz, params.tick_phase),
            driver: Driver::new(tunables.queues_at_first()),
            layers: Vec::new(),
            queues: Slab::new(),
            tasks: Tasks::new(),
            requests: Requests::new(),
            service: Forest::new(),
            queued: 0,
            busy: 0,
            device_wide_busy_count: false,
            round: None,
            withdrawn_next: None,
            kicks: Kicks::default(),
            layer_idle: false,
            waiting_layer: NIL,
            patience: None,
        }
    }

    /// Makes sure that layer `layer` exists.
    pub(crate) fn add_layer(&mut self, layer: u32) {
        while self.layers.len() <= layer as usize {
            self.layers.push(Layer::new());
        }
    }

    /// It is this late now. The idle timer acts for the layer that has the disk, if one has.
    #[inline]
    pub(crate) fn tick(&mut self, now: Instant, layer: u32) -> Jiffies {
        let now = self.ticker.now(now);
        if layer != NIL {
            self.fire_timer(now, layer);
        }
        now
    }

    /// Whether a queue of the layer has a pending request.
    pub(crate) fn is_busy(&self, layer: u32) -> bool {
        self.layers[layer as usize].busy > 0
    }

    /// How many queues are busy, for one of this layer.
    pub(crate) fn busy_beside(&self, layer: u32) -> u32 {
        if self.device_wide_busy_count { self.busy } else { self.layers[layer as usize].busy }
    }

    /// Takes a request over; gives back one at the same position that must go first.
    pub(crate) fn admit(
        &mut self,
        now: Jiffies,
        request: &Request,
        layer: u32,
    ) -> Option<RequestId> {
        let context = self.tasks.find_or_make(now, request.task, layer, request.ioprio);
        self.tasks[context].reprioritise(request.ioprio);
        let queue = self.queue_of(context, request.sync);
        if request.sync {
            self.catch_up_priority(context);
        }
        self.kicks.arrived(self.queued);
        let displaced = self.store(now, request, queue, context);
        self.observe(now, request, queue, context);
        self.arrived(now, queue, request);
        displaced
    }

    /// Takes a new request into the statistics; they decide whether the disk may wait for the task
    /// (spec: cfq, section 2.11).
    fn observe(&mut self, now: Jiffies, request: &Request, queue: u32, context: u32) {
        let first_seeks = self.tunables.quirks.q5_first_request_seeks;
        let slice_idle = self.tunables.slice_idle;
        // Where tasks are served together that is decided when it matters.
        let one_by_one = self.driver.queueing && !self.driver.together;
        let queue = &mut self.queues[queue];
        let layer = &mut self.layers[queue.layer as usize];
        let layer_idle = layer.idle.unwrap_or(0);
        let think_max = 2 * slice_idle.max(layer_idle);
        let context = &mut self.tasks[context];
        context.observe_think(now, think_max);
        context.seek.observe(request.start, request.end(), first_seeks);
        if let Some(emptied) = layer.emptied.take_if(|_| queue.sync) {
            layer.think.add_think_time((now - emptied).clamp(0, think_max) as u64);
        }
        queue.seeks = context.seek.is_valid() && context.seek.seeks();
        if !queue.sync || queue.is_idle_class() {
            return;
        }
        if !context.alive || slice_idle == 0 || (one_by_one && context.seek.seeks()) {
            queue.idle_window = false;
        } else if context.think.is_valid() {
            queue.idle_window = context.think.mean() <= slice_idle as u64;
        }
    }

    /// The layer of a request.
    pub(crate) fn layer_of(&self, id: RequestId) -> u32 {
        self.queues[self.requests[id.0].queue].layer
    }

    /// The driver has looked at a request.
    pub(crate) fn activate(&mut self, id: RequestId) {
        let end = self.requests[id.0].end;
        self.driver.activated(end, self.tunables.quirks.q6_queueing_latched);
    }

    /// A request finished (spec: cfq, section 2.9). `keeps`: the disk may be kept for its layer.
    pub(crate) fn complete(
        &mut self,
        now: Jiffies,
        completion: &Completion,
        keeps: bool,
    ) -> Completed {
        let rq = self.requests.take(completion.request.0);
        if let Some(patience) = &mut self.patience {
            patience.completed(completion.device_time);
        }
        if !self.tunables.quirks.q6_queueing_latched {
            self.driver.sample_depth(self.queued);
        }
        let q = &mut self.queues[rq.queue];
        q.dispatched -= 1;
        let layer = q.layer;
        self.driver.completed(q.sync);
        let l = &mut self.layers[layer as usize];
        l.completed(now);
        let is_active = l.active == rq.queue;
        self.count(rq.queue);
        if rq.sync {
            self.tasks[rq.context].completed_sync(now);
        }
        if is_active {
            self.active_completed(now, rq.queue, rq.sync);
            if self.layer_idle && rq.sync {
                self.arm_layer_idle(now, rq.queue, rq.context);
            }
        }
        // The driver has room again and asks.
        self.kicks.kick();
        let wait = if keeps && rq.sync { self.layer_patience(rq.queue, rq.context) } else { 0 };
        self.let_go(now, rq.queue, rq.context);
        Completed { layer, wait }
    }
}

//! The core of CFQ over any number of layers: its state, arrivals and completions. Module `owners`
//! selects the queue of a request, `pending` orders the requests of a queue, `turns` the queues of
//! a layer, `dispatch` selects the next request, and `waits` decides when to dispatch none.

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

/// The result of a completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    /// The layer of the completed request.
    pub(crate) layer: u32,
    /// How long the disk may be kept for that layer if it has nothing queued; 0 for not at all.
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
    /// Requests queued in all layers.
    pub(crate) queued: u32,
    /// Queues with a pending request, in all layers.
    pub(crate) busy: u32,
    /// Whether decisions that depend on the number of busy queues count those of the whole device
    /// rather than of one layer.
    pub(crate) device_wide_busy_count: bool,
    /// The current dispatch round: its queue and the number of requests moved so far.
    pub(crate) round: Option<(u32, u32)>,
    /// The request withdrawn last, if it was the next one of its queue.
    pub(crate) withdrawn_next: Option<RequestId>,
    /// Whether the driver has reason to ask again.
    pub(crate) kicks: Kicks,
    /// Whether a layer that has run empty may idle for its last task when that task's slice ends.
    pub(crate) layer_idle: bool,
    /// The layer that the disk is being kept for, or [`NIL`].
    pub(crate) waiting_layer: u32,
    /// The bound on waiting; `None` for the historical CFQs, which have none.
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

    /// Ensures that layer `layer` exists.
    pub(crate) fn add_layer(&mut self, layer: u32) {
        while self.layers.len() <= layer as usize {
            self.layers.push(Layer::new());
        }
    }

    /// Advances the clock to `now` and lets a due idle timer act, for the layer that has the disk.
    #[inline]
    pub(crate) fn tick(&mut self, now: Instant, layer: u32) -> Jiffies {
        let now = self.ticker.now(now);
        if layer != NIL {
            self.fire_timer(now, layer);
        }
        now
    }

    /// Whether any queue of the layer has a pending request.
    pub(crate) fn is_busy(&self, layer: u32) -> bool {
        self.layers[layer as usize].busy > 0
    }

    /// The number of busy queues that matters to a decision in this layer.
    pub(crate) fn busy_beside(&self, layer: u32) -> u32 {
        if self.device_wide_busy_count { self.busy } else { self.layers[layer as usize].busy }
    }

    /// Queues a request. Returns an older request at the same position, if it must go to the device
    /// first.
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

    /// Updates the statistics with a new request. They decide whether the disk may idle for its
    /// task (spec: cfq, section 2.11).
    fn observe(&mut self, now: Jiffies, request: &Request, queue: u32, context: u32) {
        let first_seeks = self.tunables.quirks.q5_first_request_seeks;
        let slice_idle = self.tunables.slice_idle;
        // When tasks are served together, this is decided at the time of idling instead.
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

    /// The layer of a known request.
    pub(crate) fn layer_of(&self, id: RequestId) -> u32 {
        self.queues[self.requests[id.0].queue].layer
    }

    /// Counts a request that the driver has looked at.
    pub(crate) fn activate(&mut self, id: RequestId) {
        let end = self.requests[id.0].end;
        self.driver.activated(end, self.tunables.quirks.q6_queueing_latched);
    }

    /// Handles a completed request (spec: cfq, section 2.9). `keeps` says whether the disk may be
    /// kept for its layer.
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
        // The driver has room again and will ask for a request.
        self.kicks.kick();
        let wait = if keeps && rq.sync { self.layer_patience(rq.queue, rq.context) } else { 0 };
        self.let_go(now, rq.queue, rq.context);
        Completed { layer, wait }
    }
}

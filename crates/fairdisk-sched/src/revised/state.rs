//! The scheduler's state, arrivals and completions. Module `owners` selects the queue of a request,
//! `pending` orders the requests of a queue, `service` places queues in trees, `turns` determines
//! whose turn it is, `dispatch` selects the next request, and `waits` and `idling` decide when to
//! dispatch none.

use super::groups::Groups;
use super::queue::{Place, Queue};
use super::queueing::{Queueing, Sample};
use super::workload::Serving;
use crate::cfq::CfqParams;
use crate::cfq::jiffies::{Jiffies, Ticker};
use crate::cfq::kicks::Kicks;
use crate::cfq::params::Tunables;
use crate::cfq::priority::AsyncQueues;
use crate::cfq::queue::NIL;
use crate::cfq::requests::Requests;
use crate::cfq::service::ServiceKey;
use crate::cfq::switches::Switches;
use crate::cfq::tasks::Tasks;
use crate::slab::Slab;
use alloc::vec;
use alloc::vec::Vec;
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{Completion, Flags, IoPrio, Lba, Request, RequestId, Why};

/// State of the device and its driver.
#[derive(Clone, Debug)]
pub(super) struct Device {
    /// Requests the driver has looked at that have not completed: of asynchronous queues, then of
    /// synchronous ones.
    pub(super) in_driver: [u32; 2],
    /// Requests dispatched and not completed, indexed in the same way.
    pub(super) in_flight: [u32; 2],
    pub(super) queueing: Queueing,
    /// Whether the device has no moving head.
    pub(super) non_rotational: bool,
    /// The context being served.
    pub(super) active_context: u32,
    /// The end of the last request the driver looked at.
    pub(super) last_position: Lba,
    /// When idling for the task being served ends; `None` while not idling.
    pub(super) idle_timer: Option<Jiffies>,
    /// When the last synchronous request completed; with a switch on, the last one that was late.
    pub(super) last_sync_end: Option<Jiffies>,
}

impl Device {
    pub(super) const fn outstanding(&self) -> u32 {
        self.in_flight[0] + self.in_flight[1]
    }

    pub(super) const fn all_in_driver(&self) -> u32 {
        self.in_driver[0] + self.in_driver[1]
    }

    /// Whether the device has no moving head and queues commands.
    pub(super) fn is_queueing_flash(&self) -> bool {
        self.non_rotational && self.queueing.is_likely()
    }
}

/// The state of CFQ on one device.
#[derive(Debug)]
pub(super) struct State {
    pub(super) tunables: Tunables,
    /// The switches that have an effect.
    pub(super) on: Switches,
    pub(super) low_latency: bool,
    /// Whether queues for which the disk does not idle stay in their group.
    pub(super) group_isolation: bool,
    pub(super) ticker: Ticker,
    pub(super) device: Device,
    pub(super) groups: Groups,
    pub(super) serving: Serving,
    pub(super) queues: Slab<Queue>,
    pub(super) async_queues: AsyncQueues,
    pub(super) tasks: Tasks,
    pub(super) requests: Requests,
    pub(super) service: Forest<ServiceKey>,
    /// Where each queue would read next; one tree per level.
    pub(super) positions: Forest<u64>,
    pub(super) position_trees: Vec<Tree>,
    /// Queues in the service trees.
    pub(super) busy: u32,
    /// Requests in all queues.
    pub(super) queued: u32,
    /// The queue that has the disk.
    pub(super) active: u32,
    /// Why the previous active queue lost the disk.
    pub(super) turn_ended: Why,
    /// The current dispatch round: its queue and the number of requests moved so far.
    pub(super) round: Option<(u32, u32)>,
    /// The request withdrawn last, if it was the next one of its queue.
    pub(super) withdrawn_next: Option<RequestId>,
    /// Whether the driver has reason to ask again.
    pub(super) kicks: Kicks,
}

impl State {
    pub(super) fn new(params: &CfqParams) -> Self {
        let tunables = Tunables::new(params);
        // A quirk that is off is a change that is on.
        let mut on = params.switches;
        on.queueing_sampled |= !tunables.quirks.q6_queueing_latched;
        on.idle_when_drained |= !tunables.quirks.q8_idle_while_busy;
        let on = on.effective();
        Self {
            tunables,
            on,
            low_latency: params.low_latency,
            group_isolation: params.group_isolation,
            ticker: Ticker::new(params.hz, params.tick_phase),
            device: Device {
                in_driver: [0; 2],
                in_flight: [0; 2],
                queueing: Queueing::new(&on, params.queueing_seen),
                non_rotational: false,
                active_context: NIL,
                last_position: Lba(0),
                idle_timer: None,
                last_sync_end: None,
            },
            groups: Groups::new(),
            serving: Serving::new(),
            queues: Slab::new(),
            async_queues: AsyncQueues::new(NIL),
            tasks: Tasks::new(),
            requests: Requests::new(),
            service: Forest::new(),
            positions: Forest::new(),
            position_trees: vec![Tree::new(); IoPrio::LEVELS as usize],
            busy: 0,
            queued: 0,
            active: NIL,
            turn_ended: Why::QueueEmptied,
            round: None,
            withdrawn_next: None,
            kicks: Kicks::default(),
        }
    }

    pub(super) fn tree(&self, place: Place) -> &Tree {
        &self.groups[place.group].trees[place.tree]
    }

    /// The queue that has the disk.
    pub(super) fn active_queue(&self) -> Option<&Queue> {
        self.queues.get(self.active)
    }

    /// Queues a request. Returns an older request at the same position, if it must go to the device
    /// first.
    pub(super) fn admit(&mut self, now: Jiffies, request: &Request) -> Option<RequestId> {
        self.start_clocks(now);
        let context = self.tasks.find_or_make(now, request.task, 0, request.ioprio);
        self.tasks[context].reprioritise(request.ioprio);
        let queue = self.queue_for(now, context, request);
        if request.sync {
            self.catch_up_priority(context);
        }
        self.kicks.arrived(self.queued);
        let displaced = self.store(now, request, queue, context);
        self.observe(now, request, queue, context);
        self.arrived(now, queue, request);
        displaced
    }

    /// Starts the clock since the last synchronous completion. Until there has been one, the time
    /// counts from the scheduler's first call, or from one second before it.
    pub(super) fn start_clocks(&mut self, now: Jiffies) {
        let before = if self.on.ramp_only_if_delayed { self.tunables.hz } else { 0 };
        self.device.last_sync_end.get_or_insert(now - before);
    }

    /// Counts a request that the driver has looked at.
    pub(super) fn activate(&mut self, id: RequestId) {
        let rq = &self.requests[id.0];
        self.device.last_position = rq.end;
        let sync = self.queues[rq.queue].sync;
        self.device.in_driver[usize::from(sync)] += 1;
        if !self.on.queueing_sampled {
            self.device.queueing.activated(self.device.all_in_driver());
        }
    }

    /// Handles a completed request (spec: cfq, sections 2.9, 3.6, 4.9).
    pub(super) fn complete(&mut self, now: Jiffies, completion: &Completion) {
        self.sample_depth();
        let rq = self.requests.take(completion.request.0);
        let q = &mut self.queues[rq.queue];
        q.dispatched -= 1;
        let sync = usize::from(q.sync);
        self.device.in_driver[sync] -= 1;
        self.device.in_flight[sync] -= 1;
        if rq.sync {
            self.tasks[rq.context].completed_sync(now);
            let age = now - self.ticker.jiffies(rq.arrived);
            if !self.on.ramp_only_if_delayed || age >= self.tunables.fifo_expire(true) {
                self.device.last_sync_end = Some(now);
            }
        }
        if self.active == rq.queue {
            self.active_completed(now, rq.sync, rq.flags.contains(Flags::NOIDLE));
        }
        // The driver has room again and will ask for a request.
        self.kicks.kick();
        self.let_go(now, rq.queue, rq.context);
    }

    fn sample_depth(&mut self) {
        if !self.on.queueing_sampled {
            return;
        }
        let served = self.active_queue().filter(|active| active.idle_window);
        let sample = Sample {
            in_driver: self.device.all_in_driver(),
            queued: self.queued,
            waited_for: served.map(|queue| queue.dispatched + queue.pending.len()),
        };
        self.device.queueing.sample(sample, &self.on);
    }
}

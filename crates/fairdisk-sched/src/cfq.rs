//! CFQ, "completely fair queueing": every task has a queue, queues take turns in slices of disk
//! time, and the disk idles briefly for the next request of the task being served (spec: cfq,
//! section 2).

pub(crate) mod choose;
pub(crate) mod context;
pub(crate) mod dispatch;
mod driver;
pub(crate) mod engine;
pub(crate) mod jiffies;
pub(crate) mod kicks;
pub(crate) mod layer;
pub(crate) mod layer_turn;
mod owners;
pub(crate) mod params;
pub(crate) mod patience;
pub(crate) mod pending;
pub(crate) mod priority;
pub(crate) mod queue;
pub(crate) mod requests;
pub(crate) mod service;
mod store;
pub mod switches;
pub(crate) mod tasks;
mod together;
mod turns;
mod waits;

pub use params::{CfqParams, Quirks};
pub use switches::{SWITCHES, Switches};

use fairdisk_core::{
    Admission, Bio, Change, Completion, Decision, Description, Driving, Elevator, Handover,
    Instant, MayQueue, Merge, Merging, Request, RequestId,
};

/// CFQ without groups: one layer contains the queues of all tasks.
#[derive(Debug)]
pub struct Cfq {
    inner: engine::Cfq,
}

/// The number of the only layer.
const LAYER: u32 = 0;

impl Cfq {
    /// A CFQ scheduler with the given tunables and quirks. It knows none of the later changes.
    ///
    /// # Panics
    /// If any of them is switched on.
    #[must_use]
    pub fn new(params: &CfqParams) -> Self {
        assert!(params.switches == Switches::NONE, "later revisions have code of their own");
        let mut inner = engine::Cfq::new(params);
        inner.add_layer(LAYER);
        Self { inner }
    }
}

impl Elevator for Cfq {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        let now = self.inner.tick(now, LAYER);
        match self.inner.admit(now, request, LAYER) {
            Some(older) => Admission::Displaces(older),
            None => Admission::Queued,
        }
    }

    fn decide(&mut self, now: Instant) -> Decision {
        let now = self.inner.tick(now, LAYER);
        if let Some(standing) = self.inner.kicks.standing() {
            return standing;
        }
        self.inner.dispatch(now, LAYER).or_wait(|why| self.inner.wait(why))
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        let now = self.inner.tick(now, LAYER);
        self.inner.complete(now, completion, false);
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        let now = self.inner.ticker.now(now);
        self.inner.withdraw(now, id);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        let now = self.inner.ticker.now(now);
        self.inner.drain(now, LAYER)
    }

    fn describe(&self) -> Description {
        Description::new("cfq-2.6.25", Handover::Batch)
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        let now = self.inner.ticker.now(now);
        match *change {
            Change::TaskExited { task } => self.inner.task_exited(now, task),
            Change::Depth { depth } => self.inner.takes_at_once(depth),
            _ => {}
        }
    }
}

impl Merging for Cfq {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        self.inner.may_merge(request, bio, LAYER)
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.inner.merged(request, how);
    }

    fn displaced(&mut self, now: Instant, moved: RequestId) -> Option<RequestId> {
        let now = self.inner.ticker.now(now);
        self.inner.displaced(now, moved)
    }
}

impl Driving for Cfq {
    fn may_queue(&mut self, _now: Instant, bio: &Bio) -> MayQueue {
        self.inner.may_queue(bio, LAYER)
    }

    fn runs_driver_at(&self) -> Option<Instant> {
        self.inner.runs_driver_at()
    }

    fn activate(&mut self, _now: Instant, id: RequestId) {
        self.inner.activate(id);
    }
}

fairdisk_core::default_extensions!(Cfq: Hearing, Promising, Reporting, Attaching);

//! CFQ in its revisions from 2.6.32 on, with every change between them as a switch (spec: cfq,
//! sections 3 to 5).
//!
//! With all switches off it makes the same decisions as the CFQ of 2.6.25. That one has an
//! implementation of its own, on which two-layer CFQ is also built: it consists of complete
//! schedulers in layers, while this one keeps trees by group, class and kind under a single
//! scheduler.

mod close;
mod cooperation;
mod dispatch;
mod group;
mod groups;
mod idling;
mod owners;
mod preempt;
mod queue;
mod queueing;
mod service;
mod state;
mod store;
mod turns;
mod waits;
mod window;
mod workload;

use crate::cfq::CfqParams;
use fairdisk_core::{
    Admission, Bio, Change, Completion, Decision, Description, Driving, Elevator, GroupId,
    Handover, Instant, MayQueue, Merge, Merging, Reporting, Request, RequestId, Span,
};
use state::State;

/// CFQ of a later revision; see the [module documentation](self).
#[derive(Debug)]
pub struct RevisedCfq {
    state: State,
    name: &'static str,
}

impl RevisedCfq {
    /// A CFQ scheduler with the given tunables, quirks and switches.
    #[must_use]
    pub fn new(params: &CfqParams) -> Self {
        // A set of switches that is not a revision's goes by the family's name.
        let name = params.switches.revision().unwrap_or("cfq");
        Self { state: State::new(params), name }
    }
}

impl Elevator for RevisedCfq {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        let now = self.state.ticker.now(now);
        self.state.fire_timer(now);
        self.state.admit(now, request).map_or(Admission::Queued, Admission::Displaces)
    }

    fn decide(&mut self, now: Instant) -> Decision {
        let now = self.state.ticker.now(now);
        self.state.fire_timer(now);
        if let Some(standing) = self.state.kicks.standing() {
            return standing;
        }
        self.state.dispatch(now).or_wait(|why| self.state.wait(why))
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        let now = self.state.ticker.now(now);
        self.state.fire_timer(now);
        self.state.complete(now, completion);
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        let now = self.state.ticker.now(now);
        self.state.withdraw(now, id);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        let now = self.state.ticker.now(now);
        self.state.drain(now)
    }

    fn describe(&self) -> Description {
        let one = self.state.on.dispatch_one;
        let handover = if one { Handover::Single } else { Handover::Batch };
        Description::new(self.name, handover)
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        let now = self.state.ticker.now(now);
        self.state.start_clocks(now);
        match *change {
            Change::TaskExited { task } => self.state.task_exited(now, task),
            Change::GroupAdded { group, share } => self.state.groups.set_share(group, share, false),
            Change::GroupShare { group, share } => {
                let live = self.state.on.weight_update;
                self.state.groups.set_share(group, share, live);
            }
            Change::GroupRemoved { group } => self.state.groups.remove(group),
            Change::Rotational { rotational } => self.state.device.non_rotational = !rotational,
            _ => {}
        }
    }
}

impl Merging for RevisedCfq {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        self.state.may_merge(request, bio)
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.state.merged(request, how);
    }

    fn displaced(&mut self, now: Instant, moved: RequestId) -> Option<RequestId> {
        let now = self.state.ticker.now(now);
        self.state.displaced(now, moved)
    }
}

impl Driving for RevisedCfq {
    fn may_queue(&mut self, _now: Instant, bio: &Bio) -> MayQueue {
        self.state.may_queue(bio)
    }

    fn runs_driver_at(&self) -> Option<Instant> {
        self.state.runs_driver_at()
    }

    fn activate(&mut self, _now: Instant, id: RequestId) {
        self.state.activate(id);
    }
}

impl Reporting for RevisedCfq {
    fn charged(&self, group: GroupId) -> Option<Span> {
        self.state.charged(group)
    }
}

fairdisk_core::default_extensions!(RevisedCfq: Hearing, Promising, Attaching);

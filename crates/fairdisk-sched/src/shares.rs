//! Shares of what the device can do, in the manner of Seastar's I/O scheduler.
//!
//! A request costs a part of a second of device time. Every class of requests (here: group)
//! accumulates the cost it was served, divided by its shares, and the class with the smallest sum
//! is next. Classes may be nested, one level deep. The device is given only as much as it completes
//! within the latency goal: a token bucket limits the cost released per second, and the cost in
//! flight is at most that of the goal.
//!
//! Sources: Seastar, doc/io-scheduler.md and io-properties-file.md; Pavel Emelyanov, "Implementing
//! a New IO Scheduler Algorithm for Mixed Read/Write Workloads", ScyllaDB blog, 2022; Glauber
//! Costa, "Designing a Userspace Disk I/O Scheduler for Modern Datastores: the Scylla example",
//! ScyllaDB blog, 2016.
//!
//! Floors, ceilings, latency targets of groups and priorities of tasks are not honoured. A group
//! that is nested deeper counts as directly inside its outermost group.

mod classes;

use crate::family::Family;
use crate::groups::{Costs, GroupQueues};
use crate::honours::{Honours, Nesting};
use alloc::vec::Vec;
use classes::Classes;
use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, GroupId, Handover, Instant,
    Merge, Merging, Request, RequestId, Share, Span, WeightMap, Why, dense,
};

/// The settings of the elevator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharesParams {
    /// The device is given no more than it completes in this time (`io-latency-goal-ms`).
    pub latency_goal: Span,
    /// The most service that a returning class may claim for the time it was away (`tau`).
    pub forgiven: Span,
    /// How group priorities are converted to weights.
    pub weight_map: WeightMap,
}

impl Default for SharesParams {
    /// Seastar's defaults: a goal of one and a half times its task quota of 0.5 ms, and 5 ms.
    fn default() -> Self {
        Self {
            latency_goal: Span::from_us(750),
            forgiven: Span::from_ms(5),
            weight_map: WeightMap::LinearHigh0,
        }
    }
}

impl Family for SharesParams {
    const NAME: &'static str = "shares";
    type Scheduler = Shares;

    fn honours(&self) -> Honours {
        Honours { shares: true, nesting: Nesting::OneLevel, costs: true, ..Honours::NONE }
    }

    fn build(&self) -> Shares {
        Shares::new(*self)
    }
}

/// Seastar's elevator; see the [module documentation](self).
#[derive(Debug)]
pub struct Shares {
    params: SharesParams,
    queues: GroupQueues,
    classes: Classes,
    costs: Costs,
    /// When the device will have completed what it was given, by the cost model.
    done_at: Instant,
    /// Cost of all requests in flight.
    in_flight: Span,
    /// Cost of each request in flight; indexed by slot.
    charged: Vec<Span>,
}

impl Shares {
    /// An elevator with nothing queued.
    #[must_use]
    pub const fn new(params: SharesParams) -> Self {
        Self {
            params,
            queues: GroupQueues::new(),
            classes: Classes::new(params.forgiven),
            costs: Costs::new(),
            done_at: Instant::ZERO,
            in_flight: Span::ZERO,
            charged: Vec::new(),
        }
    }

    /// The wait to return if the device must not get more at this moment. Without a cost model
    /// there is no limit: the device gets all it takes.
    fn brake(&self, now: Instant) -> Option<Decision> {
        if !self.costs.are_told() {
            return None;
        }
        let goal = self.params.latency_goal;
        if self.in_flight >= goal && self.in_flight > Span::ZERO {
            return Some(Decision::WaitCompletion(Why::DeviceBusy));
        }
        let from = Instant::from_ns(self.done_at.as_ns().saturating_sub(goal.as_ns()));
        (from > now).then_some(Decision::WaitUntil(from, Why::DeviceBusy))
    }

    fn dispatch(&mut self, now: Instant, group: u32) -> Option<RequestId> {
        let first = *self.queues.first(group)?;
        let cost = self.costs.of(&first, self.queues.is_sequential(&first));
        self.queues.dispatch(group);
        self.classes.served(group, cost, self.queues.first(group).is_some());
        self.done_at = self.done_at.max(now) + cost;
        self.in_flight += cost;
        *dense::entry(&mut self.charged, first.id.0, || Span::ZERO) = cost;
        Some(first.id)
    }

    fn set_share(&mut self, group: GroupId, share: Share) {
        self.classes.set_shares(group.0, share.weight(self.params.weight_map));
    }

    /// Resets a group whose number may have belonged to another group before.
    fn begin(&mut self, group: GroupId, share: Share) {
        self.classes.set_outer(group.0, None);
        self.classes.forget(group.0);
        self.set_share(group, share);
    }
}

impl Elevator for Shares {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        let group = request.group.0;
        let was_away = self.queues.first(group).is_none();
        self.queues.push(request);
        if was_away {
            self.classes.join(group);
        }
        Admission::Queued
    }

    fn decide(&mut self, now: Instant) -> Decision {
        let Some(group) = self.classes.next() else { return self.queues.rest() };
        if let Some(wait) = self.brake(now) {
            return wait;
        }
        match self.dispatch(now, group) {
            Some(id) => Decision::Dispatch(id, Why::LeastServed),
            None => self.queues.rest(),
        }
    }

    fn complete(&mut self, _now: Instant, completion: &Completion) {
        let request = self.queues.complete(completion.request);
        self.in_flight = self.in_flight - self.charged[request.id.0 as usize];
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        let group = self.queues.remove(id).group.0;
        if self.queues.first(group).is_none() {
            self.classes.leave(group);
        }
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        let group = self.classes.next()?;
        let id = self.queues.first(group)?.id;
        self.withdraw(now, id);
        Some(id)
    }

    fn describe(&self) -> Description {
        Description::new(SharesParams::NAME, Handover::Single)
    }

    fn configure(&mut self, _now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, share } => self.begin(group, share),
            Change::GroupRemoved { group } => self.begin(group, Share::DEFAULT),
            Change::GroupShare { group, share } => self.set_share(group, share),
            Change::GroupParent { group, parent } => {
                self.classes.set_outer(group.0, parent.map(|parent| parent.0));
            }
            Change::Costs(costs) => self.costs.tell(costs),
            Change::Rotational { rotational } => self.costs.set_rotational(rotational),
            _ => {}
        }
    }
}

impl Merging for Shares {
    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.queues.merged(request, how);
    }
}

fairdisk_core::default_extensions!(Shares: Driving, Hearing, Promising, Reporting, Attaching);

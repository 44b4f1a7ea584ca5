//! Rate limits: what virtual machines and storage servers do to keep a tenant from taking more than
//! was agreed. A group with a ceiling passes as its buckets let it; everybody else, and everything
//! that may pass, is served first come, first served.
//!
//! Sources: Alberto Garcia, "The QEMU throttling infrastructure", docs/throttle.txt of QEMU, 2016
//! (leaky buckets for I/Os and bytes; both must let a request pass; groups share a limit and take
//! turns); SPDK block device user guide, "rate limiting", and issue 791 (quotas of time slices of
//! 1 ms); nbdkit-rate-filter(1) (a bucket for bytes).
//!
//! Shares, floors, latency targets, priorities and what requests cost are not looked at, and groups
//! in groups are groups beside each other: none of the originals knows them.

use crate::groups::{GroupQueues, Meter, Order};
use alloc::vec::Vec;
use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, GroupId, Handover, Instant,
    Merge, Qos, Request, RequestId, Span, Why,
};

/// How ceilings are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenBucketParams {
    /// Ceilings hold within each slice of this length, and nothing is saved for the next: SPDK's
    /// way. Without it groups may be ahead of their ceilings by their burst: QEMU's way.
    pub slice: Option<Span>,
}

/// Groups that may do so much and no more.
#[derive(Debug)]
pub struct TokenBucket {
    params: TokenBucketParams,
    queues: GroupQueues,
    meters: Vec<Meter>,
    /// The groups with requests queued, by when their first one came or may pass.
    order: Order<Instant>,
}

impl TokenBucket {
    /// An empty elevator.
    #[must_use]
    pub const fn new(params: TokenBucketParams) -> Self {
        Self { params, queues: GroupQueues::new(), meters: Vec::new(), order: Order::new() }
    }

    fn meter(&mut self, group: u32) -> &mut Meter {
        if group as usize >= self.meters.len() {
            self.meters.resize(group as usize + 1, Meter::new(self.params.slice));
        }
        &mut self.meters[group as usize]
    }

    /// The group's first request, or what holds it, is another than before.
    fn place(&mut self, group: u32) {
        let arrived = self.queues.first(group).map(|first| first.arrived);
        let at = arrived.map(|arrived| self.meter(group).ready_at().max(arrived));
        self.order.place(group, at);
    }

    fn limit(&mut self, now: Instant, group: GroupId, qos: Qos) {
        self.meter(group.0).set(now, qos.ceiling, qos.burst);
        self.place(group.0);
    }

    /// Another group may have had this number.
    fn begin(&mut self, group: GroupId) {
        *self.meter(group.0) = Meter::new(self.params.slice);
        self.place(group.0);
    }
}

impl Elevator for TokenBucket {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        self.queues.push(request);
        if self.order.key(request.group.0).is_none() {
            self.place(request.group.0);
        }
        Admission::Queued
    }

    fn decide(&mut self, now: Instant) -> Decision {
        let Some((group, at)) = self.order.first() else { return self.queues.rest() };
        if at > now {
            return Decision::WaitUntil(at, Why::AtCeiling);
        }
        let Some(request) = self.queues.dispatch(group) else { return self.queues.rest() };
        // It was let go at that time, and has been in line since.
        self.meter(group).pass(at, request.sectors.bytes());
        self.place(group);
        Decision::Dispatch(request.id, Why::ArrivedFirst)
    }

    fn complete(&mut self, _now: Instant, completion: &Completion) {
        self.queues.complete(completion.request);
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        let request = self.queues.remove(id);
        self.place(request.group.0);
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, .. } | Change::GroupRemoved { group } => self.begin(group),
            Change::GroupQos { group, qos } => self.limit(now, group, qos),
            _ => {}
        }
    }

    fn describe(&self) -> Description {
        Description {
            name: "token-bucket",
            handover: Handover::Single,
            wait_max: None,
            overtaken_max: None,
        }
    }

    fn merged(&mut self, _now: Instant, request: &Request, _how: Merge) {
        self.queues.know(request);
        self.place(request.group.0);
    }

    fn drain(&mut self, _now: Instant) -> Option<RequestId> {
        let (group, _) = self.order.first()?;
        let id = self.queues.first(group)?.id;
        self.queues.remove(id);
        self.place(group);
        Some(id)
    }
}

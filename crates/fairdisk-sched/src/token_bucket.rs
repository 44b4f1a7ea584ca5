//! Rate limits, as virtual machine monitors and storage servers use them to keep a tenant from
//! exceeding its allowance. A group with a ceiling passes as its buckets allow; groups without one,
//! and all requests that may pass, are served first come, first served.
//!
//! Sources: Alberto Garcia, "The QEMU throttling infrastructure", docs/throttle.txt of QEMU, 2016
//! (leaky buckets for I/Os and bytes; both must let a request pass; groups share a limit and take
//! turns); SPDK block device user guide, "rate limiting", and issue 791 (quotas of time slices of 1
//! ms); nbdkit-rate-filter(1) (a bucket for bytes).
//!
//! Shares, floors, latency targets, priorities and request costs are not honoured, and nested
//! groups count as groups beside each other: none of the originals has them.

use crate::family::Family;
use crate::groups::{Amount, Ceiling, GroupQueues, Order};
use crate::honours::Honours;
use alloc::vec::Vec;
use fairdisk_core::{
    Admission, Bio, Change, Completion, Decision, Description, Elevator, GroupId, Handover,
    Instant, Merge, Merging, Qos, Reporting, Request, RequestId, Span, Why, dense,
};

/// How ceilings are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenBucketParams {
    /// With a slice, ceilings hold within each slice of this length and nothing is saved for the
    /// next one, as in SPDK. Without it, groups may run ahead of their ceilings by their burst, as
    /// in QEMU.
    pub slice: Option<Span>,
}

impl Family for TokenBucketParams {
    const NAME: &'static str = "token-bucket";
    type Scheduler = TokenBucket;

    fn honours(&self) -> Honours {
        Honours { ceilings: true, shaped_ceilings: true, bursts: true, ..Honours::NONE }
    }

    fn build(&self) -> TokenBucket {
        TokenBucket::new(*self)
    }
}

/// A group's ceiling and how much of it has been used.
#[derive(Clone, Copy, Debug)]
struct Limit {
    qos: Qos,
    used: Ceiling,
}

/// The rate-limiting elevator; see the [module documentation](self).
#[derive(Debug)]
pub struct TokenBucket {
    params: TokenBucketParams,
    queues: GroupQueues,
    limits: Vec<Limit>,
    /// Groups with queued requests, by when their first request arrived or may pass.
    order: Order<Instant>,
}

impl TokenBucket {
    /// An elevator with nothing queued.
    #[must_use]
    pub const fn new(params: TokenBucketParams) -> Self {
        Self { params, queues: GroupQueues::new(), limits: Vec::new(), order: Order::new() }
    }

    fn limit(&mut self, group: u32) -> &mut Limit {
        dense::entry(&mut self.limits, group, || Limit::NONE)
    }

    /// Updates the group's place after its first request or its limit has changed.
    fn place(&mut self, group: u32) {
        let slice = self.params.slice;
        let first = self.queues.first(group).map(|first| (first.arrived, first.id));
        let at = first.map(|(arrived, id)| {
            let amount = self.queues.amount(id);
            self.limit(group).ready_at(slice, amount).max(arrived)
        });
        self.order.place(group, at);
    }

    fn set_limit(&mut self, now: Instant, group: GroupId, qos: Qos) {
        self.limit(group.0).set(now, qos);
        self.place(group.0);
    }

    /// Whether the ceiling of the request's group lets it grow by `more`.
    fn lets_grow(&self, request: &Request, more: Amount) -> bool {
        let amount = self.queues.amount(request.id).and(more);
        let limit = self.limits.get(request.group.0 as usize);
        limit.is_none_or(|limit| limit.may_grow_to(amount))
    }

    /// Resets a group whose number may have belonged to another group before.
    fn begin(&mut self, group: GroupId) {
        *self.limit(group.0) = Limit::NONE;
        self.place(group.0);
    }
}

impl Limit {
    const NONE: Self = Self { qos: Qos::NONE, used: Ceiling::EMPTY };

    fn set(&mut self, now: Instant, qos: Qos) {
        self.used.change(now, &self.qos, &qos);
        self.qos = qos;
    }

    /// The first instant at which a request of this size may pass. Within slices that is any
    /// request: one that begins within the ceiling may end above it.
    fn ready_at(&self, slice: Option<Span>, amount: Amount) -> Instant {
        let ready = match slice {
            Some(_) => self.used.empty_at(&self.qos),
            None => self.used.ready_at(&self.qos, amount),
        };
        start_of_slice(ready, slice)
    }

    fn may_grow_to(&self, amount: Amount) -> bool {
        Ceiling::may_grow_to(&self.qos, amount)
    }

    /// Accounts for `amount` that passes at `now`, counted from the start of its slice.
    fn pass(&mut self, now: Instant, slice: Option<Span>, amount: Amount) {
        self.used.pass(start_of_slice(now, slice), &self.qos, amount);
    }
}

fn start_of_slice(at: Instant, slice: Option<Span>) -> Instant {
    let Some(slice) = slice else { return at };
    Instant::from_ns(at.as_ns() - at.as_ns() % slice.as_ns().max(1))
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
        // The request was free to go at that time and has been in line since.
        let slice = self.params.slice;
        let amount = self.queues.amount(request.id);
        self.limit(group).pass(at, slice, amount);
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

    fn drain(&mut self, _now: Instant) -> Option<RequestId> {
        let (group, _) = self.order.first()?;
        let id = self.queues.first(group)?.id;
        self.queues.remove(id);
        self.place(group);
        Some(id)
    }

    fn describe(&self) -> Description {
        Description::new(TokenBucketParams::NAME, Handover::Single)
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, .. } | Change::GroupRemoved { group } => self.begin(group),
            Change::GroupQos { group, qos } => self.set_limit(now, group, qos),
            _ => {}
        }
    }
}

impl Merging for TokenBucket {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        request.is_like(bio) && self.lets_grow(request, Amount::of(bio))
    }

    fn may_absorb(&self, request: &Request, next: &Request) -> bool {
        self.lets_grow(request, self.queues.amount(next.id))
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.queues.merged(request, how);
        self.place(request.group.0);
    }
}

impl Reporting for TokenBucket {
    fn held_back(&self, now: Instant, group: GroupId) -> Option<Why> {
        let may_pass = self.order.key(group.0)?;
        (may_pass > now).then_some(Why::AtCeiling)
    }
}

fairdisk_core::default_extensions!(TokenBucket: Driving, Hearing, Promising, Attaching);

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroU64;
    use fairdisk_core::Rates;

    #[test]
    fn a_slice_saves_nothing_and_owes_what_was_too_much() {
        let (mut limit, slice) = (Limit::NONE, Some(Span::from_ms(10)));
        let ceiling = Rates { iops: NonZeroU64::new(250), ..Rates::NONE };
        limit.set(Instant::ZERO, Qos { ceiling, burst: Span::from_s(1), ..Qos::NONE });
        let mut passes = |from: u64, to: u64| {
            let mut passed = Vec::new();
            for ms in from..to {
                let now = Instant::ZERO + Span::from_ms(ms);
                while limit.ready_at(slice, Amount::NONE) <= now {
                    limit.pass(now, slice, Amount { ios: 1, bytes: 4096, ..Amount::NONE });
                    passed.push(ms);
                }
            }
            passed
        };
        // The ceiling allows 2.5 per slice: a third one begins within it and is missing in the next
        // slice.
        assert_eq!(passes(0, 40), [0, 0, 0, 10, 10, 20, 20, 20, 30, 30]);
        assert_eq!(passes(105, 120), [105, 105, 105, 110, 110]);
    }
}

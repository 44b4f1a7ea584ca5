//! mClock: a floor, a ceiling and a weight for each group, kept by three tags on every request.
//!
//! A group's reservation tags are spaced by its floor, its limit tags by its ceiling and its
//! proportion tags by its weight. A request whose reservation tag is due goes first; after that, of
//! the groups whose limit tag is due, the one with the smallest proportion tag.
//!
//! Source: Ajay Gulati, Arif Merchant, Peter J. Varman, "mClock: Handling Throughput Variability
//! for Hypervisor IO Scheduling", OSDI 2010, sections 3.1 to 3.3 (tags, tag adjustment, phases,
//! size of I/Os). The `AtLimit` choice and the anticipation of clients that are briefly away are
//! those of Ceph's dmclock library, by its documentation.
//!
//! The originals have clients and neither nested groups nor priorities, latency targets or costs.

mod tags;

use crate::family::Family;
use crate::groups::{Amount, GroupQueues, Order, VirtualTime};
use crate::honours::Honours;
use alloc::vec::Vec;
use fairdisk_core::{
    Admission, Bio, Change, Completion, Decision, Description, Elevator, GroupId, Handover,
    Instant, Merge, Merging, Qos, Reporting, Request, RequestId, Share, Span, WeightMap, Why,
    dense,
};
use tags::Client;

/// What to do when every group with queued requests is at its ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtLimit {
    /// Wait until a limit tag is due.
    #[default]
    Wait,
    /// Serve by weight anyway, so that ceilings hold only while other groups want the disk.
    Allow,
}

/// The settings of mClock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MclockParams {
    /// What to do when every group with queued requests is at its ceiling.
    pub at_limit: AtLimit,
    /// The size of an I/O in bytes: by weight, a request counts as one I/O plus its bytes divided
    /// by this.
    pub io_bytes: u32,
    /// A group that returns within this time is treated as if it had not been away.
    pub anticipation: Span,
    /// How group priorities are converted to weights.
    pub weight_map: WeightMap,
}

impl Default for MclockParams {
    /// The size of an I/O is that of the paper's example: what a disk transfers in the time of a
    /// seek.
    fn default() -> Self {
        Self {
            at_limit: AtLimit::Wait,
            io_bytes: 256 << 10,
            anticipation: Span::ZERO,
            weight_map: WeightMap::LinearHigh0,
        }
    }
}

impl Family for MclockParams {
    const NAME: &'static str = "mclock";
    type Scheduler = Mclock;

    fn honours(&self) -> Honours {
        Honours { shares: true, floors: true, ceilings: true, ..Honours::NONE }
    }

    fn build(&self) -> Mclock {
        Mclock::new(*self)
    }
}

/// The mClock elevator; see the [module documentation](self).
#[derive(Debug)]
pub struct Mclock {
    params: MclockParams,
    queues: GroupQueues,
    groups: Vec<Client>,
    /// Groups with a floor, by reservation tag.
    reservations: Order<Instant>,
    /// Groups whose limit tag is not yet due, by limit tag.
    limits: Order<Instant>,
    /// Groups that may be served by weight, by proportion tag.
    ready: Order<VirtualTime>,
    /// Groups at their ceilings, by proportion tag.
    limited: Order<VirtualTime>,
    /// The largest proportion tag of any served request.
    served: VirtualTime,
}

impl Mclock {
    /// An elevator with nothing queued.
    #[must_use]
    pub const fn new(params: MclockParams) -> Self {
        Self {
            params,
            queues: GroupQueues::new(),
            groups: Vec::new(),
            reservations: Order::new(),
            limits: Order::new(),
            ready: Order::new(),
            limited: Order::new(),
            served: 0,
        }
    }

    fn client(&mut self, group: u32) -> &mut Client {
        let (weight, served) = (Share::DEFAULT.weight(self.params.weight_map), self.served);
        dense::entry(&mut self.groups, group, || Client::new(weight, served))
    }

    /// The smallest proportion tag among the groups with queued requests, at which a group that was
    /// away starts.
    fn smallest_proportion(&self) -> VirtualTime {
        let firsts = [self.ready.first(), self.limited.first()].into_iter().flatten();
        firsts.map(|(_, proportion)| proportion).min().unwrap_or(self.served)
    }

    /// Tags a new first request of the group; its proportion tag is not before that of the previous
    /// request.
    fn tag_first(&mut self, group: u32, was_away: bool) {
        if let Some(arrived) = self.queues.first(group).map(|first| first.arrived) {
            let before = self.client(group).tags.proportion;
            let least = if was_away { self.smallest_proportion() } else { before };
            let anticipation = self.params.anticipation;
            self.client(group).tag(arrived, least, anticipation);
        }
        self.place(group);
    }

    /// Removes a queued request. Only a group's first request has tags to pass on.
    fn take_out(&mut self, id: RequestId) {
        let group = self.queues.request(id).group.0;
        let was_first = self.queues.first(group).is_some_and(|first| first.id == id);
        self.queues.remove(id);
        if was_first {
            self.tag_first(group, false);
        }
    }

    /// Updates the group's places by its tags; removes it if it has nothing queued.
    fn place(&mut self, group: u32) {
        let wants = self.queues.first(group).is_some();
        let client = *self.client(group);
        let limit = client.limit().filter(|_| wants);
        let proportion = client.tags.proportion;
        self.reservations.place(group, client.reservation().filter(|_| wants));
        self.limits.place(group, limit);
        self.limited.place(group, limit.map(|_| proportion));
        self.ready.place(group, (wants && limit.is_none()).then_some(proportion));
    }

    /// Makes groups whose limit tag has become due eligible for service by weight.
    fn let_go(&mut self, now: Instant) {
        while let Some((group, _)) = self.limits.first().filter(|(_, at)| *at <= now) {
            let proportion = self.limited.key(group);
            self.limits.place(group, None);
            self.limited.place(group, None);
            self.ready.place(group, proportion);
        }
    }

    /// The group to serve next, and the reason.
    fn choose(&self, now: Instant) -> Option<(u32, Why)> {
        if let Some((group, _)) = self.reservations.first().filter(|(_, at)| *at <= now) {
            return Some((group, Why::BelowFloor));
        }
        let allowed = || match self.params.at_limit {
            AtLimit::Allow => self.limited.first(),
            AtLimit::Wait => None,
        };
        self.ready.first().or_else(allowed).map(|(group, _)| (group, Why::LeastServed))
    }

    fn dispatch(&mut self, group: u32, why: Why) -> Option<RequestId> {
        let request = self.queues.dispatch(group)?;
        let (by_weight, io_bytes) = (why == Why::LeastServed, self.params.io_bytes);
        let amount = self.queues.amount(request.id);
        let client = self.client(group);
        client.serve(amount, by_weight, io_bytes);
        let proportion = client.tags.proportion;
        self.served = self.served.max(proportion);
        self.tag_first(group, false);
        Some(request.id)
    }

    /// When the next tag becomes due that allows a group to be served.
    fn next_tag(&self) -> Option<Instant> {
        let tags = [self.reservations.first(), self.limits.first()];
        tags.into_iter().flatten().map(|(_, at)| at).min()
    }

    /// Whether the ceiling of the request's group lets it grow by `more`.
    fn lets_grow(&self, request: &Request, more: Amount) -> bool {
        let amount = self.queues.amount(request.id).and(more);
        let client = self.groups.get(request.group.0 as usize);
        client.is_none_or(|client| client.may_grow_to(amount))
    }

    fn set_share(&mut self, group: GroupId, share: Share) {
        self.client(group.0).weight = share.weight(self.params.weight_map);
    }

    fn set_qos(&mut self, now: Instant, group: GroupId, qos: Qos) {
        self.client(group.0).set_qos(now, qos);
        self.place(group.0);
    }

    /// Resets a group whose number may have belonged to another group before.
    fn begin(&mut self, group: GroupId, share: Share) {
        let weight = share.weight(self.params.weight_map);
        *self.client(group.0) = Client::new(weight, self.smallest_proportion());
        self.tag_first(group.0, true);
    }
}

impl Elevator for Mclock {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        let group = request.group.0;
        let was_away = self.queues.first(group).is_none();
        self.queues.push(request);
        if was_away {
            self.tag_first(group, true);
        }
        Admission::Queued
    }

    fn decide(&mut self, now: Instant) -> Decision {
        self.let_go(now);
        let chosen = self.choose(now);
        if let Some((id, why)) = chosen.and_then(|(at, why)| Some((self.dispatch(at, why)?, why))) {
            return Decision::Dispatch(id, why);
        }
        match self.next_tag() {
            Some(at) => Decision::WaitUntil(at, Why::AtCeiling),
            None => self.queues.rest(),
        }
    }

    fn complete(&mut self, _now: Instant, completion: &Completion) {
        self.queues.complete(completion.request);
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        self.take_out(id);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        self.let_go(now);
        let by_limit = || self.limits.first().map(|(group, _)| group);
        let group = self.choose(now).map(|(group, _)| group).or_else(by_limit)?;
        let id = self.queues.first(group)?.id;
        self.take_out(id);
        Some(id)
    }

    fn describe(&self) -> Description {
        Description::new(MclockParams::NAME, Handover::Single)
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, share } => self.begin(group, share),
            Change::GroupRemoved { group } => self.begin(group, Share::DEFAULT),
            Change::GroupShare { group, share } => self.set_share(group, share),
            Change::GroupQos { group, qos } => self.set_qos(now, group, qos),
            _ => {}
        }
    }
}

impl Merging for Mclock {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        request.is_like(bio) && self.lets_grow(request, Amount::of(bio))
    }

    fn may_absorb(&self, request: &Request, next: &Request) -> bool {
        self.lets_grow(request, self.queues.amount(next.id))
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.queues.merged(request, how);
    }
}

impl Reporting for Mclock {
    fn held_back(&self, now: Instant, group: GroupId) -> Option<Why> {
        let is_due = |tag: Option<Instant>| tag.is_some_and(|at| at <= now);
        let limit = self.limits.key(group.0)?;
        let is_held_back = self.params.at_limit == AtLimit::Wait
            && limit > now
            && !is_due(self.reservations.key(group.0));
        is_held_back.then_some(Why::AtCeiling)
    }
}

fairdisk_core::default_extensions!(Mclock: Driving, Hearing, Promising, Attaching);

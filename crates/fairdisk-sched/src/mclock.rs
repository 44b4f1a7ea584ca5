//! mClock: a floor, a ceiling and a weight for each group, by three tags on every request.
//!
//! The reservation tags of a group are apart by what its floor allows, the limit tags by its
//! ceiling, the proportion tags by its weight. A request whose reservation tag has come goes first;
//! then, of the groups whose limit tag has come, the one with the smallest proportion tag.
//!
//! Source: Ajay Gulati, Arif Merchant, Peter J. Varman, "mClock: Handling Throughput Variability
//! for Hypervisor IO Scheduling", OSDI 2010, sections 3.1 to 3.3 (tags, tag adjustment, phases,
//! size of I/Os); the `AtLimit` choice and the anticipation of clients that are away for a moment
//! are those of the dmclock library of Ceph, by its documentation.
//!
//! The originals know clients, no groups in groups, priorities, latency targets or costs.

mod tags;

use crate::family::Family;
use crate::groups::{GroupQueues, Order, VirtualTime};
use crate::honours::Honours;
use crate::registry::Scheduler;
use alloc::vec::Vec;
use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, GroupId, Handover, Instant,
    Merge, Qos, Request, RequestId, Share, Span, WeightMap, Why, dense,
};
use tags::Client;

/// What to do when every group that wants the disk is at its ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtLimit {
    /// Wait.
    #[default]
    Wait,
    /// Serve by weight all the same: ceilings hold only while others want the disk.
    Allow,
}

/// How mClock is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MclockParams {
    /// When all are at their ceilings.
    pub at_limit: AtLimit,
    /// A request counts by weight as one I/O, and one more for each so many bytes.
    pub io_bytes: u32,
    /// A group that comes back within this time is treated as if it had not been away.
    pub anticipation: Span,
    /// What a group priority is worth.
    pub weight_map: WeightMap,
}

impl Default for MclockParams {
    /// Bytes of an I/O as in the paper's example: what a disk moves in the time of a seek.
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

    fn honours(&self) -> Honours {
        Honours { shares: true, floors: true, ceilings: true, ..Honours::NONE }
    }

    fn build(&self) -> Scheduler {
        Scheduler::Mclock(Mclock::new(*self))
    }
}

/// The elevator.
#[derive(Debug)]
pub struct Mclock {
    params: MclockParams,
    queues: GroupQueues,
    groups: Vec<Client>,
    /// Groups with a floor.
    reservations: Order<Instant>,
    /// Groups whose limit tag is still to come.
    limits: Order<Instant>,
    /// Groups that may be served by weight, by proportion tag.
    ready: Order<VirtualTime>,
    /// Groups at their ceilings, by proportion tag.
    limited: Order<VirtualTime>,
    /// The largest proportion tag of a request that was served.
    served: VirtualTime,
}

impl Mclock {
    /// An empty elevator.
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

    /// The smallest proportion tag of all groups that want the disk: where a group that was away
    /// begins.
    fn smallest_proportion(&self) -> VirtualTime {
        let firsts = [self.ready.first(), self.limited.first()].into_iter().flatten();
        firsts.map(|(_, proportion)| proportion).min().unwrap_or(self.served)
    }

    /// The group's first request is another than before: it gets tags, its proportion tag not
    /// before that of the one it follows.
    fn tag_first(&mut self, group: u32, was_away: bool) {
        if let Some(arrived) = self.queues.first(group).map(|first| first.arrived) {
            let before = self.client(group).tags.proportion;
            let least = if was_away { self.smallest_proportion() } else { before };
            let anticipation = self.params.anticipation;
            self.client(group).tag(arrived, least, anticipation);
        }
        self.place(group);
    }

    /// Takes a queued request out. Only the first of a group has tags to hand on.
    fn take_out(&mut self, id: RequestId) {
        let group = self.queues.request(id).group.0;
        let was_first = self.queues.first(group).is_some_and(|first| first.id == id);
        self.queues.remove(id);
        if was_first {
            self.tag_first(group, false);
        }
    }

    /// Puts the group where its tags say, or nowhere if it has nothing queued.
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

    /// Groups whose limit tag has come may be served by weight.
    fn let_go(&mut self, now: Instant) {
        while let Some((group, _)) = self.limits.first().filter(|(_, at)| *at <= now) {
            let proportion = self.limited.key(group);
            self.limits.place(group, None);
            self.limited.place(group, None);
            self.ready.place(group, proportion);
        }
    }

    /// Whose turn it is, and why.
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

    /// When a tag comes that lets somebody be served.
    fn next_tag(&self) -> Option<Instant> {
        let tags = [self.reservations.first(), self.limits.first()];
        tags.into_iter().flatten().map(|(_, at)| at).min()
    }

    fn set_share(&mut self, group: GroupId, share: Share) {
        self.client(group.0).weight = share.weight(self.params.weight_map);
    }

    fn set_qos(&mut self, now: Instant, group: GroupId, qos: Qos) {
        self.client(group.0).set_qos(now, qos);
        self.place(group.0);
    }

    /// Another group may have had this number.
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

    fn configure(&mut self, now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, share } => self.begin(group, share),
            Change::GroupRemoved { group } => self.begin(group, Share::DEFAULT),
            Change::GroupShare { group, share } => self.set_share(group, share),
            Change::GroupQos { group, qos } => self.set_qos(now, group, qos),
            _ => {}
        }
    }

    fn describe(&self) -> Description {
        Description::new(MclockParams::NAME, Handover::Single)
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.queues.merged(request, how);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        self.let_go(now);
        let by_limit = || self.limits.first().map(|(group, _)| group);
        let group = self.choose(now).map(|(group, _)| group).or_else(by_limit)?;
        let id = self.queues.first(group)?.id;
        self.take_out(id);
        Some(id)
    }
}

//! Tokens by weight, in the manner of dm-ioband, which lies above a device and below no scheduler
//! that knows groups.
//!
//! In an epoch every group that wants the device gets tokens in proportion to its weight, and each
//! request takes one. A group without tokens waits until all groups with requests have used up
//! theirs; then a new epoch begins, and some of what a group has left goes with it. Among groups
//! with tokens, and while few requests are there at all, requests are served first come, first
//! served.
//!
//! Sources: Ryo Tsuruta, "Dm-band, Block I/O Bandwidth Controller", announcement of January 2008
//! (kerneltrap.org, linuxtoday.com); announcement of version 1.3.0, 11 July 2008 (leftover tokens
//! of the past few epochs; a new epoch although requests are in flight); manual of version 1.10.0,
//! January 2009 (weights, `io_throttle`).
//!
//! Floors, ceilings, latency targets, priorities of tasks and request costs are not honoured, and
//! nested groups count as groups beside each other: the original has none of them with its policy
//! `weight`.

use crate::family::Family;
use crate::groups::{GroupQueues, Order};
use crate::honours::Honours;
use alloc::vec::Vec;
use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, GroupId, Handover, Instant,
    Merge, Merging, Request, RequestId, Share, WeightMap, Why, dense,
};

/// The settings of the elevator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmIobandParams {
    /// The tokens of an epoch, for all groups together.
    pub token_base: u32,
    /// How many times its tokens of an epoch a group takes along at most.
    pub carryover: u32,
    /// While no more requests than this are queued or at the device, all may pass.
    pub io_throttle: u32,
    /// How group priorities are converted to weights.
    pub weight_map: WeightMap,
}

impl Default for DmIobandParams {
    /// Twice the request slots of a queue of the time for its tokens; leftovers of two epochs.
    fn default() -> Self {
        Self { token_base: 512, carryover: 2, io_throttle: 4, weight_map: WeightMap::LinearHigh0 }
    }
}

impl Family for DmIobandParams {
    const NAME: &'static str = "dm-ioband";
    type Scheduler = DmIoband;

    fn honours(&self) -> Honours {
        Honours { shares: true, ..Honours::NONE }
    }

    fn build(&self) -> DmIoband {
        DmIoband::new(*self)
    }
}

/// What a group may still do in the present epoch.
#[derive(Clone, Copy, Debug)]
struct Account {
    weight: u32,
    tokens: u32,
}

/// dm-ioband's elevator; see the [module documentation](self).
#[derive(Debug)]
pub struct DmIoband {
    params: DmIobandParams,
    queues: GroupQueues,
    accounts: Vec<Account>,
    /// Groups with requests and tokens, by when their first request arrived.
    ready: Order<Instant>,
    /// Groups with requests and without tokens, likewise.
    spent: Order<Instant>,
    /// Requests that are queued or at the device.
    outstanding: u32,
}

impl DmIoband {
    /// An elevator with nothing queued.
    #[must_use]
    pub const fn new(params: DmIobandParams) -> Self {
        Self {
            params,
            queues: GroupQueues::new(),
            accounts: Vec::new(),
            ready: Order::new(),
            spent: Order::new(),
            outstanding: 0,
        }
    }

    fn account(&mut self, group: u32) -> &mut Account {
        let weight = Share::DEFAULT.weight(self.params.weight_map).get();
        dense::entry(&mut self.accounts, group, || Account { weight, tokens: 0 })
    }

    /// Updates the group's place after its first request or its tokens have changed.
    fn place(&mut self, group: u32) {
        let first = self.queues.first(group).map(|first| first.arrived);
        let has_tokens = self.account(group).tokens > 0;
        self.ready.place(group, first.filter(|_| has_tokens));
        self.spent.place(group, first.filter(|_| !has_tokens));
    }

    /// Begins an epoch for all groups with requests, none of which has a token.
    fn begin_epoch(&mut self) {
        let weight = |group: u32| u64::from(self.accounts[group as usize].weight);
        let all: u64 = self.spent.iter().map(|(group, _)| weight(group)).sum();
        let DmIobandParams { token_base, carryover, .. } = self.params;
        while let Some((group, _)) = self.spent.first() {
            let account = self.account(group);
            let part = u64::from(token_base) * u64::from(account.weight) / all.max(1) + 1;
            let part = u32::try_from(part).unwrap_or(u32::MAX);
            account.tokens = account.tokens.min(part.saturating_mul(carryover)) + part;
            self.place(group);
        }
    }

    /// The group that is served next, if any wants to be.
    fn next(&mut self) -> Option<u32> {
        if self.outstanding <= self.params.io_throttle {
            return self.first_come();
        }
        if self.ready.first().is_none() {
            self.begin_epoch();
        }
        self.ready.first().map(|(group, _)| group)
    }

    /// The group whose first request arrived first.
    fn first_come(&self) -> Option<u32> {
        let both = self.ready.first().into_iter().chain(self.spent.first());
        both.min_by_key(|(group, arrived)| (*arrived, *group)).map(|(group, _)| group)
    }

    /// Forgets what the group may do, and resets a number that may have belonged to another group.
    fn begin(&mut self, group: GroupId, share: Share) {
        let weight = share.weight(self.params.weight_map).get();
        *self.account(group.0) = Account { weight, tokens: 0 };
        self.place(group.0);
    }
}

impl Elevator for DmIoband {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        self.queues.push(request);
        self.outstanding += 1;
        let group = request.group.0;
        if self.ready.key(group).or(self.spent.key(group)).is_none() {
            self.place(group);
        }
        Admission::Queued
    }

    fn decide(&mut self, _now: Instant) -> Decision {
        let Some(group) = self.next() else { return self.queues.rest() };
        let Some(request) = self.queues.dispatch(group) else { return self.queues.rest() };
        let account = self.account(group);
        account.tokens = account.tokens.saturating_sub(1);
        self.place(group);
        Decision::Dispatch(request.id, Why::ArrivedFirst)
    }

    fn complete(&mut self, _now: Instant, completion: &Completion) {
        self.queues.complete(completion.request);
        self.outstanding -= 1;
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        let request = self.queues.remove(id);
        self.outstanding -= 1;
        self.place(request.group.0);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        let group = self.first_come()?;
        let id = self.queues.first(group)?.id;
        self.withdraw(now, id);
        Some(id)
    }

    fn describe(&self) -> Description {
        Description::new(DmIobandParams::NAME, Handover::Single)
    }

    fn configure(&mut self, _now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, share } => self.begin(group, share),
            Change::GroupRemoved { group } => self.begin(group, Share::DEFAULT),
            Change::GroupShare { group, share } => {
                self.account(group.0).weight = share.weight(self.params.weight_map).get();
            }
            _ => {}
        }
    }
}

impl Merging for DmIoband {
    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.queues.merged(request, how);
        self.place(request.group.0);
    }
}

fairdisk_core::default_extensions!(DmIoband: Driving, Hearing, Promising, Reporting, Attaching);

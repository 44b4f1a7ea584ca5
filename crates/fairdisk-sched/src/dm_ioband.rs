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

/// What a group may still do in the epoch that it has last had tokens of.
#[derive(Clone, Copy, Debug)]
struct Account {
    weight: u32,
    tokens: u32,
    /// The epoch that the tokens are of.
    epoch: u64,
}

/// A span in which every group may use up its tokens once.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    number: u64,
    /// The weights of all groups that had requests when it began.
    weights: u64,
}

/// dm-ioband's elevator; see the [module documentation](self).
///
/// A new epoch takes one step, however many groups have waited for it: all of them change places
/// at once, and each gets its tokens when it is next looked at.
#[derive(Debug)]
pub struct DmIoband {
    params: DmIobandParams,
    queues: GroupQueues,
    accounts: Vec<Account>,
    epoch: Epoch,
    /// Groups with requests and tokens, by when their first request arrived.
    ready: Order<Instant>,
    /// Groups with requests and without tokens, likewise.
    spent: Order<Instant>,
    /// The weights of the groups with requests.
    weights: u64,
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
            epoch: Epoch { number: 0, weights: 0 },
            ready: Order::new(),
            spent: Order::new(),
            weights: 0,
            outstanding: 0,
        }
    }

    fn wants(&self, group: u32) -> bool {
        self.ready.key(group).or(self.spent.key(group)).is_some()
    }

    /// The group's account after it has got its tokens of an epoch that began without being told.
    ///
    /// A group without requests gets none, and of those it has only some go with it.
    fn account(&mut self, group: u32) -> &mut Account {
        let wants = self.wants(group);
        let Self { params, epoch, accounts, .. } = self;
        let weight = Share::DEFAULT.weight(params.weight_map).get();
        let begin = || Account { weight, tokens: 0, epoch: epoch.number };
        let account = dense::entry(accounts, group, begin);
        if account.epoch < epoch.number {
            let part = u64::from(params.token_base) * u64::from(account.weight);
            let part = u32::try_from(part / epoch.weights.max(1) + 1).unwrap_or(u32::MAX);
            let left = account.tokens.min(part.saturating_mul(params.carryover));
            account.tokens = if wants { left.saturating_add(part) } else { left };
            account.epoch = epoch.number;
        }
        account
    }

    /// Updates the group's place after its first request or its tokens have changed.
    fn place(&mut self, group: u32) {
        let Account { weight, tokens, .. } = *self.account(group);
        let first = self.queues.first(group).map(|first| first.arrived);
        let wanted = self.wants(group);
        if wanted && first.is_none() {
            self.weights -= u64::from(weight);
        } else if !wanted && first.is_some() {
            self.weights += u64::from(weight);
        }
        self.ready.place(group, first.filter(|_| tokens > 0));
        self.spent.place(group, first.filter(|_| tokens == 0));
    }

    /// Gives another weight to the group.
    fn reweigh(&mut self, group: u32, weight: u32) {
        let before = core::mem::replace(&mut self.account(group).weight, weight);
        if self.wants(group) {
            self.weights = self.weights - u64::from(before) + u64::from(weight);
        }
    }

    /// Begins an epoch for all groups with requests, none of which has a token.
    fn begin_epoch(&mut self) {
        debug_assert!(self.ready.first().is_none(), "a group has tokens left");
        self.epoch = Epoch { number: self.epoch.number + 1, weights: self.weights };
        core::mem::swap(&mut self.ready, &mut self.spent);
    }

    /// The group that is served next, if any wants to be.
    fn next(&mut self) -> Option<u32> {
        if self.outstanding <= self.params.io_throttle {
            return self.first_come();
        }
        if self.ready.first().is_none() && self.spent.first().is_some() {
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
        self.reweigh(group.0, share.weight(self.params.weight_map).get());
        self.account(group.0).tokens = 0;
        self.place(group.0);
    }
}

impl Elevator for DmIoband {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        self.queues.push(request);
        self.outstanding += 1;
        let group = request.group.0;
        if !self.wants(group) {
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
                self.reweigh(group.0, share.weight(self.params.weight_map).get());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::request;
    use fairdisk_core::Op;

    /// However often it is asked while nothing is queued, no epoch passes.
    #[test]
    fn who_has_nothing_to_serve_begins_no_epoch() {
        let mut elevator = DmIoband::new(DmIobandParams::default());
        for slot in 0..8 {
            let _ = elevator.admit(Instant::ZERO, &request(slot, 1, Op::Read, Instant::ZERO));
        }
        while let Decision::Dispatch(..) = elevator.decide(Instant::ZERO) {}
        let epoch = elevator.epoch.number;
        let _ = elevator.decide(Instant::ZERO);
        assert_eq!(elevator.epoch.number, epoch);
    }
}

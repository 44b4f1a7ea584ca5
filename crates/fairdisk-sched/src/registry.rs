//! Every scheduler by name. Adding one is its module and a line in each list below.

use crate::bfq::{Bfq, BfqParams};
use crate::cfq::{Cfq, CfqParams, Switches};
use crate::deadline::{Deadline, DeadlineParams};
use crate::fair::{Fair, FairParams};
use crate::group_cfq::{GroupCfq, GroupCfqParams};
use crate::honours::{Honours, Nesting};
use crate::iocost::{Iocost, IocostParams};
use crate::iolatency::{Iolatency, IolatencyParams};
use crate::mclock::{Mclock, MclockParams};
use crate::noop::Noop;
use crate::revised::{BLKIO_WEIGHTS, RevisedCfq};
use crate::shares::{Shares, SharesParams};
use crate::token_bucket::{TokenBucket, TokenBucketParams};
use crate::two_layer::{TwoLayerCfq, TwoLayerParams};
use fairdisk_core::{
    Admission, AttachError, Bio, Change, Completion, Decision, Description, Elevator, GroupId,
    Instant, Leftovers, MayQueue, Merge, Refusal, Request, RequestId, Span,
};

/// Which scheduler, and how it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerSpec {
    /// First come, first served.
    Noop,
    /// Batches in sector order with deadlines.
    Deadline(DeadlineParams),
    /// A queue for every task, slices of disk time, waiting for the task being served.
    Cfq(CfqParams),
    /// Groups take turns; inside its turn each group is a whole CFQ.
    TwoLayerCfq(TwoLayerParams),
    /// Groups take turns of CFQ's scheduler, high priorities longer ones.
    GroupCfq(GroupCfqParams),
    /// A queue for every task, budgets of sectors, groups in groups by weight.
    Bfq(BfqParams),
    /// Ceilings; otherwise first come, first served.
    TokenBucket(TokenBucketParams),
    /// A floor, a ceiling and a weight for each group, by tags.
    Mclock(MclockParams),
    /// Groups in groups with weights, floors, ceilings and latency targets, on devices of any
    /// depth.
    Fair(FairParams),
    /// Shares of what the device gets done, by the cost of requests.
    Iocost(IocostParams),
    /// Shares of what the device can do within a latency goal.
    Shares(SharesParams),
    /// Latency targets of groups; otherwise first come, first served.
    Iolatency(IolatencyParams),
}

impl SchedulerSpec {
    /// The names of all families.
    pub const NAMES: &[&str] = &[
        "noop",
        "deadline",
        "cfq",
        "two-layer-cfq",
        "group-cfq",
        "bfq",
        "fair",
        "token-bucket",
        "mclock",
        "iocost",
        "iolatency",
        "shares",
    ];

    /// The family called `name` with its default settings.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "noop" => Some(Self::Noop),
            "deadline" => Some(Self::Deadline(DeadlineParams::default())),
            "cfq" => Some(Self::Cfq(CfqParams::default())),
            "two-layer-cfq" => Some(Self::TwoLayerCfq(TwoLayerParams::default())),
            "group-cfq" => Some(Self::GroupCfq(GroupCfqParams::default())),
            "bfq" => Some(Self::Bfq(BfqParams::default())),
            "token-bucket" => Some(Self::TokenBucket(TokenBucketParams::default())),
            "mclock" => Some(Self::Mclock(MclockParams::default())),
            "fair" => Some(Self::Fair(FairParams::default())),
            "iocost" => Some(Self::Iocost(IocostParams::default())),
            "shares" => Some(Self::Shares(SharesParams::default())),
            "iolatency" => Some(Self::Iolatency(IolatencyParams::default())),
            _ => None,
        }
    }

    /// The name of the family.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Deadline(_) => "deadline",
            Self::Cfq(_) => "cfq",
            Self::TwoLayerCfq(_) => "two-layer-cfq",
            Self::GroupCfq(_) => "group-cfq",
            Self::Bfq(_) => "bfq",
            Self::TokenBucket(_) => "token-bucket",
            Self::Mclock(_) => "mclock",
            Self::Fair(_) => "fair",
            Self::Iocost(_) => "iocost",
            Self::Shares(_) => "shares",
            Self::Iolatency(_) => "iolatency",
        }
    }

    /// What it honours.
    #[must_use]
    pub const fn honours(&self) -> Honours {
        match self {
            Self::Noop | Self::Deadline(_) => Honours::NONE,
            Self::Cfq(params) => {
                let shares = params.switches.effective().cgroup_groups;
                Honours { shares, weights: BLKIO_WEIGHTS, priorities: true, ..Honours::NONE }
            }
            Self::TwoLayerCfq(_) => {
                Honours { shares: true, priorities: true, idle: true, ..Honours::NONE }
            }
            Self::GroupCfq(_) => Honours { shares: true, priorities: true, ..Honours::NONE },
            Self::Fair(_) => Honours {
                shares: true,
                weights: Honours::NONE.weights,
                nesting: Nesting::Deep,
                priorities: true,
                idle: true,
                floors: true,
                ceilings: true,
                bursts: true,
                latency_targets: true,
                costs: true,
            },
            Self::Bfq(_) => {
                Honours { shares: true, nesting: Nesting::Deep, priorities: true, ..Honours::NONE }
            }
            Self::TokenBucket(_) => Honours { ceilings: true, bursts: true, ..Honours::NONE },
            Self::Mclock(_) => {
                Honours { shares: true, floors: true, ceilings: true, ..Honours::NONE }
            }
            Self::Iocost(_) => {
                Honours { shares: true, nesting: Nesting::Deep, costs: true, ..Honours::NONE }
            }
            Self::Shares(_) => {
                Honours { shares: true, nesting: Nesting::OneLevel, costs: true, ..Honours::NONE }
            }
            Self::Iolatency(_) => Honours { latency_targets: true, ..Honours::NONE },
        }
    }

    /// An empty scheduler, set this way.
    #[must_use]
    pub fn build(&self) -> Scheduler {
        match *self {
            Self::Noop => Scheduler::Noop(Noop::new()),
            Self::Deadline(params) => Scheduler::Deadline(Deadline::new(params)),
            Self::Cfq(params) if params.switches == Switches::NONE => {
                Scheduler::Cfq(Cfq::new(&params))
            }
            Self::Cfq(params) => Scheduler::RevisedCfq(RevisedCfq::new(&params)),
            Self::TwoLayerCfq(params) => Scheduler::TwoLayerCfq(TwoLayerCfq::new(&params)),
            Self::GroupCfq(params) => Scheduler::GroupCfq(GroupCfq::new(&params)),
            Self::Bfq(params) => Scheduler::Bfq(Bfq::new(&params)),
            Self::TokenBucket(params) => Scheduler::TokenBucket(TokenBucket::new(params)),
            Self::Mclock(params) => Scheduler::Mclock(Mclock::new(params)),
            Self::Fair(params) => Scheduler::Fair(Fair::new(&params)),
            Self::Iocost(params) => Scheduler::Iocost(Iocost::new(params)),
            Self::Shares(params) => Scheduler::Shares(Shares::new(params)),
            Self::Iolatency(params) => Scheduler::Iolatency(Iolatency::new(params)),
        }
    }
}

/// Any scheduler. One type, so that an engine can switch between them under load; a match, so that
/// calls are not virtual.
#[derive(Debug)]
pub enum Scheduler {
    /// First come, first served.
    Noop(Noop),
    /// Batches in sector order with deadlines.
    Deadline(Deadline),
    /// CFQ of 2.6.25.
    Cfq(Cfq),
    /// CFQ of a later revision.
    RevisedCfq(RevisedCfq),
    /// Two-layer CFQ.
    TwoLayerCfq(TwoLayerCfq),
    /// A layer of groups inside CFQ.
    GroupCfq(GroupCfq),
    /// BFQ.
    Bfq(Bfq),
    /// Ceilings as leaky buckets.
    TokenBucket(TokenBucket),
    /// mClock.
    Mclock(Mclock),
    /// Fairdisk's own.
    Fair(Fair),
    /// In the manner of Linux's io.cost.
    Iocost(Iocost),
    /// In Seastar's manner.
    Shares(Shares),
    /// In the manner of Linux's io.latency.
    Iolatency(Iolatency),
}

/// Calls a method of whichever scheduler it is.
macro_rules! each {
    ($scheduler:expr, $inner:ident => $call:expr) => {
        match $scheduler {
            Scheduler::Noop($inner) => $call,
            Scheduler::Deadline($inner) => $call,
            Scheduler::Cfq($inner) => $call,
            Scheduler::RevisedCfq($inner) => $call,
            Scheduler::TwoLayerCfq($inner) => $call,
            Scheduler::GroupCfq($inner) => $call,
            Scheduler::Bfq($inner) => $call,
            Scheduler::TokenBucket($inner) => $call,
            Scheduler::Mclock($inner) => $call,
            Scheduler::Fair($inner) => $call,
            Scheduler::Iocost($inner) => $call,
            Scheduler::Shares($inner) => $call,
            Scheduler::Iolatency($inner) => $call,
        }
    };
}

impl Elevator for Scheduler {
    #[inline]
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        each!(self, inner => inner.admit(now, request))
    }

    #[inline]
    fn runs_driver_at(&self) -> Option<Instant> {
        each!(self, inner => inner.runs_driver_at())
    }

    #[inline]
    fn decide(&mut self, now: Instant) -> Decision {
        each!(self, inner => inner.decide(now))
    }

    #[inline]
    fn complete(&mut self, now: Instant, completion: &Completion) {
        each!(self, inner => inner.complete(now, completion));
    }

    fn flushed(&mut self, now: Instant, group: GroupId, device_time: Span) {
        each!(self, inner => inner.flushed(now, group, device_time));
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        each!(self, inner => inner.withdraw(now, id));
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        each!(self, inner => inner.configure(now, change));
    }

    fn accepts(&self, change: &Change) -> Result<(), Refusal> {
        each!(self, inner => inner.accepts(change))
    }

    fn describe(&self) -> Description {
        each!(self, inner => inner.describe())
    }

    #[inline]
    fn activate(&mut self, now: Instant, id: RequestId) {
        each!(self, inner => inner.activate(now, id));
    }

    #[inline]
    fn may_queue(&mut self, now: Instant, bio: &Bio) -> MayQueue {
        each!(self, inner => inner.may_queue(now, bio))
    }

    fn charged(&self, group: GroupId) -> Option<Span> {
        each!(self, inner => inner.charged(group))
    }

    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        each!(self, inner => inner.may_merge(request, bio))
    }

    fn merged(&mut self, now: Instant, request: &Request, how: Merge) {
        each!(self, inner => inner.merged(now, request, how));
    }

    fn displaced(&mut self, now: Instant, moved: RequestId) -> Option<RequestId> {
        each!(self, inner => inner.displaced(now, moved))
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        each!(self, inner => inner.drain(now))
    }

    fn attach(&mut self, leftovers: &Leftovers) -> Result<(), AttachError> {
        each!(self, inner => inner.attach(leftovers))
    }

    fn detach(&mut self, leftovers: &mut Leftovers) {
        each!(self, inner => inner.detach(leftovers));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_and_is_its_own() {
        for (at, name) in SchedulerSpec::NAMES.iter().enumerate() {
            let spec = SchedulerSpec::named(name).unwrap();
            assert_eq!(spec.name(), *name);
            assert!(!SchedulerSpec::NAMES[..at].contains(name), "{name} is there twice");
            assert_eq!(spec.build().decide(Instant::ZERO), Decision::Idle);
        }
        assert_eq!(SchedulerSpec::named("elevator"), None);
    }
}

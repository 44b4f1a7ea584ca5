//! Every scheduler by name. Adding one is its module, which says what [`Family`] asks for, and a
//! line in each of the two lists below.

use crate::bfq::{Bfq, BfqParams};
use crate::cfq::{Cfq, CfqParams};
use crate::deadline::{Deadline, DeadlineParams};
use crate::fair::{Fair, FairParams};
use crate::family::Family;
use crate::group_cfq::{GroupCfq, GroupCfqParams};
use crate::honours::Honours;
use crate::iocost::{Iocost, IocostParams};
use crate::iolatency::{Iolatency, IolatencyParams};
use crate::mclock::{Mclock, MclockParams};
use crate::noop::{Noop, NoopParams};
use crate::revised::RevisedCfq;
use crate::shares::{Shares, SharesParams};
use crate::token_bucket::{TokenBucket, TokenBucketParams};
use crate::two_layer::{TwoLayerCfq, TwoLayerParams};
use fairdisk_core::{
    Admission, AttachError, Bio, Change, Completion, Decision, Description, Elevator, GroupId,
    Instant, Leftovers, MayQueue, Merge, Refusal, Request, RequestId, Span, TaskId,
};

/// Makes [`SchedulerSpec`] of a line for each family: its variant and its settings.
macro_rules! families {
    ($($(#[$doc:meta])* $variant:ident($params:ty),)*) => {
        /// Which scheduler, and how it is set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SchedulerSpec {
            $($(#[$doc])* $variant($params),)*
        }

        impl SchedulerSpec {
            /// The names of all families.
            pub const NAMES: &[&str] = &[$(<$params as Family>::NAME,)*];

            /// The family called `name` with its default settings.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                $(if name == <$params as Family>::NAME {
                    return Some(Self::$variant(Default::default()));
                })*
                None
            }

            /// The name of the family.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => <$params as Family>::NAME,)*
                }
            }

            /// What it honours.
            #[must_use]
            pub fn honours(&self) -> Honours {
                match self {
                    $(Self::$variant(params) => params.honours(),)*
                }
            }

            /// An empty scheduler, set this way.
            #[must_use]
            pub fn build(&self) -> Scheduler {
                match self {
                    $(Self::$variant(params) => params.build(),)*
                }
            }
        }
    };
}

families! {
    /// First come, first served.
    Noop(NoopParams),
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
    /// Groups in groups with weights, floors, ceilings and latency targets, on devices of any
    /// depth.
    Fair(FairParams),
    /// Ceilings; otherwise first come, first served.
    TokenBucket(TokenBucketParams),
    /// A floor, a ceiling and a weight for each group, by tags.
    Mclock(MclockParams),
    /// Shares of what the device gets done, by the cost of requests.
    Iocost(IocostParams),
    /// Latency targets of groups; otherwise first come, first served.
    Iolatency(IolatencyParams),
    /// Shares of what the device can do within a latency goal.
    Shares(SharesParams),
}

/// Makes [`Scheduler`] of the types there are, and `each!`, which calls a method of
/// whichever it is.
macro_rules! schedulers {
    ($d:tt $($(#[$doc:meta])* $scheduler:ident,)*) => {
        /// Any scheduler. One type, so that an engine can switch between them under load; a match,
        /// so that calls are not virtual.
        #[derive(Debug)]
        pub enum Scheduler {
            $($(#[$doc])* $scheduler($scheduler),)*
        }

        macro_rules! each {
            ($d any:expr, $d inner:ident => $d call:expr) => {
                match $d any {
                    $(Scheduler::$scheduler($d inner) => $d call,)*
                }
            };
        }
    };
}

schedulers! { $
    /// First come, first served.
    Noop,
    /// Batches in sector order with deadlines.
    Deadline,
    /// CFQ of 2.6.25.
    Cfq,
    /// CFQ of a later revision.
    RevisedCfq,
    /// Two-layer CFQ.
    TwoLayerCfq,
    /// A layer of groups inside CFQ.
    GroupCfq,
    /// BFQ.
    Bfq,
    /// Fairdisk's own.
    Fair,
    /// Ceilings as leaky buckets.
    TokenBucket,
    /// mClock.
    Mclock,
    /// In the manner of Linux's io.cost.
    Iocost,
    /// In the manner of Linux's io.latency.
    Iolatency,
    /// In Seastar's manner.
    Shares,
}

/// Something done with a scheduler, compiled for each type there is.
pub trait With {
    /// What comes of it.
    type Output;

    /// Does it.
    fn with<E: Elevator>(self, scheduler: E) -> Self::Output;
}

impl Scheduler {
    /// Does `what` with the scheduler this is. What asks a scheduler often and never changes it is
    /// faster so than with a match in every call.
    pub fn with<W: With>(self, what: W) -> W::Output {
        each!(self, inner => what.with(inner))
    }
}

// What a scheduler does most often is called where it is. In place of the calls all schedulers
// would lie in one function of the engine, which has too few registers for them.

#[inline(never)]
fn admit<S: Elevator>(scheduler: &mut S, now: Instant, request: &Request) -> Admission {
    scheduler.admit(now, request)
}

#[inline(never)]
fn decide<S: Elevator>(scheduler: &mut S, now: Instant) -> Decision {
    scheduler.decide(now)
}

#[inline(never)]
fn complete<S: Elevator>(scheduler: &mut S, now: Instant, completion: &Completion) {
    scheduler.complete(now, completion);
}

impl Elevator for Scheduler {
    #[inline(always)]
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        each!(self, inner => admit(inner, now, request))
    }

    #[inline]
    fn runs_driver_at(&self) -> Option<Instant> {
        each!(self, inner => inner.runs_driver_at())
    }

    #[inline(always)]
    fn decide(&mut self, now: Instant) -> Decision {
        each!(self, inner => decide(inner, now))
    }

    #[inline(always)]
    fn complete(&mut self, now: Instant, completion: &Completion) {
        each!(self, inner => complete(inner, now, completion));
    }

    fn flushes(&mut self, now: Instant, group: GroupId) {
        each!(self, inner => inner.flushes(now, group));
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

    fn lets_through(&self, task: TaskId, group: GroupId) -> bool {
        each!(self, inner => inner.lets_through(task, group))
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

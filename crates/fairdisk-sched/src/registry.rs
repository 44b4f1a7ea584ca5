//! All schedulers by name. To add one, write its module, implement [`Family`] for its settings, and
//! add a line to the list below.

use crate::bfq::BfqParams;
use crate::cfq::{CfqParams, Switches};
use crate::deadline::DeadlineParams;
use crate::dm_ioband::DmIobandParams;
use crate::fair::FairParams;
use crate::family::Family;
use crate::group_cfq::GroupCfqParams;
use crate::honours::Honours;
use crate::iocost::IocostParams;
use crate::iolatency::IolatencyParams;
use crate::kyber::KyberParams;
use crate::mclock::MclockParams;
use crate::mq_deadline::MqDeadlineParams;
use crate::noop::NoopParams;
use crate::revised::RevisedCfq;
use crate::shares::SharesParams;
use crate::switches::Switch;
use crate::token_bucket::TokenBucketParams;
use crate::two_layer::TwoLayerParams;
use fairdisk_core::{
    Admission, AttachError, Attaching, Bio, Change, Completion, Decision, Description, Driving,
    Elevator, GroupId, Hearing, Instant, Leftovers, MayQueue, Merge, Merging, Promising, Refusal,
    Reporting, Request, RequestId, Span, Submitter, TaskId, Why,
};

/// Defines [`SchedulerSpec`] and [`Scheduler`] from one line per family, its variant and settings
/// type, and one per scheduler that another family's settings stand for; and `each!`, which calls a
/// method of the scheduler that it is.
macro_rules! schedulers {
    (
        $d:tt
        families { $($(#[$doc:meta])* $family:ident($params:ty),)* }
        besides { $($(#[$other_doc:meta])* $other:ident,)* }
    ) => {
        /// A choice of scheduler with its settings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SchedulerSpec {
            $($(#[$doc])* $family($params),)*
        }

        impl SchedulerSpec {
            /// The name of every family.
            pub const NAMES: &[&str] = &[$(<$params as Family>::NAME,)*];

            /// The family called `name` with its default settings; `None` if there is none.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                $(if name == <$params as Family>::NAME {
                    return Some(Self::$family(Default::default()));
                })*
                None
            }

            /// The name of the family.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$family(_) => <$params as Family>::NAME,)*
                }
            }

            /// The settings of groups and tasks that this scheduler honours.
            #[must_use]
            pub fn honours(&self) -> Honours {
                match self {
                    $(Self::$family(params) => params.honours(),)*
                }
            }

            /// The changes by which the revisions of a family differ, from the oldest on, or of
            /// all families if none is named; nothing for one that has none.
            pub fn switches_of(family: Option<&str>) -> impl Iterator<Item = &'static Switch> {
                let of_each = [$((<$params as Family>::NAME, <$params as Family>::SWITCHES)),*];
                let is_meant = move |name| family.is_none_or(|family| family == name);
                let meant = of_each.into_iter().filter(move |(name, _)| is_meant(*name));
                meant.flat_map(|(_, switches)| switches)
            }

            /// Whether the switch called `name` is on; `None` if the family has no such switch.
            #[must_use]
            pub fn switch(&self, name: &str) -> Option<bool> {
                match self {
                    $(Self::$family(params) => params.switch(name),)*
                }
            }

            /// Creates the scheduler with nothing queued.
            #[must_use]
            pub fn build(&self) -> Scheduler {
                match self {
                    // The code of 2.6.25 contains none of the later changes.
                    Self::Cfq(params) if params.switches != Switches::NONE => {
                        Scheduler::RevisedCfq(RevisedCfq::new(params))
                    }
                    $(Self::$family(params) => Scheduler::$family(params.build()),)*
                }
            }
        }

        /// Any of the schedulers. A single type, so that an engine can switch between them under
        /// load, and an enum, so that calls are not virtual.
        // With a tag of its own. One hidden in a field of some scheduler costs every call a few
        // instructions, more or fewer with each change of any scheduler's fields.
        #[repr(u8)]
        #[derive(Debug)]
        #[allow(
            clippy::large_enum_variant,
            reason = "there is one for a disk, and a box would cost every call an indirection"
        )]
        pub enum Scheduler {
            $($(#[$doc])* $family(<$params as Family>::Scheduler),)*
            $($(#[$other_doc])* $other($other),)*
        }

        macro_rules! each {
            ($d any:expr, $d inner:ident => $d call:expr) => {
                match $d any {
                    $(Scheduler::$family($d inner) => $d call,)*
                    $(Scheduler::$other($d inner) => $d call,)*
                }
            };
        }
    };
}

schedulers! { $
    families {
        /// First come, first served.
        Noop(NoopParams),
        /// Batches in sector order with deadlines.
        Deadline(DeadlineParams),
        /// A queue per task, slices of disk time, and idling for the task being served.
        Cfq(CfqParams),
        /// Turns of groups; inside its turn, each group is a complete CFQ.
        TwoLayerCfq(TwoLayerParams),
        /// Turns of groups in CFQ's scheduler, longer ones for high priorities.
        GroupCfq(GroupCfqParams),
        /// A queue per task, budgets of sectors, nested groups with weights.
        Bfq(BfqParams),
        /// Nested groups with weights, floors, ceilings and latency targets, on any device.
        Fair(FairParams),
        /// Ceilings per group; otherwise first come, first served.
        TokenBucket(TokenBucketParams),
        /// Tokens of an epoch by weight; otherwise first come, first served.
        DmIoband(DmIobandParams),
        /// A floor, a ceiling and a weight per group, kept by tags.
        Mclock(MclockParams),
        /// Shares of the device's throughput, by the cost of requests.
        Iocost(IocostParams),
        /// Latency targets per group; otherwise first come, first served.
        Iolatency(IolatencyParams),
        /// Shares of what the device can complete within a latency goal.
        Shares(SharesParams),
        /// Batches and deadlines for each class of I/O priorities, higher classes first.
        MqDeadline(MqDeadlineParams),
        /// Latency targets of reads and writes, kept by how many are at the device.
        Kyber(KyberParams),
    }
    besides {
        /// CFQ of a later revision than 2.6.25: [`SchedulerSpec::Cfq`] with any switch on.
        RevisedCfq,
    }
}

// The most frequent calls are kept out of line. Inlined, all schedulers would end up in one
// function of the engine, which has too few registers for them.

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

/// Passes calls on to the scheduler that it is.
macro_rules! forward {
    () => {};
    (
        $(#[$how:meta])*
        fn $name:ident(&self $(, $given:ident: $type:ty)*) $(-> $answer:ty)?; $($rest:tt)*
    ) => {
        $(#[$how])*
        fn $name(&self $(, $given: $type)*) $(-> $answer)? {
            each!(self, inner => inner.$name($($given),*))
        }
        forward! { $($rest)* }
    };
    (
        $(#[$how:meta])*
        fn $name:ident(&mut self $(, $given:ident: $type:ty)*) $(-> $answer:ty)?; $($rest:tt)*
    ) => {
        $(#[$how])*
        fn $name(&mut self $(, $given: $type)*) $(-> $answer)? {
            each!(self, inner => inner.$name($($given),*))
        }
        forward! { $($rest)* }
    };
}

impl Elevator for Scheduler {
    #[inline(always)]
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        each!(self, inner => admit(inner, now, request))
    }

    #[inline(always)]
    fn decide(&mut self, now: Instant) -> Decision {
        each!(self, inner => decide(inner, now))
    }

    #[inline(always)]
    fn complete(&mut self, now: Instant, completion: &Completion) {
        each!(self, inner => complete(inner, now, completion));
    }

    forward! {
        fn withdraw(&mut self, now: Instant, id: RequestId);
        fn drain(&mut self, now: Instant) -> Option<RequestId>;
        fn describe(&self) -> Description;
        fn configure(&mut self, now: Instant, change: &Change);
    }
}

impl Merging for Scheduler {
    forward! {
        fn may_merge(&self, request: &Request, bio: &Bio) -> bool;
        fn may_absorb(&self, request: &Request, next: &Request) -> bool;
        fn merged(&mut self, now: Instant, request: &Request, how: Merge);
        fn displaced(&mut self, now: Instant, moved: RequestId) -> Option<RequestId>;
    }
}

impl Driving for Scheduler {
    forward! {
        #[inline]
        fn may_queue(&mut self, now: Instant, bio: &Bio) -> MayQueue;
        #[inline]
        fn runs_driver_at(&self) -> Option<Instant>;
        #[inline]
        fn activate(&mut self, now: Instant, id: RequestId);
        fn lets_through(&self, task: TaskId, group: GroupId) -> bool;
    }
}

impl Hearing for Scheduler {
    forward! {
        fn flushes(&mut self, now: Instant, by: Submitter);
        fn flushed(&mut self, now: Instant, by: Submitter, device_time: Span, ok: bool);
        fn awaited(&mut self, now: Instant, id: RequestId, by: GroupId);
    }
}

impl Promising for Scheduler {
    forward! {
        fn accepts(&self, change: &Change) -> Result<(), Refusal>;
        fn examines_floors(&self) -> bool;
    }
}

impl Reporting for Scheduler {
    forward! {
        fn charged(&self, group: GroupId) -> Option<Span>;
        fn deferred(&self, group: GroupId) -> Option<Span>;
        fn held_back(&self, now: Instant, group: GroupId) -> Option<Why>;
        fn check_accounts(&self);
    }
}

impl Attaching for Scheduler {
    forward! {
        fn attach(&mut self, leftovers: &Leftovers) -> Result<(), AttachError>;
        fn detach(&mut self, leftovers: &mut Leftovers);
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

//! The policy seam: an [`Elevator`] orders requests and says why. It holds no clock and does no
//! I/O; time is always an argument.

use crate::attach::{AttachError, Leftovers};
use crate::cost::CostModel;
use crate::qos::Qos;
use crate::refusal::Refusal;
use crate::request::{Bio, GroupId, IoPrio, Request, RequestId, TaskId};
use crate::share::Share;
use crate::time::{Instant, Span};

/// A scheduling policy.
///
/// The nine laws (checked by [`Auditor`](crate::Auditor) and the contract suite):
///
/// 1. `now` never decreases from call to call.
/// 2. Nothing is invented, lost or finished twice.
/// 3. A wait or [`Decision::Idle`] repeats until something changes; that the driver looks at a
///    request changes nothing.
/// 4. [`Decision::WaitUntil`] names a later instant at which the answer changes;
///    [`Decision::WaitCompletion`] is said only with requests in flight, or flushes.
/// 5. [`Decision::Idle`] exactly when nothing is queued or in flight.
/// 6. Work per call is bounded: it grows no faster than the logarithm of groups, tasks and
///    requests, and not with the time that has passed. A call may do what earlier ones have put
///    off, as long as each puts off no more than a bounded part; and what changes the device, or
///    asks whether a change is accepted, may look at all groups. (History and its rivals are held
///    to it as well, but for the calls that the test of this law names.)
/// 7. The same inputs give the same decisions on every machine.
/// 8. Flushes and overlapping writes keep their order (the engine's part).
/// 9. Every admitted request is dispatched within the bound the elevator states. (History states
///    none: the CFQs have defect D3, and `deadline` postpones until all that is overdue has gone.)
pub trait Elevator {
    /// Takes a request over.
    fn admit(&mut self, now: Instant, request: &Request) -> Admission;

    /// When the driver is to be run in any case, where otherwise a few requests would be gathered
    /// first: at once, which is any time that is over, if the request admitted last ends a wait or
    /// takes the disk from another; at the end of the wait for a task, if the disk is kept for one.
    fn runs_driver_at(&self) -> Option<Instant> {
        None
    }

    /// Chooses what to hand to the dispatch list next.
    fn decide(&mut self, now: Instant) -> Decision;

    /// A dispatched request has finished.
    fn complete(&mut self, now: Instant, completion: &Completion);

    /// A flush of `group` is on its way to the device: whoever asked for it waits from now on.
    fn flushes(&mut self, _now: Instant, _group: GroupId) {}

    /// A flush of `group` has finished, with which the device was busy for `device_time`. No
    /// elevator orders flushes, but the disk was not kept idle meanwhile, and whoever waited for it
    /// is back from now on.
    fn flushed(&mut self, _now: Instant, _group: GroupId, _device_time: Span) {}

    /// Gives a queued request back (cancelled, or absorbed by a merge).
    fn withdraw(&mut self, now: Instant, id: RequestId);

    /// Groups and tasks changed.
    fn configure(&mut self, now: Instant, change: &Change);

    /// Whether it will do what `change` asks for. It is asked before it is told; one that was not
    /// asked (groups that a new elevator finds) is done as well as it can be.
    ///
    /// # Errors
    /// Why it will not; nothing changes then.
    fn accepts(&self, _change: &Change) -> Result<(), Refusal> {
        Ok(())
    }

    /// Name, habits and promises.
    fn describe(&self) -> Description;

    /// How long the turns of a group have been so far, waits for its tasks included, if it charges
    /// groups by that: `blkio.time`.
    fn charged(&self, _group: GroupId) -> Option<Span> {
        None
    }

    /// The driver has looked at a dispatched request for the first time. With a device that takes
    /// one request at a time this may be before the request can start.
    fn activate(&mut self, _now: Instant, _id: RequestId) {}

    /// Asked before each request slot is taken: may this task pass a full pool?
    fn may_queue(&mut self, _now: Instant, _bio: &Bio) -> MayQueue {
        MayQueue::May
    }

    /// Whether the next bio of `task` in `group` that somebody waits for is dispatched as soon as
    /// it is admitted, whenever it comes and wherever it lies, and so is each that comes when the
    /// one before is done, as long as nothing else happens. It is asked while nothing is queued or
    /// in flight. No is always right.
    fn lets_through(&self, _task: TaskId, _group: GroupId) -> bool {
        false
    }

    /// Whether `bio` may become part of the queued `request`, which it touches.
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        request.sync == bio.sync && request.group == bio.group
    }

    /// A queued request grew; `request` is what it is now.
    fn merged(&mut self, _now: Instant, _request: &Request, _how: Merge) {}

    /// Asked after a front merge has moved the queued request `moved`: one queued at the same
    /// position before it that goes straight to the dispatch list, as in [`Admission::Displaces`].
    fn displaced(&mut self, _now: Instant, _moved: RequestId) -> Option<RequestId> {
        None
    }

    /// Gives up the queued requests one by one, in the order it would serve them if it never
    /// waited: for a barrier or a change of elevator.
    fn drain(&mut self, now: Instant) -> Option<RequestId>;

    /// Takes a device over, before it hears of anything there. `leftovers` is what elevators before
    /// it left behind in the groups.
    ///
    /// # Errors
    /// It cannot work with what it finds; whoever asked keeps the elevator it has.
    fn attach(&mut self, _leftovers: &Leftovers) -> Result<(), AttachError> {
        Ok(())
    }

    /// Gives the device up after a drain. What it fails to take out of the groups stays in
    /// `leftovers`.
    fn detach(&mut self, _leftovers: &mut Leftovers) {}
}

/// The answer to [`Elevator::admit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Queued.
    Queued,
    /// Queued, and `displaced` (queued earlier at the same position) goes straight to the
    /// dispatch list.
    Displaces(RequestId),
}

/// The answer to [`Elevator::decide`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This request goes to the dispatch list.
    Dispatch(RequestId, Why),
    /// Nothing before this instant, unless something changes.
    WaitUntil(Instant, Why),
    /// Nothing before a completion, unless something changes.
    WaitCompletion(Why),
    /// Nothing is queued and nothing is in flight.
    Idle,
}

/// The reason of a decision; a closed list, so that every one can be explained and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Why {
    /// It arrived first.
    ArrivedFirst,
    /// It lies next in the direction the head moves.
    SectorOrder,
    /// It waited longer than its deadline allows.
    DeadlineExpired,
    /// Reads go before writes.
    ReadsFirst,
    /// Writes have been passed over often enough.
    WritesStarved,
    /// Its queue still has the disk.
    SliceContinues,
    /// Its queue just got the disk, the one before having used its slice up.
    SliceExpired,
    /// Its queue just got the disk, the one before having nothing more to do.
    QueueEmptied,
    /// Its queue just got the disk, the one before not having come back in time.
    IdleWaitFailed,
    /// Its queue took the disk from another.
    Preempted,
    /// Its group just got the disk, the one before having used its slice up.
    GroupSliceExpired,
    /// Its group just got the disk, the one before having nothing more to do.
    GroupEmptied,
    /// Another request at the same position took its place.
    Displaced,
    /// The elevator is giving everything up.
    Drained,
    /// Waiting for the task being served to come back with its next request.
    IdleWait,
    /// The queue being served has enough requests at the device.
    QuantumUsed,
    /// Asynchronous requests wait while synchronous ones are in flight.
    SyncInFlight,
    /// The queue being served waits for its own request in flight.
    OwnRequestInFlight,
    /// Only requests in flight are left.
    NothingQueued,
    /// A queue that is waited for starts nothing while asynchronous requests are in flight.
    AsyncInFlight,
    /// Its group has had the least for its share.
    LeastServed,
    /// Waiting for the group being served to come back with its next request.
    GroupIdleWait,
    /// Its group is below its floor.
    BelowFloor,
    /// Every group that wants the disk is at its ceiling.
    AtCeiling,
    /// Every group that wants the disk has used its budget up.
    BudgetUsed,
    /// Groups that want the disk are held back because another misses its latency target.
    LatencyMissed,
    /// The device has as much to do as it gets done in time.
    DeviceBusy,
    /// More requests at the device would slow a group down that is behind its share.
    DepthLimited,
    /// Its group would miss its latency target otherwise.
    NearTarget,
    /// An idle device starts once a few requests have gathered: the engine's reason.
    Gathering,
}

impl Why {
    /// Every reason.
    pub const ALL: [Self; 30] = [
        Self::ArrivedFirst,
        Self::SectorOrder,
        Self::DeadlineExpired,
        Self::ReadsFirst,
        Self::WritesStarved,
        Self::SliceContinues,
        Self::SliceExpired,
        Self::QueueEmptied,
        Self::IdleWaitFailed,
        Self::Preempted,
        Self::GroupSliceExpired,
        Self::GroupEmptied,
        Self::Displaced,
        Self::Drained,
        Self::IdleWait,
        Self::QuantumUsed,
        Self::SyncInFlight,
        Self::OwnRequestInFlight,
        Self::NothingQueued,
        Self::AsyncInFlight,
        Self::LeastServed,
        Self::GroupIdleWait,
        Self::BelowFloor,
        Self::AtCeiling,
        Self::BudgetUsed,
        Self::LatencyMissed,
        Self::DeviceBusy,
        Self::DepthLimited,
        Self::NearTarget,
        Self::Gathering,
    ];

    /// The reason in words, as `fairdisk explain` prints it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::ArrivedFirst => "it arrived first",
            Self::SectorOrder => "it lies next in the direction the head moves",
            Self::DeadlineExpired => "it waited longer than its deadline allows",
            Self::ReadsFirst => "reads go before writes",
            Self::WritesStarved => "writes had been passed over often enough",
            Self::SliceContinues => "its queue still has the disk",
            Self::SliceExpired => "its queue's turn came: the slice before was used up",
            Self::QueueEmptied => "its queue's turn came: the queue before had nothing more to do",
            Self::IdleWaitFailed => {
                "its queue's turn came: the task before did not come back in time"
            }
            Self::Preempted => "its queue took the disk from another",
            Self::GroupSliceExpired => "its group's turn came: the group slice before was used up",
            Self::GroupEmptied => "its group's turn came: the group before had nothing more to do",
            Self::Displaced => "another request at the same position took its place",
            Self::Drained => "the elevator gave everything up",
            Self::IdleWait => "waiting for the task being served to come back",
            Self::QuantumUsed => "the queue being served has enough requests at the device",
            Self::SyncInFlight => "asynchronous requests wait while synchronous ones are in flight",
            Self::OwnRequestInFlight => "the queue being served waits for its own request",
            Self::NothingQueued => "nothing is queued, only requests in flight are left",
            Self::AsyncInFlight => {
                "synchronous requests wait while asynchronous ones are in flight"
            }
            Self::LeastServed => "its group has had the least for its share",
            Self::GroupIdleWait => "waiting for the group being served to come back",
            Self::BelowFloor => "its group is below its floor",
            Self::AtCeiling => "every group that wants the disk is at its ceiling",
            Self::BudgetUsed => "every group that wants the disk has used its budget up",
            Self::LatencyMissed => {
                "groups that want the disk are held back: another misses its latency target"
            }
            Self::DeviceBusy => "the device has as much to do as it gets done in time",
            Self::DepthLimited => {
                "more requests at the device would slow a group down that is behind its share"
            }
            Self::NearTarget => "its group would miss its latency target otherwise",
            Self::Gathering => "the device starts once a few requests have gathered",
        }
    }
}

/// A request that left the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Which.
    pub request: RequestId,
    /// How long the device was busy with it: since the completion before, or, where several are
    /// known to be served at once ([`Change::Depth`]), its part of the time they were there
    /// together. These add up to the device's busy time.
    pub device_time: Span,
    /// Whether it succeeded.
    pub ok: bool,
}

/// Something about groups and tasks changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A group exists from now on.
    GroupAdded {
        /// The group.
        group: GroupId,
        /// What it asks for.
        share: Share,
    },
    /// A group asks for something else.
    GroupShare {
        /// The group.
        group: GroupId,
        /// What it asks for from now on.
        share: Share,
    },
    /// A group lies inside another from now on: what it asks for is a part of what the outer one
    /// gets. Unless told otherwise it lies beside the root group.
    GroupParent {
        /// The inner group.
        group: GroupId,
        /// The outer group.
        parent: Option<GroupId>,
    },
    /// A group has another floor, ceiling or latency target from now on.
    GroupQos {
        /// The group.
        group: GroupId,
        /// What it asks for beside its share.
        qos: Qos,
    },
    /// The disk is to wait differently long for a group that has it and nothing queued.
    GroupIdle {
        /// The group.
        group: GroupId,
        /// How long, at most; zero is not at all, `None` as for every group.
        idle: Option<Span>,
    },
    /// A group is gone. What it still has queued is served; nothing new arrives. No group lies in
    /// it any more.
    GroupRemoved {
        /// The group.
        group: GroupId,
    },
    /// A task submits for another group from now on. What it has queued stays where it is.
    TaskMoved {
        /// The task.
        task: TaskId,
        /// Its group from now on.
        group: GroupId,
    },
    /// A task has another I/O priority from now on.
    TaskPriority {
        /// The task.
        task: TaskId,
        /// Its priority from now on.
        ioprio: IoPrio,
    },
    /// A task is gone; nothing new arrives from it.
    TaskExited {
        /// The task.
        task: TaskId,
    },
    /// The device takes so many requests at once from now on. More than one: it serves several
    /// together faster than one after the other.
    Depth {
        /// How many; at least 1.
        depth: u32,
    },
    /// The device has a head to move, or has none. Unless told otherwise it has one.
    Rotational {
        /// Whether it has.
        rotational: bool,
    },
    /// What requests cost the device, for those who charge by it.
    Costs(CostModel),
}

/// The answer to [`Elevator::may_queue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayQueue {
    /// By the ordinary rules.
    May,
    /// Even if the pool is full: the disk is waiting for this task.
    Must,
}

/// How a queued request grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// At its end.
    Back,
    /// At its start: its position changed.
    Front,
    /// It took over the bios of `absorbed`, which has been withdrawn.
    Absorbed {
        /// The request that is no more.
        absorbed: RequestId,
        /// When that one arrived.
        arrived: Instant,
    },
}

/// How an elevator fills the dispatch list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// One request each time the list is empty.
    Single,
    /// As many as it decides for; the list puts them into one-way sector order.
    Batch,
}

/// What an elevator says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The name of its revision in the catalogue.
    pub name: &'static str,
    /// How it fills the dispatch list.
    pub handover: Handover,
    /// Law 9: the longest a request may wait in the elevator with the disk busy, if there is
    /// such a bound.
    pub wait_max: Option<Span>,
    /// Law 9: how many requests that came later may be dispatched before one, if there is such a
    /// bound.
    pub overtaken_max: Option<u32>,
}

impl Description {
    /// An elevator that promises no bounds.
    #[must_use]
    pub const fn new(name: &'static str, handover: Handover) -> Self {
        Self { name, handover, wait_max: None, overtaken_max: None }
    }
}

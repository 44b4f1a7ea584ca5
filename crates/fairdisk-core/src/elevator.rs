//! The policy interface: an [`Elevator`] decides the order of requests and gives a reason for each
//! decision. It has no clock and does no I/O; the current time is always an argument.

use crate::attach::{AttachError, Leftovers};
use crate::cost::CostModel;
use crate::qos::Qos;
use crate::refusal::Refusal;
use crate::request::{Bio, GroupId, IoPrio, Lba, Request, RequestId, Sectors, TaskId};
use crate::share::Share;
use crate::time::{Instant, Span};
use crate::why::Why;

/// A scheduling policy.
///
/// Every elevator obeys nine laws, checked by [`Auditor`](crate::Auditor) and the contract suite:
///
/// 1. `now` never decreases from call to call.
/// 2. No request is invented, lost or completed twice.
/// 3. A wait or [`Decision::Idle`] is repeated until something changes.
///    [`activate`](Self::activate) does not count as a change.
/// 4. [`Decision::WaitUntil`] names a later instant, at which the answer changes.
///    [`Decision::WaitCompletion`] is returned only while requests or flushes are in flight.
///    [`Decision::Flush`] is returned only if the device is [flushable](Change::Flushable), while
///    nothing is in flight, and nothing else is dispatched before that flush has completed.
/// 5. [`Decision::Idle`] is returned exactly when nothing is queued or in flight.
/// 6. The work per call is bounded: it grows at most with the logarithm of the number of groups,
///    tasks and requests, and does not grow with elapsed time. A call may do work that earlier
///    calls postponed, as long as each of them postponed no more than a bounded amount. Calls that
///    change the device or ask whether a change is accepted may visit all groups. The historical
///    schedulers and the rivals obey this law too, except in the calls listed in its test.
/// 7. The same inputs give the same decisions on every machine.
/// 8. Flushes and overlapping writes keep their order. The engine sees to this.
/// 9. Every admitted request is dispatched within the bounds stated in [`Description`]: of time, of
///    requests that overtake it, or of [turns](Turns) that other tasks of its group have before
///    its own task. The historical schedulers state none: the CFQs have defect D3, and `deadline`
///    delays a request until all overdue ones have been dispatched.
pub trait Elevator {
    /// Takes over a request and queues it.
    fn admit(&mut self, now: Instant, request: &Request) -> Admission;

    /// When the engine must run the driver even though the device is plugged to gather requests. An
    /// instant in the past means at once: the request admitted last ends an idle wait or preempts
    /// another queue. During an idle wait it is the end of that wait. `None` leaves the decision to
    /// the plug.
    fn runs_driver_at(&self) -> Option<Instant> {
        None
    }

    /// Chooses the next request for the dispatch list, or says what to wait for.
    fn decide(&mut self, now: Instant) -> Decision;

    /// Reports that a dispatched request has completed.
    fn complete(&mut self, now: Instant, completion: &Completion);

    /// Reports that a flush has been put on the dispatch list, where nothing that is queued passes
    /// it; its submitter waits from now on.
    fn flushes(&mut self, _now: Instant, _by: Submitter) {}

    /// Reports that a flush has completed, after keeping the device busy for `device_time`.
    /// Elevators do not order flushes, but they need to know that the device was not idle meanwhile
    /// and that the submitter can now continue. If it failed (`ok` is false), the device may still
    /// have writes to do.
    fn flushed(&mut self, _now: Instant, _by: Submitter, _device_time: Span, _ok: bool) {}

    /// Reports that the flush of [`Decision::Flush`] has completed, after keeping the device busy
    /// for `device_time`; `ok` says whether it succeeded.
    fn emptied(&mut self, _now: Instant, _device_time: Span, _ok: bool) {}

    /// Reports that a bio of the group `by` begins only after the queued request `id` has finished,
    /// because it overlaps that, or is a flush of a write that does, so that the group waits for
    /// another's turn. May be reported again.
    fn awaited(&mut self, _now: Instant, _id: RequestId, _by: GroupId) {}

    /// Removes a queued request that was cancelled or absorbed by a merge, or that comes again as a
    /// synchronous one.
    fn withdraw(&mut self, now: Instant, id: RequestId);

    /// Applies a change to groups, tasks or the device.
    fn configure(&mut self, now: Instant, change: &Change);

    /// Whether the elevator can do what `change` asks for. The engine asks before it calls
    /// [`configure`](Self::configure). A change that was not asked about, such as the groups a new
    /// elevator finds, is applied as well as possible.
    ///
    /// # Errors
    /// Returns the reason for the refusal; nothing changes then.
    fn accepts(&self, _change: &Change) -> Result<(), Refusal> {
        Ok(())
    }

    /// Whether the elevator knows enough of the device to tell which floors can be kept. Until then
    /// [`accepts`](Self::accepts) may take a floor that cannot be, so whoever set one asks again.
    fn examines_floors(&self) -> bool {
        true
    }

    /// The elevator's name, how it fills the dispatch list, and the bounds it promises.
    fn describe(&self) -> Description;

    /// The total length of the turns of `group`, idle waits for its tasks included: the value of
    /// `blkio.time`. `None` if the elevator does not charge groups by time.
    fn charged(&self, _group: GroupId) -> Option<Span> {
        None
    }

    /// How long the device has worked on writes of `group` after it had acknowledged them, while it
    /// served others or was kept free, as far as the elevator has found that out and charged it.
    /// That time is part of no request of the group. `None` if the elevator does not look.
    fn deferred(&self, _group: GroupId) -> Option<Span> {
        None
    }

    /// Reports that the driver has looked at a dispatched request for the first time. On a device
    /// that takes one request at a time this may happen before the request can start.
    fn activate(&mut self, _now: Instant, _id: RequestId) {}

    /// Why nothing that `group` has queued may be dispatched at the moment, although the device may
    /// serve other groups: the group is at its ceiling, say. `None` if nothing but its place in
    /// line keeps it back. Asked only to explain a run.
    fn held_back(&self, _now: Instant, _group: GroupId) -> Option<Why> {
        None
    }

    /// Asked before each request slot is taken: whether this bio's task may exceed a full pool.
    fn may_queue(&mut self, _now: Instant, _bio: &Bio) -> MayQueue {
        MayQueue::May
    }

    /// Whether the next synchronous bio of `task` in `group` will be dispatched as soon as it is
    /// admitted, whenever it arrives and wherever it lies, and likewise each later one that arrives
    /// after the previous one completed, as long as nothing else happens. Asked while nothing is
    /// queued or in flight. `false` is always a correct answer.
    fn lets_through(&self, _task: TaskId, _group: GroupId) -> bool {
        false
    }

    /// Whether `bio` may be merged into the queued `request` it adjoins.
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        request.sync == bio.sync && request.group == bio.group
    }

    /// Whether the queued `request` may absorb `next`, which is queued and begins where it ends.
    /// Asked after [`may_merge`](Self::may_merge) with all of `next` as one bio.
    fn may_absorb(&self, _request: &Request, _next: &Request) -> bool {
        true
    }

    /// Reports that a queued request has grown by a merge; `request` is its new state.
    fn merged(&mut self, _now: Instant, _request: &Request, _how: Merge) {}

    /// Asked after a front merge has moved the queued request `moved`: the request queued earlier
    /// at the same position, if it must go straight to the dispatch list as in
    /// [`Admission::Displaces`].
    fn displaced(&mut self, _now: Instant, _moved: RequestId) -> Option<RequestId> {
        None
    }

    /// Removes and returns one queued request, in the order in which the elevator would serve them
    /// without ever waiting; `None` when empty. Used before a change of elevator.
    fn drain(&mut self, now: Instant) -> Option<RequestId>;

    /// Attaches to a device before any other call about it. `leftovers` lists the groups in which
    /// earlier elevators left records.
    ///
    /// # Errors
    /// Returns why the elevator cannot work with those records; the caller then keeps its present
    /// elevator.
    fn attach(&mut self, _leftovers: &Leftovers) -> Result<(), AttachError> {
        Ok(())
    }

    /// Detaches from the device after a drain. Groups from which the elevator fails to remove its
    /// records are added to `leftovers`.
    fn detach(&mut self, _leftovers: &mut Leftovers) {}
}

/// The answer of [`Elevator::admit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The request is queued.
    Queued,
    /// The request is queued, and the given request, queued earlier at the same position, goes
    /// straight to the dispatch list.
    Displaces(RequestId),
}

/// The answer of [`Elevator::decide`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Put this request on the dispatch list.
    Dispatch(RequestId, Why),
    /// Dispatch nothing before this instant unless something changes.
    WaitUntil(Instant, Why),
    /// Dispatch nothing before the next completion unless something changes.
    WaitCompletion(Why),
    /// Flush the device's write cache, on the account of this group, before anything else is
    /// dispatched. [`Elevator::emptied`] reports when that is done.
    Flush(GroupId, Why),
    /// Nothing is queued and nothing is in flight.
    Idle,
}

/// Who submitted a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitter {
    /// The task, which may have exited since; `None` for a flush that an elevator asked for.
    pub task: Option<TaskId>,
    /// The group that the flush is charged to.
    pub group: GroupId,
}

/// A request that the device has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The completed request.
    pub request: RequestId,
    /// How long the device was busy with the request. On a device that serves one request at a
    /// time: the time since the previous completion. On a device known to serve several at once
    /// ([`Change::Depth`]): the request's part of the time during which it was outstanding together
    /// with others. The device times of all requests add up to the device's busy time.
    pub device_time: Span,
    /// Whether it succeeded.
    pub ok: bool,
}

/// A change to a group, a task or the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A group has been created.
    GroupAdded {
        /// The group.
        group: GroupId,
        /// The group's share.
        share: Share,
    },
    /// A group's share has changed.
    GroupShare {
        /// The group.
        group: GroupId,
        /// The group's new share.
        share: Share,
    },
    /// A group has been nested in another group, or moved out to the top level. A nested group's
    /// share is a part of what its parent gets. Without this change a group is at the top level,
    /// beside the root group. The engine refuses to nest a group in itself, at any depth.
    GroupParent {
        /// The inner group.
        group: GroupId,
        /// The parent group; `None` for the top level.
        parent: Option<GroupId>,
    },
    /// A group's floor, ceiling or latency target has changed.
    GroupQos {
        /// The group.
        group: GroupId,
        /// The group's new quality of service.
        qos: Qos,
    },
    /// A group's idle wait has changed: how long the disk is kept for the group while it has
    /// nothing queued.
    GroupIdle {
        /// The group.
        group: GroupId,
        /// The longest wait; zero disables it, `None` restores the elevator's own setting.
        idle: Option<Span>,
    },
    /// A group has been removed. Its queued requests are still served; nothing new arrives from it.
    /// No other group is nested in it any more.
    GroupRemoved {
        /// The group.
        group: GroupId,
    },
    /// A task now submits for another group. Its queued requests stay where they are.
    TaskMoved {
        /// The task.
        task: TaskId,
        /// The task's new group.
        group: GroupId,
    },
    /// A task's I/O priority has changed.
    TaskPriority {
        /// The task.
        task: TaskId,
        /// The task's new priority.
        ioprio: IoPrio,
    },
    /// A task has exited; nothing new arrives from it.
    TaskExited {
        /// The task.
        task: TaskId,
    },
    /// The number of requests the device accepts at once has changed. Above one, the device serves
    /// several requests together faster than one after another. From then on it is the depth of the
    /// cost model too.
    Depth {
        /// The number of requests; at least 1.
        depth: u32,
    },
    /// Whether the device has a moving head. Without this change it is taken to have one.
    Rotational {
        /// Whether the device has a moving head.
        rotational: bool,
    },
    /// The device's cost model, for elevators that charge requests by cost.
    Costs(CostModel),
    /// Whether the elevator may flush the device's write cache ([`Decision::Flush`]). Without this
    /// change it may not.
    Flushable {
        /// Whether it may.
        flushable: bool,
    },
}

/// The answer of [`Elevator::may_queue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayQueue {
    /// The ordinary pool rules apply.
    May,
    /// The task may exceed a full pool because the disk is waiting for it.
    Must,
}

/// How a queued request has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// A bio was appended.
    Back,
    /// A bio was prepended, so the request's start position changed.
    Front,
    /// The bios of `absorbed` were appended; that request has been withdrawn.
    Absorbed {
        /// The withdrawn request.
        absorbed: RequestId,
        /// When the withdrawn request arrived.
        arrived: Instant,
    },
}

/// How an elevator fills the dispatch list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// One request whenever the list is empty.
    Single,
    /// As many requests as the elevator decides on; the list sorts them into one-way sector order.
    Batch,
}

/// Law 9 among the tasks of a group that have the same I/O priority: how long one of them waits for
/// the others.
///
/// A *turn* of a task is a run of its synchronous requests that are dispatched within `length`. A
/// request is part of the turn of the one before if nothing else of the group is dispatched between
/// them, or if the later one begins where the earlier one ended. One that begins where the last of
/// its group ended, or no further away than `near`, is part of the turn of that, whosever it was.
/// What another group [waits for](Why::Awaited) is part of no turn.
///
/// While a task has synchronous requests queued and none of them is dispatched, the others of its
/// group and priority have at most `each` turns for each of them that has any at a time, the task
/// itself included, and for each request of its own last turn, up to `continued`, that began where
/// the one before ended, if there were several. So where a turn is one request, one waits at most
/// `each` times as long as its kind does in the mean, and a request of a task that has more queued
/// waits as long for each that is served before it. A task that gets another priority waits from
/// then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// How many turns for each task.
    pub each: u32,
    /// How long a turn is at most.
    pub length: Span,
    /// How many requests of a turn count, of a task that then waits for longer.
    pub continued: u32,
    /// How far from the last request of the group one of another task may begin that is part of its
    /// turn.
    pub near: Sectors,
}

impl Turns {
    /// Whether a request that begins here is part of the turn of one that ended at `end`.
    #[must_use]
    pub const fn is_near(&self, end: Lba, begin: Lba) -> bool {
        begin.0.abs_diff(end.0) <= self.near.0 as u64
    }
}

/// What an elevator states about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The name of the elevator's revision in the catalogue.
    pub name: &'static str,
    /// How the elevator fills the dispatch list.
    pub handover: Handover,
    /// Law 9: the longest time a request may stay in the elevator while the disk is busy, if the
    /// elevator promises a bound.
    pub wait_max: Option<Span>,
    /// Law 9: how many later requests may be dispatched before an earlier one, if the elevator
    /// promises a bound.
    pub overtaken_max: Option<u32>,
    /// Law 9: how many turns others of a group have before a task that waits, if the elevator
    /// promises a bound.
    pub turns_max: Option<Turns>,
}

impl Description {
    /// A description that promises no bounds.
    #[must_use]
    pub const fn new(name: &'static str, handover: Handover) -> Self {
        Self { name, handover, wait_max: None, overtaken_max: None, turns_max: None }
    }
}

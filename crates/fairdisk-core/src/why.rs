//! The reasons that elevators give for their decisions.

/// The reason for a decision. The list is closed, so every reason can be counted and explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Why {
    /// The request arrived first.
    ArrivedFirst,
    /// The request is the next one in the direction of head movement.
    SectorOrder,
    /// The request has waited past its deadline.
    DeadlineExpired,
    /// Reads are dispatched before writes.
    ReadsFirst,
    /// Writes have been passed over as often as the limit allows.
    WritesStarved,
    /// The request's queue still has the disk.
    SliceContinues,
    /// The request's queue has just got the disk because the previous queue used up its slice.
    SliceExpired,
    /// The request's queue has just got the disk because the previous queue ran empty.
    QueueEmptied,
    /// The request's queue has just got the disk because the previous queue's task did not submit
    /// again in time.
    IdleWaitFailed,
    /// The request's queue has preempted the active queue.
    Preempted,
    /// The request's group has just got the disk because the previous group used up its slice.
    GroupSliceExpired,
    /// The request's group has just got the disk because the previous group ran empty.
    GroupEmptied,
    /// Another request at the same position has taken this request's place in the queue.
    Displaced,
    /// The elevator is being drained.
    Drained,
    /// The disk is kept idle for the next request of the task being served.
    IdleWait,
    /// The active queue has its quantum of requests at the device.
    QuantumUsed,
    /// Asynchronous requests wait while synchronous ones are in flight.
    SyncInFlight,
    /// The active queue waits for its own request in flight.
    OwnRequestInFlight,
    /// Nothing is queued; only requests in flight are left.
    NothingQueued,
    /// A queue that the disk is kept idle for starts nothing while asynchronous requests are in
    /// flight.
    AsyncInFlight,
    /// The request's group has had the least service relative to its share.
    LeastServed,
    /// The disk is kept idle for the next request of the group being served.
    GroupIdleWait,
    /// The request's group, or a group around it, is below its floor.
    BelowFloor,
    /// Every group with queued requests is at its ceiling.
    AtCeiling,
    /// Every group with queued requests has used up its budget.
    BudgetUsed,
    /// Groups with queued requests are throttled because another group misses its latency target.
    LatencyMissed,
    /// The device already has as much outstanding work as it can complete in time.
    DeviceBusy,
    /// More requests at the device would slow down a group that is behind its share.
    DepthLimited,
    /// The request is served before its turn so that its group meets its latency target.
    NearTarget,
    /// The engine keeps an idle device plugged until a few requests have gathered. Only the engine
    /// gives this reason.
    Gathering,
    /// Requests are dispatched one at a time, and one is in flight.
    OneAtATime,
    /// Other groups wait because the group being served, which has nothing queued, still has
    /// requests at the device or is due back.
    GroupSliceKept,
    /// A queue that gets the device to itself waits for other queues' requests in flight.
    OthersInFlight,
    /// The request belongs to a sequential stream, which leaves the device to a group that is
    /// behind its share.
    StreamYields,
    /// Writes that would not be done before a group that is behind its share comes back from a
    /// pause have to wait, and shortly before that all requests do.
    HeldForThinker,
    /// The device has as much outstanding work as a group's latency target leaves room for.
    TargetRoomUsed,
    /// Writes have to keep the pace that another group's latency target leaves them.
    WritePaced,
    /// The request's group still has the disk.
    GroupSliceContinues,
    /// The request's group has just got the disk because the previous group is at its ceiling.
    GroupCeilingReached,
    /// The request's I/O priority class has been passed over for as long as the limit allows.
    ClassStarved,
}

impl Why {
    /// Every reason, in order of declaration.
    pub const ALL: [Self; 40] = [
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
        Self::OneAtATime,
        Self::GroupSliceKept,
        Self::OthersInFlight,
        Self::StreamYields,
        Self::HeldForThinker,
        Self::TargetRoomUsed,
        Self::WritePaced,
        Self::GroupSliceContinues,
        Self::GroupCeilingReached,
        Self::ClassStarved,
    ];

    /// The reason in words, as printed by `fairdisk explain`.
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
            Self::NearTarget => "it goes first so that its group meets its latency target",
            Self::Gathering => "the device starts once a few requests have gathered",
            Self::OneAtATime => "requests go to the device one at a time",
            Self::GroupSliceKept => "the group being served still has the disk",
            Self::OthersInFlight => "the queue being served waits for others' requests",
            Self::StreamYields => "a stream makes way for a group that is behind",
            Self::HeldForThinker => "waiting for a group that is behind and due back",
            Self::TargetRoomUsed => "a latency target leaves no more room at the device",
            Self::WritePaced => "writes keep the pace a latency target leaves them",
            Self::GroupSliceContinues => "its group still has the disk",
            Self::GroupCeilingReached => {
                "its group's turn came: the group before is at its ceiling"
            }
            Self::ClassStarved => "its class had been passed over for long enough",
        }
    }
}

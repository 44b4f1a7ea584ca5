//! The reasons that elevators give for their decisions.

/// Declares [`Why`] with its list and its words: each reason with what it means and how it reads.
macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident $(= $number:literal)? => $text:literal,)+) => {
        /// The reason for a decision. The list is closed, so every reason can be counted and
        /// explained.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Why {
            $($(#[doc = $doc])+ $name $(= $number)?,)+
        }

        impl Why {
            /// Every reason, in order of declaration.
            pub const ALL: [Self; [$(Self::$name),+].len()] = [$(Self::$name),+];

            /// The reason in words, as printed by `fairdisk explain`.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

impl Why {
    /// Whether who waits for this reason gives the device nothing more though it would take it, and
    /// nobody is served in the place of those who wait.
    #[must_use]
    pub const fn spares_device(self) -> bool {
        matches!(
            self,
            Self::HeldForThinker
                | Self::DepthLimited
                | Self::TargetRoomUsed
                | Self::BacklogLimited
                | Self::AtCeiling
                | Self::BudgetUsed
                | Self::LatencyMissed
        )
    }
}

// Journals hold the number of a reason: new ones go to the end, and one that is gone leaves a gap.
reasons! {
    /// The request arrived first.
    ArrivedFirst => "it arrived first",
    /// The request is the next one in the direction of head movement.
    SectorOrder => "it lies next in the direction the head moves",
    /// The request has waited past its deadline.
    DeadlineExpired => "it waited longer than its deadline allows",
    /// Reads are dispatched before writes.
    ReadsFirst => "reads go before writes",
    /// Writes have been passed over as often as the limit allows.
    WritesStarved => "writes had been passed over often enough",
    /// The request's queue still has the disk.
    SliceContinues => "its queue still has the disk",
    /// The request's queue has just got the disk because the previous queue used up its slice.
    SliceExpired => "its queue's turn came: the slice before was used up",
    /// The request's queue has just got the disk because the previous queue ran empty.
    QueueEmptied => "its queue's turn came: the queue before had nothing more to do",
    /// The request's queue has just got the disk because the previous queue's task did not submit
    /// again in time.
    IdleWaitFailed => "its queue's turn came: the task before did not come back in time",
    /// The request's queue has preempted the active queue.
    Preempted => "its queue took the disk from another",
    /// The request's group has just got the disk because the previous group used up its slice.
    GroupSliceExpired => "its group's turn came: the group slice before was used up",
    /// The request's group has just got the disk because the previous group ran empty.
    GroupEmptied => "its group's turn came: the group before had nothing more to do",
    /// Another request at the same position has taken this request's place in the queue.
    Displaced => "another request at the same position took its place",
    /// The disk is kept idle for the next request of the task being served.
    IdleWait = 14 => "waiting for the task being served to come back",
    /// The active queue has its quantum of requests at the device.
    QuantumUsed => "the queue being served has enough requests at the device",
    /// Asynchronous requests wait while synchronous ones are in flight.
    SyncInFlight => "asynchronous requests wait while synchronous ones are in flight",
    /// The active queue waits for its own request in flight.
    OwnRequestInFlight => "the queue being served waits for its own request",
    /// Nothing is queued; only requests in flight are left.
    NothingQueued => "nothing is queued, only requests in flight are left",
    /// A queue that the disk is kept idle for starts nothing while asynchronous requests are in
    /// flight.
    AsyncInFlight => "synchronous requests wait while asynchronous ones are in flight",
    /// The request's group has had the least service relative to its share.
    LeastServed => "its group has had the least for its share",
    /// The disk is kept idle for the next request of the group being served.
    GroupIdleWait => "waiting for the group being served to come back",
    /// The request's group, or a group around it, is below its floor.
    BelowFloor => "its group is below its floor",
    /// No group with queued requests may be served yet, and the first that may again is at its
    /// ceiling.
    AtCeiling => "no group may be served yet; the first to be free again is at its ceiling",
    /// Every group with queued requests has used up its budget.
    BudgetUsed => "every group that wants the disk has used its budget up",
    /// Groups with queued requests are throttled because another group misses its latency target.
    LatencyMissed => "groups that want the disk are held back: another misses its latency target",
    /// The device already has as much outstanding work as it can complete in time.
    DeviceBusy => "the device has as much to do as it gets done in time",
    /// More requests at the device would slow down a group that is behind its share.
    DepthLimited => "more requests at the device would slow a group or task that is behind its share",
    /// The request is served before its turn so that its group meets its latency target.
    NearTarget => "it goes first so that its group meets its latency target",
    /// The engine keeps an idle device plugged until a few requests have gathered. Only the engine
    /// gives this reason.
    Gathering => "the device starts once a few requests have gathered",
    /// Requests are dispatched one at a time, and one is in flight.
    OneAtATime => "requests go to the device one at a time",
    /// Other groups wait because the group being served, which has nothing queued, still has
    /// requests at the device or is due back.
    GroupSliceKept => "the group being served still has the disk",
    /// A queue that gets the device to itself waits for other queues' requests in flight.
    OthersInFlight => "the queue being served waits for others' requests",
    /// The request belongs to a sequential stream, which leaves the device to a group that is
    /// behind its share.
    StreamYields => "a stream makes way for a group or task that is behind",
    /// Writes that would not be done before a group that is behind its share comes back from a
    /// pause have to wait, and shortly before that all requests do.
    HeldForThinker => "waiting for a group that is behind and due back",
    /// The device has as much outstanding work as a group's latency target leaves room for.
    TargetRoomUsed => "a latency target leaves no more room at the device",
    /// The request's group still has the disk.
    GroupSliceContinues = 37 => "its group still has the disk",
    /// The request's group has just got the disk because the previous group is at its ceiling.
    GroupCeilingReached => "its group's turn came: the group before is at its ceiling",
    /// The request's I/O priority class has been passed over for as long as the limit allows.
    ClassStarved => "its class had been passed over for long enough",
    /// A request of another group overlaps this one and cannot begin before it has finished.
    Awaited => "another group waits for it to be done",
    /// The device has as much outstanding work as a group's floor leaves room for.
    FloorRoomUsed = 43 => "a floor leaves no more room at the device",
    /// Writes that the device would not have done before a group that is behind its share flushes
    /// next have to wait.
    BacklogLimited => "writes wait that would delay the flush of a group that is behind",
    /// The device has room for a few requests of others while it is kept for a task that seeks.
    Injected => "the device had room while the queue being served, which seeks, is waited for",
}

//! What lies around the queue: the request slots before it, the driver behind it, and the way past
//! both.

use crate::request::{Bio, GroupId, RequestId, TaskId};
use crate::time::Instant;

/// How bios get to the queue, and requests from the dispatch list to the device. By default every
/// task keeps to its slots, and the driver runs when the plug lets it.
pub trait Driving {
    /// Asked before each request slot is taken: whether this bio's task may exceed a full pool.
    fn may_queue(&mut self, _now: Instant, _bio: &Bio) -> MayQueue {
        MayQueue::May
    }

    /// When the engine must run the driver even though the device is plugged to gather requests. An
    /// instant in the past means at once: the request admitted last ends an idle wait or preempts
    /// another queue. During an idle wait it is the end of that wait. `None` leaves the decision to
    /// the plug.
    fn runs_driver_at(&self) -> Option<Instant> {
        None
    }

    /// Reports that the driver has looked at a dispatched request for the first time. On a device
    /// that takes one request at a time this may happen before the request can start.
    fn activate(&mut self, _now: Instant, _id: RequestId) {}

    /// Whether the next synchronous bio of `task` in `group` will be dispatched as soon as it is
    /// admitted, whenever it arrives and wherever it lies, and likewise each later one that arrives
    /// after the previous one completed, as long as nothing else happens. Asked while nothing is
    /// queued or in flight. `false` is always a correct answer.
    fn lets_through(&self, _task: TaskId, _group: GroupId) -> bool {
        false
    }
}

/// The answer of [`Driving::may_queue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayQueue {
    /// The ordinary pool rules apply.
    May,
    /// The task may exceed a full pool because the disk is waiting for it.
    Must,
}

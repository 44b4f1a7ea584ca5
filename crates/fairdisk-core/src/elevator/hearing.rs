//! What passes an elevator by: flushes, and bios that wait for others.

use crate::request::{GroupId, RequestId, TaskId};
use crate::time::{Instant, Span};

/// What an elevator hears of bios that it does not queue. By default it takes no notice.
pub trait Hearing {
    /// Reports that a flush has been put on the dispatch list, where nothing that is queued passes
    /// it; its submitter waits from now on.
    fn flushes(&mut self, _now: Instant, _by: Submitter) {}

    /// Reports that a flush has completed, after keeping the device busy for `device_time`.
    /// Elevators do not order flushes, but they need to know that the device was not idle meanwhile
    /// and that the submitter can now continue. If it failed (`ok` is false), the device may still
    /// have writes to do.
    fn flushed(&mut self, _now: Instant, _by: Submitter, _device_time: Span, _ok: bool) {}

    /// Reports that a bio of the group `by` begins only after the queued request `id` has finished,
    /// because it overlaps that, or is a flush of a write that does, so that the group waits for
    /// another's turn. May be reported again.
    fn awaited(&mut self, _now: Instant, _id: RequestId, _by: GroupId) {}
}

/// Who submitted a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitter {
    /// The task, which may have exited since.
    pub task: TaskId,
    /// The group that the flush is charged to.
    pub group: GroupId,
}

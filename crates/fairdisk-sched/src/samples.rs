//! What unit tests begin with: a request of nobody in particular.

use fairdisk_core::{
    Flags, GroupId, Instant, IoPrio, Lba, Op, Request, RequestId, Sectors, TaskId,
};

/// A synchronous request of 4 KiB in that slot, of a task of its own, at a place of its own.
pub(crate) fn request(slot: u32, group: u32, op: Op, arrived: Instant) -> Request {
    let (id, task, group) = (RequestId(slot), TaskId(slot), GroupId(group));
    let (start, sectors) = (Lba((u64::from(slot) + 1) << 10), Sectors(8));
    let (flags, ioprio) = (Flags::NONE, IoPrio::UNSET);
    Request { id, task, group, op, start, sectors, sync: true, flags, ioprio, arrived }
}

//! Samples for unit tests.

use fairdisk_core::{
    Flags, GroupId, Instant, IoPrio, Lba, Op, Request, RequestId, Sectors, Submitter, TaskId,
};

/// A synchronous 4 KiB request in the given slot, with a task and a position of its own.
pub(crate) fn request(slot: u32, group: u32, op: Op, arrived: Instant) -> Request {
    let (id, task, group) = (RequestId(slot), TaskId(slot), GroupId(group));
    let (start, sectors) = (Lba((u64::from(slot) + 1) << 10), Sectors(8));
    let (flags, ioprio) = (Flags::NONE, IoPrio::UNSET);
    Request { id, task, group, op, start, sectors, sync: true, flags, ioprio, arrived }
}

/// Who flushes for the group: its task of the same number.
pub(crate) const fn submitter(group: u32) -> Submitter {
    Submitter { task: TaskId(group), group: GroupId(group) }
}

//! The read that most tests use: 4 KiB, synchronous, in the slot with the number of its task.

use fairdisk_core::{
    Flags, GroupId, Instant, IoPrio, Lba, Op, Request, RequestId, Sectors, TaskId,
};

pub(crate) const fn read(task: u32, group: GroupId, start: Lba, now: Instant) -> Request {
    Request {
        id: RequestId(task),
        task: TaskId(task),
        group,
        op: Op::Read,
        start,
        sectors: Sectors(8),
        sync: true,
        flags: Flags::NONE,
        ioprio: IoPrio::UNSET,
        arrived: now,
    }
}

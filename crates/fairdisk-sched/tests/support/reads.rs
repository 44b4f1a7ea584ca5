//! A read as most tests have them: 4 KiB that a task waits for, in a slot of the task's number.

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

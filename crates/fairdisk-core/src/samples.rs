//! Sample bios and requests for unit tests.

use crate::request::{
    Bio, BioId, Flags, GroupId, IoPrio, Lba, Op, Request, RequestId, Sectors, TaskId,
};
use crate::time::Instant;

/// A synchronous 4 KiB bio at the beginning of the disk.
pub(crate) const fn bio(op: Op) -> Bio {
    Bio {
        id: BioId(0),
        task: TaskId(0),
        group: GroupId::ROOT,
        op,
        start: Lba(0),
        sectors: Sectors(8),
        sync: true,
        flags: Flags::NONE,
        ioprio: IoPrio::UNSET,
    }
}

/// The request made from [`bio`].
pub(crate) const fn request(op: Op) -> Request {
    let Bio { task, group, start, sectors, sync, flags, ioprio, .. } = bio(op);
    let (id, arrived) = (RequestId(0), Instant::ZERO);
    Request { id, task, group, op, start, sectors, sync, flags, ioprio, arrived }
}

//! Requests for tests, and their submission to a backend.

use fairdisk_core::{
    Flags, GroupId, Instant, IoPrio, Lba, Op, Request, RequestId, Sectors, TaskId,
};
use fairdisk_plane::backend::{Backend, Done};
use fairdisk_plane::buffer::Buffer;
use fairdisk_plane::{Clock, MonotonicClock};

pub fn request(id: u32, op: Op, start: u64, sectors: u32) -> Request {
    Request {
        id: RequestId(id),
        task: TaskId(0),
        group: GroupId::ROOT,
        op,
        start: Lba(start),
        sectors: Sectors(sectors),
        sync: true,
        flags: Flags::NONE,
        ioprio: IoPrio::UNSET,
        arrived: Instant::ZERO,
    }
}

/// Submits a request and waits for its completion.
pub fn perform(backend: &mut dyn Backend, request: &Request, data: Buffer) -> Done {
    let clock = MonotonicClock::start();
    backend.submit(clock.now(), request, data);
    let mut done = Vec::new();
    while done.is_empty() {
        backend.wait(&clock, None, &mut done).unwrap();
    }
    assert_eq!((done.len(), backend.in_flight()), (1, 0));
    done.pop().unwrap()
}

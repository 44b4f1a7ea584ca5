//! What an elevator is told about requests that bios of other groups wait for.

#[path = "model/fifo.rs"]
mod fifo;

use fairdisk_core::{
    Admission, Bio, BioId, Change, Completion, Decision, Description, Effects, Elevator, Engine,
    EngineConfig, Flags, GroupId, Input, Instant, IoPrio, Journal, Lba, Op, Request, RequestId,
    Sectors, TaskId,
};
use fifo::Fifo;

/// First come, first served; remembers who was reported to wait for which request.
#[derive(Debug, Default)]
struct Witness {
    fifo: Fifo,
    awaited: Vec<(u32, u32)>,
}

impl Elevator for Witness {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        self.fifo.admit(now, request)
    }

    fn decide(&mut self, now: Instant) -> Decision {
        self.fifo.decide(now)
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        self.fifo.complete(now, completion);
    }

    fn awaited(&mut self, _now: Instant, id: RequestId, by: GroupId) {
        self.awaited.push((id.0, by.0));
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        self.fifo.withdraw(now, id);
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        self.fifo.configure(now, change);
    }

    fn describe(&self) -> Description {
        self.fifo.describe()
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        self.fifo.drain(now)
    }
}

struct Disk {
    engine: Engine<Witness>,
    effects: Effects,
}

impl Disk {
    /// A disk that takes one request at a time, with one request of group 1 at sector 1,000,000.
    fn busy() -> Self {
        let config = EngineConfig { merge_sectors_max: 1024, ..EngineConfig::default() };
        let engine = Engine::new(Witness::default(), config, Journal::hashing());
        let mut disk = Self { engine, effects: Effects::new() };
        disk.submit(1, 1, Op::Write, 1_000_000, 8);
        disk
    }

    fn submit(&mut self, id: u64, group: u32, op: Op, start: u64, sectors: u32) {
        let bio = Bio {
            id: BioId(id),
            task: TaskId(group),
            group: GroupId(group),
            op,
            start: Lba(start),
            sectors: Sectors(sectors),
            sync: true,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
        };
        self.engine.handle(Instant::ZERO, Input::Submit(bio), &mut self.effects);
    }

    /// Who was reported to wait for which request.
    fn awaited(&self) -> &[(u32, u32)] {
        &self.engine.elevator().awaited
    }
}

#[test]
fn a_read_of_another_group_waits_for_a_queued_write() {
    let mut disk = Disk::busy();
    disk.submit(2, 1, Op::Write, 0, 64);
    disk.submit(3, 2, Op::Read, 8, 8);
    assert_eq!(disk.awaited(), [(1, 2)]);
}

#[test]
fn nobody_is_told_of_what_is_at_the_disk_or_of_a_groups_own() {
    let mut disk = Disk::busy();
    disk.submit(2, 2, Op::Read, 1_000_000, 8);
    disk.submit(3, 1, Op::Write, 0, 64);
    disk.submit(4, 1, Op::Read, 8, 8);
    assert_eq!(disk.awaited(), []);
}

#[test]
fn who_waits_for_one_that_waits_waits_for_the_first() {
    let mut disk = Disk::busy();
    disk.submit(2, 1, Op::Write, 0, 64);
    disk.submit(3, 1, Op::Write, 0, 64);
    disk.submit(4, 2, Op::Read, 8, 8);
    assert_eq!(disk.awaited(), [(1, 2)]);
    // Once the first is done, the second is queued, and is waited for in its turn.
    for request in [0, 1] {
        let completed = Input::Completed { request: RequestId(request), ok: true };
        disk.engine.handle(Instant::ZERO, completed, &mut disk.effects);
    }
    assert_eq!(disk.awaited()[1..], [(1, 2)]);
}

#[test]
fn a_write_that_was_merged_is_told_by_its_request() {
    let mut disk = Disk::busy();
    disk.submit(2, 1, Op::Write, 0, 64);
    disk.submit(3, 1, Op::Write, 128, 64);
    disk.submit(4, 1, Op::Write, 64, 64);
    disk.submit(5, 2, Op::Read, 136, 8);
    assert_eq!(disk.awaited(), [(1, 2)], "one request is left of three");
}

//! What an elevator is told about requests that bios of other groups wait for.

#[path = "model/fifo.rs"]
mod fifo;
#[macro_use]
#[path = "model/leave_to_fifo.rs"]
mod leave_to_fifo;

use fairdisk_core::{
    Bio, BioId, Effect, Effects, Elevator, Engine, EngineConfig, Flags, GroupId, Hearing, Input,
    Instant, IoPrio, Journal, Lba, Op, RequestId, Sectors, TaskId,
};
use fifo::Fifo;

/// First come, first served; remembers who was reported to wait for which request.
#[derive(Debug, Default)]
struct Witness {
    fifo: Fifo,
    awaited: Vec<(u32, u32)>,
}

impl Elevator for Witness {
    leave_to_fifo!(admit decide complete withdraw describe drain);
}

impl Hearing for Witness {
    fn awaited(&mut self, _now: Instant, id: RequestId, by: GroupId) {
        self.awaited.push((id.0, by.0));
    }
}

fairdisk_core::default_extensions!(Witness: Merging, Driving, Promising, Reporting, Attaching);

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

    /// Submits a flush of the group.
    fn flush(&mut self, id: u64, group: u32) {
        let bio = Bio::flush(BioId(id), TaskId(group), GroupId(group), IoPrio::UNSET);
        self.engine.handle(Instant::ZERO, Input::Submit(bio), &mut self.effects);
    }

    fn complete(&mut self, request: u32) {
        let completed = Input::Completed { request: RequestId(request), ok: true };
        self.engine.handle(Instant::ZERO, completed, &mut self.effects);
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

    /// What the request does that was issued last, and whose it is.
    fn at_the_disk(&self) -> (Op, GroupId) {
        let issued = self.effects.as_slice().iter().rev().find_map(|effect| match effect {
            Effect::Issue(request) => Some((request.op, request.group)),
            _ => None,
        });
        issued.expect("something was issued")
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
    [0, 1].into_iter().for_each(|request| disk.complete(request));
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

#[test]
fn a_flush_waits_for_the_writes_of_its_group_and_for_no_others() {
    let mut disk = Disk::busy();
    disk.submit(2, 1, Op::Write, 3_000, 8);
    disk.submit(3, 2, Op::Write, 2_000, 8);
    disk.flush(4, 2);
    disk.flush(5, 3);
    assert_eq!(disk.awaited(), []);
    disk.complete(0);
    // Group 3 has written nothing, so its flush goes ahead of all that is queued.
    assert_eq!(disk.at_the_disk(), (Op::Flush, GroupId(3)));
}

#[test]
fn a_flush_waits_for_what_a_write_of_its_group_is_held_behind() {
    let mut disk = Disk::busy();
    disk.submit(2, 1, Op::Read, 3_000, 8);
    disk.submit(3, 2, Op::Write, 3_000, 8);
    disk.flush(4, 2);
    assert_eq!(disk.awaited(), [(1, 2), (1, 2)], "for the write and for the flush");
}

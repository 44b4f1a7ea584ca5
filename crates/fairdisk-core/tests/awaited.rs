//! What an elevator is told about requests that bios of other groups wait for.

#[path = "model/fifo.rs"]
mod fifo;
#[macro_use]
#[path = "model/leave_to_fifo.rs"]
mod leave_to_fifo;

use fairdisk_core::{
    Bio, BioId, Effects, Elevator, Engine, EngineConfig, Flags, GroupId, Input, Instant, IoPrio,
    Journal, Lba, Op, RequestId, Sectors, TaskId,
};
use fifo::Fifo;

/// First come, first served; remembers who was reported to wait for which request.
#[derive(Debug, Default)]
struct Witness {
    fifo: Fifo,
    awaited: Vec<(u32, u32)>,
}

impl Elevator for Witness {
    leave_to_fifo!(admit decide complete withdraw configure describe drain);

    fn awaited(&mut self, _now: Instant, id: RequestId, by: GroupId) {
        self.awaited.push((id.0, by.0));
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

/// A disk at which group 1 has writes 1 to 3 queued, among a read of its own and a write of group
/// 2.
fn with_writes() -> Disk {
    let mut disk = Disk::busy();
    disk.submit(2, 1, Op::Write, 3_000, 8);
    disk.submit(3, 1, Op::Write, 2_000, 8);
    disk.submit(4, 1, Op::Write, 1_000, 8);
    disk.submit(5, 1, Op::Read, 4_000, 8);
    disk.submit(6, 2, Op::Write, 5_000, 8);
    disk
}

#[test]
fn a_flush_waits_for_all_writes_of_others_that_were_queued_before_it() {
    let mut disk = with_writes();
    disk.flush(7, 2);
    disk.submit(8, 1, Op::Write, 6_000, 8);
    assert_eq!(disk.awaited(), [(1, 2), (2, 2), (3, 2)]);
    disk.flush(9, 1);
    assert_eq!(disk.awaited()[3..], [(5, 1)], "and for none of its own");
}

#[test]
fn a_flush_waits_for_what_writes_before_it_are_held_behind() {
    let mut disk = Disk::busy();
    disk.submit(2, 1, Op::Read, 3_000, 8);
    disk.submit(3, 1, Op::Write, 3_000, 8);
    disk.submit(4, 1, Op::Write, 2_000, 8);
    disk.flush(5, 2);
    assert_eq!(disk.awaited(), [(1, 2), (2, 2)]);
    // The write behind the read is queued when that is done, and told once the flush is looked at
    // again.
    [0, 1, 2].into_iter().for_each(|request| disk.complete(request));
    assert_eq!(disk.awaited().last(), Some(&(1, 2)));
}

#[test]
fn who_takes_over_is_told_what_a_flush_waits_for() {
    let mut disk = with_writes();
    disk.flush(7, 2);
    let told = disk.awaited().to_vec();
    disk.engine.handle(Instant::ZERO, Input::Switch(Box::default()), &mut disk.effects);
    assert_eq!(disk.awaited()[..3], told);
}

//! A machine whose idle disk is plugged: what unplugs it, and when.

#[path = "../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
mod small;

use fairdisk_core::{
    Bio, BioId, EngineConfig, Instant, PlugConfig, PlugFlash, Record, RequestId, Span, Ticks,
};
use fairdisk_sim::workload::{Blocks, Direction, Limits, StreamSpec, TaskSpec};
use fairdisk_sim::{DiskConfig, Machine, MachineConfig, Unplugs, World};
use fifo::Fifo;
use std::collections::BTreeMap;

const PLUG: PlugConfig = PlugConfig { requests: 4, delay: Span::from_ms(3), flash: PlugFlash::All };
const TICKS: Ticks = Ticks::new(1000, Span::ZERO);
/// More than any of the tasks has in flight, so that nothing waits except for the plug.
const DEPTH: u32 = 8;
const START: Instant = Instant::from_ns(10_500_000);

/// A task that makes `ios` sequential I/Os of 4 KiB.
fn task(direction: Direction, ios: u64) -> TaskSpec {
    let limits = Limits { ios: Some(ios), ..Limits::default() };
    let stream =
        StreamSpec { direction, blocks: Blocks::fixed(4096), limits, ..StreamSpec::default() };
    TaskSpec { files: vec![0], start: START, stream, ..TaskSpec::default() }
}

fn buffered(direction: Direction, ios: u64) -> TaskSpec {
    TaskSpec { buffered: true, ..task(direction, ios) }
}

/// A machine with one task.
fn machine(task: TaskSpec, unplugs: Unplugs) -> Machine<Fifo> {
    let plug = Some(PLUG);
    let engine = EngineConfig { depth: DEPTH, ticks: TICKS, plug, ..EngineConfig::default() };
    let config = small::config(task, Span::from_us(10));
    let disks = vec![DiskConfig { engine, ..DiskConfig::default() }];
    let config =
        MachineConfig { disks, read_ahead_pages: 8, unplugs, keep_journal: true, ..config };
    Machine::new(Fifo::default(), config)
}

/// For each request, in the order of first bios: when its first bio was submitted, and how long
/// after that the request was issued, both in microseconds.
fn issued(task: TaskSpec, unplugs: Unplugs) -> Vec<(u64, u64)> {
    let mut world = World::new(machine(task, unplugs), small::disk(DEPTH));
    world.run_until_done(Instant::ZERO + Span::from_s(10));
    assert!(world.machine().is_done(), "it goes on for ever");
    let mut submitted: BTreeMap<BioId, Instant> = BTreeMap::new();
    let mut queued: BTreeMap<RequestId, Instant> = BTreeMap::new();
    let mut issued = Vec::new();
    for entry in world.machine_mut().drain_journal(0) {
        match entry.record {
            Record::Submitted(Bio { id: bio, .. }) => {
                submitted.insert(bio, entry.at);
            }
            Record::Queued(bio, id) => {
                queued.insert(id, submitted[&bio]);
            }
            Record::Issued(id) => {
                let from = queued[&id];
                issued.push(((from - START).as_us(), (entry.at - from).as_us()));
            }
            _ => {}
        }
    }
    issued
}

#[test]
fn who_waits_for_each_of_its_ios_starts_the_disk_at_once() {
    for direction in [Direction::Read, Direction::Write] {
        let waits: Vec<u64> = issued(task(direction, 3), Unplugs::default())
            .iter()
            .map(|(_, waits)| *waits)
            .collect();
        assert_eq!(waits, [0, 0, 0], "{direction:?}");
    }
}

#[test]
fn what_is_written_back_waits_for_more_or_for_three_ticks() {
    // The first block is submitted half way between two ticks.
    assert_eq!(issued(buffered(Direction::Write, 1), Unplugs::default()), [(0, 2_500)]);
    // By then, its neighbours have been merged with it.
    assert_eq!(issued(buffered(Direction::Write, 9), Unplugs::default()), [(0, 2_500)]);
}

#[test]
fn whoever_flushes_waits_for_what_was_written() {
    let flushes = TaskSpec { end_flushes: 1, ..buffered(Direction::Write, 1) };
    let (at, waits) = issued(flushes, Unplugs::default())[0];
    assert!(at == 0 && waits < 200, "it flushes as soon as it has written: {waits} us");
}

#[test]
fn read_ahead_waits_until_the_reader_has_come_to_it_or_is_sent_off_with_a_word() {
    let held = issued(buffered(Direction::Read, 24), Unplugs::default());
    let sent =
        issued(buffered(Direction::Read, 24), Unplugs { read_ahead: true, ..Unplugs::default() });
    let longest = |issued: &[(u64, u64)]| issued.iter().map(|(_, waits)| *waits).max();
    assert_eq!(held[0].1, 0, "the reader waits for its first page");
    assert!(longest(&held) > Some(0), "it goes on copying: {held:?}");
    assert_eq!(longest(&sent), Some(0), "{sent:?}");
}

#[test]
fn a_direct_write_may_start_the_disk_although_its_task_goes_on() {
    let deep = TaskSpec { depth: 3, batch: 1, ..task(Direction::Write, 3) };
    let starts = Unplugs { direct_writes: true, ..Unplugs::default() };
    let first = |unplugs| issued(deep.clone(), unplugs)[0];
    assert_eq!(first(starts), (0, 0));
    let (_, waits) = first(Unplugs::default());
    assert!(waits > 0, "until the task has as many in flight as it may have: {waits} us");
}

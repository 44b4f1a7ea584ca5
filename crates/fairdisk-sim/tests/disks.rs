//! A machine with several disks: each leaves the journal that it leaves in a machine of its own,
//! until something that they share is scarce.

#[path = "small/dirty.rs"]
mod dirty;
#[path = "../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
mod small;

use dirty::{FILE_PAGES, PAGE, writer};
use fairdisk_core::{
    Apart, Bio, EngineConfig, Entry, GroupId, Instant, Lba, Op, OpKind, PlugConfig, PlugFlash,
    PoolConfig, PoolLayout, Record, Span, TaskId, Ticks,
};
use fairdisk_sim::device::Jbod;
use fairdisk_sim::host::{FileSpec, JournalSpec, VolumeKind, VolumeSpec};
use fairdisk_sim::workload::{Awaited, Blocks, Direction, Drops, FlushEvery, Limits, TaskSpec};
use fairdisk_sim::{DiskConfig, GroupSpec, Machine, MachineConfig, World};
use fifo::Fifo;
use std::num::NonZeroU32;

const DISKS: u32 = 3;

fn s(seconds: u64) -> Instant {
    Instant::ZERO + Span::from_s(seconds)
}

/// Memory for everything, a CPU for each task, and nothing on any disk yet.
fn empty() -> MachineConfig {
    let mut config = MachineConfig {
        disks: Vec::new(),
        groups: vec![GroupSpec::default(); 3],
        volumes: Vec::new(),
        memory: None,
        memory_pages: 1 << 20,
        ..dirty::config(0, Vec::new())
    };
    config.cpu.cpus = 64;
    config.cpu.turnaround_min = Span::from_us(20);
    config
}

/// Adds a disk with an ext3 volume of four files, and tasks of all kinds. Disks differ by `seed`.
fn add_disk(config: &mut MachineConfig, seed: u64) {
    let (disk, volume, files) =
        (config.disks.len() as u32, config.volumes.len() as u32, config.files.len() as u32);
    let pool =
        PoolConfig { layout: PoolLayout::Shared(Apart::Direction), requests: 8, batch_requests: 2 };
    let plug = PlugConfig { requests: 4, delay: Span::from_ms(3), flash: PlugFlash::All };
    let ticks = Ticks::new(250, Span::from_us(700 * seed));
    let engine = EngineConfig { ticks, pool, plug: Some(plug), ..EngineConfig::default() };
    config.disks.push(DiskConfig { seed, engine, ..DiskConfig::default() });
    let journal = JournalSpec {
        start: Lba(0),
        blocks: 1024,
        commit_interval: Span::from_s(1),
        inodes_per_block: 2,
        second_phase: Span::from_ms(100 * seed),
        nice: 0,
    };
    let (kind, journal) = (VolumeKind::Ext3, Some(journal));
    config.volumes.push(VolumeSpec { disk, kind, start: Lba(0), warm: false, journal });
    config.files.extend((0..4).map(|number| FileSpec {
        volume,
        start: Lba(8192 + u64::from(number) * 2 * FILE_PAGES * 8),
        bytes: FILE_PAGES * PAGE,
        inode: number,
    }));
    let endless = |file: u32, group: u32| {
        let mut task = writer(files + file, 300 + 40 * seed, 1);
        task.stream.limits = Limits { endless: true, ..Limits::default() };
        TaskSpec { group: GroupId(group), start: Instant::from_ns(seed * 777), ..task }
    };
    let mut reader = endless(0, 1);
    reader.stream.direction = Direction::Read;
    let mut syncing = endless(1, 2);
    syncing.stream.flush = FlushEvery { fsync: NonZeroU32::new(5), fdatasync: None };
    let mut direct = TaskSpec { buffered: false, depth: 3, ..endless(2, 1) };
    direct.stream.direction = Direction::Mixed(50);
    direct.stream.blocks = Blocks::fixed(3 * PAGE);
    config.tasks.extend([reader, syncing, direct, endless(3, 2)]);
}

fn world(config: MachineConfig) -> World<Fifo> {
    let disks = config.disks.iter().map(|_| small::disk(1)).collect();
    let elevators: Vec<Fifo> = config.disks.iter().map(|_| Fifo::default()).collect();
    World::new(Machine::of_disks(elevators, config), Jbod::new(disks, None))
}

fn journal(world: &mut World<Fifo>, disk: u32) -> Vec<Entry> {
    world.machine_mut().drain_journal(disk).collect()
}

/// With write-back, data grows old within the run; without, buffered writes go out at once. Either
/// way with D5 and without.
#[test]
fn disks_that_lack_nothing_do_what_each_does_alone() {
    for (writes_back, with_d5) in [(true, false), (true, true), (false, false), (false, true)] {
        let start = || {
            let mut config = MachineConfig { async_of_submitter: with_d5, ..empty() };
            if !writes_back {
                config.write_back = None;
            }
            config
        };
        let mut together = start();
        (0..DISKS).for_each(|disk| add_disk(&mut together, disk.into()));
        let mut together = world(together);
        together.run_until(s(12));
        for disk in 0..DISKS {
            let mut alone = start();
            add_disk(&mut alone, disk.into());
            let mut alone = world(alone);
            alone.run_until(s(12));
            let [hash, same] = [(&together, disk), (&alone, 0)]
                .map(|(world, disk)| world.machine().engine(disk).journal().hash());
            let (all, own) = (journal(&mut together, disk), journal(&mut alone, 0));
            assert!(own.len() > 3_000, "too little happened: {}", own.len());
            for (at, (entry, expected)) in all.iter().zip(&own).enumerate() {
                assert_eq!(entry, expected, "disk {disk}, entry {at}, {writes_back}, {with_d5}");
            }
            assert_eq!((all.len(), hash), (own.len(), same));
        }
    }
}

/// The flush of a task goes to every disk on which it has files, and waits for the last one.
#[test]
fn a_task_with_files_on_two_disks_is_known_to_both() {
    let mut config = empty();
    (0..2).for_each(|disk| add_disk(&mut config, disk));
    config.tasks.clear();
    let mut other = writer(4, 10, 1);
    other.stream.direction = Direction::Read;
    let mut both = TaskSpec { files: vec![5, 0], end_flushes: 1, ..writer(0, 50, 1) };
    both.stream.direction = Direction::Write;
    config.tasks.extend([other, both]);
    let mut world = world(config);
    world.run_until_done(s(60));
    assert!(world.machine().is_done());
    let report = world.machine().task_reports().nth(1).expect("the second task").clone();
    assert_eq!((report.ios, report.flushes.ios, report.flushes.errors), (100, 1, 0));
    let finished = report.finished.expect("it has ended");
    for (disk, number) in [(0, TaskId(0)), (1, TaskId(1))] {
        let (mut written, mut flushed, mut ended) = (0, None, 0);
        for entry in journal(&mut world, disk) {
            match entry.record {
                Record::Submitted(Bio { task, op: Op::Write, sectors, .. }) if task == number => {
                    written += sectors.bytes() / PAGE;
                }
                Record::Submitted(Bio { task, op: Op::Flush, .. }) if task == number => {
                    flushed = Some(entry.at);
                }
                Record::Configured(fairdisk_core::Change::TaskExited { task })
                    if task == number =>
                {
                    ended += 1;
                }
                _ => {}
            }
        }
        assert_eq!((written, ended), (50, 1), "disk {disk}");
        assert!(flushed.is_some_and(|at| at < finished), "disk {disk}: {flushed:?}");
    }
}

/// A task that reads a file over and over on one disk, and one that reads a large file on the other
/// one and so takes the memory.
#[test]
fn memory_is_of_the_machine() {
    let reads = |pages: u64, beside: bool| {
        let mut config = MachineConfig { memory_pages: pages, ..empty() };
        (0..2).for_each(|disk| add_disk(&mut config, disk));
        config.tasks.clear();
        let read = |file, pages, passes| {
            let mut task = TaskSpec { drops: Drops::Nothing, ..writer(file, pages, passes) };
            task.stream.direction = Direction::Read;
            task
        };
        config.tasks.push(TaskSpec { start: s(2), ..read(0, 200, 1) });
        config.tasks.push(read(0, 200, 1));
        if beside {
            config.tasks.push(TaskSpec { start: s(1), ..read(4, FILE_PAGES, 1) });
        }
        let mut world = world(config);
        world.run_until(s(30));
        let account = world.machine().engine(0).accounts().group(GroupId::ROOT);
        account.map_or(0, |it| it.ops[OpKind::Read].bytes)
    };
    assert_eq!(reads(1000, false), reads(1 << 20, true), "once");
    assert!(reads(1000, true) > reads(1000, false) * 3 / 2, "the other disk's file has it");
}

/// Once whom the run waits for is done, tasks stop on every disk; and a task begins when those
/// before it have ended wherever they are.
#[test]
fn tasks_of_all_disks_are_waited_for() {
    let mut config = empty();
    (0..2).for_each(|disk| add_disk(&mut config, disk));
    config.tasks.clear();
    let first = writer(0, 400, 1);
    let second = TaskSpec { buffered: false, job: 1, wait_for: Some(0), ..writer(4, 5, 1) };
    let third = TaskSpec { buffered: false, job: 2, phase: 1, ..writer(5, 5, 1) };
    let mut endless = writer(6, 100, 1);
    endless.stream.limits = Limits { endless: true, ..Limits::default() };
    let endless = TaskSpec { awaited: Awaited::No, job: 3, phase: 1, ..endless };
    config.tasks.extend([first, second, third, endless]);
    let mut world = world(config);
    world.run_until_done(s(60));
    assert!(world.machine().is_done() && world.now() < s(60));
    let reports: Vec<_> = world.machine().task_reports().collect();
    let at = |index: usize| {
        let report = reports[index];
        (report.started.expect("it began"), report.finished.expect("it has ended"))
    };
    assert_eq!(at(1).0, at(0).1, "on the other disk, as soon as the first was done");
    assert_eq!(at(2).0, at(0).1.max(at(1).1));
    assert!(at(3).1 >= at(2).1 && reports[3].cut_off, "nobody waits for it");
}

//! Equivalence of the lab and the real shell: the lab's machine leaves the same journal in its
//! simulated world and in the real shell under a fake clock.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use fairdisk_core::{
    EngineConfig, GroupId, Instant, IoPrio, Lba, PlugConfig, PlugFlash, Span, Ticks,
};
use fairdisk_plane::backend::{Memory, Modelled};
use fairdisk_plane::{FakeClock, Load, Pattern, Shell};
use fairdisk_sched::{Scheduler, SchedulerSpec};
use fairdisk_sim::device::{
    DeviceModel, DeviceSpec, FixedCost, FixedParams, FixedSpec, FlushPolicy, HddParams, HddSpec,
    NullParams, NullSpec, Order, QueueParams, Raid5Params, Raid5Spec, ReadAheadParams, SeekParams,
    SsdParams, SsdSpec, WriteCacheParams,
};
use fairdisk_sim::host::{
    Advice, CpuSpec, FileSpec, JournalSpec, VolumeKind, VolumeSpec, WriteBackSpec,
};
use fairdisk_sim::workload::{
    Blocks, Direction, FlushEvery, IoOrder, Limits, Rates, StreamSpec, TaskSpec, Think,
};
use fairdisk_sim::{
    DiskConfig, GroupSpec, IntegrityWrites, Machine, MachineConfig, Unplugs, World,
};
use std::num::{NonZeroU32, NonZeroU64};

const SECTORS: u64 = 1 << 20;
/// The number of tasks, and of the plain ones among them.
const TASKS: u32 = 13;
const PLAIN: u32 = 8;
const WRITE_BACK: WriteBackSpec = WriteBackSpec {
    background_percent: 5,
    limit_percent: 10,
    interval: Span::from_ms(100),
    age: Span::from_ms(300),
    payer: None,
    of_group: None,
};
const PLUG: PlugConfig = PlugConfig { requests: 4, delay: Span::from_ms(3), flash: PlugFlash::All };
/// Turnaround times. Combined with the fixed disk, they make timers and completions coincide.
const TURNAROUND: [(Span, Span); 2] =
    [(Span::from_us(50), Span::from_us(400)), (Span::from_ms(1), Span::from_ms(1))];

/// A disk with a fixed service time, a hard disk, a RAID of four of these, an SSD, and a device
/// that takes no time.
fn devices(depth: u32) -> [DeviceModel; 5] {
    let cost = FixedCost { latency_us: 4000, mb_per_s: None };
    let fixed = FixedParams {
        capacity_sectors: SECTORS,
        parallel: depth,
        read: cost,
        write: cost,
        flush_us: 500,
    };
    let null = NullParams { capacity_sectors: SECTORS, depth };
    let disk = HddSpec::new(hdd(depth)).unwrap();
    let raid5 = Raid5Params { disk: disk.clone(), disks: 4, chunk_kib: 64, depth };
    [
        DeviceSpec::Fixed(FixedSpec::new(fixed).unwrap()).build(),
        DeviceSpec::Hdd(disk).build(),
        DeviceSpec::Raid5(Raid5Spec::new(raid5).unwrap()).build(),
        DeviceSpec::Ssd(SsdSpec::new(ssd(depth)).unwrap()).build(),
        DeviceSpec::Null(NullSpec::new(null).unwrap()).build(),
    ]
}

/// A hard disk, which also has a write cache if its queue is deeper than one.
fn hdd(depth: u32) -> HddParams {
    let cache = WriteCacheParams {
        depth: 4,
        kib: 4_096,
        order: Order::Satf,
        reads_wait_for_dirty: true,
        flush: FlushPolicy::Drain,
    };
    HddParams {
        capacity_sectors: SECTORS,
        rpm: 7200,
        phase_ns: 0,
        heads: 2,
        zones: 4,
        sectors_per_track_outer: 1000,
        sectors_per_track_inner: 600,
        head_switch_us: 900,
        cylinder_switch_us: 1100,
        seek: SeekParams::Lee { min_us: 1200, average_us: 8900, max_us: 20_000 },
        write_settle_us: 0,
        command_overhead_us: 330,
        bus_overhead_us: 30,
        bus_mb_per_s: 300,
        read_ahead: Some(ReadAheadParams { segments: 8, segment_kib: 512 }),
        write_cache: (depth > 1).then_some(cache),
        queue: QueueParams {
            depth,
            order: if depth > 1 { Order::Satf } else { Order::Fifo },
            age_limit_ms: Some(200),
        },
    }
}

const fn ssd(depth: u32) -> SsdParams {
    SsdParams {
        capacity_sectors: SECTORS,
        depth,
        units: 4,
        page_kib: 16,
        read_us: 50,
        program_us: 500,
        command_us: 10,
        commands_per_s: 100_000,
        bus_mb_per_s: 300,
        write_buffer_kib: 256,
        flush_drains: true,
        collection: None,
    }
}

/// The tasks after the plain ones, each of which does something that plain ones do not.
fn special(number: u32) -> TaskSpec {
    let plain = TaskSpec { buffered: false, ..task(number) };
    let stream = StreamSpec { direction: Direction::Write, ..plain.stream.clone() };
    match number - PLAIN {
        0 => {
            let stream = StreamSpec { direction: Direction::Read, ..stream };
            TaskSpec { mapped: Some(Advice::Normal), depth: 1, stream, ..plain }
        }
        1 => {
            let flush = FlushEvery { fsync: NonZeroU32::new(8), fdatasync: None };
            TaskSpec { buffered: true, stream: StreamSpec { flush, ..stream }, ..plain }
        }
        2 => TaskSpec { stream: StreamSpec { direction: Direction::Trim, ..stream }, ..plain },
        3 => {
            let rates = Rates::all(NonZeroU64::new(4 << 20));
            TaskSpec { stream: StreamSpec { rates, ..stream }, ..plain }
        }
        _ => TaskSpec { think: Some(Think { pause: Span::from_ms(2), every: 4 }), ..plain },
    }
}

fn task(number: u32) -> TaskSpec {
    let directions = [Direction::Read, Direction::Write, Direction::Mixed(50)];
    let order = if number.is_multiple_of(2) { IoOrder::Sequential } else { IoOrder::Random };
    TaskSpec {
        group: GroupId(1 + number % 2),
        ioprio: IoPrio::best_effort(number as u8 % 8),
        files: vec![number],
        depth: 1 + number % 3,
        buffered: number.is_multiple_of(4),
        start: Instant::ZERO + Span::from_ms(u64::from(number) * 3),
        stream: StreamSpec {
            direction: directions[number as usize % 3],
            order,
            blocks: Blocks::fixed(4096 << (number % 3)),
            bytes: 8 << 20,
            limits: Limits {
                bytes: Some(1 << 20),
                runtime: Some(Span::from_s(20)),
                ..Limits::default()
            },
            ..StreamSpec::default()
        },
        ..TaskSpec::default()
    }
}

fn machine(scheduler: &str, depth: u32, seed: u64) -> Machine<Scheduler> {
    let journal = JournalSpec {
        start: Lba(0),
        blocks: 128,
        commit_interval: Span::from_s(1),
        inodes_per_block: 16,
        second_phase: Span::from_ms(300),
        nice: 0,
    };
    let (kind, journal) = (VolumeKind::Ext3, Some(journal));
    let volume = VolumeSpec { disk: 0, kind, start: Lba(0), warm: false, journal };
    let file = |number: u32| FileSpec {
        volume: 0,
        start: Lba(4096 + u64::from(number) * 32_768),
        bytes: 8 << 20,
        inode: number,
    };
    let disk = DiskConfig {
        seed,
        engine: EngineConfig {
            depth,
            peek: depth == 1,
            plug: (seed % 4 < 2).then_some(PLUG),
            ticks: Ticks::new(1000, Span::ZERO),
            ..EngineConfig::default()
        },
        rotational: !seed.is_multiple_of(3),
        serves_together: depth > 1 && seed.is_multiple_of(2),
        ..DiskConfig::default()
    };
    let config = MachineConfig {
        disks: vec![disk],
        cpu: CpuSpec {
            cpus: 2,
            turnaround_min: TURNAROUND[seed as usize % 2].0,
            turnaround_max: TURNAROUND[seed as usize % 2].1,
            slot_wake: Span::ZERO,
            metadata_wake: Span::ZERO,
            page_copy: Span::ZERO,
            page_fault: Span::ZERO,
        },
        read_ahead_pages: 32,
        memory: None,
        memory_pages: 1024,
        write_behind_bytes: 1 << 20,
        write_back: (seed == 3).then_some(WRITE_BACK),
        meta_hint: true,
        async_of_submitter: seed.is_multiple_of(2),
        integrity_writes: IntegrityWrites::Async,
        unplugs: Unplugs::default(),
        groups: vec![GroupSpec::default(); 3],
        made_later: Vec::new(),
        volumes: vec![volume],
        files: (0..TASKS).map(file).collect(),
        tasks: (0..PLAIN).map(task).chain((PLAIN..TASKS).map(special)).collect(),
        keep_journal: true,
    };
    Machine::new(SchedulerSpec::named(scheduler).unwrap().build(), config)
}

fn compare(scheduler: &str, depth: u32, seed: u64, device: &DeviceModel) {
    let backend = Modelled::new(Memory::new(SECTORS, depth), device.clone());
    let machine = machine(scheduler, depth, seed);
    let mut shell = Shell::new(machine, backend, FakeClock::new()).with_payload(Pattern::new());
    let report = shell.run().unwrap();
    assert_eq!(report.errors, 0, "{:?}", report.first_error);
    let mut world = World::new(self::machine(scheduler, depth, seed), device.clone());
    world.run_until(Instant::ZERO + report.elapsed);
    assert!(world.machine().is_done(), "{scheduler}, depth {depth}: did not finish");
    let simulated = world.machine().engine(0).journal();
    let real = shell.load().engine(0).journal();
    let entries = simulated.entries().iter().zip(real.entries()).enumerate();
    for (index, (simulated, real)) in entries {
        assert_eq!(simulated, real, "{scheduler}, depth {depth}, seed {seed}, entry {index}");
    }
    assert_eq!((simulated.len(), simulated.hash()), (real.len(), real.hash()));
    assert!(simulated.len() > 2000, "too little happened to compare: {}", simulated.len());
}

#[test]
fn the_shell_leaves_the_journal_of_the_world() {
    for scheduler in SchedulerSpec::NAMES {
        for depth in [1, 8] {
            for seed in 0..4 {
                // Each device runs with every other seed.
                for device in devices(depth).iter().skip(seed as usize % 2).step_by(2) {
                    compare(scheduler, depth, seed, device);
                }
            }
        }
    }
}

#[test]
fn a_machine_that_is_stopped_drains() {
    let end = Instant::from_ns(700_000_000);
    let [disk, ..] = devices(1);
    let backend = Modelled::new(Memory::new(SECTORS, 1), disk);
    let mut shell = Shell::new(machine("deadline", 1, 1), backend, FakeClock::new()).end_at(end);
    let report = shell.run().unwrap();
    assert_eq!(report.stopped, Some(end));
    assert!(Load::is_done(shell.load()) && shell.load().engine(0).in_flight() == 0);
}

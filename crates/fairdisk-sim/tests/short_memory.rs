//! Memory page by page: tasks wait for it, kswapd reclaims, and pages of metadata come and go.

#[path = "small/dirty.rs"]
mod dirty;
#[path = "../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
mod small;

use dirty::{FILE_PAGES, PAGE, writer};
use fairdisk_core::{Bio, Instant, Lba, Op, Prng, Record, Span, Ticks};
use fairdisk_sim::device::{DeviceModel, DeviceSpec, FixedCost, FixedParams, FixedSpec, Jbod};
use fairdisk_sim::host::memory::{Kernel, MemorySpec};
use fairdisk_sim::host::{Advice, FileSpec, VolumeKind, VolumeSpec};
use fairdisk_sim::machine::{MemoryUse, NapUntil, StallStep};
use fairdisk_sim::workload::{Blocks, Direction, Drops, IoOrder, Limits, TaskSpec};
use fairdisk_sim::{DiskConfig, Machine, MachineConfig, MemoryConfig, World};
use fifo::Fifo;

fn s(seconds: u64) -> Instant {
    Instant::ZERO + Span::from_s(seconds)
}

fn memory(release: &str, mib: u64, cpus: u32) -> MemoryConfig {
    let kernel = Kernel::of_release(release).expect("it is listed");
    MemoryConfig {
        spec: MemorySpec::new(kernel, mib, cpus),
        page_take: Span::from_ns(1500),
        page_scan: Span::from_ns(1000),
    }
}

/// A machine with four CPUs and a hundred ticks a second, and with so many disks, each with a file
/// of so many pages.
fn machine(disks: u32, file_pages: u64, memory: Option<MemoryConfig>) -> MachineConfig {
    let mut config = MachineConfig { memory, ..dirty::config(0, Vec::new()) };
    let mut disk = config.disks[0];
    disk.engine.ticks = Ticks::new(100, Span::ZERO);
    disk.engine.merge_sectors_max = 1024;
    config.cpu.cpus = 4;
    config.cpu.page_copy = Span::from_ns(2500);
    config.cpu.turnaround_min = Span::from_us(5);
    config.cpu.turnaround_max = Span::from_us(15);
    config.read_ahead_pages = 128;
    config.volumes.clear();
    config.disks = (0..disks).map(|seed| DiskConfig { seed: seed.into(), ..disk }).collect();
    for disk in 0..disks {
        let (kind, start) = (VolumeKind::Raw, Lba(0));
        config.volumes.push(VolumeSpec { disk, kind, start, warm: false, journal: None });
        config.files.push(FileSpec { volume: disk, start, bytes: file_pages * PAGE, inode: 0 });
    }
    config
}

/// A task that reads the first pages of a file in order, 64 KiB a call.
fn reader(file: u32, pages: u64) -> TaskSpec {
    let mut task = writer(file, pages, 1);
    task.stream.direction = Direction::Read;
    task.stream.blocks = Blocks::fixed(16 * PAGE);
    task
}

fn world(config: MachineConfig) -> World<Fifo> {
    on_disks(config, &small::disk(4))
}

fn on_disks(config: MachineConfig, disk: &DeviceModel) -> World<Fifo> {
    let disks = config.disks.iter().map(|_| disk.clone()).collect();
    let elevators: Vec<Fifo> = config.disks.iter().map(|_| Fifo::default()).collect();
    World::new(Machine::of_disks(elevators, config), Jbod::new(disks, None))
}

fn run(config: MachineConfig) -> World<Fifo> {
    finish(world(config))
}

fn finish(mut world: World<Fifo>) -> World<Fifo> {
    world.run_until_done(s(600));
    assert!(world.machine().is_done(), "a task starves");
    assert_accounted(&world);
    world
}

/// Each page of the machine is in one place.
fn assert_accounted(world: &World<Fifo>) {
    let memory = world.machine().memory().expect("it is page by page");
    assert_eq!(memory.places().all(), memory.pages(), "{:?}", memory.places());
}

// ---- readers -----------------------------------------------------------------------------------

const READERS: u32 = 8;
const READ_PAGES: u64 = 32_768;

/// Sequential readers, each on a disk of its own that takes so long for a window.
fn readers(
    latency_us: u32,
    (release, mib): (&str, u64),
    edit: impl Fn(&mut MemorySpec),
) -> World<Fifo> {
    let mut memory = memory(release, mib, 4);
    (memory.spec.used_pages, memory.spec.anonymous_pages) = (24 * 256, 40 * 256);
    memory.spec.file_share_percent = 70;
    edit(&mut memory.spec);
    let mut config = machine(READERS, READ_PAGES, Some(memory));
    config.tasks.extend((0..READERS).map(|disk| reader(disk, READ_PAGES)));
    let cost = FixedCost { latency_us, mb_per_s: None };
    let (read, write) = (cost, cost);
    let params = FixedParams { capacity_sectors: 1 << 20, parallel: 1, read, write, flush_us: 0 };
    let disk = DeviceSpec::Fixed(FixedSpec::new(params).expect("describes a device")).build();
    finish(on_disks(config, &disk))
}

fn seconds(world: &World<Fifo>) -> f64 {
    world.now().since(Instant::ZERO).as_ns() as f64 / 1e9
}

#[test]
fn only_kernels_that_wait_in_vain_lose_and_only_with_little_memory() {
    let took = |release, mib| seconds(&readers(4_000, (release, mib), |_| {}));
    let plenty = took("2.6.30", 2048);
    for (release, mib) in [("2.6.32", 2048), ("2.6.37", 2048), ("2.6.30", 128), ("2.6.37", 160)] {
        let same = took(release, mib);
        assert!(same < plenty * 1.05, "{release}, {mib} MiB: {same} s, {plenty} s with plenty");
    }
    let [waits, waits_less] = ["2.6.32", "2.6.37"].map(|release| took(release, 128));
    assert!(waits > plenty * 4.0, "2.6.32: {waits} s, {plenty} s with plenty");
    assert!(waits_less < plenty * 1.5, "2.6.37: {waits_less} s, {plenty} s with plenty");
}

/// With short lists of the CPUs, what a task reclaims counts as free at once.
#[test]
fn short_lists_of_the_cpus_restore_what_is_lost() {
    let long = readers(4_000, ("2.6.32", 128), |_| {});
    let short = readers(4_000, ("2.6.32", 128), |spec| spec.cpu_list_fraction = Some(2000));
    assert!(seconds(&short) < seconds(&long) / 2.0, "{}, {}", seconds(&short), seconds(&long));
    let vain = |world: &World<Fifo>| world.machine().vmstat().expect("it counts").without_page;
    assert!(vain(&short) < vain(&long), "{}, {}", vain(&short), vain(&long));
}

/// A kswapd that does not nap delivers what tasks would have to reclaim for themselves.
#[test]
fn a_kswapd_that_never_naps_restores_what_is_lost() {
    let naps = readers(4_000, ("2.6.32", 128), |_| {});
    let never = readers(4_000, ("2.6.32", 128), |spec| spec.kernel.kswapd_never_naps = true);
    assert!(seconds(&never) < seconds(&naps) / 2.0, "{}, {}", seconds(&never), seconds(&naps));
}

#[test]
fn who_waits_for_memory_takes_that_much_longer() {
    let ends = |world: &World<Fifo>| -> Vec<(f64, f64)> {
        let ms = |span: Span| span.as_ns() as f64 / 1e6;
        let task = |task: &fairdisk_sim::TaskReport| {
            let finished = task.finished.expect("it has ended");
            (ms(finished.since(Instant::ZERO)), ms(task.memory.wait))
        };
        world.machine().task_reports().map(task).collect()
    };
    let plenty = ends(&readers(200, ("2.6.32", 2048), |_| {}));
    let little = ends(&readers(200, ("2.6.32", 128), |_| {}));
    for ((base, none), (elapsed, waited)) in plenty.into_iter().zip(little) {
        assert!(none == 0.0 && waited > base, "{none}, {waited}");
        let off = (elapsed - base - waited) / elapsed;
        assert!(off.abs() < 0.03, "{elapsed} ms, {base} without waiting, {waited} waited: {off}");
    }
}

// ---- read-ahead --------------------------------------------------------------------------------

/// The submitted reads of a disk, in pages, in order.
fn reads(world: &mut World<Fifo>) -> Vec<(u64, u64)> {
    let entries = world.machine_mut().drain_journal(0);
    let read = |record: &Record| match record {
        Record::Submitted(bio) => Some((bio.start.0 / 8, u64::from(bio.sectors.0) / 8)),
        _ => None,
    };
    entries.filter_map(|entry| read(&entry.record)).collect()
}

/// A reader of the second half of a file, then one that begins in its middle and meets the marks of
/// the first. A mark belongs to its page, so the second reads ahead where the first had stopped.
#[test]
fn readers_of_one_file_meet_each_others_marks() {
    let with = |memory: Option<MemoryConfig>| {
        let mut config = machine(1, FILE_PAGES, memory);
        config.memory_pages = 1 << 20;
        let first = TaskSpec { drops: Drops::Nothing, ..reader(0, 400) };
        let mut second = TaskSpec { phase: 1, drops: Drops::Nothing, ..reader(0, 320) };
        second.stream.offset = 320 * PAGE;
        config.tasks.extend([first, second]);
        let mut world = world(config);
        world.run_until_done(s(60));
        assert!(world.machine().is_done());
        let reads = reads(&mut world);
        let ends = reads.iter().map(|(start, pages)| start + pages);
        (reads.len(), ends.max(), reads.iter().map(|(_, pages)| pages).sum::<u64>())
    };
    let (_, end, pages) = with(Some(memory("2.6.32", 512, 4)));
    assert_eq!(Some(pages), end, "each page is read once");
    let (_, own_end, own_pages) = with(None);
    assert_eq!(Some(own_pages), own_end);
    assert!(end > own_end, "{end:?}: who meets a mark reads ahead of it, {own_end:?} without");
}

/// The window is no longer than half of the memory that is inactive or free. A reader reads ahead
/// by up to two of them.
#[test]
fn windows_are_as_long_as_memory_allows() {
    const WANTED: u64 = 12_000;
    let ahead = |mib| {
        let mut config = machine(1, READ_PAGES, Some(memory("2.6.32", mib, 4)));
        config.read_ahead_pages = 8192;
        config.tasks.push(reader(0, WANTED));
        let ends = reads(&mut run(config)).into_iter().map(|(start, pages)| start + pages);
        ends.max().expect("it reads") - WANTED
    };
    let [little, plenty] = [ahead(16), ahead(256)];
    assert!(little <= 2 * 2048 && plenty > 8192, "{little}, {plenty}");
}

// ---- direct I/O --------------------------------------------------------------------------------

#[test]
fn direct_io_is_the_same_with_any_memory() {
    let hash = |memory: Option<MemoryConfig>| {
        let mut config = machine(2, FILE_PAGES, memory);
        for disk in 0..2 {
            let mut task = TaskSpec { buffered: false, depth: 4, ..reader(disk, FILE_PAGES) };
            task.stream.direction = Direction::Mixed(30);
            config.tasks.push(task);
        }
        let mut world = world(config);
        world.run_until_done(s(60));
        assert!(world.machine().is_done());
        [0, 1].map(|disk| world.machine().engine(disk).journal().hash())
    };
    let same = hash(None);
    for release in ["2.6.24", "2.6.30", "2.6.32", "2.6.37"] {
        for mib in [16, 128, 1024] {
            assert_eq!(hash(Some(memory(release, mib, 4))), same, "{release}, {mib} MiB");
        }
    }
}

// ---- metadata ----------------------------------------------------------------------------------

/// How often a block that maps a file is read from the disk, if the file is read twice and so many
/// parts of another one are in use in between, one after another.
fn metadata_reads(parts: u32) -> usize {
    let mut config = machine(1, FILE_PAGES, Some(memory("2.6.32", 32, 4)));
    config.volumes[0].kind = VolumeKind::Ext2;
    let start = Lba(1 << 17);
    config.files.push(FileSpec { volume: 0, start, bytes: 64 << 20, inode: 1 });
    config.tasks.push(reader(0, FILE_PAGES));
    for part in 0..parts {
        let mut twice = TaskSpec { phase: part + 1, drops: Drops::Nothing, ..reader(1, 2500) };
        twice.stream.offset = u64::from(part) * 2500 * PAGE;
        twice.stream.limits.passes = Some(2);
        config.tasks.push(twice);
    }
    config.tasks.push(TaskSpec { phase: parts + 1, ..reader(0, FILE_PAGES) });
    let mut world = run(config);
    let entries = world.machine_mut().drain_journal(0);
    // The first block that maps the file comes after the twelve that need none.
    let is_read = |bio: &Bio| bio.op == Op::Read && bio.start == Lba(12 * 8);
    let reads = entries.filter(|it| matches!(&it.record, Record::Submitted(bio) if is_read(bio)));
    reads.count()
}

#[test]
fn metadata_that_left_the_memory_is_read_again() {
    assert_eq!(metadata_reads(1), 1, "it stays");
    assert_eq!(metadata_reads(6), 2, "it was evicted");
}

// ---- nobody starves ----------------------------------------------------------------------------

#[test]
fn reads_end_although_all_memory_is_dirty_or_on_its_way() {
    for release in ["2.6.24", "2.6.30", "2.6.32", "2.6.37"] {
        let mut config = machine(4, FILE_PAGES, Some(memory(release, 16, 4)));
        // Nothing holds writers up.
        config.memory_pages = 1 << 20;
        config.tasks.extend((0..3).map(|disk| writer(disk, FILE_PAGES, 1)));
        config.tasks.push(TaskSpec { start: Instant::from_ns(5_000_000), ..reader(3, 1024) });
        let world = run(config);
        let vmstat = world.machine().vmstat().expect("it counts");
        assert!(vmstat.allocstall > 0, "{release}: {vmstat:?}");
    }
}

/// The windows of all tasks together, and a single write, are larger than the memory.
#[test]
fn windows_larger_than_the_memory_are_cut() {
    let mut config = machine(4, FILE_PAGES, Some(memory("2.6.32", 16, 4)));
    config.read_ahead_pages = 4096;
    config.tasks.extend((0..4).map(|disk| reader(disk, FILE_PAGES)));
    run(config);
    let mut config = machine(1, 2 * FILE_PAGES, Some(memory("2.6.32", 16, 4)));
    let mut task = writer(0, 2 * FILE_PAGES, 1);
    task.stream.blocks = Blocks::fixed(2 * FILE_PAGES * PAGE);
    config.tasks.push(task);
    run(config);
}

// ---- storms ------------------------------------------------------------------------------------

/// A machine of two disks with tasks of all kinds. A part of the last file is beyond the end of the
/// disk, so that requests fail.
fn storm(seed: u64) -> MachineConfig {
    let mut prng = Prng::new(seed);
    let mut below = |end: u64| prng.below(end);
    let release = ["2.6.24", "2.6.30", "2.6.31", "2.6.32", "2.6.33", "2.6.36", "2.6.37"];
    let mib = 16 + below(3) * 8;
    let mut config = machine(2, FILE_PAGES, Some(memory(release[seed as usize % 7], mib, 4)));
    config.async_of_submitter = below(2) == 0;
    config.volumes[0].kind = VolumeKind::Ext2;
    config.volumes[1].warm = below(2) == 0;
    let start = Lba((1 << 20) - 2000 * 8);
    config.files.push(FileSpec { volume: 1, start, bytes: FILE_PAGES * PAGE, inode: 2 });
    for _ in 0..3 + below(4) {
        let pages = 500 + below(FILE_PAGES - 500);
        let mut task = reader(below(3) as u32, pages);
        task.drops = [Drops::Nothing, Drops::Data, Drops::Everything][below(3) as usize];
        task.buffered = below(6) > 0;
        task.mapped = (task.buffered && below(4) == 0).then_some(Advice::default());
        task.write_through = below(8) == 0;
        task.end_flushes = below(2) as u32;
        task.start = Instant::from_ns(below(200_000_000));
        let stream = &mut task.stream;
        stream.blocks = Blocks::fixed((1 + below(32)) * PAGE);
        stream.direction =
            [Direction::Read, Direction::Write, Direction::Mixed(50)][below(3) as usize];
        if below(3) == 0 {
            stream.order = IoOrder::Random;
        }
        stream.limits = Limits { ios: Some(50 + below(400)), ..Limits::default() };
        config.tasks.push(task);
    }
    config
}

/// `FAIRDISK_STORMS` sets how many there are.
#[test]
fn in_storms_all_pages_are_accounted_for_and_all_tasks_end() {
    let storms = std::env::var("FAIRDISK_STORMS").ok().and_then(|it| it.parse().ok());
    let (mut waited, mut errors, mut evicted) = (0, 0, 0);
    for seed in 0..storms.unwrap_or(100) {
        let mut world = world(storm(seed));
        let mut now = Instant::ZERO;
        while !world.machine().is_done() {
            now += Span::from_us(900 + seed);
            assert!(now < s(300), "storm {seed}: a task starves");
            world.run_until(now);
            assert_accounted(&world);
        }
        let places = world.machine().memory().expect("it is page by page").places();
        assert_eq!(places.in_hands, 0, "storm {seed}: who has ended holds pages");
        let reports = || world.machine().task_reports();
        waited += usize::from(reports().any(|task| task.memory.wait > Span::ZERO));
        errors += usize::from(reports().any(|task| task.per_op.read.errors > 0));
        let vmstat = world.machine().vmstat().expect("it counts");
        evicted += usize::from(vmstat.kswapd_steal > 0 && vmstat.thrown_away > 0);
    }
    let kinds = [waited, errors, evicted];
    assert!(kinds.into_iter().all(|storms| storms > 5), "too little happened: {kinds:?}");
}

// ---- what tasks had ----------------------------------------------------------------------------

#[test]
fn the_first_use_of_a_page_that_was_read_is_a_miss_and_others_are_hits() {
    let mut config = machine(1, READ_PAGES, Some(memory("now", 256, 4)));
    for phase in 0..2 {
        let again = TaskSpec { phase, drops: Drops::Nothing, ..reader(0, 1024) };
        config.tasks.push(again);
    }
    let world = run(config);
    let uses: Vec<(u64, u64)> =
        world.machine().task_reports().map(|task| (task.memory.hits, task.memory.misses)).collect();
    assert_eq!(uses, [(0, 1024), (1024, 0)]);
}

#[test]
fn all_uses_are_told_of_tasks_and_no_more_is_missed_than_was_read_and_kept() {
    let world = readers(200, ("2.6.32", 128), |_| {});
    let mut all = MemoryUse::default();
    world.machine().task_reports().for_each(|task| all.add(&task.memory));
    let vmstat = world.machine().vmstat().expect("it counts");
    assert_eq!(all.hits + all.misses, vmstat.pages_used);
    assert!(all.misses + vmstat.thrown_away <= vmstat.pages_in, "{all:?}, {vmstat:?}");
    assert!(vmstat.kswapd_naps > 0, "{vmstat:?}");
}

/// Moments of a task's wait are kept with the journal, and its naps with their reasons.
#[test]
fn what_becomes_of_a_task_without_memory_is_kept_with_the_journal() {
    for (release, until) in [("2.6.32", NapUntil::Async), ("2.6.29", NapUntil::Write)] {
        let mut world = readers(4_000, (release, 128), |_| {});
        let waited = world.machine().task_reports().next().expect("it is there").memory.wait;
        let moments = world.machine_mut().drain_stalls(0);
        assert!(moments.windows(2).all(|both| both[0].0 <= both[1].0));
        let mut spent = Span::ZERO;
        let mut since = None;
        for (at, _, step) in &moments {
            match step {
                StallStep::Began => since = Some(*at),
                StallStep::Ended { .. } => spent += *at - since.take().expect("it began"),
                _ => assert!(since.is_some(), "{step:?} outside of a wait"),
            }
        }
        assert_eq!(spent, waited, "{release}");
        let naps = moments.iter().filter_map(|(_, _, step)| match step {
            StallStep::Naps(until, _) => Some(*until),
            _ => None,
        });
        let naps: Vec<NapUntil> = naps.collect();
        assert!(!naps.is_empty() && naps.iter().all(|nap| *nap == until), "{release}: {naps:?}");
    }
}

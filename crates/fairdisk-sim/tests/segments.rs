//! What the order of free pages costs behind an adapter that counts segments.

#[path = "small/dirty.rs"]
mod dirty;
#[path = "../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
mod small;

use dirty::{PAGE, writer};
use fairdisk_core::{GroupId, Instant, Lba, SegmentLimits, Span, Ticks};
use fairdisk_sim::device::{AdapterCost, Attachment, Device as _, Jbod};
use fairdisk_sim::host::memory::{Kernel, MemorySpec};
use fairdisk_sim::host::{FileSpec, VolumeKind, VolumeSpec};
use fairdisk_sim::workload::{Blocks, Direction};
use fairdisk_sim::{Machine, MachineConfig, MemoryConfig, World};
use fifo::Fifo;

/// A file that fits into free memory.
const PAGES: u64 = 8192;
/// A window of 512 KiB.
const WINDOW: u64 = 128;
/// The most segments of an adapter that takes a window of single pages.
const MANY: u32 = 128;

/// How requests reach the disk.
struct How {
    kernel: Option<Kernel>,
    segments_max: u32,
    segment_ns: u64,
    page_ns: u64,
}

fn kernel(cold_ascending: bool) -> Option<Kernel> {
    Some(Kernel { cold_ascending, ..Kernel::of_release("2.6.30").expect("it is listed") })
}

/// One reader of a file in order, on a disk that serves one request after another.
fn read(how: &How, direct: bool) -> World<Fifo> {
    let memory = how.kernel.map(|kernel| MemoryConfig {
        spec: MemorySpec::new(kernel, 256, 1),
        page_take: Span::from_ns(1500),
        page_scan: Span::from_ns(1000),
    });
    let mut config = MachineConfig { memory, ..dirty::config(0, Vec::new()) };
    let engine = &mut config.disks[0].engine;
    engine.ticks = Ticks::new(100, Span::ZERO);
    engine.merge_sectors_max = 1024;
    engine.segments = Some(SegmentLimits { segments_max: how.segments_max, pages_max: 16 });
    config.cpu.cpus = 1;
    // The disk is what the reader waits for.
    config.cpu.page_copy = Span::from_ns(2_500);
    config.read_ahead_pages = WINDOW;
    let (kind, start) = (VolumeKind::Raw, Lba(0));
    config.volumes = vec![VolumeSpec { disk: 0, kind, start, warm: false, journal: None }];
    config.files = vec![FileSpec { volume: 0, start, bytes: PAGES * PAGE, inode: 0 }];
    let mut task = writer(0, PAGES, 1);
    task.buffered = !direct;
    task.stream.direction = Direction::Read;
    task.stream.blocks = Blocks::fixed(16 * PAGE);
    config.tasks = vec![task];
    let disk = small::disk(1);
    assert_eq!(disk.depth(), config.disks[0].engine.depth);
    let (segment, page) = (Span::from_ns(how.segment_ns), Span::from_ns(how.page_ns));
    let cost = AdapterCost { command: Span::ZERO, segment, page };
    let jbod = Jbod::attached(vec![disk], Attachment { cost, ..Attachment::default() });
    let mut world = World::new(Machine::of_disks([Fifo::default()], config), jbod);
    world.run_until_done(Instant::ZERO + Span::from_s(600));
    assert!(world.machine().is_done());
    world
}

fn us(world: &World<Fifo>) -> u64 {
    world.now().since(Instant::ZERO).as_ns() / 1000
}

/// Requests at the disk, and the microseconds that all took.
fn sent(how: &How) -> (u64, u64) {
    let world = read(how, false);
    let group = world.machine().engine(0).accounts().group(GroupId::ROOT);
    (group.expect("it has read").device_requests, us(&world))
}

#[test]
fn the_order_costs_as_much_as_its_segments_take_and_turned_back_nothing_is_left_of_that() {
    let how = |kernel, segment_ns| How { kernel, segments_max: MANY, segment_ns, page_ns: 0 };
    let took = |ascending, segment_ns| us(&read(&how(kernel(ascending), segment_ns), false));
    let free = took(true, 0);
    assert_eq!(free, took(false, 0), "where segments cost nothing, the order is worth nothing");
    for segment_ns in [5_000, 10_000] {
        // In descending frames each page is a segment, in ascending ones up to sixteen are.
        let cost = |ascending| (took(ascending, segment_ns) - free) as f64;
        let all = (PAGES * segment_ns / 1000) as f64;
        assert!((cost(false) / all - 1.0).abs() < 0.02, "{} of {all} us", cost(false));
        assert!(cost(true) < all / 12.0, "{} of {all} us", cost(true));
    }
    let first_kernels = Kernel::of_release("2.6.24");
    assert_eq!(us(&read(&how(first_kernels, 10_000), false)), took(true, 10_000));
}

#[test]
fn an_adapter_of_few_segments_cuts_what_lies_in_descending_frames() {
    let how =
        |ascending| How { kernel: kernel(ascending), segments_max: 32, segment_ns: 0, page_ns: 0 };
    let (together, apart) = (sent(&how(true)), sent(&how(false)));
    // Windows of 128 pages in four pieces each, once read-ahead has grown.
    assert!(apart.0 * 2 > together.0 * 7, "{apart:?} requests and us, {together:?} in ascending");
    assert!(apart.1 > together.1 * 3, "{apart:?} requests and us, {together:?} in ascending");
}

#[test]
fn an_adapter_that_cuts_at_each_page_sees_no_order() {
    let how = |ascending| How {
        kernel: kernel(ascending),
        segments_max: MANY,
        segment_ns: 0,
        page_ns: 1_500,
    };
    let [one, other] = [true, false].map(|ascending| read(&how(ascending), false));
    assert_eq!(one.now(), other.now());
    let hash = |world: &World<Fifo>| world.machine().engine(0).journal().hash();
    assert_eq!(hash(&one), hash(&other));
}

#[test]
fn direct_reads_are_a_segment_a_page_under_every_kernel() {
    let took = |kernel| {
        let how = How { kernel, segments_max: 8, segment_ns: 10_000, page_ns: 0 };
        us(&read(&how, true))
    };
    assert_eq!(took(kernel(true)), took(kernel(false)));
    assert_eq!(took(kernel(true)), took(None));
}

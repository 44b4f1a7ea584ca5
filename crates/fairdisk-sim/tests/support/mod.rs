//! Devices for tests, and a host that drives one.
#![allow(dead_code, reason = "every test file uses its own part")]

use fairdisk_core::request::{Lba, Op, RequestId, Sectors};
use fairdisk_core::time::{Instant, Span};
use fairdisk_core::{GroupId, Times};
use fairdisk_sim::device::{
    CollectionParams, Device, DeviceIo, DeviceModel, DeviceSpec, Done, FixedCost, FixedParams,
    FixedSpec, FlushPolicy, HddParams, HddSpec, HostCacheParams, MeasuredParams, MeasuredSpec,
    NullParams, NullSpec, Order, Pauses, QueueParams, Raid5Params, Raid5Spec, ReadAheadParams,
    SeekParams, SsdParams, SsdSpec, VirtualDiskParams, VirtualDiskSpec, WriteCacheParams,
};

/// A WD2500JS with its write cache off.
pub(crate) fn wd2500js() -> HddParams {
    HddParams {
        capacity_sectors: 488_397_168,
        rpm: 7_200,
        phase_ns: 0,
        heads: 6,
        zones: 16,
        sectors_per_track_outer: 1_020,
        sectors_per_track_inner: 600,
        head_switch_us: 0,
        cylinder_switch_us: 0,
        seek: SeekParams::Lee { min_us: 1_200, average_us: 8_900, max_us: 20_000 },
        write_settle_us: 0,
        command_overhead_us: 330,
        bus_overhead_us: 30,
        bus_mb_per_s: 300,
        read_ahead: Some(ReadAheadParams { segments: 8, segment_kib: 512 }),
        write_cache: None,
        queue: QueueParams { depth: 1, order: Order::Fifo, age_limit_ms: None },
    }
}

/// A WD2500JS whose head and cylinder switches take time.
pub(crate) fn skewed() -> HddParams {
    HddParams { head_switch_us: 900, cylinder_switch_us: 1_100, ..wd2500js() }
}

/// A WD2500JS with its write cache on.
pub(crate) fn cached(depth: u32, order: Order) -> HddParams {
    let cache = WriteCacheParams {
        depth,
        kib: 4_096,
        order,
        reads_wait_for_dirty: true,
        flush: FlushPolicy::Drain,
    };
    HddParams { write_cache: Some(cache), ..wd2500js() }
}

/// A WD2500JS with command queueing.
pub(crate) fn queued(depth: u32, order: Order) -> HddParams {
    HddParams { queue: QueueParams { depth, order, age_limit_ms: None }, ..wd2500js() }
}

/// Builds a disk.
pub(crate) fn hdd(params: HddParams) -> DeviceModel {
    DeviceSpec::Hdd(HddSpec::new(params).expect("describes a device")).build()
}

/// A solid-state disk with round numbers: a page takes 50 us to read and 500 us to program.
pub(crate) const fn small_ssd() -> SsdParams {
    SsdParams {
        capacity_sectors: 1 << 23,
        depth: 32,
        units: 8,
        page_kib: 16,
        read_us: 50,
        program_us: 500,
        command_us: 10,
        commands_per_s: 1_000_000,
        bus_mb_per_s: 300,
        write_buffer_kib: 1024,
        flush_drains: true,
        collection: None,
    }
}

/// After 1 MiB, a unit collects for 5 ms after every 256 KiB.
pub(crate) const COLLECTION: CollectionParams =
    CollectionParams { fresh_mib: 1, every_kib: 256, busy_us: 5_000 };

/// Builds a solid-state disk.
pub(crate) fn ssd(params: SsdParams) -> DeviceModel {
    DeviceSpec::Ssd(SsdSpec::new(params).expect("describes a device")).build()
}

/// Four disks with parity and chunks of 64 KiB.
pub(crate) fn raid5(disk: HddParams) -> DeviceModel {
    let disk = HddSpec::new(disk).expect("describes a device");
    let params = Raid5Params { disk, disks: 4, chunk_kib: 64, depth: 32 };
    DeviceSpec::Raid5(Raid5Spec::new(params).expect("describes a device")).build()
}

/// The disk of a virtual machine above a WD2500JS: a request costs 100 us of the only CPU.
pub(crate) fn virtual_disk(depth: u32, cache: Option<HostCacheParams>) -> VirtualDiskParams {
    let below = DeviceSpec::Hdd(HddSpec::new(wd2500js()).expect("describes a device"));
    VirtualDiskParams { below, depth, cpus: 1, io_cpu_us: 100, page_cpu_ns: 14_000, cache }
}

/// A host cache of 2 MiB, half of which may be dirty.
pub(crate) const HOST_CACHE: HostCacheParams = HostCacheParams {
    mib: 2,
    background_percent: 10,
    limit_percent: 50,
    age_ms: 1000,
    flush: FlushPolicy::Drain,
};

/// Builds the disk of a virtual machine.
pub(crate) fn guest(params: VirtualDiskParams) -> DeviceModel {
    let spec = VirtualDiskSpec::new(params).expect("describes a device");
    DeviceSpec::Virtual(Box::new(spec)).build()
}

/// A device that does as much as was measured, with these times of one request and of two at once.
fn measured(depth: u32, rotational: bool, qd1: u64, qd2: u64) -> DeviceModel {
    let times = |small, large| Times {
        sequential: Span::from_us(small),
        random: Span::from_us(small),
        large_sequential: Span::from_us(large),
        large_random: Span::from_us(large),
    };
    let (qd1, qd2) = (Span::from_us(qd1), Span::from_us(qd2));
    let (read, write) = (times(20, 900), times(40, 1_000));
    let flush = Span::from_us(300);
    let params = MeasuredParams {
        capacity_sectors: 1 << 23,
        depth,
        rotational,
        read,
        write,
        qd1,
        qd2,
        pauses: Pauses::NONE,
        flush,
    };
    DeviceSpec::Measured(MeasuredSpec::new(params).expect("describes a device")).build()
}

/// One device of every kind, and the variants of the disk that take different code paths.
pub(crate) fn all_kinds() -> Vec<(&'static str, DeviceModel)> {
    let both = HddParams { queue: queued(8, Order::Satf).queue, ..cached(4, Order::Satf) };
    let lying = WriteCacheParams {
        depth: 2,
        kib: 64,
        order: Order::Elevator,
        reads_wait_for_dirty: false,
        flush: FlushPolicy::Ignore,
    };
    let cost = FixedCost { latency_us: 8_000, mb_per_s: Some(150) };
    let fixed = |parallel| {
        let params = FixedParams {
            capacity_sectors: 1 << 23,
            parallel,
            read: cost,
            write: cost,
            flush_us: 0,
        };
        DeviceSpec::Fixed(FixedSpec::new(params).expect("describes a device")).build()
    };
    let null = NullSpec::new(NullParams { capacity_sectors: 1 << 30, depth: 64 })
        .expect("describes a device");
    vec![
        ("null", DeviceSpec::Null(null).build()),
        ("fixed, serial", fixed(1)),
        ("fixed, parallel", fixed(8)),
        ("measured, serial", measured(1, true, 20, 20)),
        ("measured, parallel", measured(32, false, 160, 86)),
        ("measured, one head", measured(32, true, 60, 60)),
        ("raid5", raid5(wd2500js())),
        (
            "raid5, cached and queued",
            raid5(HddParams { queue: queued(4, Order::Satf).queue, ..cached(4, Order::Satf) }),
        ),
        ("ssd", ssd(small_ssd())),
        ("ssd, collecting", ssd(SsdParams { collection: Some(COLLECTION), ..small_ssd() })),
        ("ssd, no barrier", ssd(SsdParams { flush_drains: false, ..small_ssd() })),
        ("virtual, serial", guest(virtual_disk(1, Some(HOST_CACHE)))),
        ("virtual, deep", guest(virtual_disk(32, Some(HOST_CACHE)))),
        ("virtual, no cache", guest(virtual_disk(8, None))),
        ("hdd", hdd(wd2500js())),
        ("hdd, skewed", hdd(skewed())),
        ("hdd, no read-ahead", hdd(HddParams { read_ahead: None, ..skewed() })),
        ("hdd, write cache", hdd(cached(4, Order::Satf))),
        ("hdd, write cache fifo", hdd(cached(1, Order::Fifo))),
        ("hdd, flush ignored", hdd(HddParams { write_cache: Some(lying), ..skewed() })),
        ("hdd, queue", hdd(queued(32, Order::Satf))),
        ("hdd, queue fifo", hdd(queued(4, Order::Fifo))),
        ("hdd, queue and write cache", hdd(both)),
    ]
}

/// A request for a device.
pub(crate) fn io(id: u32, op: Op, start: u64, sectors: u32) -> DeviceIo {
    let (id, group) = (RequestId(id), GroupId::ROOT);
    DeviceIo { id, group, op, start: Lba(start), sectors: Sectors(sectors), fua: false }
}

/// A host with a clock, which drives a device.
pub(crate) struct Host {
    pub(crate) device: DeviceModel,
    pub(crate) now: Instant,
    done: Vec<Done>,
    ids: u32,
}

impl Host {
    pub(crate) fn new(device: DeviceModel) -> Self {
        Self { device, now: Instant::ZERO, done: Vec::new(), ids: 0 }
    }

    /// Submits a request now and returns its id.
    pub(crate) fn submit(&mut self, op: Op, start: u64, sectors: u32) -> u32 {
        self.ids += 1;
        self.device.submit(self.now, &io(self.ids, op, start, sectors));
        self.ids
    }

    /// When the device next does something by itself, in ns.
    pub(crate) fn device_event(&self) -> Option<u64> {
        self.device.next_event().map(|at| at.as_ns())
    }

    /// Lets `ns` nanoseconds pass, in which nothing may complete.
    pub(crate) fn sleep(&mut self, ns: u64) {
        let until = Instant::from_ns(self.now.as_ns() + ns);
        while let Some(at) = self.device.next_event().filter(|&at| at <= until) {
            self.device.advance(at, &mut self.done);
            assert!(self.done.is_empty(), "nothing outstanding");
        }
        self.now = until;
    }

    /// Waits until something completes, and returns what.
    pub(crate) fn wait(&mut self) -> Vec<Done> {
        while self.done.is_empty() {
            let at = self.device.next_event().expect("something is outstanding");
            assert!(at >= self.now, "time does not go back");
            self.now = at;
            self.device.advance(at, &mut self.done);
        }
        std::mem::take(&mut self.done)
    }

    /// Executes one request and returns how long it took, in ns.
    pub(crate) fn time(&mut self, op: Op, start: u64, sectors: u32) -> u64 {
        let begin = self.now;
        let id = self.submit(op, start, sectors);
        assert_eq!(self.wait(), [Done { id: RequestId(id), ok: true }]);
        self.now.since(begin).as_ns()
    }
}

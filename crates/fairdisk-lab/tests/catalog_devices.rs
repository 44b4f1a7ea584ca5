//! Every device of the catalogue can be parsed, and its costs are those in the committed table
//! `devices.expected`. `UPDATE=1 cargo test` rewrites the table; review the difference.

#[path = "support/golden.rs"]
mod golden;

use fairdisk_core::GroupId;
use fairdisk_core::prng::Prng;
use fairdisk_core::request::{Lba, Op, RequestId, Sectors};
use fairdisk_core::time::{Instant, Span};
use fairdisk_lab::catalog::device::load;
use fairdisk_sim::device::{Device, DeviceIo, DeviceModel, DeviceSpec};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn catalogue() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/devices")
}

/// All devices in the order of their ids.
fn devices() -> Vec<(String, DeviceSpec)> {
    let files = std::fs::read_dir(catalogue()).expect("the catalogue has devices");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("is readable").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let id = path.file_stem().and_then(|stem| stem.to_str()).expect("a plain name").to_owned();
        let entry = load(&id, &[]).unwrap_or_else(|error| panic!("{error}"));
        (id, entry.spec)
    };
    paths.into_iter().map(read).collect()
}

/// A host that issues one request at a time, with a think time in between.
struct Host {
    device: DeviceModel,
    now: Instant,
}

impl Host {
    fn serve(&mut self, op: Op, start: u64, sectors: u32) {
        let (start, sectors) = (Lba(start), Sectors(sectors));
        let (id, group) = (RequestId(0), GroupId::ROOT);
        let io = DeviceIo { id, group, op, start, sectors, fua: false };
        self.device.submit(self.now, &io);
        self.collect();
    }

    fn collect(&mut self) {
        let mut done = Vec::new();
        while done.is_empty() {
            self.now = self.device.next_event().expect("a request is outstanding");
            self.device.advance(self.now, &mut done);
        }
    }

    fn think(&mut self, span: Span) {
        let until = self.now + span;
        while let Some(at) = self.device.next_event().filter(|&at| at <= until) {
            self.device.advance(at, &mut Vec::new());
        }
        self.now = until;
    }
}

/// Milliseconds per random request of 4 KiB among the first `sectors` sectors after `start`.
fn random_ms(spec: &DeviceSpec, op: Op, start: u64, sectors: u64) -> f64 {
    let (mut host, mut prng) = (Host { device: spec.build(), now: Instant::ZERO }, Prng::new(1));
    let (count, think) = (20_000, Span::from_us(200));
    for _ in 0..count {
        host.serve(op, start + prng.below(sectors / 8) * 8, 8);
        host.think(think);
    }
    (host.now.as_ns() as f64 / f64::from(count) - think.as_ns() as f64) / 1e6
}

/// The rate in MB/s of requests of 128 KiB along streams that begin at `starts` and take turns of
/// `turn_ms`, until all data is on the medium.
fn streams_mb_per_s(spec: &DeviceSpec, op: Op, starts: &[u64], turn_ms: u64) -> f64 {
    let mut host = Host { device: spec.build(), now: Instant::ZERO };
    let mut next = starts.to_vec();
    let (mut requests, mut stream, mut turn_ends) = (0_u32, 0, Span::from_ms(turn_ms));
    while requests < 8_000 {
        host.serve(op, next[stream], 256);
        next[stream] += 256;
        requests += 1;
        if host.now.since(Instant::ZERO) >= turn_ends {
            stream = (stream + 1) % starts.len();
            turn_ends = host.now.since(Instant::ZERO) + Span::from_ms(turn_ms);
        }
    }
    if op == Op::Write {
        host.serve(Op::Flush, 0, 0);
    }
    f64::from(requests) * 256.0 * 512.0 * 1e3 / host.now.as_ns() as f64
}

/// Random reads of 4 KiB per second, with as many outstanding as the device accepts, at most 32.
fn queued_per_s(spec: &DeviceSpec) -> f64 {
    let (mut host, mut prng) = (Host { device: spec.build(), now: Instant::ZERO }, Prng::new(1));
    let blocks = spec.capacity_sectors() / 8;
    let io = |id, block| {
        let (start, sectors) = (Lba(block * 8), Sectors(8));
        DeviceIo { id, group: GroupId::ROOT, op: Op::Read, start, sectors, fua: false }
    };
    for id in 0..host.device.depth().min(32) {
        host.device.submit(host.now, &io(RequestId(id), prng.below(blocks)));
    }
    let (mut done, mut count) = (Vec::new(), 0.0);
    while count < 20_000.0 {
        host.now = host.device.next_event().expect("requests are outstanding");
        host.device.advance(host.now, &mut done);
        for done in done.drain(..) {
            count += 1.0;
            host.device.submit(host.now, &io(done.id, prng.below(blocks)));
        }
    }
    count * 1e9 / host.now.as_ns() as f64
}

fn row(id: &str, spec: &DeviceSpec) -> String {
    // A file of 250 MB some way into the disk, and two distant streams that take turns of 100 ms,
    // as under CFQ.
    let (file, file_start) = (250_000_000 / 512, spec.capacity_sectors() / 4);
    let inner = spec.capacity_sectors().saturating_sub(2_000_000_000 / 512);
    let mut row = format!("{id:<16}");
    for ms in [
        random_ms(spec, Op::Read, file_start, file),
        random_ms(spec, Op::Write, file_start, file),
        random_ms(spec, Op::Read, 0, spec.capacity_sectors()),
    ] {
        write!(row, " {ms:>10.3}").expect("strings take everything");
    }
    for mb in [
        streams_mb_per_s(spec, Op::Read, &[0], 100),
        streams_mb_per_s(spec, Op::Read, &[inner], 100),
        streams_mb_per_s(spec, Op::Write, &[0], 100),
        streams_mb_per_s(spec, Op::Read, &[0, spec.capacity_sectors() / 20], 100),
        streams_mb_per_s(spec, Op::Read, &[0, spec.capacity_sectors() / 20], 0),
    ] {
        write!(row, " {mb:>8.1}").expect("strings take everything");
    }
    write!(row, " {:>8.1}", queued_per_s(spec)).expect("strings take everything");
    row
}

const HEADING: &str = "\
# What each device of the catalogue costs: random 4 KiB in ms, streams of 128 KiB in MB/s, reads/s.
# file: within 250 MB; inner: the last 2 GB; two: streams 5 % of the disk apart that take
# turns of 100 ms, or after every request; deep: random reads, as many at once as it takes (<= 32).
#                file-read file-write  disk-read    outer    inner    write      two two-each     deep
";

#[test]
fn devices_cost_what_the_table_says() {
    let table: String = devices().iter().map(|(id, spec)| row(id, spec) + "\n").collect();
    let table = format!("{HEADING}{table}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/devices.expected");
    golden::compare(&path, &table).unwrap_or_else(|difference| panic!("{difference}"));
}

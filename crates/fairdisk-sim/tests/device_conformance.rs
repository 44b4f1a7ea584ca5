//! The promises of every device, checked for every kind with random requests.

mod support;

use fairdisk_core::prng::Prng;
use fairdisk_core::request::Op;
use fairdisk_core::time::Instant;
use fairdisk_sim::device::{Device, DeviceIo, DeviceModel, Done};
use support::{all_kinds, io};

/// Drives a device with random requests.
struct Drive {
    prng: Prng,
    now: Instant,
    /// For each request, when it was submitted and when it completed.
    times: Vec<(Instant, Option<Instant>)>,
    sizes: Vec<u64>,
    outstanding: u32,
    done: Vec<Done>,
}

impl Drive {
    fn new(seed: u64) -> Self {
        Self {
            prng: Prng::new(seed),
            now: Instant::ZERO,
            times: Vec::new(),
            sizes: Vec::new(),
            outstanding: 0,
            done: Vec::new(),
        }
    }

    /// Mostly small requests close together, so that caching, joining and overlaps occur.
    fn next_io(&mut self, capacity: u64) -> DeviceIo {
        let op = match self.prng.below(20) {
            0 => Op::Flush,
            1 => Op::Discard,
            2 => Op::WriteZeroes,
            3..=10 => Op::Write,
            _ => Op::Read,
        };
        let sectors = match self.prng.below(10) {
            0 => self.prng.between(1, 4_000),
            _ => 8 * self.prng.between(1, 4),
        };
        let span = if self.prng.chance(1, 2) { 4_096 } else { capacity };
        let start = self.prng.below(span.min(capacity) - sectors);
        let sectors = if op == Op::Flush { 0 } else { sectors as u32 };
        let fua = op == Op::Write && self.prng.chance(1, 8);
        DeviceIo { fua, ..io(self.times.len() as u32, op, start, sectors) }
    }

    fn submit(&mut self, device: &mut DeviceModel) {
        let io = self.next_io(device.capacity_sectors());
        let on_bus = matches!(io.op, Op::Read | Op::Write);
        self.sizes.push(if on_bus { io.sectors.bytes() } else { 0 });
        self.times.push((self.now, None));
        self.outstanding += 1;
        device.submit(self.now, &io);
    }

    /// Advances to the next event, or for a while if that is earlier.
    fn advance(&mut self, device: &mut DeviceModel) {
        let Some(event) = device.next_event() else { return };
        assert!(event >= self.now, "the past does not come back");
        self.now = event;
        device.advance(self.now, &mut self.done);
        assert!(device.next_event().is_none_or(|next| next > self.now), "everything due is done");
        for Done { id, ok } in self.done.drain(..) {
            assert!(ok, "request {id:?} is on the device");
            let slot = &mut self.times[id.0 as usize].1;
            assert_eq!(slot.replace(self.now), None, "request {id:?} completes once");
            self.outstanding -= 1;
        }
    }

    /// Lets time pass, from none to more than any access takes.
    fn think(&mut self, device: &mut DeviceModel) {
        let until = self.now.as_ns() + (self.prng.next_u64() >> self.prng.between(38, 60));
        while device.next_event().is_some_and(|event| event.as_ns() <= until) {
            self.advance(device);
        }
        self.now = Instant::from_ns(until);
    }
}

fn random_run(device: &mut DeviceModel, seed: u64, requests: usize) -> Drive {
    let mut drive = Drive::new(seed);
    while drive.times.len() < requests {
        let depth = u64::from(device.depth().min(64));
        let wanted = drive.prng.between(1, depth) as u32;
        while drive.outstanding < wanted && drive.times.len() < requests {
            drive.submit(device);
        }
        drive.advance(device);
        if drive.outstanding < device.depth() && drive.prng.chance(1, 3) {
            drive.think(device);
        }
    }
    while device.next_event().is_some() {
        drive.advance(device);
    }
    drive
}

#[test]
fn every_request_completes_exactly_once() {
    for seed in 0..20 {
        for (name, mut device) in all_kinds() {
            let drive = random_run(&mut device, seed, 2_000);
            let lost = drive.times.iter().filter(|(_, done)| done.is_none()).count();
            assert_eq!((lost, drive.outstanding), (0, 0), "{name}, seed {seed}");
        }
    }
}

#[test]
fn nothing_is_faster_than_its_data_on_the_bus() {
    // 300 MB/s: the fastest bus of all devices except the null device.
    let bus_ns = |bytes: u64| bytes * 10 / 3;
    for (name, mut device) in all_kinds().into_iter().filter(|(name, _)| *name != "null") {
        let drive = random_run(&mut device, 99, 3_000);
        for ((submitted, done), bytes) in drive.times.iter().zip(&drive.sizes) {
            let took = done.unwrap().since(*submitted).as_ns();
            assert!(took + 1 >= bus_ns(*bytes), "{name}: {bytes} bytes in {took} ns");
        }
    }
}

#[test]
fn the_same_calls_give_the_same_answers() {
    for ((name, mut one), (_, mut other)) in all_kinds().into_iter().zip(all_kinds()) {
        let (one, other) = (random_run(&mut one, 5, 3_000), random_run(&mut other, 5, 3_000));
        assert_eq!(one.times, other.times, "{name}");
    }
}

#[test]
fn a_device_refuses_more_than_its_depth() {
    for (name, device) in all_kinds() {
        let overfill = std::panic::AssertUnwindSafe(|| {
            let mut device = device.clone();
            for id in 0..=device.depth() {
                device.submit(Instant::ZERO, &io(id, Op::Read, u64::from(id) * 8, 8));
            }
        });
        assert!(std::panic::catch_unwind(overfill).is_err(), "{name}");
    }
}

#[test]
fn requests_beyond_the_end_fail_and_others_do_not() {
    for (name, mut device) in all_kinds() {
        let (mut now, mut done) = (Instant::ZERO, Vec::new());
        let end = device.capacity_sectors();
        for (start, ok) in [(end - 8, true), (end - 7, false), (end, false), (u64::MAX - 7, false)]
        {
            device.submit(now, &io(0, Op::Write, start, 8));
            while let Some(event) = device.next_event() {
                now = event;
                device.advance(now, &mut done);
            }
            assert_eq!(done.pop().map(|done| done.ok), Some(ok), "{name}, sector {start}");
        }
    }
}

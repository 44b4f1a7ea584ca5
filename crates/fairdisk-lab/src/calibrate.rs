//! Calibration: measures a device's cost model. A few loads that each saturate the device show how
//! much of a second one request of a kind uses up.

use fairdisk_core::{Cost, CostModel, GroupId, Instant, Lba, Op, Prng, RequestId, Sectors, Span};
use fairdisk_sim::device::{Device, DeviceIo, DeviceModel, DeviceSpec, Done};

/// Small requests, for which the position matters, and large ones, for which the bytes do.
const SMALL: Sectors = Sectors(8);
const LARGE: Sectors = Sectors(512);

/// Requests that are measured per load.
const MEASURED: u64 = 2048;
/// Requests before those, to fill the queues.
const BEFORE: u64 = 512;
/// Large writes before any write is measured: 512 MiB fill the caches and buffers of devices.
const FILLING: u64 = 2048;

/// Seed of the positions of random requests; any number would do.
const SEED: u64 = 0xCA11_B8A7;

/// Measures the request costs of a device with fresh caches, kept at full depth.
///
/// Eight rates determine the model, the six of cgroup v2's `io.cost.model` and two more: large and
/// small, sequential and random requests in each direction. Writes are measured when the device's
/// cache is full.
#[must_use]
pub fn calibrate(device: &DeviceSpec) -> CostModel {
    let depth = device.build().depth().max(1);
    let read = Probe::new(device, Op::Read, depth).cost();
    let mut write = Probe::new(device, Op::Write, depth);
    write.run(Place::Sequential, LARGE, FILLING);
    CostModel { depth, saturation: saturation(device, depth), read, write: write.cost() }
}

/// The amount of outstanding work that saturates the device. Of `n` parallel servers, two requests
/// hit the same one once in `n` times; the number of servers follows from how much less than twice
/// as much the device does at depth two. And no more requests are needed than would reach the
/// throughput of full depth if none of them had to wait.
fn saturation(device: &DeviceSpec, depth: u32) -> Span {
    if depth == 1 {
        return Span::ZERO;
    }
    let read = |depth: u32| {
        let each = Probe::new(device, Op::Read, depth).each(Place::Random, SMALL);
        each.max(1) as f64
    };
    let (alone, of_two, full) = (read(1), read(2), read(depth));
    let servers = 1.0 / (2.0 - alone / of_two).max(1e-6);
    let enough = servers.min(alone / full).clamp(1.0, f64::from(depth));
    Span::from_ns((enough * full) as u64)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Sequential,
    Random,
}

/// A device and one direction of requests to it.
struct Probe {
    device: DeviceModel,
    op: Op,
    now: Instant,
    prng: Prng,
    /// The position of the next sequential request.
    next: u64,
    free: Vec<RequestId>,
}

impl Probe {
    fn new(device: &DeviceSpec, op: Op, depth: u32) -> Self {
        let device = device.build();
        let free = (0..depth).map(RequestId).collect();
        Self { device, op, now: Instant::ZERO, prng: Prng::new(SEED), next: 0, free }
    }

    fn cost(&mut self) -> Cost {
        let large = self.each(Place::Sequential, LARGE);
        let small = self.each(Place::Sequential, SMALL);
        let random = self.each(Place::Random, SMALL);
        let large_random = self.each(Place::Random, LARGE);
        let more_bytes = LARGE.bytes() - SMALL.bytes();
        // Splits a cost into a fixed part and a part per byte.
        let parts = |small: u64, large: u64| {
            let byte_ps = large.saturating_sub(small).saturating_mul(1000) / more_bytes;
            (Span::from_ns(small.saturating_sub(SMALL.bytes() * byte_ps / 1000)), byte_ps)
        };
        let ((sequential, byte_ps), (random, random_byte_ps)) =
            (parts(small, large), parts(random, large_random));
        Cost { sequential, random, byte_ps, random_byte_ps }
    }

    /// Nanoseconds of device time per request, among others of its kind.
    fn each(&mut self, place: Place, size: Sectors) -> u64 {
        self.run(place, size, BEFORE);
        let began = self.now;
        self.run(place, size, MEASURED);
        (self.now - began).as_ns() / MEASURED
    }

    /// Keeps the device busy until it has completed `requests` requests.
    fn run(&mut self, place: Place, size: Sectors, requests: u64) {
        let mut completed = 0;
        let mut done: Vec<Done> = Vec::new();
        while completed < requests {
            while let Some(id) = self.free.pop() {
                let io = self.io(id, place, size);
                self.device.submit(self.now, &io);
            }
            let Some(due) = self.device.next_event() else { return };
            self.now = self.now.max(due);
            self.device.advance(self.now, &mut done);
            completed += done.len() as u64;
            self.free.extend(done.drain(..).map(|done| done.id));
        }
    }

    fn io(&mut self, id: RequestId, place: Place, size: Sectors) -> DeviceIo {
        let last = self.device.capacity_sectors().saturating_sub(u64::from(size.0));
        let start = match place {
            Place::Random => self.prng.below(last / 8 + 1) * 8,
            Place::Sequential => {
                let start = if self.next > last { 0 } else { self.next };
                self.next = start + u64::from(size.0);
                start
            }
        };
        let group = GroupId::ROOT;
        DeviceIo { id, group, op: self.op, start: Lba(start), sectors: size, fua: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::device::load;

    fn costs(id: &str) -> CostModel {
        calibrate(&load(id, &[]).unwrap().spec)
    }

    /// Requests per second.
    fn rate(model: &CostModel, op: Op, is_sequential: bool, bytes: u64) -> u64 {
        1_000_000_000 / model.cost(op, is_sequential, bytes).as_ns().max(1)
    }

    #[test]
    fn a_disk_of_8_ms_costs_8_ms_and_its_bytes_wherever_they_are() {
        let model = costs("fixed-8ms");
        assert_eq!(model.depth, 1);
        for (op, is_sequential) in [(Op::Read, true), (Op::Read, false), (Op::Write, false)] {
            // Bytes at 150 MB/s.
            let cost = model.cost(op, is_sequential, 3_000_000).as_us();
            assert!((27_990..=28_010).contains(&cost), "{op:?}: {cost} us");
        }
    }

    #[test]
    fn a_device_without_time_costs_none() {
        let model = costs("null");
        assert_eq!(model.cost(Op::Write, false, 1 << 20), Span::ZERO);
    }

    /// Compares with the rates in the devices' files.
    #[test]
    fn solid_state_disks_reach_their_rates() {
        for (id, commands, stream_mb) in [("sata-ssd", 98_000, 540), ("nvme", 380_000, 3_200)] {
            let model = costs(id);
            let small = rate(&model, Op::Read, false, 4096);
            assert!(
                (commands * 85 / 100..=commands * 101 / 100).contains(&small),
                "{id}: {small} reads/s"
            );
            let stream = rate(&model, Op::Read, true, 1 << 20) * (1 << 20) / 1_000_000;
            assert!(
                (stream_mb * 95 / 100..=stream_mb * 102 / 100).contains(&stream),
                "{id}: {stream} MB/s"
            );
        }
    }

    #[test]
    fn a_disk_with_a_head_pays_for_places() {
        let model = costs("hdd-ncq");
        assert_eq!(model.depth, 32);
        assert!(model.read.random > Span::from_ms(3), "{:?}", model.read);
        assert!(model.read.sequential < Span::from_us(200), "{:?}", model.read);
    }
}

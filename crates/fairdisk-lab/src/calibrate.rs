//! Calibration: measures what requests cost a device. A few loads that each keep all of it busy
//! show how much of a second one request of a kind uses up.
//!
//! Eight rates at full depth are measured, the six of cgroup v2's `io.cost.model` and two more:
//! small and large requests, sequential and random, in each direction. Writes are measured when the
//! device's caches are full. Two more rates, of one and two reads at a time, tell how much of the
//! device one request keeps busy.

mod load;
mod probe;
mod simulated;

pub use load::{Load, Place};

use fairdisk_core::{CostModel, Instant, Op, RequestId, Span, Times};
use fairdisk_sim::device::{DeviceIo, DeviceSpec, MeasuredParams, Pauses};
use probe::Probe;

/// A device that can be measured.
pub trait Bench {
    /// Why a measurement ends early.
    type Error;

    /// How many requests the device takes at once.
    fn depth(&self) -> u32;

    /// Its size in sectors.
    fn capacity_sectors(&self) -> u64;

    /// Says that a load begins.
    fn begin(&mut self, load: &Load);

    /// Submits a request.
    fn submit(&mut self, io: &DeviceIo);

    /// Waits until a request is done, and appends those that are.
    ///
    /// # Errors
    /// The measurement has to end.
    fn wait(&mut self, done: &mut Vec<RequestId>) -> Result<(), Self::Error>;

    /// The time.
    fn now(&self) -> Instant;

    /// Is told how long a request of a load took in each of the looks at it.
    fn seen(&mut self, _load: &Load, _took: &[Span]) {}
}

/// Seed of the positions of random requests; any number would do.
const SEED: u64 = 0xCA11_B8A7;

/// How long each load is measured: for so many requests or so long, whichever is over first. Before
/// that it runs for a fourth as long, to fill the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// Requests.
    pub requests: u64,
    /// Time; not before every place in the queue was used once.
    pub time: Span,
    /// The number of looks into which that is divided. If they differ by more than a tenth, as many
    /// follow, and the one in the middle of all counts.
    pub looks: u32,
}

impl Length {
    /// As many requests of each kind as show all that a simulated device does.
    pub const SIMULATED: Self = Self { requests: 2048, time: Span::MAX, looks: 1 };
}

/// How far looks at a load are apart: what the longest is above the shortest, in percent of that.
#[must_use]
pub fn spread_percent(took: &[Span]) -> u64 {
    let (least, most) = (took.iter().min(), took.iter().max());
    let (Some(least), Some(most)) = (least, most) else { return 0 };
    (*most - *least).as_ns().saturating_mul(100) / least.as_ns().max(1)
}

/// The spread of looks, in percent, beyond which more follow.
pub const SPREAD_MOST: u64 = 10;

/// The time for each of a few small random reads at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewReads {
    /// With one at a time.
    pub qd1: Span,
    /// With two at a time.
    pub qd2: Span,
    /// The pauses that were seen with one at a time.
    pub pauses: Pauses,
}

/// What was measured of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Times of a few reads at a time.
    pub few: FewReads,
    /// Times of reads at full depth.
    pub read: Times,
    /// Times of writes at full depth.
    pub write: Times,
    /// How long a flush takes that follows a small random write.
    pub flush: Span,
}

impl Figures {
    /// The device that was measured, as its file describes it.
    #[must_use]
    pub const fn device(
        &self,
        capacity_sectors: u64,
        depth: u32,
        rotational: bool,
    ) -> MeasuredParams {
        let Self { few: FewReads { qd1, qd2, pauses }, read, write, flush } = *self;
        MeasuredParams { capacity_sectors, depth, rotational, read, write, qd1, qd2, flush, pauses }
    }
}

/// How many loads [`few_reads`] and [`measure`] consist of together, at a device that takes `depth`
/// requests at once, with writes and without.
#[must_use]
pub const fn loads(depth: u32, writes: bool) -> u64 {
    let few = if depth > 1 { 2 } else { 1 };
    few + if writes { 10 } else { 4 }
}

/// Measures reads of which there are few at a time.
///
/// # Errors
/// The bench ended the measurement.
pub fn few_reads<B: Bench>(bench: &mut B, length: Length) -> Result<FewReads, B::Error> {
    let (qd1, pauses) = few(bench, 1, length, SEED)?;
    let qd2 = if bench.depth() > 1 { few(bench, 2, length, SEED + 1)?.0 } else { qd1 };
    Ok(FewReads { qd1, qd2, pauses })
}

/// Measures a device at full depth. If it may not be written to, writes are taken to cost what
/// reads do, and a flush nothing.
///
/// # Errors
/// The bench ended the measurement.
pub fn measure<B: Bench>(
    bench: &mut B,
    length: Length,
    few: FewReads,
    writes: bool,
) -> Result<Figures, B::Error> {
    // The disk may remember where it was asked before.
    let read = reads(bench, length, SEED + 2)?;
    if !writes {
        return Ok(Figures { few, read, write: read, flush: Span::ZERO });
    }
    let write = self::writes(bench, length, SEED + 3)?;
    let flush = Probe::new(bench, Op::Write, 1, SEED + 4).flush(length)?;
    Ok(Figures { few, read, write, flush })
}

/// The time for each of a few small random reads at a time, and pauses if that is one.
fn few<B: Bench>(
    bench: &mut B,
    depth: u32,
    length: Length,
    seed: u64,
) -> Result<(Span, Pauses), B::Error> {
    let mut probe = Probe::new(bench, Op::Read, depth.min(bench.depth()), seed);
    let took = probe.small_random(length)?;
    let (pauses, mean) = probe.pauses();
    probe.end()?;
    // Of the same requests: a look may have met more of them than others.
    Ok((if pauses.are_there() { mean } else { took }, pauses))
}

fn reads<B: Bench>(bench: &mut B, length: Length, seed: u64) -> Result<Times, B::Error> {
    let depth = bench.depth();
    let mut probe = Probe::new(bench, Op::Read, depth, seed);
    let times = probe.times(length)?;
    probe.end()?;
    Ok(times)
}

fn writes<B: Bench>(bench: &mut B, length: Length, seed: u64) -> Result<Times, B::Error> {
    let depth = bench.depth();
    let mut probe = Probe::new(bench, Op::Write, depth, seed);
    probe.precondition(length)?;
    let times = probe.times(length)?;
    probe.end()?;
    Ok(times)
}

/// The costs of requests at a device of the lab, measured with fresh caches for each direction. A
/// device that was measured has its own.
#[must_use]
pub fn calibrate(device: &DeviceSpec) -> CostModel {
    if let DeviceSpec::Measured(device) = device {
        return device.params().costs();
    }
    simulated::costs(device)
}

#[cfg(test)]
mod tests {
    use super::simulated::Simulated;
    use super::*;
    use crate::catalog::device::load;
    use fairdisk_sim::device::MeasuredSpec;

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

    /// A device as it was measured, from the catalogue.
    fn measured(id: &str) -> DeviceSpec {
        let spec = load(id, &[]).unwrap().spec;
        let mut bench = Simulated::new(&spec);
        let Ok(few) = few_reads(&mut bench, Length::SIMULATED);
        let Ok(figures) = measure(&mut bench, Length::SIMULATED, few, true);
        let (capacity, depth) = (spec.capacity_sectors(), bench.depth());
        let params = figures.device(capacity, depth, spec.is_rotational());
        DeviceSpec::Measured(MeasuredSpec::new(params).unwrap())
    }

    #[test]
    fn a_measured_device_measures_as_it_was() {
        for id in ["fixed-8ms", "hdd-7200-2007", "hdd-ncq", "raid5-4", "sata-ssd", "nvme"] {
            let device = measured(id);
            let (is, again) = (calibrate(&device), simulated::costs(&device));
            let DeviceSpec::Measured(spec) = &device else { panic!("{device:?}") };
            let Ok(few) = few_reads(&mut Simulated::new(&device), Length::SIMULATED);
            let near = |name: &str, is: Span, again: Span, most: f64| {
                let (is, again) = (is.as_ns() as f64, again.as_ns() as f64);
                assert!((again / is - 1.0).abs() < most, "{id}, {name}: {is} and then {again}");
            };
            for (op, is_sequential, bytes) in [
                (Op::Read, true, 4096),
                (Op::Read, false, 4096),
                (Op::Read, true, 1 << 18),
                (Op::Read, false, 1 << 18),
                (Op::Write, true, 4096),
                (Op::Write, false, 4096),
                (Op::Write, true, 1 << 18),
                (Op::Write, false, 1 << 18),
            ] {
                let cost = |model: CostModel| model.cost(op, is_sequential, bytes);
                near(&format!("{op:?} {is_sequential} {bytes}"), cost(is), cost(again), 0.1);
            }
            if is.depth > 1 {
                near("qd1", spec.params().qd1, few.qd1, 0.02);
                // Here no two requests meet at one server while another is idle.
                near("qd2", spec.params().qd2, few.qd2, 0.2);
                near("saturation", is.saturation, again.saturation, 0.3);
            }
        }
    }

    /// A disk that serves one request at a time, each in the next of these times.
    struct Scripted {
        now: Instant,
        took: std::vec::IntoIter<u64>,
        at: Vec<RequestId>,
        looks: Vec<Vec<Span>>,
    }

    impl Bench for Scripted {
        type Error = std::convert::Infallible;

        fn depth(&self) -> u32 {
            1
        }

        fn capacity_sectors(&self) -> u64 {
            1 << 20
        }

        fn begin(&mut self, _load: &Load) {}

        fn submit(&mut self, io: &DeviceIo) {
            self.at.push(io.id);
        }

        fn wait(&mut self, done: &mut Vec<RequestId>) -> Result<(), Self::Error> {
            let us = self.took.next().unwrap_or(100);
            self.now += Span::from_us(us);
            done.append(&mut self.at);
            Ok(())
        }

        fn now(&self) -> Instant {
            self.now
        }

        fn seen(&mut self, _load: &Load, took: &[Span]) {
            self.looks.push(took.to_vec());
        }
    }

    /// Two looks of 4 requests after 2 to fill the queue; in the first one somebody else is busy.
    #[test]
    fn looks_that_differ_are_followed_by_more() {
        for (script, looks) in [
            (vec![100; 2], vec![100, 100]),
            (vec![100, 100, 105, 105, 105, 105], vec![105, 100]),
            (vec![100, 100, 200, 200, 200, 200], vec![200, 100, 100, 100]),
        ] {
            let now = Instant::ZERO;
            let took = script.into_iter();
            let mut bench = Scripted { now, took, at: Vec::new(), looks: Vec::new() };
            let length = Length { requests: 8, time: Span::MAX, looks: 2 };
            let Ok(few) = few_reads(&mut bench, length);
            let looks: Vec<Span> = looks.into_iter().map(Span::from_us).collect();
            assert_eq!(bench.looks.concat(), looks);
            let middle = if spread_percent(&looks) > SPREAD_MOST {
                100
            } else {
                (looks[0].as_us() + looks[1].as_us()) / 2
            };
            assert_eq!(few.qd1.as_us(), middle);
        }
    }

    #[test]
    fn what_takes_ten_times_as_long_now_and_then_is_a_pause() {
        let every = |at: usize, of: usize, long| {
            let took = (0..1000).map(move |n| if n % of == at { long } else { 100 });
            Scripted {
                now: Instant::ZERO,
                took: took.collect::<Vec<_>>().into_iter(),
                at: Vec::new(),
                looks: Vec::new(),
            }
        };
        let length = Length { requests: 800, time: Span::MAX, looks: 2 };
        let found = |mut bench| few_reads(&mut bench, length).map(|few| few.pauses);
        // 99 requests of 100 us between pauses of 4 ms, and the usual time in each.
        let (gap, lasts) = (Span::from_us(10_000), Span::from_us(4_000));
        assert_eq!(found(every(50, 100, 4_100)), Ok(Pauses { every: gap, lasts }));
        assert_eq!(found(every(50, 100, 900)), Ok(Pauses::NONE), "some take longer, as anywhere");
        assert_eq!(found(every(5, 10, 4_100)), Ok(Pauses::NONE), "a cache that misses");
        assert_eq!(found(every(50, 500, 4_100)), Ok(Pauses::NONE), "two are not a figure");
    }
}

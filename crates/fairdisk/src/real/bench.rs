//! A real disk on the bench: `fairdisk calibrate` measures it.

use super::backend::write_out;
use crate::failure::Failure;
use crate::progress;
use fairdisk_core::{Flags, Instant, IoPrio, Request, RequestId, SECTOR_BYTES, Span, TaskId};
use fairdisk_lab::calibrate::{Bench, Load, spread_percent};
use fairdisk_plane::backend::{self, Backend, Done, Preference};
use fairdisk_plane::{Anything, Clock, FileNeeds, MonotonicClock, TargetFile, Traffic};
use fairdisk_sim::device::DeviceIo;
use indicatif::ProgressBar;
use rustix::fs::{FsWord, statfs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often Ctrl-C is looked for while the disk does nothing.
const TICK: Span = Span::from_ms(100);

/// The numbers of file systems that keep files in memory, tmpfs and ramfs. Source: statfs(2).
const MEMORY: [FsWord; 2] = [0x0102_1994, 0x8584_58f6];
const ELSEWHERE: &str = "name a directory on a disk";

/// Why a measurement ended early.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By Ctrl-C.
    Stopped,
    /// Because a request, or the backend, failed.
    Failed(String),
}

/// A file or block device that is measured in real time.
pub(crate) struct RealBench<C = MonotonicClock> {
    backend: Box<dyn Backend + Send>,
    clock: C,
    depth: u32,
    stop: Arc<AtomicBool>,
    bar: ProgressBar,
    payload: Anything,
    traffic: Traffic,
    done: Vec<Done>,
    spreads: Vec<Spread>,
}

/// How far apart looks at a load were.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    /// The load in words.
    pub(crate) load: String,
    /// What the longest look was above the shortest, in percent of that.
    pub(crate) percent: u64,
}

impl RealBench {
    /// Opens a disk for up to `depth` requests at once: a block device, or a file without a name in
    /// a directory. `None` if `stop` was set while that was written out.
    ///
    /// # Errors
    /// It cannot be used, or it would not be a disk that is measured.
    pub(crate) fn open(
        path: &Path,
        needs: &FileNeeds,
        preference: Preference,
        depth: u32,
        quiet: bool,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Self>, Failure> {
        let shown = path.display();
        let is_directory = path.is_dir();
        if is_directory && statfs(path).is_ok_and(|it| MEMORY.contains(&it.f_type)) {
            return Err(Failure::BadInput(format!("{shown} is in memory; {ELSEWHERE}")));
        }
        let file = write_out(quiet, stop, |watch| match is_directory {
            true => TargetFile::unnamed(path, needs, watch),
            false => TargetFile::open(path, needs, watch),
        })?;
        let Some(file) = file else { return Ok(None) };
        if file.direct_align().is_none_or(|align| align > 4096) {
            return Err(Failure::BadInput(format!(
                "{shown}: direct I/O of 4 KiB does not work there, so that memory would be \
                 measured and not a disk; {ELSEWHERE}"
            )));
        }
        let backend = backend::open(file, preference, depth);
        let backend = backend.map_err(|error| Failure::BadInput(error.to_string()))?;
        let clock = MonotonicClock::start();
        clock.prepare();
        Ok(Some(Self::new(backend, clock, depth, progress::bar(0, quiet), Arc::clone(stop))))
    }
}

impl<C: Clock> RealBench<C> {
    fn new(
        backend: Box<dyn Backend + Send>,
        clock: C,
        depth: u32,
        bar: ProgressBar,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            backend,
            clock,
            depth,
            stop,
            bar,
            payload: Anything::new(),
            traffic: Traffic::default(),
            done: Vec::new(),
            spreads: Vec::new(),
        }
    }

    /// The spreads of the loads that were measured.
    pub(crate) fn spreads(&self) -> &[Spread] {
        &self.spreads
    }

    /// Changes how many requests the disk gets at once, to at most what it was opened for.
    pub(crate) fn set_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// How many bytes of the disk are used.
    pub(crate) fn bytes(&self) -> u64 {
        self.backend.capacity_sectors() * SECTOR_BYTES
    }

    /// Says how many loads there are, for the progress.
    pub(crate) fn expect(&self, loads: u64) {
        progress::show(&self.bar, 0, loads);
    }

    /// Ends the progress.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl<C: Clock> Bench for RealBench<C> {
    type Error = Ended;

    fn depth(&self) -> u32 {
        self.depth
    }

    fn capacity_sectors(&self) -> u64 {
        self.backend.capacity_sectors()
    }

    fn begin(&mut self, load: &Load) {
        self.bar.set_message(load.to_string());
        self.bar.inc(1);
    }

    fn submit(&mut self, io: &DeviceIo) {
        let now = self.clock.now();
        let request = Request {
            id: io.id,
            task: TaskId(0),
            group: io.group,
            op: io.op,
            start: io.start,
            sectors: io.sectors,
            sync: true,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
            arrived: now,
        };
        self.traffic.submit(now, &request, &mut self.payload, &mut self.backend);
    }

    fn wait(&mut self, done: &mut Vec<RequestId>) -> Result<(), Ended> {
        while self.done.is_empty() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Ended::Stopped);
            }
            let deadline = self.clock.now() + TICK;
            let waited = self.backend.wait(&self.clock, Some(deadline), &mut self.done);
            waited.map_err(|error| Ended::Failed(error.to_string()))?;
        }
        let now = self.clock.now();
        for one in self.done.drain(..) {
            let settled = self.traffic.settle(now, one, &mut self.payload);
            done.push(settled.map_err(|failed| Ended::Failed(failed.to_string()))?.id);
        }
        Ok(())
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn seen(&mut self, load: &Load, took: &[Span]) {
        self.spreads.push(Spread { load: load.to_string(), percent: spread_percent(took) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Op;
    use fairdisk_lab::calibrate::{Figures, Length, calibrate, few_reads, loads, measure};
    use fairdisk_lab::catalog::device::load;
    use fairdisk_plane::FakeClock;
    use fairdisk_plane::backend::{Faults, Faulty, Modelled, Null};
    use fairdisk_sim::device::{Device as _, DeviceSpec};

    /// A device as a backend.
    fn backend(spec: &DeviceSpec) -> Box<dyn Backend + Send> {
        let device = spec.build();
        Box::new(Modelled::new(Null::new(device.capacity_sectors(), device.depth()), device))
    }

    /// A bench in virtual time.
    fn bench(backend: Box<dyn Backend + Send>) -> RealBench<FakeClock> {
        let depth = backend.depth();
        RealBench::new(backend, FakeClock::new(), depth, ProgressBar::hidden(), Arc::default())
    }

    fn figures(bench: &mut RealBench<FakeClock>) -> Result<Figures, Ended> {
        let few = few_reads(bench, Length::SIMULATED)?;
        measure(bench, Length::SIMULATED, few, true)
    }

    /// One calibration, two worlds.
    #[test]
    fn a_real_bench_finds_what_the_lab_finds() {
        for id in ["fixed-8ms", "hdd-ncq", "sata-ssd"] {
            let spec = load(id, &[]).unwrap().spec;
            let mut bench = bench(backend(&spec));
            let figures = figures(&mut bench).unwrap();
            assert_eq!(bench.bar.position(), loads(bench.depth(), true));
            let capacity = spec.capacity_sectors();
            let found = figures.device(capacity, bench.depth(), spec.is_rotational()).costs();
            let known = calibrate(&spec);
            let near = |what: &str, found: Span, known: Span| {
                let (found, known) = (found.as_ns() as f64, known.as_ns() as f64);
                assert!((found / known - 1.0).abs() < 0.05, "{id}, {what}: {found}, not {known}");
            };
            for (op, is_sequential) in [(Op::Read, true), (Op::Read, false), (Op::Write, false)] {
                for bytes in [4 << 10, 256 << 10] {
                    let cost =
                        |model: fairdisk_core::CostModel| model.cost(op, is_sequential, bytes);
                    near(&format!("{op:?} of {bytes}"), cost(found), cost(known));
                }
            }
            if known.depth > 1 {
                near("saturation", found.saturation, known.saturation);
            }
        }
    }

    #[test]
    fn a_request_that_fails_and_ctrl_c_end_a_measurement() {
        let spec = load("fixed-8ms", &[]).unwrap().spec;
        let faults =
            Faults { errors_per_mille: 1, delays_per_mille: 0, delay_max: Span::from_ms(1) };
        let mut broken = bench(Box::new(Faulty::new(backend(&spec), faults, 1)));
        let Err(Ended::Failed(why)) = figures(&mut broken) else {
            panic!("it did not fail");
        };
        assert!(why.starts_with("read of 8 sectors at sector "), "{why}");
        let mut stopped = bench(backend(&spec));
        stopped.stop.store(true, Ordering::Relaxed);
        assert!(matches!(figures(&mut stopped), Err(Ended::Stopped)));
    }
}

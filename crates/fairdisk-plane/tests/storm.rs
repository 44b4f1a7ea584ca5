//! Randomised runs with errors, delays, reordering, full disks and early ends: no request is lost
//! or completed twice, and what was written is read back.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{ClosedLoop, Mix, SmallDisk};
use fairdisk_core::{
    Apart, Auditor, EngineConfig, Instant, Journal, Lba, PoolConfig, PoolLayout, Prng, Request,
    RequestId, Span,
};
use fairdisk_plane::backend::{
    Backend, Chosen, Done, Faults, Faulty, Memory, Modelled, Null, Preference, open,
};
use fairdisk_plane::buffer::Buffer;
use fairdisk_plane::file::Watch;
use fairdisk_plane::{
    Clock, Failure, FakeClock, FileNeeds, Load, MonotonicClock, Pattern, Shell, ShellError,
    TargetFile,
};
use fairdisk_sched::{Scheduler, SchedulerSpec};
use fairdisk_sim::device::{DeviceModel, Fixed, FixedCost, FixedParams, FixedSpec};
use std::cell::Cell;
use std::env;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SECTORS: u64 = 2048;

type Audited = Auditor<Scheduler>;

fn load(prng: &mut Prng, depth: u32) -> ClosedLoop<Audited> {
    let names = SchedulerSpec::NAMES;
    let name = names[prng.below(names.len() as u64) as usize];
    let requests = prng.between(2, 32) as u32;
    let pool =
        PoolConfig { layout: PoolLayout::Shared(Apart::Direction), requests, batch_requests: 4 };
    let merge_sectors_max = if prng.chance(1, 2) { 256 } else { 0 };
    let peek = depth == 1;
    let config = EngineConfig { depth, peek, pool, merge_sectors_max, ..EngineConfig::default() };
    let mix = Mix::new(prng.between(1, 24) as u32, 60, SECTORS);
    let elevator = Auditor::new(SchedulerSpec::named(name).unwrap().build());
    ClosedLoop::new(elevator, config, mix, prng.next_u64())
}

fn device(depth: u32, latency_us: u32) -> DeviceModel {
    let cost = FixedCost { latency_us, mb_per_s: Some(200) };
    let params = FixedParams {
        capacity_sectors: SECTORS,
        parallel: depth,
        read: cost,
        write: cost,
        flush_us: latency_us,
    };
    DeviceModel::Fixed(Fixed::new(&FixedSpec::new(params).unwrap()))
}

fn faults(prng: &mut Prng) -> Faults {
    Faults {
        errors_per_mille: prng.below(200) as u32,
        delays_per_mille: prng.below(1000) as u32,
        delay_max: Span::from_us(prng.between(1, 20_000)),
    }
}

/// Runs one storm. Returns the hash of its journal and the number of sectors verified, which must
/// be equal for equal seeds.
fn storm(seed: u64, backend: impl FnOnce(u32) -> Box<dyn Backend>) -> (u64, u64) {
    let mut prng = Prng::new(seed);
    let depth = prng.between(1, 32) as u32;
    let (load, faults) = (load(&mut prng, depth), faults(&mut prng));
    let backend = Faulty::new(backend(depth), faults, prng.next_u64());
    let mut shell = Shell::new(load, backend, FakeClock::new()).with_payload(Pattern::new());
    let report = shell.run().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(report.errors, shell.backend().injected(), "seed {seed}: {:?}", report.first_error);
    assert_eq!(shell.backend().in_flight(), 0, "seed {seed}");
    let load = shell.load();
    assert_eq!(load.engine.accounts().in_flight(), 0, "seed {seed}");
    assert_eq!(completions(load.engine.journal()), report.requests, "seed {seed}");
    assert_eq!(load.failed > 0, report.errors > 0, "seed {seed}");
    (load.engine.journal().hash(), shell.payload().checked())
}

/// The number of requests issued, each of which must have completed exactly once.
fn completions(journal: &Journal) -> u64 {
    let (mut issued, mut completed) = (0, 0);
    for entry in journal.entries() {
        match entry.record {
            fairdisk_core::journal::Record::Issued(_) => issued += 1,
            fairdisk_core::journal::Record::Completed(..) => completed += 1,
            _ => {}
        }
    }
    assert_eq!(issued, completed);
    completed
}

/// The factor by which to multiply the number of storms: `FAIRDISK_STORM_FACTOR`, which `make soak`
/// sets.
fn factor() -> u64 {
    env::var("FAIRDISK_STORM_FACTOR").map_or(1, |factor| factor.parse().expect("a number"))
}

#[test]
fn storms_over_memory_lose_nothing_and_repeat_exactly() {
    let mut checked = 0;
    for seed in 0..200 * factor() {
        let run = || storm(seed, |depth| Box::new(Memory::new(SECTORS, depth)));
        let (hash, sectors) = run();
        assert_eq!((hash, sectors), run(), "seed {seed} does not repeat");
        checked += sectors;
    }
    assert!(checked > 100_000, "too few sectors were compared: {checked}");
}

#[test]
fn storms_over_a_modelled_disk_lose_nothing() {
    for seed in 0..100 * factor() {
        storm(seed, |depth| {
            Box::new(Modelled::new(Memory::new(SECTORS, depth), device(depth, 300)))
        });
    }
}

#[test]
fn storms_over_real_files_lose_nothing() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for preference in [Preference::Threads, Preference::Auto] {
        for seed in 0..20 * factor() {
            let path = place.path().join(format!("{preference:?}"));
            let needs = FileNeeds::scratch(SECTORS);
            storm(seed, |depth| {
                let target = TargetFile::open(&path, &needs, &mut |_| Watch::Continue).unwrap();
                open(target, preference, depth).unwrap()
            });
        }
    }
}

// ---- canaries: what must be noticed ------------------------------------------------------

/// A backend whose wait is replaced.
struct Tampered<B, W>(B, W);

impl<B, W> Backend for Tampered<B, W>
where
    B: Backend,
    W: FnMut(&mut B, &dyn Clock, Option<Instant>, &mut Vec<Done>) -> io::Result<()>,
{
    fn depth(&self) -> u32 {
        self.0.depth()
    }

    fn capacity_sectors(&self) -> u64 {
        self.0.capacity_sectors()
    }

    fn in_flight(&self) -> u32 {
        self.0.in_flight()
    }

    fn submit(&mut self, now: Instant, request: &Request, data: Buffer) {
        self.0.submit(now, request, data);
    }

    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()> {
        (self.1)(&mut self.0, clock, deadline, done)
    }

    fn chosen(&self) -> Chosen {
        self.0.chosen()
    }
}

#[test]
fn a_flipped_bit_is_noticed() {
    let mut reads = 0;
    let flips = |inner: &mut Memory, clock: &dyn Clock, deadline, done: &mut Vec<Done>| {
        inner.wait(clock, deadline, done)?;
        for done in done {
            reads += 1;
            if let Some(byte) = done.data.bytes_mut().last_mut().filter(|_| reads > 100) {
                *byte ^= 1;
            }
        }
        Ok(())
    };
    let backend = Tampered(Memory::new(SECTORS, 8), flips);
    let load = load(&mut Prng::new(1), 8);
    let mut shell = Shell::new(load, backend, FakeClock::new()).with_payload(Pattern::new());
    let report = shell.run().unwrap();
    let failure = report.first_error.unwrap();
    assert!(matches!(failure.failure, Failure::Corrupt(_)), "{failure}");
    assert!(failure.to_string().contains("reads back different bytes"), "{failure}");
}

#[test]
fn a_broken_backend_ends_the_run_and_says_what_it_held() {
    let mut waits = 0;
    let breaks = |inner: &mut Null, clock: &dyn Clock, deadline, done: &mut Vec<Done>| {
        waits += 1;
        if waits > 50 && inner.in_flight() > 0 {
            return Err(io::Error::other("the cable is out"));
        }
        inner.wait(clock, deadline, done)
    };
    let backend = Tampered(Null::new(SECTORS, 8), breaks);
    let error = Shell::new(load(&mut Prng::new(2), 8), backend, FakeClock::new()).run();
    let Err(ShellError::Backend { lost, .. }) = &error else { panic!("{error:?}") };
    assert!(*lost > 0);
    let text = error.unwrap_err().to_string();
    assert!(text.contains("null") && text.contains("the cable is out"), "{text}");
}

/// A load that waits for nothing and is never done.
struct Forgetful;

impl Load for Forgetful {
    fn next_event(&self) -> Option<Instant> {
        None
    }

    fn advance(&mut self, _: Instant, _: &mut Vec<Request>) {}

    fn completed(&mut self, _: Instant, _: RequestId, _: bool, _: &mut Vec<Request>) {}

    fn is_done(&self) -> bool {
        false
    }

    fn stop(&mut self, _: Instant) {}
}

#[test]
fn a_load_that_waits_for_nothing_is_an_error_not_a_hang() {
    let end = Instant::from_ns(1_000_000_000);
    for end in [None, Some(end)] {
        let shell = Shell::new(Forgetful, Null::new(1, 1), FakeClock::new());
        let mut shell = if let Some(end) = end { shell.end_at(end) } else { shell };
        let Err(ShellError::Stalled { at }) = shell.run() else { panic!("it ended") };
        assert_eq!(at, end.unwrap_or(Instant::ZERO));
    }
}

// ---- ends --------------------------------------------------------------------------------

#[test]
fn the_stop_flag_ends_a_run_within_a_tick_and_drains_it() {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let told = Rc::new(Cell::new(0));
    let count = Rc::clone(&told);
    let backend = Modelled::new(Null::new(SECTORS, 4), device(4, 7000));
    let mix = Mix::new(16, 1_000_000, SECTORS);
    let config = EngineConfig { depth: 4, ..EngineConfig::default() };
    let elevator = SchedulerSpec::named("deadline").unwrap().build();
    let mut shell =
        Shell::new(ClosedLoop::new(elevator, config, mix, 5), backend, FakeClock::new())
            .stop_on(stop)
            .on_progress(move |progress| {
                count.set(count.get() + 1);
                if progress.completed >= 500 {
                    raised.store(true, Ordering::Relaxed);
                }
            });
    let report = shell.run().unwrap();
    let ticks = report.elapsed.as_ms() / 100 + 1;
    assert!(told.get() <= ticks && told.get() + 2 >= ticks, "told {} times", told.get());
    assert!(report.stopped.is_some() && report.requests >= 500 && report.requests < 1000);
    assert_eq!(report.requests, completions(shell.load().engine.journal()));
}

// ---- a full disk -------------------------------------------------------------------------

#[test]
fn a_disk_that_fills_up_fails_requests_and_loses_none() {
    let Some(place) = SmallDisk::mount(c"size=256k") else { return };
    for preference in [Preference::Threads, Preference::Auto] {
        let path = place.path().join("f");
        let needs = FileNeeds::scratch(SECTORS);
        let target = TargetFile::open(&path, &needs, &mut |_| Watch::Continue).unwrap();
        let backend = open(target, preference, 8).unwrap();
        let load = load(&mut Prng::new(4), 8);
        let clock = MonotonicClock::start();
        let mut shell = Shell::new(load, backend, clock).with_payload(Pattern::new());
        let report = shell.run().unwrap();
        let error = report.first_error.unwrap();
        assert_eq!(error.failure, Failure::Os(rustix::io::Errno::NOSPC), "{error}");
        assert!(error.to_string().contains("free space on that disk"), "{error}");
        assert_ne!(error.request.start, Lba(SECTORS));
        assert_eq!(report.requests, completions(shell.load().engine.journal()));
        assert!(shell.load().failed > 0);
        drop(shell);
        std::fs::remove_file(path).unwrap();
    }
}

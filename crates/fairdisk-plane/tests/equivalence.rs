//! Equivalence of the real shell and the simulated world: the same load leaves the same journal in
//! the real shell under a fake clock and in a minimal simulated world.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{ClosedLoop, Mix};
use fairdisk_core::{Apart, EngineConfig, Instant, PoolConfig, PoolLayout, Span};
use fairdisk_plane::backend::{Backend, Memory, Modelled, Null, Preference, open};
use fairdisk_plane::file::Watch;
use fairdisk_plane::{FakeClock, FileNeeds, Load, Pattern, Shell, TargetFile};
use fairdisk_sched::{Scheduler, SchedulerSpec};
use fairdisk_sim::device::{
    Device, DeviceIo, DeviceModel, Fixed, FixedCost, FixedParams, FixedSpec,
};

const SECTORS: u64 = 1 << 16;

/// The distribution of event times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    /// Arbitrary: events hardly ever coincide.
    Odd,
    /// Whole milliseconds: completions and timers often coincide.
    Round,
}

fn device(depth: u32, times: Times) -> DeviceModel {
    let mb_per_s = (times == Times::Odd).then_some(150);
    let cost = |latency_us| FixedCost { latency_us, mb_per_s };
    let params = FixedParams {
        capacity_sectors: SECTORS,
        parallel: depth,
        read: cost(8000),
        write: cost(6000),
        flush_us: 1000,
    };
    DeviceModel::Fixed(Fixed::new(&FixedSpec::new(params).unwrap()))
}

fn load(scheduler: &str, depth: u32, times: Times, seed: u64) -> ClosedLoop<Scheduler> {
    let pool =
        PoolConfig { layout: PoolLayout::Shared(Apart::Direction), requests: 4, batch_requests: 2 };
    let config = EngineConfig {
        depth,
        peek: depth == 1,
        pool,
        merge_sectors_max: 256,
        ..EngineConfig::default()
    };
    let think_step = if times == Times::Odd { Span::from_ns(1) } else { Span::from_ms(1) };
    let mix = Mix { think_max: Span::from_ms(3), think_step, ..Mix::new(6, 60, SECTORS) };
    ClosedLoop::new(SchedulerSpec::named(scheduler).unwrap().build(), config, mix, seed)
}

/// A simulated world in its simplest form.
fn in_simulation(mut load: impl Load, mut device: DeviceModel) {
    let (mut issue, mut done) = (Vec::new(), Vec::new());
    while !load.is_done() {
        let events = [load.next_event(), device.next_event()];
        let now = events.into_iter().flatten().min().unwrap();
        device.advance(now, &mut done);
        for done in done.drain(..) {
            load.completed(now, done.id, done.ok, &mut issue);
        }
        if load.next_event().is_some_and(|due| due <= now) {
            load.advance(now, &mut issue);
        }
        for request in issue.drain(..) {
            device.submit(now, &DeviceIo::of(&request));
        }
    }
}

fn in_shell(load: impl Load, backend: impl Backend, errors: u64) {
    let clock = FakeClock::new();
    let mut shell = Shell::new(load, backend, clock.clone()).with_payload(Pattern::new());
    let report = shell.run().unwrap();
    assert_eq!(report.errors, errors, "{:?}", report.first_error.map(|error| error.to_string()));
    assert_eq!(report.timer_lateness.max, Span::ZERO, "virtual time is never late");
    assert_eq!(report.completion_lateness.unwrap().max, Span::ZERO);
}

fn compare(
    scheduler: &str,
    depth: u32,
    times: Times,
    seed: u64,
    backend: impl FnOnce() -> Box<dyn Backend>,
) {
    let mut simulated = load(scheduler, depth, times, seed);
    let mut real = load(scheduler, depth, times, seed);
    in_simulation(&mut simulated, device(depth, times));
    in_shell(&mut real, Modelled::new(backend(), device(depth, times)), 0);
    let (simulated, real) = (simulated.engine.journal(), real.engine.journal());
    let entries = simulated.entries().iter().zip(real.entries()).enumerate();
    for (index, (simulated, real)) in entries {
        assert_eq!(simulated, real, "{scheduler}, depth {depth}, seed {seed}, entry {index}");
    }
    assert_eq!((simulated.len(), simulated.hash()), (real.len(), real.hash()));
    assert!(simulated.len() > 1000, "too little happened to compare: {}", simulated.len());
}

#[test]
fn memory_under_a_modelled_disk_leaves_the_journal_of_the_simulation() {
    for scheduler in SchedulerSpec::NAMES.iter().copied() {
        for depth in [1, 2, 32] {
            for seed in 0..5 {
                for times in [Times::Odd, Times::Round] {
                    let memory = || -> Box<dyn Backend> { Box::new(Memory::new(SECTORS, depth)) };
                    compare(scheduler, depth, times, seed, memory);
                }
            }
        }
    }
}

/// Virtual time stands still while real I/O is under way, so its duration has no influence.
#[test]
fn a_real_file_under_a_modelled_disk_leaves_the_journal_of_the_simulation() {
    let directory = tempfile::tempdir().unwrap();
    for preference in [Preference::Threads, Preference::Auto] {
        let path = directory.path().join(format!("{preference:?}"));
        for depth in [1, 32] {
            let backend = || -> Box<dyn Backend> {
                let needs = FileNeeds::scratch(SECTORS);
                let target = TargetFile::open(&path, &needs, &mut |_| Watch::Continue).unwrap();
                open(target, preference, depth).unwrap()
            };
            compare("cfq", depth, Times::Round, 7, backend);
        }
    }
}

#[test]
fn a_stopped_run_drains_and_says_when() {
    let clock = FakeClock::new();
    let end = Instant::from_ns(500_000_000);
    let backend = Modelled::new(Null::new(SECTORS, 1), device(1, Times::Odd));
    let mut shell = Shell::new(load("deadline", 1, Times::Odd, 3), backend, clock).end_at(end);
    let report = shell.run().unwrap();
    assert_eq!(report.stopped, Some(end));
    assert!(report.elapsed > Span::from_ms(500) && report.elapsed < Span::from_ms(600));
    assert_eq!(shell.load().engine.in_flight(), 0);
    assert_eq!(shell.load().engine.accounts().in_flight(), 0);
}

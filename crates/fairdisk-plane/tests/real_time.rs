//! The shell on the machine's clock: how late timers and completions are. The numbers are printed;
//! the bounds are loose, since the machine may be busy with other things.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{ClosedLoop, Mix};
use fairdisk_core::{EngineConfig, Span};
use fairdisk_plane::backend::{Backend, Memory, Modelled, Null, Preference, open};
use fairdisk_plane::file::Watch;
use fairdisk_plane::{
    Anything, FileNeeds, MonotonicClock, Pattern, Payload, Shell, ShellReport, TargetFile,
};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sim::device::{DeviceModel, Fixed, FixedCost, FixedParams, FixedSpec};

const SECTORS: u64 = 1 << 15;
const DEPTH: u32 = 4;

fn disk(latency_us: u32) -> DeviceModel {
    let cost = FixedCost { latency_us, mb_per_s: None };
    let params = FixedParams {
        capacity_sectors: SECTORS,
        parallel: DEPTH,
        read: cost,
        write: cost,
        flush_us: latency_us,
    };
    DeviceModel::Fixed(Fixed::new(&FixedSpec::new(params).unwrap()))
}

fn run(backend: impl Backend, payload: impl Payload) -> ShellReport {
    let config = EngineConfig { depth: DEPTH, ..EngineConfig::default() };
    let mix = Mix { think_max: Span::from_ms(2), ..Mix::new(4, 100, SECTORS) };
    let elevator = SchedulerSpec::named("deadline").unwrap().build();
    let load = ClosedLoop::new(elevator, config, mix, 1);
    let mut shell = Shell::new(load, backend, MonotonicClock::start()).with_payload(payload);
    let report = shell.run().unwrap();
    assert_eq!((report.errors, report.stopped), (0, None), "{:?}", report.first_error);
    report
}

fn check(report: &ShellReport) {
    let model = report.completion_lateness.unwrap();
    println!("{}: {}", report.backend.name, report.backend.why);
    println!("  {} requests in {}", report.requests, report.elapsed);
    println!("  timers       {}", report.timer_lateness);
    println!("  completions  {model}");
    assert!(report.timer_lateness.p50 < Span::from_ms(20), "{report:?}");
    assert!(model.p50 < Span::from_ms(20), "{report:?}");
    assert_eq!(model.count, report.requests);
}

#[test]
fn timers_and_modelled_completions_are_nearly_on_time() {
    check(&run(Modelled::new(Null::new(SECTORS, DEPTH), disk(2000)), Anything));
    check(&run(Modelled::new(Memory::new(SECTORS, DEPTH), disk(2000)), Pattern::new()));
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for preference in [Preference::Threads, Preference::Auto] {
        let path = place.path().join(format!("{preference:?}"));
        let needs = FileNeeds::scratch(SECTORS);
        let target = TargetFile::open(&path, &needs, &mut |_| Watch::Continue).unwrap();
        let backend = open(target, preference, DEPTH).unwrap();
        check(&run(Modelled::new(backend, disk(5000)), Pattern::new()));
    }
}

/// The modelled disk is far faster than the real one: being late is counted, nothing breaks.
#[test]
fn a_model_faster_than_the_real_disk_is_reported_as_late() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let needs = FileNeeds::scratch(SECTORS);
    let path = place.path().join("f");
    let target = TargetFile::open(&path, &needs, &mut |_| Watch::Continue).unwrap();
    let backend = open(target, Preference::Auto, DEPTH).unwrap();
    let report = run(Modelled::new(backend, disk(0)), Pattern::new());
    assert!(report.completion_lateness.unwrap().max > Span::ZERO);
}

#[test]
fn a_real_file_at_its_own_pace() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for preference in [Preference::Threads, Preference::Auto] {
        let path = place.path().join(format!("{preference:?}"));
        let needs = FileNeeds { allocate: true, ..FileNeeds::scratch(SECTORS) };
        let target = TargetFile::open(&path, &needs, &mut |_| Watch::Continue).unwrap();
        let report = run(open(target, preference, DEPTH).unwrap(), Pattern::new());
        println!("{}: timers {}", report.backend.name, report.timer_lateness);
        assert!(report.completion_lateness.is_none() && report.requests > 300);
    }
}

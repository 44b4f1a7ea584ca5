//! The shell on the system's clock: the lateness of timers and completions. The figures are
//! printed; the bounds are loose, since the machine may be busy with other work.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{ClosedLoop, Mix, fixed_disk};
use fairdisk_core::{EngineConfig, Instant, Op, Request, Span};
use fairdisk_plane::backend::{Backend, Chosen, Done, Memory, Modelled, Null, Preference, open};
use fairdisk_plane::buffer::Buffer;
use fairdisk_plane::file::Watch;
use fairdisk_plane::{
    Anything, Clock, FileNeeds, MonotonicClock, Pattern, Payload, Shell, ShellReport, TargetFile,
};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sim::device::DeviceModel;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

const SECTORS: u64 = 1 << 15;
const DEPTH: u32 = 4;

fn disk(latency_us: u32) -> DeviceModel {
    fixed_disk(SECTORS, DEPTH, latency_us)
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
    check(&run(Modelled::new(Null::new(SECTORS, DEPTH), disk(2000)), Anything::new()));
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

/// The modelled disk is far faster than the real one, so completions are late, and nothing else is
/// wrong.
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

/// Memory that records what is written to it.
struct Looking {
    memory: Memory,
    written: Rc<RefCell<Vec<Vec<u8>>>>,
}

impl Backend for Looking {
    fn depth(&self) -> u32 {
        self.memory.depth()
    }

    fn capacity_sectors(&self) -> u64 {
        self.memory.capacity_sectors()
    }

    fn in_flight(&self) -> u32 {
        self.memory.in_flight()
    }

    fn submit(&mut self, now: Instant, request: &Request, data: Buffer) {
        if request.op == Op::Write {
            self.written.borrow_mut().extend(data.bytes().chunks(512).map(<[u8]>::to_vec));
        }
        self.memory.submit(now, request, data);
    }

    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> std::io::Result<()> {
        self.memory.wait(clock, deadline, done)
    }

    fn chosen(&self) -> Chosen {
        self.memory.chosen()
    }
}

/// This holds even where reads fetch zeroes between the writes, and when the run is repeated.
#[test]
fn what_is_written_neither_compresses_nor_repeats() {
    let written = Rc::default();
    for _ in 0..2 {
        let memory = Memory::new(SECTORS, DEPTH);
        run(Looking { memory, written: Rc::clone(&written) }, Anything::new());
    }
    let mut sectors = written.borrow().clone();
    for sector in &sectors {
        let words: BTreeSet<&[u8]> = sector.chunks(8).collect();
        assert!(words.len() == 64 && !words.contains(&[0; 8][..]), "{sector:?}");
    }
    let count = sectors.len();
    sectors.sort_unstable();
    sectors.dedup();
    assert!(count > 500 && sectors.len() == count, "{} of {count} differ", sectors.len());
}

//! A run in the lab is recorded by its journal and replayed: what it did comes out again, and what
//! another scheduler would have done with it is predicted.

use fairdisk_core::{GroupId, Instant, IoPrio, Span, TaskId, Weight};
use fairdisk_lab::outcome::{Outcome, RowOutcome, Shell};
use fairdisk_lab::plan::{Options, Plan, Replay, ReplayPace};
use fairdisk_lab::run::run_plan;
use fairdisk_sim::World;
use fairdisk_trace::journal::{FromJournal, Name};
use fairdisk_trace::{About, Format, OriginId, Origins, Writer};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const LOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/replayed.toml");

fn options(scheduler: &str) -> Options {
    Options { schedulers: vec![scheduler.to_owned()], seeds: Some(1), ..Options::default() }
}

/// Names of the load's groups and tasks.
struct Names {
    groups: Vec<String>,
    root: Option<usize>,
    origins: Origins,
}

impl Name for Names {
    fn origin(&mut self, task: TaskId, group: GroupId, ioprio: IoPrio) -> OriginId {
        let at = (group.0 as usize).checked_sub(1).or(self.root);
        let group = at.map_or("/", |at| &self.groups[at]);
        self.origins.number("", group, &format!("task-{}", task.0), ioprio)
    }

    fn ended(&mut self, _task: TaskId) {}

    fn gone(&mut self, _group: GroupId) {}
}

/// Runs are as long as this; recordings are longer, so that whoever is faster in a replay does not
/// come to their end.
const RUN: Span = Span::from_s(3);
const RECORDING: Span = Span::from_s(9);

/// Records a run of the load.
fn record(scheduler: &str, directory: &Path) -> PathBuf {
    let options = Options { keep_journal: true, duration: Some(RECORDING), ..options(scheduler) };
    let plan = Plan::experiment(LOAD, &options).unwrap_or_else(|error| panic!("{error}"));
    let (arm, row) = (&plan.arms[0], &plan.rows[0]);
    let setup = plan.setup(arm, row, 0).unwrap_or_else(|error| panic!("{error}"));
    let groups = setup.groups.iter().map(|label| label.name.clone()).collect();
    let mut names = Names { groups, root: setup.root, origins: Origins::default() };
    let mut world = World::new(setup.machine, setup.jbod);
    world.run_until_done(Instant::ZERO + RECORDING);
    let (mut journal, mut requests) = (FromJournal::default(), Vec::new());
    for entry in world.machine_mut().drain_journal(0) {
        journal.take(&entry, &mut names, |request| requests.push(request));
    }
    requests.sort_by_key(|request| request.queued);
    let path = directory.join(format!("{scheduler}.fdt"));
    let out = File::create(&path).unwrap_or_else(|error| panic!("{error}"));
    let mut writer = Writer::new(std::io::BufWriter::new(out), Format::Fdt, &About::default())
        .unwrap_or_else(|error| panic!("{error}"));
    for request in &requests {
        writer.add(request, &names.origins).unwrap_or_else(|error| panic!("{error}"));
    }
    writer.finish().unwrap_or_else(|error| panic!("{error}"));
    path
}

fn run(plan: &Plan) -> RowOutcome {
    let ensembles = run_plan(plan, &|_, _| {}, &AtomicBool::new(false)).expect("it fits the disk");
    Outcome::new(plan, Shell::Lab, &ensembles).rows.remove(0)
}

/// The load itself under a scheduler.
fn original(scheduler: &str) -> RowOutcome {
    run(&Plan::experiment(LOAD, &options(scheduler)).unwrap_or_else(|error| panic!("{error}")))
}

/// The recording under a scheduler, with the weights of the load's groups.
fn replayed(recording: &Path, scheduler: &str, pace: ReplayPace) -> RowOutcome {
    let weight = |name: &str, weight| (name.to_owned(), Weight::new(weight).expect("in range"));
    let weights = vec![weight("db", 400), weight("scan", 200), weight("log", 100)];
    let options = Options {
        device: Some("nvme".to_owned()),
        replay: Replay { pace: Some(pace), weights, ..Replay::default() },
        duration: Some(RUN),
        ..options(scheduler)
    };
    let name = recording.to_str().expect("a name");
    run(&Plan::trace(name, &options).unwrap_or_else(|error| panic!("{error}")))
}

/// I/Os and p50 of each group, by name.
fn figures(row: &RowOutcome) -> Vec<(String, f64, f64)> {
    let group = |group: &fairdisk_lab::outcome::GroupOutcome| {
        (group.name.clone(), group.ios.mean, group.latency.quantile(500).as_ns() as f64 / 1e6)
    };
    let mut all: Vec<_> = row.groups.iter().map(group).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    println!("{all:.3?}");
    all
}

/// Checks that parts of the I/Os are within so many points, and their number within a part.
fn demand_alike(this: &RowOutcome, that: &RowOutcome, points: f64, part: f64) {
    let (these, those) = (figures(this), figures(that));
    let sum = |all: &[(String, f64, f64)]| all.iter().map(|(_, ios, _)| ios).sum::<f64>();
    let (all, of) = (sum(&these), sum(&those));
    assert!((all / of - 1.0).abs() < part, "{all} I/Os, {of} expected");
    for ((name, ios, _), (other, expected, _)) in these.iter().zip(&those) {
        assert_eq!(name, other);
        let off = 100.0 * (ios / all - expected / of);
        assert!(off.abs() < points, "{name} is {off:.1} points off");
    }
}

#[test]
fn what_a_run_did_comes_out_again() {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let recording = record("fair", dir.path());
    let original = original("fair");
    let closed = replayed(&recording, "fair", ReplayPace::ClosedLoop);
    demand_alike(&closed, &original, 3.0, 0.1);
    for ((name, _, p50), (_, _, expected)) in figures(&closed).iter().zip(&figures(&original)) {
        assert!((p50 / expected - 1.0).abs() < 0.15, "{name}: p50 {p50} ms of {expected}");
    }
    let as_it_came = replayed(&recording, "fair", ReplayPace::AsItCame);
    demand_alike(&as_it_came, &original, 3.0, 0.1);
}

/// From a recording under one scheduler it is predicted what another one does.
#[test]
fn what_another_scheduler_does_is_predicted() {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let recording = record("noop", dir.path());
    for scheduler in ["fair", "bfq"] {
        let predicted = replayed(&recording, scheduler, ReplayPace::ClosedLoop);
        demand_alike(&predicted, &original(scheduler), 5.0, 0.15);
    }
}

#[test]
fn without_think_times_a_load_does_more() {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let recording = record("noop", dir.path());
    let ios = |pace| replayed(&recording, "noop", pace).total_ios.mean;
    let (as_it_came, fast) = (ios(ReplayPace::AsItCame), ios(ReplayPace::AsFastAsItCan));
    assert!(fast > 1.1 * as_it_came, "{fast} I/Os, {as_it_came} as they came");
}

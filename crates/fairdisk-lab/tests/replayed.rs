//! A run in the lab is recorded by its journal and replayed: what it did comes out again, and what
//! another scheduler would have done with it is predicted.

use fairdisk_core::{Qos, QosKey, Span};
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, RowOutcome, Shell, Style};
use fairdisk_lab::plan::{Options, Plan, Recorded, Replay, ReplayPace};
use fairdisk_lab::run::{Silent, record_once, run_plan};
use fairdisk_lab::validate::{Limits, Validation, fit, validate};
use fairdisk_trace::{About, Format, Settings, Writer};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const LOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/replayed.toml");

fn options(scheduler: &str) -> Options {
    Options { schedulers: vec![scheduler.to_owned()], seeds: Some(1), ..Options::default() }
}

/// Runs are as long as this; recordings are longer, so that whoever is faster in a replay does not
/// come to their end.
const RUN: Span = Span::from_s(3);
const RECORDING: Span = Span::from_s(9);
const SHORT: Span = Span::from_s(1);

/// Records a run of the load.
fn record(scheduler: &str, length: Span, directory: &Path) -> PathBuf {
    let options = Options { duration: Some(length), ..options(scheduler) };
    let plan = Plan::experiment(LOAD, &options).unwrap_or_else(|error| panic!("{error}"));
    let stop = AtomicBool::new(false);
    let run = record_once(&plan, (&plan.arms[0], &plan.rows[0]), 0, &stop);
    let run = run.unwrap_or_else(|error| panic!("{error}"));
    let path = directory.join(format!("{scheduler}.fdt"));
    let out = File::create(&path).unwrap_or_else(|error| panic!("{error}"));
    let (scheduler, settings) = (scheduler.to_owned(), settings());
    let about = About { scheduler, settings, ..About::default() };
    let mut writer = Writer::new(std::io::BufWriter::new(out), Format::Fdt, &about)
        .unwrap_or_else(|error| panic!("{error}"));
    for request in &run.requests {
        writer.add(request, &run.origins).unwrap_or_else(|error| panic!("{error}"));
    }
    writer.finish().unwrap_or_else(|error| panic!("{error}"));
    path
}

/// The weights of the load's groups.
fn settings() -> BTreeMap<String, Settings> {
    [("db", 400), ("scan", 200), ("log", 100)]
        .map(|(name, weight)| (name.to_owned(), Settings::new(weight, Qos::NONE)))
        .into()
}

fn run(plan: &Plan) -> RowOutcome {
    let ensembles = run_plan(plan, &Silent, &AtomicBool::new(false)).expect("it fits the disk");
    Outcome::new(plan, Shell::Lab, &ensembles).rows.remove(0)
}

/// The load itself under a scheduler.
fn original(scheduler: &str) -> RowOutcome {
    run(&Plan::experiment(LOAD, &options(scheduler)).unwrap_or_else(|error| panic!("{error}")))
}

/// The recording under a scheduler, with the weights that it says.
fn replayed(recording: &Path, scheduler: &str, pace: ReplayPace) -> RowOutcome {
    let options = Options {
        device: Some("nvme".to_owned()),
        replay: Replay { pace: Some(pace), ..Replay::default() },
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
    let recording = record("fair", RECORDING, dir.path());
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
    let recording = record("noop", RECORDING, dir.path());
    for scheduler in ["fair", "bfq"] {
        let predicted = replayed(&recording, scheduler, ReplayPace::ClosedLoop);
        demand_alike(&predicted, &original(scheduler), 5.0, 0.15);
    }
}

/// A group's ceiling is that of the recording, or what the replay is told.
#[test]
fn a_group_is_replayed_under_the_limits_it_had() {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let recording = record("noop", SHORT, dir.path());
    let name = recording.to_str().expect("a name");
    let mut recorded = Recorded::open(name, &Replay::default()).expect("it was written");
    let scan = |recorded: &Recorded, limits: &[(QosKey, Option<u64>)]| {
        let limits = limits.iter().map(|(key, value)| ("scan".to_owned(), *key, *value)).collect();
        let options = Options {
            device: Some("nvme".to_owned()),
            replay: Replay { limits, ..Replay::default() },
            duration: Some(SHORT),
            ..options("fair")
        };
        Plan::recording(recorded, &options).map(|plan| {
            let groups = run(&plan).groups;
            groups.iter().find(|group| group.name == "scan").expect("it is there").ios.mean
        })
    };
    let free = scan(&recorded, &[]).unwrap();
    let mut qos = Qos::NONE;
    QosKey::MaxIops.set(&mut qos, Some(500));
    recorded.about.settings.insert("scan".to_owned(), Settings::new(200, qos));
    // A second's worth, and the burst of a tenth.
    let limited = scan(&recorded, &[]).unwrap();
    assert!(free > 2_000.0 && (450.0..=560.0).contains(&limited), "{free} and {limited}");
    let narrower = scan(&recorded, &[(QosKey::MaxIops, Some(200))]).unwrap();
    assert!((180.0..=225.0).contains(&narrower), "{narrower}");
    assert_eq!(scan(&recorded, &[(QosKey::MaxIops, None)]).unwrap(), free);
    let refused = scan(&recorded, &[(QosKey::MinIops, Some(600))]).unwrap_err().to_string();
    assert!(refused.contains("--limit scan=min_iops"), "{refused}");
}

/// The depth, the costs and the tunables are those of the recording, or what the replay is told.
#[test]
fn a_disk_is_replayed_as_it_was_set() {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let recording = record("noop", SHORT, dir.path());
    let name = recording.to_str().expect("a name");
    let mut recorded = Recorded::open(name, &Replay::default()).expect("it was written");
    recorded.about.scheduler = "bfq".to_owned();
    recorded.about.depth = Some(2);
    recorded.about.tells_costs = Some(false);
    recorded.about.tunables =
        ["bfq.low_latency=false", "bfq.slice_idle_ms=2", "bfq.colour=3"].map(str::to_owned).into();
    let plan = |scheduler: &str, set: &[&str]| {
        let overrides = set.iter().map(|text| Override::parse(text).unwrap()).collect();
        let device = Some("nvme".to_owned());
        let duration = Some(Span::from_ms(300));
        let options = Options { device, overrides, duration, ..options(scheduler) };
        Plan::recording(&recorded, &options).unwrap_or_else(|error| panic!("{error}"))
    };
    let own = plan("bfq", &["scheduler.bfq.slice_idle_ms=4"]);
    let queue = own.rig.host.queue;
    assert_eq!((queue.depth, queue.tells_costs), (2, false));
    assert_eq!(own.arms[0].set, ["bfq.low_latency=false", "bfq.slice_idle_ms=2"]);
    let taken = own.arms[0].revision.resolved["bfq"].as_table().expect("a table").clone();
    assert_eq!(taken["low_latency"].as_bool(), Some(false));
    assert_eq!(taken["slice_idle_ms"].as_integer(), Some(4), "the caller's goes before");
    assert!(own.caveats.iter().any(|note| note.contains("bfq.colour=3: ")), "{:?}", own.caveats);
    let asked = plan("bfq[bfq.low_latency=true]", &[]);
    assert_eq!(asked.arms[0].set, ["bfq.slice_idle_ms=2", "bfq.low_latency=true"]);
    // Tunables are of a scheduler, the depth is of the disk.
    let other = plan("noop", &[]);
    assert!(other.arms[0].set.is_empty());
    let ios = |plan: &Plan| run(plan).total_ios.mean;
    let deeper = plan("noop", &["host.queue.depth=32"]);
    assert!(ios(&deeper) > 1.2 * ios(&other), "{} and {}", ios(&deeper), ios(&other));
    // Mounts have their own of some names.
    recorded.about.scheduler = "two-layer-cfq".to_owned();
    assert_eq!(recorded.scheduler(), Some("mount-two-layer-cfq"));
    recorded.about.depth = None;
    assert_eq!(recorded.scheduler(), Some("two-layer-cfq"));
}

#[test]
fn without_think_times_a_load_does_more() {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let recording = record("noop", RECORDING, dir.path());
    let ios = |pace| replayed(&recording, "noop", pace).total_ios.mean;
    let (as_it_came, fast) = (ios(ReplayPace::AsItCame), ios(ReplayPace::AsFastAsItCan));
    assert!(fast > 1.1 * as_it_came, "{fast} I/Os, {as_it_came} as they came");
}

/// Validates the recording on nvme with these changes.
fn validated(recording: &Path, changes: &[&str], values: bool) -> Validation {
    let (recorded, options) = with_changes(recording, changes);
    let found = validate(&recorded, &options, values, &Silent, &AtomicBool::new(false));
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    println!("{}", found.to_text(&Limits::GOOD, Style::default()));
    found
}

fn with_changes(recording: &Path, changes: &[&str]) -> (Recorded, Options) {
    let name = recording.to_str().expect("a name");
    let recorded = Recorded::open(name, &Replay::default()).expect("a recording");
    let overrides = changes.iter().map(|text| Override::parse(text).expect("a change")).collect();
    (recorded, Options { device: Some("nvme".to_owned()), overrides, ..Options::default() })
}

#[test]
fn a_device_that_is_right_is_found_to_be() {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let found = validated(&record("fair", SHORT, dir.path()), &[], false);
    assert_eq!(found.scheduler, "fair");
    assert_eq!(found.misses(&Limits::GOOD), Vec::<String>::new());
    assert_eq!(found.groups.len(), 3);
    let ops: Vec<_> = found.times.iter().map(|it| (&*it.group, it.op)).collect();
    let writes = [("log", "writes"), ("log", "flushes")];
    assert_eq!(
        ops,
        [&[("db", "reads"), ("db", "writes")], &writes[..], &[("scan", "reads")]].concat()
    );
}

/// A device file with a wrong value is judged to be wrong there, and refined.
#[test]
fn a_value_that_is_wrong_is_named_and_mended() {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let recording = record("noop", SHORT, dir.path());
    let wrong = ["device.read_us=200"];
    let found = validated(&recording, &wrong, true);
    assert!(!found.misses(&Limits::GOOD).is_empty());
    let first = &found.device_values[0];
    assert_eq!((&*first.key, first.fits), ("read_us", 100.0), "{:?}", found.device_values);
    // Nothing here waits for garbage collection.
    let of = |key: &str| found.device_values.iter().find(|value| value.key == key).expect("there");
    assert!(of("collection.busy_us").is_unknown && !of("read_us").is_unknown);
    let (recorded, options) = with_changes(&recording, &wrong);
    let fitted = fit(&recorded, &options, 4, &Silent, &AtomicBool::new(false)).expect("it runs");
    assert!(fitted.after < 3.0 && fitted.before > 10.0, "{fitted:?}");
    assert!(fitted.changes.iter().any(|it| it.key == "read_us" && it.is == 50.0), "{fitted:?}");
}

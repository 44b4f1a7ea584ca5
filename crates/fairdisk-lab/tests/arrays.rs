//! Arrays of disks and partitions, and published changes between arms.

use fairdisk_core::{Bio, Entry, GroupId, Instant, Record, Span};
use fairdisk_lab::catalog::experiment::Experiment;
use fairdisk_lab::catalog::library::{Document, Kind, find};
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, Score, Shell, Style, to_json, to_table};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{RunResult, Silent, run_once, run_plan};
use fairdisk_sim::World;
use std::sync::atomic::AtomicBool;

const FOUR_DISKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/four-disks.toml");

fn plan(sets: &[&str]) -> Plan {
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
    let options = Options { overrides, keep_journal: true, ..Options::default() };
    Plan::experiment(FOUR_DISKS, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn run(plan: &Plan, row: usize) -> RunResult {
    run_once(plan, &plan.arms[0], &plan.rows[row], 0, &AtomicBool::new(false)).expect("it fits")
}

#[test]
fn several_disks_do_what_each_does() {
    let one = run(&plan(&[]), 0);
    let three = run(&plan(&["device.jbod=3"]), 0);
    assert!(three.groups[0].ios > 2 * one.groups[0].ios);
    assert!(three.groups[0].ios < 4 * one.groups[0].ios);
    assert_eq!(three.elapsed, one.elapsed);
    assert_eq!(three.submitted, three.completed + three.in_flight);
    assert_eq!(three.tasks.len(), 1, "a line of the report stands for its task on every disk");
    assert!(three.tasks[0].bytes > 2 * one.tasks[0].bytes);
    assert_ne!(three.journal_hash, one.journal_hash);
    assert_eq!(three.journal_hash, run(&plan(&["device.jbod=3"]), 0).journal_hash);
}

/// The first and last sector of a disk's requests.
fn reach(plan: &Plan, disk: u32) -> (Vec<Entry>, u64, u64) {
    let setup = plan.setup_disks(&plan.arms[0], &plan.rows[1], 0, disk..disk + 1).expect("it fits");
    let mut world = World::new(setup.machine, setup.jbod);
    world.run_until(Instant::ZERO + Span::from_s(2));
    let entries: Vec<Entry> = world.machine_mut().drain_journal(0).collect();
    let starts = entries.iter().filter_map(|entry| match entry.record {
        Record::Submitted(Bio { start, .. }) => Some(start.0),
        _ => None,
    });
    let (first, last) = (starts.clone().min(), starts.max());
    (entries, first.expect("there are requests"), last.expect("there are requests"))
}

#[test]
fn every_partition_of_a_disk_carries_the_load() {
    let plan = plan(&["device.partitions=2", "device.jbod=2"]);
    let half = plan.rig.device.capacity_sectors() / 2 / 8 * 8;
    let files = 32_768 * 8 + 2 * 66 * 2048;
    let (entries, first, last) = reach(&plan, 0);
    assert!(first < files && last >= half && last < half + files, "{first} to {last}");
    assert_ne!(entries, reach(&plan, 1).0, "disks differ as seeds do");
    let setup = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect("it fits");
    assert_eq!(setup.machine.task_reports().count(), 4);
    assert_eq!(run(&plan, 0).tasks.len(), 1);
}

#[test]
fn a_load_must_fit_a_partition() {
    let plan = plan(&["device.capacity_sectors=800000", "device.partitions=2"]);
    let error = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect_err("too small");
    assert!(error.to_string().contains("has partitions of 195 MiB"), "{error}");
}

#[test]
fn what_a_device_cannot_be_is_refused() {
    let overrides = [Override::parse("device.jbod=0").expect("well formed")];
    let options = Options { overrides: overrides.to_vec(), ..Options::default() };
    let error = Plan::experiment(FOUR_DISKS, &options).expect_err("no disk").to_string();
    assert!(error.contains("`jbod` is 0; allowed: 1 to 1024"), "{error}");
}

#[test]
fn the_jbod_is_twelve_fast_disks() {
    let options = Options { device: Some("jbod-12x2".to_owned()), ..Options::default() };
    let plan = Plan::experiment(FOUR_DISKS, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((plan.rig.array.disks, plan.rig.array.partitions), (12, 2));
    let depth = |sets: &[&str]| {
        let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
        let options = Options { overrides, ..options.clone() };
        let plan = Plan::experiment(FOUR_DISKS, &options).unwrap_or_else(|error| panic!("{error}"));
        fairdisk_sim::device::Device::depth(&plan.rig.device.build())
    };
    assert_eq!((depth(&[]), depth(&["device.queue.depth=1"])), (31, 1));
}

#[test]
fn arms_are_compared_seed_by_seed() {
    let plan = plan(&[]);
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
    let outcome = Outcome::new(&plan, Shell::Lab, &ensembles);
    let rate =
        |arm: usize| ensembles[2 * arm + 1].runs.iter().map(|run| run.groups[0].bytes as f64);
    let changes: Vec<f64> = rate(0).zip(rate(1)).map(|(from, to)| to / from - 1.0).collect();
    let mean = changes.iter().sum::<f64>() / 2.0 * 100.0;
    let [change, back] = &outcome.changes[..] else { panic!("two changes are published") };
    let percent = change.percent.clone().expect("both arms have it");
    assert!((percent.mean - mean).abs() < 1e-9, "{change:?}");
    assert_eq!(change.published.words(), "-40 or below");
    let distance = change.distance().expect("it is known");
    assert!((distance - (mean + 40.0).max(0.0)).abs() < 1e-9);
    assert_eq!(back.published.words(), "-1 to +1");
    let score = Score::of(&outcome).and_then(|score| score.changes).expect("changes are published");
    assert_eq!(score.changes, 2);
    assert!(score.error_points_max >= score.error_points_mean);
    let json = to_json(&outcome);
    assert_eq!(json["changes"][0]["published"]["percent_max"], -40.0);
    assert!(json["changes"][0]["published"]["percent_min"].is_null());
    assert_eq!(json["score"]["changes"], 2);
    let table = to_table(&outcome, Style::default());
    assert!(table.contains("mapped: old to new"), "{table}");
}

/// Tasks of a group `/` are in the root group, and the report says so.
#[test]
fn tasks_that_nobody_put_into_a_group() {
    let text =
        std::fs::read_to_string(FOUR_DISKS).expect("it is there").replace("\"all\"", "\"/\"");
    let place = std::env::temp_dir().join(format!("fairdisk-root-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a folder can be made");
    let path = place.join("four-disks.toml");
    std::fs::write(&path, text).expect("a file can be written");
    let options = Options { keep_journal: true, ..Options::default() };
    let root = Plan::experiment(&path.to_string_lossy(), &options);
    std::fs::remove_dir_all(&place).expect("it is ours");
    let root = root.unwrap_or_else(|error| panic!("{error}"));
    let of_root = |plan: &Plan| {
        let setup = plan.setup(&plan.arms[0], &plan.rows[1], 0).expect("it fits");
        let mut world = World::new(setup.machine, setup.jbod);
        world.run_until(Instant::ZERO + Span::from_s(1));
        let groups = world.machine_mut().drain_journal(0).filter_map(|entry| match entry.record {
            Record::Submitted(Bio { group, .. }) => Some(group == GroupId::ROOT),
            _ => None,
        });
        groups.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(of_root(&root), [true].into());
    assert_eq!(of_root(&plan(&[])), [false].into());
    let ios = |plan: &Plan| run(plan, 1).groups.iter().map(|group| group.ios).collect::<Vec<_>>();
    assert_eq!(ios(&root), ios(&plan(&[])), "CFQ of 2.6.25 knows no groups");
}

/// 60 I/Os per second are half of the disk, so there is room for them only once.
#[test]
fn the_floor_of_the_root_group_is_reserved_once() {
    let promises = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/promises.toml");
    let text = std::fs::read_to_string(promises).expect("it is there");
    let place = std::env::temp_dir().join(format!("fairdisk-floor-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a folder can be made");
    let path = place.join("promises.toml");
    std::fs::write(&path, text.replace("\"floor\"", "\"/\"")).expect("a file can be written");
    let rows = vec!["not kept".to_owned()];
    let options = Options { rows, schedulers: vec!["fair".to_owned()], ..Options::default() };
    let plan = Plan::experiment(&path.to_string_lossy(), &options);
    std::fs::remove_dir_all(&place).expect("it is ours");
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let run = run_once(&plan, &plan.arms[0], &plan.rows[0], 0, &AtomicBool::new(false));
    let run = run.unwrap_or_else(|refused| panic!("{refused}"));
    assert!(run.groups[0].ios >= 60 * 10, "its floor is kept: {}", run.groups[0].ios);
}

#[test]
fn an_arm_that_is_not_run_is_compared_with_nothing() {
    let options = Options { arms: vec!["old".to_owned()], ..Options::default() };
    let plan = Plan::experiment(FOUR_DISKS, &options).unwrap_or_else(|error| panic!("{error}"));
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
    let outcome = Outcome::new(&plan, Shell::Lab, &ensembles);
    assert!(outcome.changes.is_empty() && Score::of(&outcome).is_none());
}

/// Replaces one piece of the experiment's text, which must be refused, and returns the line and the
/// message of the error.
fn refusal(from: &str, to: &str) -> String {
    refusal_at(to, from, to)
}

/// Like [`refusal`], with the text whose line the error names.
fn refusal_at(at: &str, from: &str, to: &str) -> String {
    let document = find(Kind::Experiment, FOUR_DISKS).expect("it is there");
    assert!(document.text.contains(from), "no `{from}`");
    let text = document.text.replacen(from, to, 1);
    let line = text.lines().position(|line| line.contains(at)).expect("it is there") + 1;
    let document = Document { text: text.into(), ..document };
    let error = Experiment::parse(&document).expect_err("it is wrong").to_string();
    assert!(error.contains(&format!("four-disks.toml:{line}: ")), "{line}: {error}");
    error
}

#[test]
fn what_cannot_be_compared_or_mapped_is_refused() {
    let cases = [
        ("from = \"old\"", "from = \"odl\"", "unknown arm `odl`; did you mean `old`?"),
        ("range = [-1, 1]", "range = [-101, 1]", "`range` is -101; allowed: -100"),
        ("bound = \"more\"", "range = [1, 2]", "exclude each other"),
        ("cfq.slice_idle_ms=0", "cfq.slice_idel_ms=0", "did you mean `slice_idle_ms`?"),
        ("cfq.slice_idle_ms=0", "cfq.slice_idle_ms", "expected KEY=VALUE"),
        ("direct = false, mapped", "direct = true, mapped", "exclude each other"),
        ("mapped = true, advice", "advice", "add `mapped = true`, or drop it"),
    ];
    let missing = refusal_at("from = \"old\"", "percent = -40\n", "");
    assert!(missing.contains("missing key `percent` (or `range`)"), "{missing}");
    for (from, to, part) in cases {
        let error = refusal(from, to);
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn what_a_source_allows_for_is_no_error() {
    let document = find(Kind::Experiment, FOUR_DISKS).expect("it is there");
    let distance = |words: &str, ours: f64| {
        let text = document.text.replacen("percent = -40\nbound = \"more\"", words, 1);
        let experiment = Experiment::parse(&Document { text: text.into(), ..document.clone() });
        experiment.unwrap_or_else(|error| panic!("{error}")).published_changes[0].distance(ours)
    };
    for (words, ours, expected) in [
        ("percent = -40\nbound = \"more\"", -55.0, 0.0),
        ("percent = -40\nbound = \"more\"", -32.0, 8.0),
        ("percent = -20\nbound = \"less\"", -15.0, 0.0),
        ("percent = -20\nbound = \"less\"", 5.0, 5.0),
        ("percent = -20\nbound = \"less\"", -22.0, 2.0),
        ("range = [-20, -30]", -25.0, 0.0),
        ("range = [-30, -20]", -33.0, 3.0),
        ("percent = 10", 7.0, 3.0),
    ] {
        assert!((distance(words, ours) - expected).abs() < 1e-9, "{words}: {ours}");
    }
}

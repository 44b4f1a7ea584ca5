//! The published experiments: their distances from the published figures stay within the promised
//! bounds, single causes have effects in the expected order, and golden tables match. Everything is
//! deterministic; `UPDATE=1` rewrites the golden tables, and the difference is reviewed.

#[path = "support/golden.rs"]
mod golden;

use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, RowOutcome, Score, Shell, Style, to_json, to_table};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_once, run_plan};
use std::env;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const TEST1: &str = "satoshi-2008-05-27-test1";
const PARTITIONS: &str = "ryo-2008-05-22";
const MMAP: &str = "zhang-2009-12-31-fio-mmap";
const DD: &str = "satoshi-2008-04-03-dd";

fn plan(experiment: &str, seeds: Option<u32>, sets: &[&str]) -> Plan {
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
    let options = Options { seeds, overrides, ..Options::default() };
    Plan::experiment(experiment, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn outcome(experiment: &str, seeds: Option<u32>, sets: &[&str]) -> Outcome {
    let plan = plan(experiment, seeds, sets);
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits the disk");
    Outcome::new(&plan, Shell::Lab, &ensembles)
}

/// Removes the arm that has a test of its own (group_layer.rs).
fn group_layer_apart(mut outcome: Outcome) -> Outcome {
    outcome.rows.retain(|row| row.arm != "group-layer");
    outcome
}

fn score(outcome: &Outcome) -> Score {
    Score::of(outcome).expect("something is published")
}

fn check_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    golden::compare(&path, text).unwrap_or_else(|difference| panic!("{difference}"));
}

// ---- distances from the published figures ----------------------------------------------------

/// Nine rows, one set of host parameters, five seeds. The goal of 1.5 points is met with 1.48, or
/// 1.47 with twenty seeds (docs/fidelity.md). The bound below is looser.
#[test]
fn test1_is_reproduced() {
    let outcome = group_layer_apart(outcome(TEST1, None, &[]));
    assert!(outcome.rows.iter().all(|row| row.seeds == 5));
    let score = score(&outcome);
    println!("{score:?}");
    assert_eq!(score.cells, 27);
    assert!(score.share_error_points_mean <= 1.6, "{score:?}");
    assert!(score.share_error_points_max <= 5.0, "{score:?}");
    assert!(score.total_error_mean.is_some_and(|error| error <= 0.05), "{score:?}");
}

/// 300 processes and one pool of request slots: with #2, where the goal of 2.5 points is met by
/// 0.01 (docs/fidelity.md), and without it.
#[test]
fn the_collapse_of_shares_at_300_processes_is_reproduced() {
    let outcome = group_layer_apart(outcome(PARTITIONS, None, &[]));
    for (missing, cells, most) in [("", 9, 2.65), ("#2", 6, 2.5)] {
        let rows = outcome.rows.iter().filter(|row| row.row != missing);
        let errors: Vec<f64> = rows.flat_map(share_errors).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        println!("mean share error without {missing:?}: {mean:.2} points");
        assert_eq!(errors.len(), cells);
        assert!(mean <= most, "without {missing:?}: {mean}");
    }
}

fn share_errors(row: &RowOutcome) -> Vec<f64> {
    let error = |group: &fairdisk_lab::outcome::GroupOutcome| {
        Some((group.share.mean - group.published.as_ref()?.share?).abs() * 100.0)
    };
    row.groups.iter().filter_map(error).collect()
}

#[test]
fn the_four_pairs_of_dd_are_reproduced() {
    let score = score(&outcome(DD, None, &[])).rates.expect("rates are published");
    println!("{score:?}");
    assert_eq!((score.orders_right, score.orders, score.tasks), (4, 4, 8));
    assert!(score.error_max <= 0.10, "{score:?}");
}

/// The disk's speed is fitted so that runs 1 and 3 take as long as published; runs 2 and 4 were not
/// used for the fit.
#[test]
fn the_pairs_of_dd_that_were_not_fitted_are_predicted() {
    let outcome = outcome(DD, None, &[]);
    let rows = outcome.rows.iter().filter(|row| ["run2", "run4"].contains(&row.row.as_str()));
    let errors: Vec<f64> = rows
        .flat_map(|row| &row.tasks)
        .filter_map(|task| task.rate_error())
        .map(f64::abs)
        .collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    println!("{errors:.4?}, mean {mean:.4}");
    assert_eq!(errors.len(), 4);
    assert!(mean <= 0.05 && errors.iter().all(|error| *error <= 0.10), "{errors:?}");
}

/// The changes that the report of 2009 gives for 2.6.33-rc1, by sign and order; docs/fidelity.md
/// says how far the sizes are off. Two of the twelve disks show it.
#[test]
fn the_losses_of_2_6_33_rc1_come_from_its_changes() {
    let changes = |depth: &str| {
        let outcome = outcome(MMAP, Some(1), &["device.jbod=2", depth]);
        let percents: Vec<f64> = outcome
            .changes
            .iter()
            .filter_map(|change| Some(change.percent.as_ref()?.mean))
            .collect();
        println!("{depth}: {percents:.1?}");
        let [all, corner, window, _, undone, small, writes, _] = percents[..] else {
            panic!("eight changes are published: {percents:?}")
        };
        let ios = |arm: &str| {
            let row = |row: &&RowOutcome| row.arm == arm && row.row == "randread 64k";
            outcome.rows.iter().find(row).expect("it was run").total_ios.mean
        };
        let mended = (ios("2.6.34") / ios("rc1 without both") - 1.0) * 100.0;
        assert!(mended.abs() < 2.0, "2.6.34 mends both: {mended}");
        (all, corner, window, undone, small, writes)
    };
    let (all, corner, window, undone, small, writes) = changes("device.queue.depth=31");
    assert!(all < -40.0 && window < -20.0 && undone > -20.0);
    assert!((-25.0..-10.0).contains(&corner), "idle_corner_a alone: {corner}");
    assert!(small > 0.0 && writes < -25.0, "{small} {writes}");
    let (all, corner, window, undone, _, writes) = changes("device.queue.depth=1");
    assert!((-50.0..-30.0).contains(&all) && (-30.0..-20.0).contains(&window), "{all} {window}");
    assert!(corner.abs() < 1.0 && undone > -20.0 && writes < -10.0, "{corner} {undone} {writes}");
}

// ---- what causes it --------------------------------------------------------------------------

/// One cause removed at a time, the strongest effect on the shares first.
const ABLATIONS: [(&str, &[&str]); 9] = [
    ("reference", &[]),
    ("no idle waiting", &["scheduler.cfq.slice_idle_ms=0"]),
    ("no key offset", &["scheduler.cfq.key_offset=false"]),
    ("no journal, indirect blocks cached", &["volume.journal=false", "volume.cached=true"]),
    ("indirect blocks cached", &["volume.cached=true"]),
    ("no journal", &["volume.journal=false"]),
    ("HZ 1000", &["host.hz=1000"]),
    ("no write cache", &["device.write_cache.enabled=false"]),
    ("reads do not wait for dirty data", &["device.write_cache.reads_wait_for_dirty=false"]),
];

/// The number of seeds of an ablation; the soak test uses more.
fn ablation_seeds() -> u32 {
    env::var("FAIRDISK_ABLATION_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

#[test]
fn causes_have_effects_in_the_known_order() {
    let seeds = ablation_seeds();
    let mut text =
        String::from("one change each        mean share error, points    mean total error, %\n");
    let mut points = Vec::new();
    for (name, sets) in ABLATIONS {
        let score = score(&group_layer_apart(outcome(TEST1, Some(seeds), sets)));
        let total = score.total_error_mean.expect("totals are published") * 100.0;
        writeln!(text, "{name:36} {:>6.2} {total:>24.1}", score.share_error_points_mean)
            .expect("writing to a string");
        points.push(score.share_error_points_mean);
    }
    println!("{text}");
    let [reference, idle, offset, both, cached, journal, hz, cache, dirty] = points[..] else {
        unreachable!("nine ablations")
    };
    assert!(idle > 1.15 * offset, "idling >> key offset\n{text}");
    assert!(offset > 2.0 * both, "key offset >> file system\n{text}");
    assert!(both > cached && both > journal, "journal and metadata add up\n{text}");
    // By 0.3 points with 20 seeds; with a few seeds, chance is as large.
    let chance = if seeds < 20 { 0.3 } else { 0.0 };
    assert!(cached.min(journal) + chance > hz, "both count for more than HZ\n{text}");
    assert!(cached.min(journal) > 1.3 * reference, "each of them matters\n{text}");
    assert!(hz > 1.2 * reference && cache > 1.2 * reference, "HZ and the cache matter\n{text}");
    assert!(dirty < 1.3 * reference, "the read rule shapes totals, not shares\n{text}");
    if seeds == 3 {
        check_golden("ablations.txt", &text);
    }
}

/// A task that waits for each of its requests unplugs the disk itself; what is written back starts
/// later.
#[test]
fn a_plug_keeps_back_what_nobody_waits_for() {
    let journals = |experiment: &str, sets: &[&str]| {
        let outcome = outcome(experiment, Some(1), sets);
        outcome.rows.iter().map(|row| row.journal_hash).collect::<Vec<u64>>()
    };
    let (threads, one_disk) = ("tiobench-threads", "device.jbod=1");
    assert_eq!(journals(TEST1, &[]), journals(TEST1, &["host.plug.requests=1"]));
    let reference = journals(threads, &[one_disk]);
    for set in ["host.plug.requests=1", "host.plug.delay_ms=20"] {
        assert_ne!(journals(threads, &[one_disk, set]), reference, "--set {set} changes nothing");
    }
}

/// If groups are isolated, what a group gets depends only on its own operations: a run with
/// readers, readers and writers follows from runs with only readers and with only writers.
#[test]
fn two_layer_shares_compose() {
    for file in ["composition-partitions.toml", "composition-files.toml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/experiments").join(file);
        let outcome = outcome(&path.to_string_lossy(), None, &[]);
        let ios = |row: usize, group: usize| outcome.rows[row].groups[group].ios.mean;
        let predicted = [ios(0, 0), ios(0, 1), ios(1, 2)];
        let whole: f64 = predicted.iter().sum();
        for (group, ios) in predicted.into_iter().enumerate() {
            let got = outcome.rows[2].groups[group].share.mean * 100.0;
            let want = ios / whole * 100.0;
            println!("{file}, group {group}: {got:.1} %, predicted {want:.1} %");
            assert!((got - want).abs() <= 3.0, "{file}, group {group}: {got} against {want}");
        }
    }
}

/// With every request slot taken, in every single run.
#[test]
fn equal_buffered_writers_get_equal_shares() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/buffered-writers.toml");
    for of_flusher in ["true", "false"] {
        let set = format!("scheduler.defects.d5_async_of_submitter={of_flusher}");
        let outcome = outcome(path, Some(8), &[&set]);
        for row in &outcome.rows {
            let share = &row.groups[0].share;
            println!("{}, D5 {of_flusher}: {:.3} ± {:.3}", row.arm, share.mean, share.sd);
            assert!((share.mean - 0.5).abs() < 0.02 && share.sd < 0.04, "{}: {share:?}", row.arm);
        }
    }
}

// ---- determinism and golden tables -----------------------------------------------------------

#[test]
fn the_same_plan_gives_the_same_result() {
    let json = || to_json(&outcome(TEST1, Some(2), &[])).to_string();
    assert_eq!(json(), json());
}

#[test]
fn threads_do_not_matter() {
    let plan = plan(PARTITIONS, Some(2), &[]);
    let stop = AtomicBool::new(false);
    let ensembles = run_plan(&plan, &Silent, &stop).expect("it fits the disk");
    for ensemble in &ensembles {
        for (seed, run) in ensemble.runs.iter().enumerate() {
            let (arm, row) = (&plan.arms[ensemble.arm], &plan.rows[ensemble.row]);
            let alone = run_once(&plan, arm, row, seed as u32, &stop).expect("it fits the disk");
            assert_eq!(alone.journal_hash, run.journal_hash);
            assert_eq!(run.submitted, run.completed + run.in_flight);
        }
    }
}

#[test]
fn every_experiment_of_the_catalogue_has_its_golden_table() {
    for id in Kind::Experiment.ids() {
        let outcome = outcome(id, Some(2), &[]);
        check_golden(&format!("{id}.txt"), &to_table(&outcome, Style::default()));
    }
}

/// A parameter that changes nothing should not be a parameter.
#[test]
fn every_parameter_of_host_and_disk_changes_something() {
    let hash = |sets: &[&str]| {
        let outcome = outcome(TEST1, Some(1), sets);
        outcome.rows.iter().fold(0, |hash: u64, row| hash.rotate_left(9) ^ row.journal_hash)
    };
    let reference = hash(&[]);
    let sets = [
        "host.hz=1000",
        "host.cpus=1",
        "host.turnaround_us=[100, 401]",
        "host.slot_wake_us=50",
        "host.metadata_wake_us=50",
        "host.queue.requests=32",
        "host.meta_hint=true",
        "host.journal.commit_interval_ms=4900",
        "host.journal.inodes_per_block=16",
        "device.rpm=7100",
        "device.seek.min_us=1100",
        "device.seek.average_us=8800",
        "device.seek.max_us=19000",
        "device.command_overhead_us=331",
        "device.bus_overhead_us=31",
        "device.write_settle_us=1",
        "device.write_cache.depth=3",
        "device.write_cache.order=fifo",
        "device.read_ahead.segments=1",
        "scheduler.cfq.slice_sync_ms=120",
        "scheduler.cfq.slice_async_ms=80",
        "scheduler.cfq.slice_idle_ms=16",
        "scheduler.groups.slice_ms=60",
        "scheduler.groups.weight_map=openvz",
        "scheduler.group_layer.slice_ms=250",
        "scheduler.group_layer.weight_map=linear-high7",
        "scheduler.group_layer.device_wide_busy_count=false",
        "scheduler.quirks.q1_residual_sign=false",
        "scheduler.quirks.q5_first_request_seeks=false",
        "scheduler.defects.d4_nominal_turns=false",
        "volume.start_gib=40",
        "volume.kind=ext2",
        "volume.cached=true",
    ];
    for set in sets {
        assert_ne!(hash(&[set]), reference, "--set {set} changes nothing");
    }
}

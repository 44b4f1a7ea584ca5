//! group-cfq beside the published figures of its time, and what makes its priorities weak: each
//! cause removed, alone and together (spec: groups, section 2.4; docs/fidelity.md).

#[path = "support/golden.rs"]
mod golden;

use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, RowOutcome, Shell};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const TEST1: &str = "satoshi-2008-05-27-test1";
const PARTITIONS: &str = "ryo-2008-05-22";
const FEW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/group-cfq-few.toml");

fn rows(experiment: &str, sets: &[&str]) -> Vec<RowOutcome> {
    let set = |set: &&str| Override::parse(&format!("scheduler.{set}")).expect("well formed");
    let overrides = sets.iter().map(set).collect();
    let options = Options {
        arms: vec!["group-layer".to_owned()],
        seeds: Some(5),
        overrides,
        ..Options::default()
    };
    let plan = Plan::experiment(experiment, &options).unwrap_or_else(|error| panic!("{error}"));
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
    Outcome::new(&plan, Shell::Lab, &ensembles).rows
}

fn shares(row: &RowOutcome) -> Vec<f64> {
    row.groups.iter().take(3).map(|group| group.share.mean * 100.0).collect()
}

/// The error of each published share, in percentage points.
fn errors(row: &RowOutcome) -> Vec<f64> {
    let published = row.groups.iter().filter_map(|group| group.published.as_ref()?.share);
    let each = shares(row).into_iter().zip(published);
    each.map(|(share, published)| (share - published * 100.0).abs()).collect()
}

fn mean<'a>(rows: impl Iterator<Item = &'a RowOutcome>) -> f64 {
    let errors: Vec<f64> = rows.flat_map(errors).collect();
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// The goal of 2.5 points is missed for 27 May and reached for 22 May without #2, which is a miss
/// of the disk (docs/fidelity.md). This test holds what is reached, and where the miss lies: the
/// middle group is too strong in every row.
#[test]
fn how_far_the_published_shares_are() {
    let test1 = rows(TEST1, &[]);
    println!("27 May: {:.2} points", mean(test1.iter()));
    assert!(mean(test1.iter()) <= 4.4);
    for row in &test1 {
        let published = row.groups[1].published.as_ref().and_then(|published| published.share);
        let middle = row.groups[1].share.mean - published.expect("it is published");
        assert!((0.04..0.08).contains(&middle), "{}: {middle}", row.row);
    }
    let partitions = rows(PARTITIONS, &[]);
    let without_2 = mean(partitions.iter().filter(|row| row.row != "#2"));
    println!("22 May: {:.2} points, without #2 {without_2:.2}", mean(partitions.iter()));
    assert!(mean(partitions.iter()) <= 2.9 && without_2 <= 2.0);
}

const COUNTS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/group-cfq-counts.toml");

/// What the group of 60 gets beside one of 30 on a machine, in percent, in each of some arms.
fn of_many(machine: &[&str], arms: &[&str]) -> Vec<f64> {
    let set = |set: &&str| Override::parse(set).expect("well formed");
    let overrides = machine.iter().map(set).collect();
    let arms = arms.iter().map(|arm| (*arm).to_owned()).collect();
    let options = Options { arms, seeds: Some(1), overrides, ..Options::default() };
    let plan = Plan::experiment(COUNTS, &options).unwrap_or_else(|error| panic!("{error}"));
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
    let rows = Outcome::new(&plan, Shell::Lab, &ensembles).rows;
    let many: Vec<f64> = rows.iter().map(|row| row.groups[0].share.mean * 100.0).collect();
    println!("60 beside 30, {machine:?}: {many:.0?}");
    many
}

/// The thread says of a machine that is not described that numbers of processes decide and
/// priorities do nothing, but not under two-layer CFQ. No machine here has all of it.
#[test]
fn numbers_of_processes_decide_where_groups_run_empty_and_then_under_both_schedulers() {
    let is = |got: f64, share: f64| (got - share).abs() < 3.0;
    let priorities = ["equal", "7 to 0", "0 to 7"];
    let all = [&priorities[..], &["two-layer"]].concat();
    let as_it_is = of_many(&[], &all);
    let slices = [50.0, 66.7, 33.3, 50.0];
    assert!(as_it_is.iter().zip(slices).all(|(share, slice)| is(*share, slice)));
    let used_up = of_many(&["host.cpus=1", "host.turnaround_us=[4000, 12000]"], &all);
    assert!(used_up.iter().all(|share| (*share - 66.7).abs() < 5.0));
    let short = ["scheduler.cfq.queueing_seen=true", "scheduler.group_layer.slice_ms=10"];
    assert!(of_many(&short, &priorities).iter().all(|share| is(*share, 66.7)));
}

/// The changes, with their names.
const CHANGES: [(&str, &[&str]); 9] = [
    ("nothing", &[]),
    ("a group is waited for", &[WAITED_FOR]),
    ("slots for each group", &[OWN_SLOTS]),
    ("weights 8:5:1", &[STEEP]),
    ("slots for each group, weights 8:5:1", &[OWN_SLOTS, STEEP]),
    ("cgrp_slice of 10 ms", &["group_layer.slice_ms=10"]),
    ("busy queues of the own group count", &["group_layer.device_wide_busy_count=false"]),
    ("others do not end a queue's turn", &["group_layer.foreign_preemption=false"]),
    ("waited for, weights 8:5:1", &[WAITED_FOR, STEEP]),
];
const WAITED_FOR: &str = "group_layer.turn_ends_when_empty=false";
const OWN_SLOTS: &str = "defects.d2_shared_request_slots=false";
const STEEP: &str = "group_layer.weight_map=linear-high7";

/// The shares of the high group under each change, in percent.
struct High {
    test1: f64,
    partitions: f64,
    few: [f64; 3],
}

fn high(sets: &[&str]) -> High {
    let of = |row: &RowOutcome| shares(row)[0];
    let few: Vec<f64> = rows(FEW, sets).iter().map(of).collect();
    High {
        test1: of(&rows(TEST1, sets)[0]),
        partitions: of(&rows(PARTITIONS, sets)[0]),
        few: [few[0], few[1], few[2]],
    }
}

#[test]
fn each_cause_of_the_weak_effect_can_be_taken_away() {
    let mut text = String::from(
        "share of the high group, %             27 May  22 May   1 and 1   1 and 4  4 and 16\n",
    );
    let mut all = Vec::new();
    for (name, sets) in CHANGES {
        let high = high(sets);
        let [one, four, many] = high.few;
        let (test1, partitions) = (high.test1, high.partitions);
        let line =
            format!("{name:37} {test1:7.1} {partitions:7.1} {one:9.1} {four:9.1} {many:9.1}");
        writeln!(text, "{line}").expect("writing to a string");
        all.push(high);
    }
    println!("{text}");
    let [nothing, waited, slots, steep, slots_steep, short, .., waited_steep] = &all[..] else {
        unreachable!("nine changes")
    };
    // With one task each, the turn ends with the task's, and the shares follow the numbers of
    // tasks.
    assert!((nothing.few[0] - 50.0).abs() < 3.0 && nothing.few[1] < 25.0, "{text}");
    assert!(waited.few.iter().all(|share| (share - 66.7).abs() < 2.0), "{text}");
    assert!(waited_steep.few.iter().all(|share| (share - 88.9).abs() < 2.0), "{text}");
    // With 300 tasks, neither weights nor idling have any effect while slots are shared.
    assert!((nothing.partitions - 33.3).abs() < 2.0, "{text}");
    assert!((waited.partitions - 33.3).abs() < 2.0, "{text}");
    assert!((steep.partitions - 33.3).abs() < 2.0, "{text}");
    assert!((slots.partitions - 43.8).abs() < 2.0, "{text}");
    assert!((slots_steep.partitions - 57.1).abs() < 2.0, "{text}");
    // A short slice takes effect, as the thread found.
    assert!(short.partitions > nothing.partitions + 3.0, "{text}");
    // With 75 tasks the slices take effect, and their range of only 1 to 2 is the cause.
    assert!((nothing.test1 - 43.8).abs() < 3.0 && steep.test1 > 55.0, "{text}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/group-layer.txt");
    golden::compare(&path, &text).unwrap_or_else(|difference| panic!("{difference}"));
}

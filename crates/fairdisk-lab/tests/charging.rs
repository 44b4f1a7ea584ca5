//! Charging: buffered writes are charged to whoever counts as their submitter.

use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, RowOutcome, Shell, Style, to_json, to_table};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The outcome for two groups of weights 100 and 400, each with a task that writes through the page
/// cache.
fn outcome(d5: bool) -> Outcome {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/experiments/write-back.toml");
    let set = format!("scheduler.defects.d5_async_of_submitter={d5}");
    let overrides = vec![Override::parse(&set).expect("well formed")];
    let options = Options { overrides, ..Options::default() };
    let plan = Plan::experiment(&file.to_string_lossy(), &options);
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits the disk");
    Outcome::new(&plan, Shell::Lab, &ensembles)
}

fn time_percents(row: &RowOutcome) -> Vec<(&str, f64)> {
    row.groups.iter().map(|group| (group.name.as_str(), group.disk.time_share * 100.0)).collect()
}

#[test]
fn without_the_defect_buffered_writes_are_charged_to_who_wrote() {
    let outcome = outcome(false);
    let charged = time_percents(&outcome.rows[0]);
    println!("{charged:?}");
    let [("light", light), ("heavy", heavy)] = charged[..] else { panic!("{charged:?}") };
    // Not 4 to 1: with D2, both groups sleep for the same request slots.
    assert!(heavy > 2.0 * light && light > 10.0, "weights rule: {charged:?}");
    assert!(!to_table(&outcome, Style::default()).contains("\n  / "));
}

#[test]
fn with_the_defect_they_are_charged_to_the_root_group_and_weights_rule_nothing() {
    let outcome = outcome(true);
    let row = &outcome.rows[0];
    let charged = time_percents(row);
    println!("{charged:?}");
    let [("light", light), ("heavy", heavy), ("/", root)] = charged[..] else {
        panic!("{charged:?}")
    };
    assert!(root > 99.0 && light < 1.0 && heavy < 1.0, "{charged:?}");
    let shares: Vec<f64> = row.groups.iter().map(|group| group.share.mean).collect();
    assert!((shares[0] - shares[1]).abs() < 0.1, "both are served alike: {shares:?}");

    let table = to_table(&outcome, Style::default());
    let line = table.lines().find(|line| line.starts_with("  / ")).expect("a line for the root");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!((words[1], &words[words.len() - 3..]), ("0", &["-", "-", "-"][..]), "{table}");
    let group = &to_json(&outcome)["rows"][0]["groups"][2];
    assert!(group["read_share"].is_null() && group["latency_ms"]["p50"].is_null(), "{group:#}");
}

//! BFQ compared with measurements of the kernel's BFQ on a disk that serves each request in 8 ms,
//! with groups of weights 100 and 800 (docs/rivals.md), and the effect of its budgets.

use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, RowOutcome, Shell};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn rows(file: &str, sets: &[&str]) -> Vec<RowOutcome> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/experiments").join(file);
    let set = |set: &&str| Override::parse(set).expect("well formed");
    let overrides = sets.iter().map(set).collect();
    let options = Options { seeds: Some(2), overrides, ..Options::default() };
    let plan = Plan::experiment(&path.to_string_lossy(), &options);
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
    Outcome::new(&plan, Shell::Lab, &ensembles).rows
}

/// The ideal is 11.1 : 88.9. The kernel's strict mode gave 12.7 to 13.7; the longest waits of the
/// light group were about a second, one of its turns after eight of the other group.
#[test]
fn groups_share_a_disk_by_weight_at_any_depth() {
    for row in rows("referee.toml", &[]) {
        let light = &row.groups[0].share;
        let p99 = row.groups[0].latency.quantile(990).as_ns() as f64 / 1e6;
        println!("{}, {}: {:.1} %, p99 {p99:.0} ms", row.arm, row.row, light.mean * 100.0);
        assert!((light.mean - 1.0 / 9.0).abs() < 0.01, "{}, {}: {light:?}", row.arm, row.row);
        assert!((800.0..1500.0).contains(&p99), "{}, {}: {p99} ms", row.arm, row.row);
    }
}

/// Without idling, the heavy group cannot have more than every second request.
#[test]
fn idling_is_what_keeps_shares_at_depth_1() {
    let rows = rows("referee.toml", &["scheduler.bfq.slice_idle_ms=0"]);
    let light = rows[0].groups[0].share.mean;
    assert!((light - 0.5).abs() < 0.02, "{light}");
}

/// A task that asks for little is served soon, although all tasks have the same weight: with its
/// small budget it is the first to finish.
#[test]
fn who_asks_for_little_does_not_wait_for_who_asks_for_much() {
    let mut rows = rows("player.toml", &[]);
    rows.sort_by_key(|row| row.arm.clone());
    let ios = |row: &RowOutcome| row.tasks[0].ios;
    let [bfq, cfq] = &rows[..] else { panic!("two arms") };
    println!("bfq {}, cfq {}", ios(bfq), ios(cfq));
    assert!(ios(bfq) > 3.0 * ios(cfq));
}

//! Shapes of ceilings: bursts at a rate of their own, reads and writes apart, large requests.

use fairdisk_lab::outcome::{Outcome, Shell};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};
use std::sync::atomic::AtomicBool;

const SHAPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/ceiling-shapes.toml");

/// The I/Os of the group in 12 s, under each scheduler that has such ceilings.
fn ios(row: &str) -> Vec<f64> {
    let schedulers = ["fair", "token-bucket"].map(str::to_owned).to_vec();
    let options = Options { rows: vec![row.to_owned()], schedulers, ..Options::default() };
    let plan = Plan::experiment(SHAPES, &options).unwrap_or_else(|error| panic!("{error}"));
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits the disk");
    let rows = Outcome::new(&plan, Shell::Lab, &ensembles).rows;
    rows.iter().map(|row| row.groups[0].ios.mean).collect()
}

fn is_about(got: f64, wanted: f64) -> bool {
    (got - wanted).abs() <= 0.02 * wanted + 10.0
}

/// 500 a second for 4 s and 100 a second for the other 8, and 100 ms ahead of each.
#[test]
fn a_group_has_its_burst_for_as_long_as_it_is_sold() {
    let all = ios("burst");
    assert!(all.len() == 2 && all.iter().all(|ios| is_about(*ios, 2800.0)), "{all:?}");
}

/// Both ceilings hold. A group is barred as a whole, so its reads wait behind writes: as many of
/// them are done as of writes, 1200, and not 4800.
#[test]
fn reads_and_writes_have_ceilings_of_their_own() {
    let all = ios("apart");
    assert!(all.len() == 2 && all.iter().all(|ios| is_about(*ios, 2400.0)), "{all:?}");
}

#[test]
fn a_large_request_counts_as_several_ios() {
    let all = ios("large");
    assert!(all.len() == 2 && all.iter().all(|ios| is_about(*ios, 302.0)), "{all:?}");
}

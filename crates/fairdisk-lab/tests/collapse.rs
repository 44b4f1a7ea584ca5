//! With more processes than request slots shares fall towards equal, under two-layer CFQ and under
//! `ionice`, on files with cold indirect blocks (docs/fidelity.md, "More processes").

use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, Shell};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};
use std::sync::atomic::AtomicBool;

/// The shares in percent of the three groups of row #1 with so many processes each, in ten minutes.
fn shares(arm: &str, processes: u32, sets: &[&str]) -> [f64; 3] {
    let count = format!("tasks.count={processes}");
    let sets = [&["experiment.duration_s=600", &count], sets].concat();
    let options = Options {
        arms: vec![arm.to_owned()],
        rows: vec!["#1".to_owned()],
        seeds: Some(1),
        overrides: sets.iter().map(|set| Override::parse(set).expect("well formed")).collect(),
        ..Options::default()
    };
    let plan = Plan::experiment("satoshi-2008-05-27-test1", &options).expect("it is known");
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits");
    let rows = Outcome::new(&plan, Shell::Lab, &ensembles).rows;
    let [group1, group2, group3] = [0, 1, 2].map(|at| rows[0].groups[at].share.mean * 100.0);
    println!("{arm}, {processes} each, {sets:?}: {group1:.1} {group2:.1} {group3:.1}");
    [group1, group2, group3]
}

#[test]
fn the_low_group_gets_thrice_its_weight_where_slots_run_out() {
    let weight = 100.0 / 13.0;
    assert!(shares("two-layer", 25, &[])[2] < 1.3 * weight);
    assert!(shares("two-layer", 100, &[])[2] > 3.0 * weight);
    let [few, many] = [25, 100].map(|processes| shares("ionice", processes, &[]));
    assert!(few[0] > 80.0 && many[0] < 50.0 && many[2] > 3.0 * few[2]);
}

/// What the collapse needs: slots that all groups share, and a task that comes for its second slot
/// after the one that was woken for it.
#[test]
fn shares_hold_with_own_slots_or_a_second_slot_in_time() {
    for kept in ["scheduler.defects.d2_shared_request_slots=false", "host.metadata_wake_us=10"] {
        let [high, ..] = shares("two-layer", 100, &[kept]);
        assert!(high > 48.0, "{kept}: {high}");
    }
}

//! Who pays for buffered writes: the experiment, and what it says.

use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, RowOutcome, Shell, Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};
use std::sync::atomic::AtomicBool;

/// What priorities 0, 4 and 7 ask for, in percent.
const ASKED: [f64; 3] = [800.0 / 13.0, 400.0 / 13.0, 100.0 / 13.0];
const THIRDS: [f64; 3] = [100.0 / 3.0; 3];
/// The rules that charge the groups of the tasks.
const OF_GROUPS: [&str; 3] = ["dirtier", "last-writer", "inode-owner"];

fn outcome(sets: &[&str]) -> Outcome {
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed"));
    let options = Options { overrides: overrides.collect(), ..Options::default() };
    let plan = Plan::experiment("buffered-writers", &options);
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits the disk");
    Outcome::new(&plan, Shell::Lab, &ensembles)
}

fn row<'a>(outcome: &'a Outcome, arm: &str, label: &str) -> &'a RowOutcome {
    let row = outcome.rows.iter().find(|row| row.arm == arm && row.row == label);
    row.unwrap_or_else(|| panic!("no row {arm}, {label}"))
}

fn assert_near(row: &RowOutcome, wanted: [f64; 3], points: f64) {
    let shares: Vec<f64> = row.groups.iter().map(|group| 100.0 * group.share.mean).collect();
    println!("{}, {}: {shares:.1?}", row.arm, row.row);
    for (share, wanted) in shares.iter().zip(wanted) {
        assert!((share - wanted).abs() <= points, "{}, {}: {shares:?}", row.arm, row.row);
    }
}

#[test]
fn weights_rule_where_groups_pay_and_have_limits_and_nowhere_else() {
    let outcome = outcome(&[]);
    for rule in OF_GROUPS {
        let of_groups = row(&outcome, "fair", &format!("limits of groups: {rule}"));
        assert_near(of_groups, ASKED, 3.0);
        for arm in ["fair", "two-layer-cfq"] {
            let machine = row(&outcome, arm, &format!("limit of the machine: {rule}"));
            assert_near(machine, THIRDS, 3.0);
        }
    }
    // The root group pays for all.
    assert_near(row(&outcome, "fair", "limits of groups: submitter"), THIRDS, 3.0);
    // All groups share the slots of asynchronous requests (D2).
    assert_near(row(&outcome, "two-layer-cfq", "limits of groups: dirtier"), THIRDS, 3.0);
}

/// The note stands where writers wait for the machine, and only there.
#[test]
fn a_note_says_why_no_scheduler_helps() {
    let outcome = outcome(&["experiment.seeds=1"]);
    let json = to_json(&outcome);
    for (row, json) in outcome.rows.iter().zip(json["rows"].as_array().expect("rows")) {
        let is_machine = row.row.starts_with("limit of the machine");
        let said = &json["write_back"]["waits_for_machine"];
        // Writers that are held up write in their own names, and wait for the disk.
        let expected = is_machine && !row.row.ends_with("submitter");
        assert_eq!(said, expected, "{}, {}: {}", row.arm, row.row, json["write_back"]);
    }
    let table = to_table(&outcome, Style::default());
    assert_eq!(table.matches("no scheduler can give them other shares").count(), 6, "{table}");
    let page = to_html(&outcome, &Made::by("fairdisk run buffered-writers"));
    assert_eq!(page.matches("no scheduler can give them other shares").count(), 6);
    assert!(page.contains("<th>charged, MB</th><th>submitter</th><th>dirtier</th>"));
}

/// Group 3 is the first to write to the file, group 1 writes most of it.
#[test]
fn the_inode_goes_to_whoever_writes_most() {
    let outcome = outcome(&["experiment.seeds=1"]);
    let json = to_json(&outcome);
    let rows = json["rows"].as_array().expect("rows").iter();
    let mut rows = rows.filter(|row| row["arm"] == "fair" && row["row"] == "one file: inode-owner");
    let row = rows.next().expect("there is one");
    let back = &row["write_back"];
    assert_eq!((&back["charged_to"], &back["owner_changes"]), (&"inode-owner".into(), &1.0.into()));
    let charged = |group: &str, rule: &str| {
        let groups = back["groups"].as_array().expect("groups");
        let found = groups.iter().find(|it| it["name"] == group);
        found.map_or(0.0, |it| it["charged_bytes"][rule].as_f64().expect("bytes"))
    };
    let of = |group: &str| ["dirtier", "inode-owner"].map(|rule| charged(group, rule));
    let ([by_dirtier, by_owner], [dirtied, owned]) = (of("group 1"), of("group 3"));
    assert!(dirtied > 0.1 * by_dirtier && owned < 0.01 * by_owner, "{back}");
}

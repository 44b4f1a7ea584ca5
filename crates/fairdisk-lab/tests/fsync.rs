//! `fsync` beside tasks that read all the time; docs/fidelity.md says what it waits for.

use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::{Outcome, Shell};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};
use std::sync::atomic::AtomicBool;

const FSYNC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/fsync.toml");

/// I/Os of the readers and of the writer under each scheduler.
fn ios(row: &str, options: Options) -> Vec<[f64; 2]> {
    let options = Options { rows: vec![row.to_owned()], ..options };
    let plan = Plan::experiment(FSYNC, &options).unwrap_or_else(|error| panic!("{error}"));
    let ensembles = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it fits the disk");
    let rows = Outcome::new(&plan, Shell::Lab, &ensembles).rows;
    rows.iter().map(|row| [row.tasks[0].ios, row.tasks[1].ios]).collect()
}

/// Writes made durable in 20 s under each of 2.6.25, 2.6.27, 2.6.30, 2.6.32, 2.6.33 and deadline.
fn durable_writes(sets: &[&str]) -> Vec<f64> {
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
    let writes = ios("readers", Options { overrides, ..Options::default() });
    let writes: Vec<f64> = writes.iter().map(|[_, writer]| *writer).collect();
    println!("{sets:?}: {writes:.1?}");
    writes
}

/// Every second, the readers set the times of inodes in the writer's inode block. A later commit
/// holds these changes, and `fsync` waits only for its own.
#[test]
fn fsync_beside_readers_takes_seconds_at_most() {
    let writes = durable_writes(&[]);
    let [old, record, noidle, _, trees, deadline] = writes[..] else { panic!("{writes:?}") };
    assert!((4.0..=8.0).contains(&old), "three asynchronous writes, 3 to 5 s: {old}");
    assert!(record > 3.0 * old, "the record is waited for: {record}");
    assert!((15.0..=30.0).contains(&noidle), "a round of four slices each: {noidle}");
    assert!(trees > 1.5 * noidle && deadline > trees, "{trees}, {deadline}");
}

#[test]
fn what_fsync_waits_for_does_not_depend_on_how_dirty_pages_wait() {
    let (behind, back) =
        (durable_writes(&[]), durable_writes(&["host.write_back.limit_percent=20"]));
    assert_eq!(behind, back, "all that is dirty is what fsync writes");
}

/// No flush waits for the data that it does not find dirty; with D5 that data is written by the
/// flusher, in the root group.
#[test]
fn who_flushes_some_day_writes_as_who_never_does() {
    let run = |row| {
        let schedulers = ["two-layer-cfq", "cfq-2.6.33"].map(str::to_owned).to_vec();
        ios(row, Options { schedulers, ..Options::default() })
    };
    assert_eq!(run("some day"), run("never"));
}

/// Before 2.6.30, the data also waits for a moment without any read in flight.
#[test]
fn a_file_system_without_a_journal_waits_for_the_data_alone() {
    let writes = durable_writes(&["volume.journal=false"]);
    let [old, _, noidle, _, trees, _] = writes[..] else { panic!("{writes:?}") };
    assert!(old < 8.0 && noidle > 40.0 && trees > 2.0 * noidle, "{writes:?}");
}

//! The report of December 2009 and what followed: readers in a small guest, over kernels, with more
//! memory, and past the page cache.

use fairdisk_lab::blame::Metric;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::run_once;
use std::sync::atomic::AtomicBool;

const REPORT: &str = "ehrhardt-2009-12-07-iozone";

/// What an arm of the report moves in a row, in MB/s, and the hash of its journals.
fn run(row: &str, arm: &str, sets: &[&str]) -> (f64, u64) {
    let set = |set: &&str| Override::parse(set).expect("well formed");
    let options = Options {
        overrides: sets.iter().map(set).collect(),
        rows: vec![row.to_owned()],
        arms: vec![arm.to_owned()],
        ..Options::default()
    };
    let plan = Plan::experiment(REPORT, &options).expect("it is there");
    let (arm, row) = plan.cell(0, 0);
    let run = run_once(&plan, arm, row, 1, &AtomicBool::new(false)).expect("it runs");
    (Metric::Mbps.of(&run, &[]).expect("it has a rate"), run.journal_hash)
}

/// How much less than under 2.6.30, in percent.
fn loss(row: &str, arm: &str, sets: &[&str]) -> f64 {
    let (good, bad) = (run(row, "2.6.30", sets).0, run(row, arm, sets).0);
    (1.0 - bad / good) * 100.0
}

#[test]
fn sixteen_readers_lose_most_of_it_in_256_mb_and_nothing_with_64_mb_more() {
    for arm in ["2.6.31", "2.6.32"] {
        let lost = loss("16", arm, &[]);
        assert!((50.0..85.0).contains(&lost), "{arm}: {lost} %");
        let lost = loss("16, 64 MB more", arm, &[]);
        assert!(lost < 5.0, "{arm} with 64 MB more: {lost} %");
    }
    let lost = loss("16", "2.6.37", &[]);
    assert!(lost < 15.0, "2.6.37: {lost} %");
}

/// Direct I/O takes no page: the journals are the same to the byte.
#[test]
fn direct_io_is_the_same_under_every_kernel_and_with_any_memory() {
    let (_, same) = run("16, direct", "2.6.30", &[]);
    for arm in ["2.6.32", "2.6.32 without e084b2d9", "2.6.37"] {
        assert_eq!(run("16, direct", arm, &[]).1, same, "{arm}");
    }
    assert_eq!(run("16, direct", "2.6.32", &["host.memory.mib=320"]).1, same);
}

/// Both the naps of kswapd and the pages that CPUs keep are needed for the loss.
#[test]
fn without_naps_or_with_short_lists_of_cpus_nothing_is_lost() {
    let of = |set: &str| loss("16", "2.6.32", &[set]);
    let never = of("host.memory.switches.kswapd_never_naps=true");
    let short = of("host.memory.percpu_pagelist_fraction=4000");
    let all = loss("16", "2.6.32", &[]);
    assert!(never < 5.0 && short < all && all > 50.0, "{never}, {short}, {all} %");
}

/// The commit turns the order of frames, and nothing here depends on that: neither a wait nor, as
/// the adapter cuts segments at pages, a request.
#[test]
fn the_commit_that_was_blamed_does_nothing_by_itself() {
    for row in ["8", "16"] {
        let [with, without] = ["2.6.32", "2.6.32 without e084b2d9"].map(|arm| run(row, arm, &[]));
        assert_eq!(with, without, "{row}");
    }
}

//! The report of December 2009 and what followed: readers in a small guest, over kernels, with more
//! memory, and past the page cache.

use fairdisk_core::{Instant, Span};
use fairdisk_lab::blame::Metric;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::run_once;
use fairdisk_sim::{TaskReport, World};
use std::sync::atomic::AtomicBool;

const REPORT: &str = "ehrhardt-2009-12-07-iozone";

/// An arm and a row of the report.
fn plan(row: &str, arm: &str, sets: &[&str]) -> Plan {
    let set = |set: &&str| Override::parse(set).expect("well formed");
    let options = Options {
        overrides: sets.iter().map(set).collect(),
        rows: vec![row.to_owned()],
        arms: vec![arm.to_owned()],
        ..Options::default()
    };
    Plan::experiment(REPORT, &options).expect("it is there")
}

/// What an arm of the report moves in a row, in MB/s, and the hash of its journals.
fn run(row: &str, arm: &str, sets: &[&str]) -> (f64, u64) {
    let plan = plan(row, arm, sets);
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

/// Of each reader, in six seconds after a ramp: its MB/s, and the part of its time for which it
/// waited for memory.
fn readers(row: &str, sets: &[&str]) -> Vec<(f64, f64)> {
    let plan = plan(row, "2.6.32", sets);
    let (arm, row) = plan.cell(0, 0);
    let setup = plan.setup(arm, row, 1).expect("it fits");
    let mut world = World::new(setup.machine, setup.jbod);
    let at = |seconds| Instant::ZERO + Span::from_s(seconds);
    world.run_until(at(2));
    world.machine_mut().restart_tallies(at(2));
    world.run_until(at(8));
    let seconds = |span: Span| span.as_ns() as f64 / 1e9;
    let did = |task: &TaskReport| {
        let elapsed = seconds(task.elapsed(at(8)));
        (task.bytes as f64 / 1e6 / elapsed, seconds(task.memory.wait) / elapsed)
    };
    world.machine().task_reports().map(did).collect()
}

/// The identity of the report's follow-ups: elapsed time is that without waiting, plus the waits.
/// Without waiting is as one reader alone: readers that wait leave the transport to each other, of
/// which sixteen that do not wait want twice as much as there is.
#[test]
fn what_each_of_sixteen_readers_loses_is_what_it_waits_for_memory() {
    let [(alone, none)] = readers("1", &["host.memory.mib=4096"])[..] else { panic!("it is one") };
    assert_eq!(none, 0.0, "there is plenty");
    let sixteen = readers("16", &[]);
    assert_eq!(sixteen.len(), 16);
    for (mb_per_s, waited) in sixteen {
        let without_waiting = mb_per_s / alone;
        let off = 1.0 - without_waiting - waited;
        assert!(waited > 0.7, "it waits for most of the time: {waited}");
        assert!(off.abs() < 0.03, "{without_waiting} of its time without waiting, {waited} waited");
    }
}

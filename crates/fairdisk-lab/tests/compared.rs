//! Comparisons: what groups are entitled to, and whether promises to them are kept.

use fairdisk_core::Span;
use fairdisk_lab::compare::{Cell, CellGroup, Comparison, compare};
use fairdisk_lab::jobfile::{Context, JobFile};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::Silent;
use std::sync::atomic::AtomicBool;

const PROMISES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/promises.toml");

fn compared(device: &str, row: &str) -> Comparison {
    let options = Options {
        rows: vec![row.to_owned()],
        device: Some(device.to_owned()),
        ..Options::default()
    };
    let plan = Plan::experiment(PROMISES, &options).unwrap_or_else(|error| panic!("{error}"));
    compare(&[plan], &Silent, &AtomicBool::new(false)).expect("it fits")
}

fn percents(cell: &Cell) -> Vec<(&str, i64)> {
    let asked = |group: f64| (group * 100.0).round() as i64;
    let of = |group: &CellGroup| group.parts.map_or(-1, |parts| asked(parts.asked));
    cell.groups.iter().map(|group| (group.outcome.name.as_str(), of(group))).collect()
}

#[test]
fn what_was_promised_and_not_kept_is_seen() {
    let cell = &compared("fixed-8ms", "not kept").cells[0];
    let [floor, ceiling, latency] = [0, 1, 2].map(|at| &cell.groups[at].promises);
    let floor = floor.floor.expect("it has one");
    assert!(floor.usable && floor.below == floor.seconds && floor.seconds >= 18, "{floor:?}");
    // For 10 s the group does twice what it may. It is then 10 s of the ceiling ahead, minus its
    // burst of 100 ms and one request of 50 ms.
    let over = ceiling.ceiling.expect("it has one").over_ms;
    assert!((over - 10_250.0).abs() < 1_000.0, "{over}");
    let target = latency.latency.expect("it has one");
    assert!(!target.is_met() && target.p99_ms.expect("there were I/Os") > 20.0, "{target:?}");
    assert!(!latency.are_kept() && !ceiling.are_kept());
}

#[test]
fn what_was_kept_is_not_blamed() {
    let cell = &compared("fixed-8ms", "kept").cells[0];
    for group in &cell.groups {
        assert!(group.promises.are_kept(), "{}: {:?}", group.outcome.name, group.promises);
        assert!(!group.promises.are_none());
    }
}

#[test]
fn who_gets_nothing_is_wronged_whatever_its_ceiling() {
    let starved = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/starved.toml");
    let plan = Plan::experiment(starved, &Options::default()).unwrap();
    let comparison = compare(&[plan], &Silent, &AtomicBool::new(false)).expect("it fits");
    let cell = &comparison.cells[0];
    assert!(cell.groups[1].outcome.ios.mean < 0.5, "or this says nothing");
    assert_eq!(percents(cell), [("large", 89), ("capped", 11)]);
}

/// What one scheduler makes of a row with ceilings on buffered writes.
fn capped(row: &str, scheduler: &str, device: &str) -> Cell {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/experiments/ceilings.toml");
    let options = Options {
        rows: vec![row.to_owned()],
        schedulers: vec![scheduler.to_owned()],
        device: Some(device.to_owned()),
        ..Options::default()
    };
    let plan = Plan::experiment(path, &options).unwrap_or_else(|error| panic!("{error}"));
    let mut comparison = compare(&[plan], &Silent, &AtomicBool::new(false)).expect("it fits");
    comparison.cells.swap_remove(0)
}

#[test]
fn merged_writes_take_no_more_than_a_burst_beyond_the_ceiling() {
    for (row, scheduler, device) in [
        ("bytes", "fair", "fixed-8ms"),
        ("bytes", "fair", "hdd-ncq"),
        ("bytes", "fair", "raid5-4"),
        ("bytes", "mclock", "fixed-8ms"),
        ("bytes", "token-bucket", "fixed-8ms"),
        ("around", "fair", "fixed-8ms"),
        ("around", "fair", "raid5-4"),
    ] {
        let cell = capped(row, scheduler, device);
        let ceiling = cell.group(0).and_then(|group| group.promises.ceiling);
        let over_ms = ceiling.expect("it has one").over_ms;
        assert!(over_ms <= 0.0, "{row}, {scheduler}, {device}: {over_ms} ms");
    }
}

#[test]
fn what_costs_the_disk_nothing_is_worth_nothing() {
    // The write cache takes all that the group may write, and has no work with it meanwhile.
    let cell = capped("bytes", "fair", "hdd-ncq");
    assert!(cell.groups[0].outcome.bytes > 1.5e7, "{}", cell.groups[0].outcome.bytes);
    assert_eq!(percents(&cell), [("capped", 0), ("free", 100)]);
}

#[test]
fn each_rate_of_a_ceiling_counts_what_it_limits() {
    let cell = &compared("fixed-8ms", "two rates").cells[0];
    let ceiling = cell.groups[0].promises.ceiling.expect("it has one");
    assert!(ceiling.is_kept(), "{ceiling:?}");
}

#[test]
fn what_a_group_leaves_over_is_for_the_others() {
    let cell = &compared("fixed-8ms", "pauses").cells[0];
    // 10 of 125 I/Os per second; the rest is shared 1:2.
    assert_eq!(percents(cell), [("pauses", 8), ("small", 31), ("large", 61)]);
    let floor = cell.groups[0].promises.floor.expect("it has one");
    assert!(!floor.usable && floor.is_kept(), "{floor:?}");
}

/// A group without tasks of its own is promised something for the groups nested in it.
#[test]
fn what_a_group_of_groups_was_promised_is_looked_at() {
    let cell = &compared("fixed-8ms", "promised together").cells[0];
    assert_eq!(percents(cell), [("one", 45), ("two", 45), ("beside", 10)]);
    let [outer] = cell.outer.as_slice() else { panic!("{:?}", cell.outer) };
    assert_eq!((outer.outcome.name.as_str(), outer.at), ("outer", 0));
    let parts = outer.parts.expect("it did something");
    assert!((parts.asked - 0.9).abs() < 0.02 && (parts.got - 0.2).abs() < 0.02, "{parts:?}");
    let floor = outer.promises.floor.expect("it has one");
    assert!(floor.seconds >= 18 && floor.below == floor.seconds, "{floor:?}");
    assert_eq!(cell.reported().count(), 4);
}

#[test]
fn floors_of_a_run_shorter_than_a_second_are_judged() {
    let options = Options {
        rows: vec!["not kept".to_owned()],
        duration: Some(Span::from_ms(900)),
        ..Options::default()
    };
    let plan = Plan::experiment(PROMISES, &options).unwrap_or_else(|error| panic!("{error}"));
    let compared = compare(&[plan], &Silent, &AtomicBool::new(false)).expect("it fits");
    let floor = compared.cells[0].groups[0].promises.floor.expect("it has one");
    assert_eq!((floor.seconds, floor.below), (2, 2), "one for each run");
    assert!(!floor.is_kept());
}

#[test]
fn groups_in_a_group_share_its_part() {
    let cell = &compared("fixed-8ms", "nested").cells[0];
    assert_eq!(percents(cell), [("one", 25), ("two", 50), ("beside", 25)]);
}

#[test]
fn on_a_disk_that_nobody_fills_all_get_what_they_can_use() {
    // Four readers with one request at a time each use a few hundredths of the disk, alone or not.
    let cell = &compared("nvme", "nested").cells[0];
    assert!(cell.work < 0.5, "{}", cell.work);
    let (mean, most) = cell.error_points().expect("they read");
    assert!(most < 3.0, "{mean}, {most}: {:?}", percents(cell));
}

/// One task reads whenever it can; the other starts after half of the time.
#[test]
fn who_starts_late_can_use_no_more_than_the_time_that_is_left() {
    let text = "[global]\ndevice=fixed-8ms\nscheduler=noop\ndirect=1\nsize=64m\nrw=randread\n\
        time_based\nruntime=4s\n[early]\ncgroup=early\ncgroup_weight=100\n\
        [late]\ncgroup=late\ncgroup_weight=800\nstartdelay=2s\nruntime=2s\n";
    let resolved = JobFile::parse("late.fio", text, &Context::closed())
        .and_then(|file| file.resolve())
        .unwrap_or_else(|problems| panic!("{problems}"));
    let plan = Plan::job_file("late.fio", &resolved, &Options::default()).expect("it is whole");
    let compared = compare(&[plan], &Silent, &AtomicBool::new(false)).expect("it fits");
    assert_eq!(percents(&compared.cells[0]), [("/early", 50), ("/late", 50)]);
}

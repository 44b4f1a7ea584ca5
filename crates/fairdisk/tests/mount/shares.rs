//! Shares of groups with weights 8 : 4 : 1, with many processes.

use crate::host::{Host, finish, lacks_something, soak, text, wait_until};
use std::fs;

pub(crate) const WEIGHTS: [u32; 3] = [800, 400, 100];

pub(crate) const MODEL: &[&str] = &["--device-model", "wd2500js"];
/// The shares of device time, in percent, of three groups whose programs do the same work.
pub(crate) fn shares(mount: &[&str], processes: u32, job: &str, seconds: u32) -> Vec<f64> {
    let mut host = Host::new();
    host.mount_well(mount);
    let groups: Vec<String> = (0..3)
        .map(|at| {
            host.make_file(&format!("file{at}"), 256);
            host.group(&format!("g{at}"), &format!("weight={}", WEIGHTS[at]))
        })
        .collect();
    let children: Vec<_> = groups
        .iter()
        .enumerate()
        .map(|(at, group)| {
            let file = host.file(&format!("file{at}"));
            let command = format!(
                "fio --name=job --filename={file} --size=256M --bs=4k --numjobs={processes} \
                 --runtime={seconds} --time_based --group_reporting --minimal {job}"
            );
            host.start(group, &command)
        })
        .collect();
    // Counted only while all groups are working.
    let begun = |times: &[f64]| times.iter().all(|time| *time > 0.0);
    let mut before = host.device_time(&groups);
    while !begun(&before) {
        before = host.device_time(&groups);
    }
    let goal = f64::from(seconds) * 700.0;
    let mut after = before.clone();
    while after.iter().sum::<f64>() - before.iter().sum::<f64>() < goal {
        after = host.device_time(&groups);
        std::thread::yield_now();
    }
    children.into_iter().for_each(|child| drop(finish(child)));
    let time: Vec<f64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
    let whole: f64 = time.iter().sum();
    time.iter().map(|time| 100.0 * time / whole).collect()
}

fn check(processes: u32, job: &str, seconds: u32, points: f64) {
    check_on(MODEL, processes, job, seconds, points);
}

fn check_on(mount: &[&str], processes: u32, job: &str, seconds: u32, points: f64) {
    let got = shares(mount, processes, job, seconds);
    let whole = f64::from(WEIGHTS.iter().sum::<u32>());
    let want = WEIGHTS.map(|weight| 100.0 * f64::from(weight) / whole);
    println!("{processes} x {job}: {got:.1?}, asked for {want:.1?}");
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= points, "{processes} x {job}: {got:.1}, asked for {want:.1}");
    }
}

const READERS: &str = "--rw=randread --direct=1 --ioengine=psync";
const WRITERS: &str = "--rw=randwrite --direct=1 --ioengine=psync";
const MIXED: &str = "--rw=randrw --direct=1 --ioengine=psync";
const DEEP: &str = "--rw=randread --direct=1 --ioengine=libaio --iodepth=32";
pub(crate) const BUFFERED: &str = "--rw=randwrite --direct=0 --ioengine=psync";

#[test]
fn one_reader_in_each_group() {
    if !lacks_something() {
        // A wide tolerance: the disk idles 8 ms for a reader to come back, and on a machine that is
        // busy with other tests a reader may not get a CPU in time.
        check(1, READERS, 12, 15.0);
    }
}

#[test]
fn many_readers_in_each_group() {
    if !lacks_something() {
        check(25, READERS, 12, 8.0);
    }
}

#[test]
fn deep_queues() {
    if !lacks_something() {
        check(1, DEEP, 12, 8.0);
    }
}

/// A disk without seeks, which serves eight requests at once in 4 ms each.
fn together() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let model = "id = \"eight\"\ntitle = \"eight at once\"\nkind = \"fixed\"\n\
                 capacity_sectors = 8388608\nparallel = 8\nlatency_us = 4000\nmb_per_s = 1000\n";
    fs::write(directory.path().join("eight.toml"), model).unwrap();
    directory
}

fn model(directory: &tempfile::TempDir) -> String {
    directory.path().join("eight.toml").to_str().unwrap().to_owned()
}

/// On a disk that serves many requests at once there is no idling for a single task, and groups
/// still get their shares.
#[test]
fn a_disk_that_serves_many_at_once() {
    if lacks_something() {
        return;
    }
    let directory = together();
    // More readers than the depth, so that each group can use its share of it.
    check_on(&["--device-model", &model(&directory)], 16, READERS, 8, 8.0);
    let mut host = Host::new();
    host.mount_well(&["--device-model", &model(&directory)]);
    host.make_file("data", 64);
    let group = host.group("alone", "weight=100");
    let command = format!(
        "fio --name=job --filename={} --size=64M --bs=4k --numjobs=4 --number_ios=250 \
         --group_reporting --minimal {READERS}",
        host.file("data")
    );
    finish(host.start(&group, &command));
    let busy_ms = host.device_time(&[group])[0];
    println!("4 readers, 1000 reads: {busy_ms} ms");
    // One after the other the requests would take 4000 ms, four at once 1000 ms.
    assert!(busy_ms < 2500.0, "{busy_ms} ms");
}

/// The long form, with a tolerance of 3 points, run by `make soak`. The short forms above have too
/// few turns for that.
#[test]
fn every_kind_of_load() {
    if !soak() || lacks_something() {
        return;
    }
    for processes in [1, 25, 100, 300] {
        for job in [READERS, WRITERS, MIXED, BUFFERED] {
            check(processes, job, 60, 3.0);
        }
    }
}

/// A disk with a write cache goes on with writes while others have it. Whoever looks is told how
/// much that was: without it, writers seem to get less than they ask for.
#[test]
fn what_writers_seem_to_lack_is_shown_as_what_the_disk_did_for_them_later() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("read", 512);
    host.make_file("written", 512);
    host.mount_well(MODEL);
    let groups = [host.group("writers", "weight=100"), host.group("readers", "weight=300")];
    let start = |group: &String, file: &str, job: &str| {
        let command = format!(
            "fio --name=job --filename={} --size=512M --bs=4k --numjobs=4 --runtime=20 \
             --time_based --minimal {job}",
            host.file(file)
        );
        host.start(group, &command)
    };
    let loads = [start(&groups[0], "written", WRITERS), start(&groups[1], "read", READERS)];
    wait_until(|| host.device_time(&groups).iter().sum::<f64>() > 15_000.0);
    let time = host.device_time(&groups);
    let ms = |group| host.entry(group)["deferred_ms"].as_f64().unwrap();
    let whole: f64 = time.iter().sum();
    let (got, later) = (100.0 * time[0] / whole, 100.0 * ms(&groups[0]) / whole);
    println!("writers got {got:.1} % and {later:.1} % later, asked for 25");
    assert!(got < 22.0 && (got + later - 25.0).abs() < 3.0, "{got:.1} and {later:.1}");
    assert_eq!(ms(&groups[1]), 0.0, "readers leave nothing to be done");
    let list = text(&host.ctl(&["list"]));
    assert!(list.contains(&format!("{}: and ", groups[0])), "{list}");
    loads.into_iter().for_each(|load| drop(finish(load)));
    host.unmount();
}

/// A program that maps a file and moves to another group is charged there.
#[test]
fn what_is_written_through_a_map_is_paid_for_where_its_writer_is() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 32);
    host.mount_well(&[]);
    let groups = ["first", "second"].map(|name| host.group(name, "weight=100"));
    let command = format!(
        "fio --name=job --filename={} --size=32M --bs=64k --rw=randwrite --ioengine=mmap \
         --fsync=16 --runtime=8 --time_based --minimal",
        host.file("data")
    );
    let load = host.start(&groups[0], &command);
    let written = |at: usize| host.entry(&groups[at])["written_bytes"].as_u64().unwrap_or(0);
    wait_until(|| written(0) > 0);
    let [first, second] =
        ["first", "second"].map(|name| host.group_directory(name).join("cgroup.procs"));
    wait_until(|| {
        let processes = fs::read_to_string(&first).unwrap();
        // A process that has just ended cannot be moved.
        processes.lines().for_each(|process| drop(fs::write(&second, process)));
        processes.is_empty()
    });
    let before = written(0);
    finish(load);
    let [after, moved] = [0, 1].map(written);
    assert!(moved > (1 << 20) && moved > after - before, "{before}, {after}, and {moved} there");
    host.unmount();
}

//! `fairdisk calibrate`, kept as short as possible: what it measures here is nobody's business, but
//! what becomes of it is.

use crate::interrupted::{interrupt, listens};
use crate::program::{Ended, Place};
use std::fs;

const SHORT: &[&str] = &["calibrate", ".", "--size", "16M", "--time", "5ms"];

/// Whether direct I/O does not work where these tests run.
fn lacks_direct_io(ended: &Ended) -> bool {
    let lacks = ended.err.contains("direct I/O of 4 KiB does not work there");
    if lacks {
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        eprintln!("skipped: {}", ended.err.trim());
    }
    lacks
}

#[test]
fn the_lab_takes_what_was_measured_of_a_directory() {
    let place = Place::new();
    let write = [SHORT, &["--output", "mine.toml"]].concat();
    let ended = place.run(&write);
    if lacks_direct_io(&ended) {
        return;
    }
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    assert!(
        ended.err.contains("mine.toml is written. Mounts take it with --costs"),
        "{}",
        ended.err
    );
    assert_eq!(place.names(), ["mine.toml"], "the scratch file is gone");
    let text = fs::read_to_string(place.path().join("mine.toml")).unwrap();
    assert!(text.starts_with("# Measured by `fairdisk calibrate . --size 16M"), "{text}");
    assert!(text.contains("direct I/O, 0.005 s per load\n"), "{text}");
    assert!(text.contains("id = \"mine\"\n") && text.contains("kind = \"measured\"\n"), "{text}");
    let run = ["run", "two-groups", "--device", "mine.toml", "--seeds", "1", "--duration", "1s"];
    let shown = place.run(&[&run[..], &["--scheduler", "fair", "--json"]].concat()).json();
    let share = shown["rows"][0]["groups"][0]["time_share"].as_f64();
    assert!(share.is_some(), "{shown:#}");
    // It may be measured again.
    assert_eq!(place.run(&[&write[..], &["-q"]].concat()).quiet(), "");
}

#[test]
fn without_a_name_the_file_is_printed_or_its_keys_as_json() {
    let place = Place::new();
    let reads = [SHORT, &["--reads-only", "--quiet"]].concat();
    let ended = place.run(&reads);
    if lacks_direct_io(&ended) {
        return;
    }
    let text = ended.quiet();
    assert!(text.contains("# Writes and flushes were not measured"), "{text}");
    let value = place.run(&[&reads[..], &["--json", "--depth", "4"]].concat()).json();
    assert_eq!((&value["schema"], &value["device"]["depth"]), (&1.into(), &4.into()));
    let device = &value["device"];
    assert!(device["read"]["random_iops"].as_f64().unwrap() > 0.0, "{value:#}");
    assert_eq!(device["write"], device["read"], "{value:#}");
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn what_cannot_be_measured_or_written_is_said_at_once() {
    let place = Place::new();
    place.write("notes.toml", "mine = 1\n");
    for (args, said) in [
        (&["nothing/there"][..], "nothing/there: No such file or directory"),
        (&["notes.toml"], "notes.toml: is neither a directory nor a block device; name its dir"),
        (&["/dev/null"], "/dev/null: is neither a directory nor a block device"),
        (&[".", "--size", "1M"], "expected a number of bytes from 16M to 1024T, as 512M or 4G"),
        (&[".", "--size", "4 GiB"], "expected a number of bytes from 16M to 1024T, as 512M"),
        (&[".", "--size", "1025T"], "expected a number of bytes from 16M to 1024T, as 512M"),
        (&[".", "--depth", "0"], "expected a whole number from 1 to 1024"),
        (&[".", "--time", "1x"], "expected a number and a unit"),
        (&[".", "--output", "notes.toml"], "notes.toml: is no measured device and would be over"),
        (&[".", "--output", "notes"], "--output notes: expected a name that ends in .toml"),
        (&[".", "--output", "no/such.toml"], "--output no/such.toml: cannot be written there"),
        (&[".", "--reads-only", "--overwrite"], "cannot be used with"),
        (&[".", "--overwrite"], "nothing is overwritten in a directory; leave --overwrite out"),
        (&[".", "--io", "memory"], "invalid value 'memory' for '--io <HOW>'"),
        (&[".", "--output", " .toml"], "--output  .toml: `id` is empty; allowed: a line of text"),
        (&[".", "--output", "a\u{7f}.toml"], "allowed: text without control characters"),
    ] {
        let ended = place.run(&[&["calibrate"][..], args].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.err);
        assert!(ended.err.contains(said), "{args:?}: {}", ended.err);
        assert_eq!(place.names(), ["notes.toml"], "{args:?}");
    }
}

#[test]
fn what_is_kept_in_memory_is_no_disk() {
    let memory = std::path::Path::new("/dev/shm");
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let is_tmpfs = |line: &str| line.contains(" /dev/shm ") && line.contains(" - tmpfs ");
    if !memory.is_dir() || !table.lines().any(is_tmpfs) {
        eprintln!("skipped: /dev/shm is no tmpfs");
        return;
    }
    let ended = Place::new().run(&["calibrate", "/dev/shm", "--size", "16M"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("/dev/shm is in memory; name a directory on a disk"), "{ended:?}");
}

#[test]
fn one_request_at_a_time_is_measured_with_one() {
    let ended = Place::new().run(&[SHORT, &["--depth", "1", "--json"]].concat());
    if lacks_direct_io(&ended) {
        return;
    }
    let device = &ended.json()["device"];
    assert_eq!(device["depth"], 1);
    assert_eq!(device["random_read_iops_qd1"], device["random_read_iops_qd2"]);
}

/// Interrupts once `is_so` of the process.
fn interrupted_when(is_so: impl Fn(u32) -> bool) {
    let place = Place::new();
    let long = ["calibrate", ".", "--size", "16M", "--time", "1000h", "--output", "mine.toml"];
    let mut child = place.command(&long).spawn().unwrap();
    listens(&child);
    while !is_so(child.id()) && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    interrupt(&child);
    let ended = Ended::of(child.wait_with_output().unwrap());
    if lacks_direct_io(&ended) {
        return;
    }
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert_eq!(ended.err, "interrupted: nothing was measured\n");
    assert!(place.names().is_empty(), "{:?}", place.names());
}

/// Whether the process has begun to measure: it has a ring, or threads in place of one.
fn measures(process: u32) -> bool {
    let entries = |what: &str| fs::read_dir(format!("/proc/{process}/{what}")).ok();
    let is_ring = |path: std::path::PathBuf| path.to_string_lossy().contains("[io_uring]");
    let mut files = entries("fd").into_iter().flatten().flatten();
    let has_ring = files.any(|entry| fs::read_link(entry.path()).is_ok_and(is_ring));
    has_ring || entries("task").is_some_and(|tasks| tasks.count() > 1)
}

#[test]
fn ctrl_c_leaves_nothing() {
    interrupted_when(|_| true);
    interrupted_when(measures);
}

#[test]
fn the_kernels_own_control_gets_its_lines() {
    let place = Place::new();
    let ended = place.run(&[SHORT, &["--reads-only", "--for", "io.cost"]].concat());
    if lacks_direct_io(&ended) {
        return;
    }
    let has = |words: &str| ended.out.lines().any(|line| line.contains(words));
    assert!(
        has(" ctrl=user model=linear rbps=") && has(" enable=1 ctrl=user rpct="),
        "{}",
        ended.out
    );
}

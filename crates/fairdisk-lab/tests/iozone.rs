//! iozone commands: what they become, what is refused, and what is reported of them.

use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::iozone;
use fairdisk_lab::jobfile::JobRow;
use fairdisk_lab::outcome::{Outcome, RowOutcome, Shell, Style, to_html, to_json, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Silent, run_plan};
use std::sync::atomic::AtomicBool;

fn rows(text: &str) -> Vec<JobRow> {
    iozone::parse("x.iozone", text).unwrap_or_else(|problems| panic!("{text}: {problems}"))
}

fn outcome(text: &str, sets: &[&str]) -> Outcome {
    let overrides = sets.iter().map(|set| Override::parse(set).expect("well formed")).collect();
    let options = Options { overrides, seeds: Some(1), ..Options::default() };
    let plan = Plan::job_rows("x.iozone", &rows(text), &options).expect("there is room");
    let runs = run_plan(&plan, &Silent, &AtomicBool::new(false)).expect("it runs");
    Outcome::new(&plan, Shell::Lab, &runs)
}

/// What the single row of a command is as a job file.
fn job_file(text: &str) -> String {
    let rows = rows(text);
    assert_eq!(rows.len(), 1, "{text}");
    rows[0].jobs.to_string()
}

#[test]
fn options_become_keys_of_jobs() {
    let cases = [
        ("-i 0", "rw=write"),
        ("-i 1", "rw=read "),
        ("-i 2", "rw=randread"),
        ("-i 2", "rw=randwrite"),
        ("-i 3 -r 8k", "rw=read:-16384"),
        ("-i 5 -r 8k", "rw=read:131072"),
        ("-i 5 -r 8k -j 3", "rw=read:16384"),
        ("-i 5", "interleave"),
        ("-i 2", "randseed=1"),
        ("-i 8", "randseed=1"),
        ("-i 0 -+n", "completes"),
        ("-i 0", "fsync_on_close=1"),
        ("-i 0 -r 64", "bs=65536"),
        ("-i 0 -r64k", "bs=65536"),
        ("-i 0 -s 3M", "size=3145728"),
        ("-i 0 -s 1g", "size=1073741824"),
        ("-i 0", "direct=0"),
        ("-i 0 -I", "direct=1"),
        ("-i 0 -o", "sync=sync"),
        ("-i 0 -B", "ioengine=mmap"),
        ("-i 0 -I -H 4", "iodepth=4"),
        ("-i 0 -I -k 4", "ioengine=posixaio"),
        ("-i 0 -ecw", "end_fsync=1"),
        ("-i 0", "exitall"),
        ("-i 0", "invalidate=0"),
        ("-i 0", "filename=d2/f"),
        ("-i 0", "disk=2"),
    ];
    for (options, key) in cases {
        let text = job_file(&format!("iozone -t 2 {options} -F d1/f d2/f"));
        assert!(text.contains(key), "{options}: no `{key}` in {text}");
    }
    // `-x` lets all go on, and with `-U` memory is empty.
    assert!(!job_file("iozone -t 1 -i 0 -x").contains("exitall"));
    assert!(!job_file("iozone -t 1 -i 0 -U /mnt").contains("invalidate"));
}

#[test]
fn tests_follow_each_other_as_in_iozone() {
    let names = |options: &str| -> Vec<(String, u32)> {
        let jobs = rows(&format!("/opt/bin/iozone -t 2 {options}"))[0].jobs.jobs.clone();
        jobs.into_iter().map(|job| (job.name, job.phase)).collect()
    };
    let job = |name: &str, phase| (name.to_owned(), phase);
    let expected = [("initial-writer", 0), ("rewriter", 1), ("reader", 2), ("re-reader", 3)];
    let each = expected.map(|(name, phase)| [1, 2].map(|at| job(&format!("{name}-{at}"), phase)));
    assert_eq!(names("-i 0 -i 1"), each.concat());
    assert_eq!(names("-i 1 -+n"), [job("reader-1", 0), job("reader-2", 0)]);
    let phases = names("-i 8 -i 5 -i 3 -i 2 -i 0 -+n");
    let phases: Vec<&str> = phases.iter().step_by(2).map(|(name, _)| name.as_str()).collect();
    let order = [
        "initial-writer-1",
        "reverse-reader-1",
        "stride-reader-1",
        "random-reader-1",
        "mixed-1",
        "random-writer-1",
    ];
    assert_eq!(phases, order);
}

#[test]
fn numbers_of_processes_are_rows() {
    let labels = |text: &str| -> Vec<String> { rows(text).into_iter().map(|r| r.label).collect() };
    let four = ["1 process", "2 processes", "3 processes", "4 processes"];
    assert_eq!(labels("iozone -i 0 -l 1 -u 4"), four);
    let text = "# as in the report\niozone -i 0 \\\n  -t 4 -t 2 \\\n -F a b c d # four\n";
    assert_eq!(labels(text), ["4 processes", "2 processes"]);
}

#[test]
fn what_is_shown_can_be_read_again() {
    use fairdisk_lab::jobfile::{Context, JobFile};
    let rows = rows("iozone -i 0 -i 1 -i 2 -i 3 -i 5 -i 8 -t 2 -e -o -F d1/f d2/f");
    let shown = rows[0].jobs.to_string();
    let again = JobFile::parse("shown.fio", &shown, &Context::closed());
    let again = again.and_then(|file| file.resolve()).expect("it is a job file");
    assert_eq!(again.jobs, rows[0].jobs.jobs);
}

#[test]
fn faults_are_told_with_place_and_remedy() {
    let cases = [
        ("fio x.fio", "x.iozone:1: `fio`: a command begins with `iozone`"),
        ("# nothing", "x.iozone:1: no command in this file; add one such as"),
        ("iozone -i 0 -t 1\niozone -i 1", "x.iozone:2: `iozone`: a file holds one command"),
        ("iozone -i 0 \\\n -t 1 \\\n -a", "x.iozone:3: `-a`: -a is not supported; there is no"),
        ("iozone -t 1", "no test is named, which to iozone means all; name tests with -i"),
        ("iozone -i 4 -t 1", "-i 4 is not supported; use 0, 1, 2, 3, 5 or 8"),
        ("iozone -i 0", "only the throughput mode is supported; add -t"),
        ("iozone -i 0 -t 0", "-t 0: expected a number, 1 to 256"),
        ("iozone -i 0 -t", "-t needs a value behind it"),
        ("iozone -i 0 -t 1 -r 4x", "-r 4x: expected a size to 16m, such as 64k"),
        ("iozone -i 0 -t 1 -r 64k -s 100k", "must hold whole records"),
        ("iozone -i 0 -t 1 -s 1m -s 2m", "-s is given twice; drop one of them"),
        ("iozone -i 0 -t 1 -B -I", "-B and -I: a mapping is always through the page cache"),
        ("iozone -i 0 -t 1 -H 2 -k 2", "-H and -k: both are POSIX asynchronous I/O; drop one"),
        ("iozone -i 0 -t 1 -l 1 -u 2", "-t and -l: both say how many processes"),
        ("iozone -i 0 -l 1", "-l without -u; add -u, or drop -l"),
        ("iozone -i 0 -l 3 -u 2", "-l 3 is above -u 2; swap them"),
        ("iozone -i 0 -t 3 -F a b", "-F names 2 files, and the largest number of processes is 3"),
        ("iozone -i 0 -t 2 -F a a", "`a`: is named twice; each process has a file of its own"),
        ("iozone -i 0 -t 1 -F a:b", "a path has only letters"),
        ("iozone -i 0 -t 1 f", "`f`: stands behind no option; files stand behind -F"),
        ("iozone -i 0 -t 1 -+q 3", "-+q is not supported"),
    ];
    for (text, part) in cases {
        let error = iozone::parse("x.iozone", text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn what_cannot_change_a_result_is_a_note() {
    let rows = rows("iozone -i 0 -t 1 -c -w -C -R -O -B -D -j 4");
    let notes: Vec<&str> = rows[0].jobs.notes.iter().map(|note| note.key.as_str()).collect();
    assert_eq!(notes, ["-c", "-w", "-R", "-O", "-D", "-j"]);
}

#[test]
fn a_command_is_reported_as_by_iozone() {
    let outcome = outcome("iozone -i 0 -i 1 -+n -t 2 -r 64k -s 8m -e -U /mnt -F a b", &[]);
    let table = to_table(&outcome, Style::default());
    let golden = include_str!("iozone.expected");
    assert_eq!(table, golden, "{table}");
    let page = to_html(&outcome, &Made::by("run"));
    for line in golden.lines().filter(|line| line.contains("/sec") || line.contains("xfer")) {
        assert!(page.contains(line.trim_start()), "{line}");
    }
    let test = &to_json(&outcome)["rows"][0]["throughput"][1];
    assert_eq!((&test["test"], &test["processes"]), (&"readers".into(), &2.into()));
    let [sum, avg] = ["children_kb_per_s", "avg_kb_per_s"].map(|key| test[key].as_f64().unwrap());
    assert!((sum / 2.0 - avg).abs() < 1e-6 && sum > 0.0, "{test}");
}

#[test]
fn the_first_that_is_done_ends_a_test_for_all() {
    // Two readers on a disk of their own, and two that share one.
    let text = "iozone -i 1 -+n -t 3 -r 64k -s 8m -I -F d1/f d2/f d2/g";
    let least = |text: &str| outcome(text, &["device.jbod=2"]).rows[0].throughput[0].min_xfer_kb;
    assert!(least(text) < 6000.0, "{}", least(text));
    assert_eq!(least(&format!("{text} -x")), 8192.0);
}

#[test]
fn a_directory_names_a_disk_of_an_array() {
    let text = "iozone -i 1 -+n -t 2 -r 64k -s 8m -I -F d1/f d2/f";
    let rate = |sets: &[&str]| outcome(text, sets).rows[0].throughput[0].children_kb_per_s.mean;
    let (one, two) = (rate(&[]), rate(&["device.jbod=2"]));
    assert!(two > 1.5 * one, "{one} on one disk, {two} on two");
    let options = |sets: &[&str]| Options {
        overrides: sets.iter().map(|set| Override::parse(set).expect("well formed")).collect(),
        ..Options::default()
    };
    let three = rows("iozone -i 1 -t 3 -F d1/f d2/f d3/f");
    let refused = |sets: &[&str]| {
        Plan::job_rows("x.iozone", &three, &options(sets)).expect_err("it is wrong").to_string()
    };
    let error = refused(&["device.jbod=2"]);
    assert!(error.contains("`reader-3` is on a disk that device"), "{error}");
    let error = refused(&["device.jbod=3", "host.disks_together=false"]);
    assert!(error.contains("jobs on disks of their own are on one machine"), "{error}");
}

#[test]
fn only_a_writer_of_a_new_file_goes_on_when_it_is_stopped() {
    let of = |options: &str| {
        let text = format!("iozone -i 0 -t 2 -r 64k -s 8m -e {options}");
        outcome(&text, &[]).rows.remove(0)
    };
    // The requests carry whole files, although only a part of the second is counted.
    let (written, again) = (of("-+n"), of(""));
    let least = |at: usize| again.throughput[at].min_xfer_kb;
    assert!(least(0) < 7000.0 && least(1) < 7000.0, "{} and {} kB", least(0), least(1));
    let writes = |row: &RowOutcome| row.submitted - row.groups[0].directions.flush.ios as u64;
    let whole = of("-+n -x");
    assert_eq!(whole.throughput[0].min_xfer_kb, 8192.0);
    assert!(writes(&written) >= writes(&whole), "{} of {}", writes(&written), writes(&whole));
    let rewrites = writes(&again) - writes(&written);
    assert!(rewrites * 10 < writes(&whole) * 9, "{rewrites} of {}", writes(&whole));
}

#[test]
fn what_is_written_is_on_the_disk_before_the_next_test() {
    let dirty = |options: &str| {
        let text = format!("iozone -i 0 -+n -t 1 -r 64k -s 8m {options}");
        let outcome = outcome(&text, &[]);
        (outcome.rows[0].dirty_bytes, outcome.rows[0].throughput[0].avg_kb_per_s)
    };
    let ((clean, memory), (also_clean, disk)) = (dirty(""), dirty("-e"));
    assert_eq!((clean, also_clean), (0.0, 0.0));
    assert!(memory > 5.0 * disk, "{memory} kB/s, and with the flush {disk}");
}

#[test]
fn reads_find_in_memory_what_was_written() {
    let reads = |options: &str| {
        let text = format!("iozone -i 0 -i 1 -+n -t 1 -r 64k -s 8m -e {options}");
        outcome(&text, &[]).rows[0].throughput[1].children_kb_per_s.mean
    };
    assert!(reads("") > 20.0 * reads("-U /mnt"), "{} and {}", reads(""), reads("-U /mnt"));
}

#[test]
fn what_was_written_leaves_metadata_in_memory_where_that_is_page_by_page() {
    // 16 MiB are 4096 blocks: 12 in the inode, 4 indirect blocks, and one that points to them.
    let run = |options: &str| {
        let text = format!("iozone {options} -+n -t 2 -r 64k -s 16m -e -F d1/f d2/f");
        let sets = [
            "device.jbod=2",
            "host.memory.kernel=2.6.32",
            "host.memory.mib=64",
            "host.write_back.limit_percent=20",
        ];
        outcome(&text, &sets).rows.remove(0)
    };
    let buffers = |row: &RowOutcome| to_memory(row)["buffers_kib"].as_f64().expect("it counts");
    let written = run("-i 0");
    assert_eq!(buffers(&written), 2.0 * 5.0 * 4.0);
    // A writer of a new file reads nothing; a reader finds the blocks, or reads them again.
    assert_eq!(written.disks.0[0].reads.requests, 0);
    let reads = |row: &RowOutcome| row.disks.0[0].reads.requests;
    let (found, remounted) = (run("-i 0 -i 1"), run("-i 0 -i 1 -U /mnt"));
    assert!(reads(&remounted) >= reads(&found) + 5, "{}, {}", reads(&found), reads(&remounted));
    let rate = |row: &RowOutcome| row.throughput[1].children_kb_per_s.mean;
    assert!(rate(&remounted) < rate(&found), "{}, {}", rate(&found), rate(&remounted));
    // Who overwrites a file that is there reads where its blocks are.
    assert!(reads(&run("-i 2")) > 0 && buffers(&run("-i 8")) > 0.0);
}

/// The block `memory` of a row in JSON.
fn to_memory(row: &RowOutcome) -> serde_json::Value {
    serde_json::json!(row.memory.expect("memory is page by page").figures())
}

#[test]
fn every_child_has_a_line_if_the_command_asks_for_it() {
    let lines = |options: &str| {
        let text = format!("iozone -i 1 -+n -t 2 -r 64k -s 8m -I {options} -F a b");
        let outcome = outcome(&text, &[]);
        let table = to_table(&outcome, Style::default());
        let lines = table.lines().filter(|line| line.trim_start().starts_with("Child["));
        let lines: Vec<String> = lines.map(|line| line.trim_start().to_owned()).collect();
        (lines, to_json(&outcome)["rows"][0]["throughput"][0].clone())
    };
    let (none, test) = lines("");
    assert!(none.is_empty() && test["children"].is_null(), "{none:?} {test}");
    let (each, test) = lines("-C -x");
    assert_eq!(each.len(), 2, "{each:?}");
    assert!(each[0].starts_with("Child[0] xfer count =    8192.00 kB, Throughput = "), "{each:?}");
    let rate = |at: usize| test["children"][at]["kb_per_s"].as_f64().expect("it has a rate");
    let sum = test["children_kb_per_s"].as_f64().expect("it has a rate");
    assert!((rate(0) + rate(1) - sum).abs() < 1e-6 && rate(1) > 0.0, "{test}");
}

/// iozone 3.489 reads 20 records in strides of 3 so.
#[test]
fn strides_are_those_of_iozone() {
    let text = job_file("iozone -i 5 -+n -t 1 -r 4k -s 80k -j 3");
    for key in ["rw=read:8192", "size=73728", "io_size=81920", "interleave"] {
        assert!(text.contains(key), "no `{key}` in {text}");
    }
}

//! Settings one by one: we agree with fio about each, or say that we do not support it.

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fairdisk_lab::jobfile::{Class, keys};

use crate::fio;

/// Fairdisk's own keys, which fio does not have.
const OWN: [&str; 24] = [
    "group",
    "group_weight",
    "group_ioprio",
    "group_min_iops",
    "group_min_bps",
    "group_max_iops",
    "group_max_bps",
    "group_max_read_iops",
    "group_max_read_bps",
    "group_max_write_iops",
    "group_max_write_bps",
    "group_burst_ms",
    "group_burst_iops",
    "group_burst_bps",
    "group_burst_for",
    "group_latency_p99_ms",
    "group_fsync_p99_ms",
    "scheduler",
    "device",
    "disk",
    "completes",
    "interleave",
    "filesystem",
    "remount",
];

/// Keys of engines and profiles that not every build of fio has, and keys that make fio crash.
const NOT_ASKED: [&str; 2] = ["profile", "random_distribution"];

/// A job with these settings after a few valid ones.
fn job(name: &str, tail: &str) -> String {
    format!("[{name}]\nrw=randrw\nsize=1g\n{tail}\n")
}

/// Where fio and we disagree about settings of a job. fio is asked once about all settings that we
/// accept, and separately about each that we call wrong, because it stops at the first one it
/// refuses. What we do not support, fio may accept or refuse.
fn disagreements(name: &str, tails: &[String]) -> Vec<String> {
    let read = |tail: &String| fio::ours("job.fio", &job("j", tail), &[]);
    let (accepted, refused): (Vec<&String>, Vec<&String>) =
        tails.iter().partition(|tail| read(tail).is_ok());
    let wrong = |tail: &&String| read(tail).is_err_and(|wrong| wrong.class() == Class::Wrong);
    let mut alone: Vec<&String> = refused.into_iter().filter(wrong).collect();
    let jobs = accepted.iter().enumerate().map(|(at, tail)| job(&format!("j{at}"), tail));
    if !fio::accepts_text(&fio::Scratch::new(name), &jobs.collect::<String>()) {
        alone.extend(accepted);
    }
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![]);
    let ask = |scratch: &fio::Scratch| {
        while let Some(tail) = alone.get(next.fetch_add(1, Ordering::Relaxed)) {
            let accepts = fio::accepts_text(scratch, &job("j", tail));
            let reason = fio::disagreement(accepts, &read(tail));
            let reason = reason.map(|reason| format!("{tail}: {reason}"));
            found.lock().expect("no thread failed").extend(reason);
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let scratch = fio::Scratch::new(&format!("{name}-{thread}"));
            scope.spawn(move || ask(&scratch));
        }
    });
    found.into_inner().expect("no thread failed")
}

/// Every name printed by `fio --cmdhelp=all` is in the table.
#[test]
fn every_key_of_fio_is_known() {
    if !fio::is_installed() {
        return;
    }
    let help = Command::new("fio").arg("--cmdhelp=all").output().expect("fio runs");
    let help = String::from_utf8_lossy(&help.stdout);
    let names = help.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    let unknown: Vec<&str> = names.filter(|name| keys::find(name).is_none()).collect();
    assert!(help.lines().count() > 200, "fio prints its keys");
    assert_eq!(unknown, [""; 0]);
}

#[test]
fn fio_agrees_about_every_key() {
    if !fio::is_installed() {
        return;
    }
    let asked = |key: &&keys::Key| !OWN.contains(&key.name) && !NOT_ASKED.contains(&key.name);
    let values = ["", "=", "=0", "=1", "=5000", "=abc"];
    let tails = |key: &keys::Key| values.map(|value| format!("{}{value}", key.name));
    let tails: Vec<String> = keys::all().filter(asked).flat_map(tails).collect();
    let failures = disagreements("keys", &tails);
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
}

/// Every line of `parity.txt` is the end of a job; `\n` and `\t` are written out.
#[test]
fn fio_agrees_about_every_setting() {
    if !fio::is_installed() {
        return;
    }
    let list = std::fs::read_to_string(fio::corpus().join("parity.txt")).expect("readable");
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
    let tails: Vec<String> =
        lines.map(|line| line.replace("\\n", "\n").replace("\\t", "\t")).collect();
    assert!(tails.len() > 300, "the list of settings is there");
    let failures = disagreements("parity", &tails);
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), tails.len(), failures.join("\n"));
}

/// Files that are more than a job with different settings.
#[test]
fn fio_agrees_about_odd_files() {
    if !fio::is_installed() {
        return;
    }
    let scratch = fio::Scratch::new("odd");
    let job = "rw=read\nsize=1m\n";
    let files = [
        String::new(),
        "\n\n; nothing\n".to_owned(),
        "hello\n".to_owned(),
        job.to_owned(),
        format!("{job}[j]\n{job}"),
        format!("[global]\n{job}"),
        format!("[global]\n{job}[global]\nbs=8k\n[j]\n"),
        format!("[GLOBAL]\n{job}"),
        format!("[j]\r\n{}", job.replace('\n', "\r\n")),
        "[j]\nrw=read\nsize=1m".to_owned(),
        format!("  [j]\n\t  {job}"),
        format!("[j] ; why\n{job}"),
        format!("[j] junk\n{job}"),
        format!("[j\n{job}"),
        format!("[]\n{job}"),
        format!("[a]b]\n{job}"),
        format!("[jö]\n{job}"),
        format!("[j]\n{job}[j]\n{job}"),
        format!("[j]\n{job}\0\n"),
        "[j]\n".to_owned(),
        "include job.fio\n".to_owned(),
        format!("[j]\n{job}description={}\n", "x".repeat(3000)),
        format!("[global]\nfoo=1\n[j]\n{job}"),
        format!("[j]\n{job}[global]\nfoo=1\n"),
    ];
    for text in files {
        let path = scratch.write(&text);
        let ours = fio::ours(&path.display().to_string(), &text, &[]);
        let disagreement = fio::disagreement(fio::accepts(&path, &[]), &ours);
        assert_eq!(disagreement, None, "{text:?}");
    }
}

/// fio reports a missing include and exits successfully, so it cannot judge this.
#[test]
fn a_missing_include_is_named() {
    let text = "[j]\ninclude nowhere.fio\n";
    let problems = fio::ours("job.fio", text, &[]).expect_err("it is not there");
    assert!(problems.to_string().contains("nowhere.fio"), "{problems}");
}

/// A file that includes itself makes fio run out of open files, so fio is not asked.
#[test]
fn a_circle_of_includes_is_named() {
    let scratch = fio::Scratch::new("circle");
    let text = "[j]\ninclude job.fio\n";
    let path = scratch.write(text);
    let problems = fio::ours(&path.display().to_string(), text, &[]).expect_err("a circle");
    assert!(problems.to_string().contains("includes itself"), "{problems}");
}

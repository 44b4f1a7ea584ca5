//! Settings one by one: whatever fio makes of them, we agree or say that we do not support them.

use std::process::Command;

use fairdisk_lab::jobfile::keys;

use crate::fio;

/// Fairdisk's own keys, which fio does not have.
const OWN: [&str; 5] = ["group", "group_weight", "group_ioprio", "scheduler", "device"];

/// Keys of engines and profiles that are not in every build of fio, and fio's crash.
const NOT_ASKED: [&str; 2] = ["profile", "random_distribution"];

fn job(tail: &str) -> String {
    format!("[j]\nrw=randrw\nsize=1g\n{tail}\n")
}

fn disagreement(scratch: &fio::Scratch, text: &str) -> Option<String> {
    let path = scratch.write(&format!("{text}{}", fio::SENTINEL));
    fio::disagreement(fio::accepts_up_to_sentinel(&path), &fio::ours("job.fio", text, &[]))
}

/// Every name `fio --cmdhelp=all` prints is in the table.
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
    let scratch = fio::Scratch::new("keys");
    let mut failures = vec![];
    for key in keys::all().filter(|key| !OWN.contains(&key.name) && !NOT_ASKED.contains(&key.name))
    {
        for value in ["", "=", "=0", "=1", "=5000", "=abc"] {
            let tail = format!("{}{value}", key.name);
            let reason = disagreement(&scratch, &job(&tail));
            failures.extend(reason.map(|reason| format!("{tail}: {reason}")));
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
}

/// Every line of `parity.txt` is a job's tail; `\n` and `\t` are spelt out.
#[test]
fn fio_agrees_about_every_setting() {
    if !fio::is_installed() {
        return;
    }
    let list = std::fs::read_to_string(fio::corpus().join("parity.txt")).expect("readable");
    let scratch = fio::Scratch::new("parity");
    let mut count = 0;
    let mut failures = vec![];
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with("##")) {
        let tail = line.replace("\\n", "\n").replace("\\t", "\t");
        count += 1;
        let reason = disagreement(&scratch, &job(&tail));
        failures.extend(reason.map(|reason| format!("{line}: {reason}")));
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 300, "the list of settings is there");
}

/// Files that are not a job with a tail.
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

/// fio reports a missing include and ends well, so it is no judge of that.
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

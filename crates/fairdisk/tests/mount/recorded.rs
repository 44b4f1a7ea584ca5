//! `fairdisk record`: what programs do on a mount, recorded while they do it.

use crate::host::{Host, fairdisk, finish, lacks_something, text};
use crate::process::{process, signal};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A recording that runs, as a process.
fn begin(host: &Host, more: &[&str]) -> (std::process::Child, PathBuf) {
    let path = host.scratch().join("load.fdt");
    let at = host.at().display().to_string();
    let output = path.display().to_string();
    let args = [&["record", "--at", &at, "-o", &output], more].concat();
    let child = Command::new(env!("CARGO_BIN_EXE_fairdisk"))
        .args(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The header is written once the disk keeps what happens.
    crate::host::wait_until(|| path.metadata().is_ok_and(|found| found.len() > 0));
    (child, path)
}

fn end(child: std::process::Child) -> String {
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

fn shown(path: &Path, by: &str) -> Value {
    let output = fairdisk(&["trace", path.to_str().unwrap(), "--by", by, "--json"]);
    assert!(output.status.success(), "{}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn part<'a>(report: &'a Value, name: &str) -> &'a Value {
    let parts = report["parts"].as_array().unwrap();
    let found = parts.iter().find(|part| part["name"].as_str().unwrap().starts_with(name));
    found.unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

/// What fio did is in the recording, request by request, under the names of groups and threads.
#[test]
fn what_programs_do_is_recorded() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 16);
    host.make_file("log", 4);
    host.mount_well(&["--scheduler", "bfq", "--tunable", "bfq.slice_idle_ms=2", "--depth", "4"]);
    let (readers, log) = (host.group("readers", "weight=300"), host.group("log", "max_iops=5000"));
    let (recording, path) = begin(&host, &[]);
    let fio = |name: &str, more: &str| {
        format!("fio --name={name} --filename='{}' --bs=4k --minimal {more}", host.file(name))
    };
    let reads = fio("data", "--rw=randread --direct=1 --number_ios=300 --ioengine=psync");
    let writes = fio("log", "--rw=write --direct=1 --number_ios=100 --fsync=1 --ioengine=psync");
    let (reads, writes) = (host.start(&readers, &reads), host.start(&log, &writes));
    finish(reads);
    finish(writes);
    let said = end(recording);
    assert!(said.contains("requests recorded, none lost"), "{said}");
    let by_group = shown(&path, "group");
    let settings = [&readers, &log].map(|path| by_group["about"]["settings"][path].clone());
    assert_eq!(settings[0], json!({ "weight": 300.0 }));
    assert_eq!(settings[1], json!({ "weight": 100.0, "max_iops": 5000.0 }));
    let (readers, log) = (part(&by_group, &readers), part(&by_group, &log));
    assert_eq!((&readers["reads"], &readers["bytes"]), (&300.into(), &(300 * 4096).into()));
    assert_eq!(log["writes"], 100);
    // fio may leave out the last one.
    assert!(log["flushes"].as_u64().unwrap() >= 99, "{log:#}");
    for figure in ["took_ms", "waited_ms", "served_ms", "think_ms"] {
        assert!(readers[figure]["p50"].as_f64().unwrap() >= 0.0, "{readers:#}");
    }
    assert_eq!(readers["unfinished"], 0);
    assert!(part(&shown(&path, "task"), "fio-")["ios"].as_u64().unwrap() >= 100);
    let about = &by_group["about"];
    assert_eq!(about["scheduler"], "bfq");
    assert_eq!(about["tunables"], json!(["bfq.slice_idle_ms=2"]));
    assert_eq!((&about["depth"], &about["tells_costs"]), (&4.into(), &false.into()));
    assert!(about["kernel"].as_str().unwrap().len() > 2 && about["start_unix_ns"].is_u64());
    // The lab replays it.
    let run = fairdisk(&["run", path.to_str().unwrap(), "--device", "nvme", "--seeds", "1"]);
    assert!(run.status.success(), "{}", text(&run));
    assert!(String::from_utf8_lossy(&run.stdout).contains("Replayed closed loop"));
    host.unmount();
}

/// Ctrl-C ends a recording also where the process of the mount is stopped, and says so.
#[test]
fn a_mount_that_does_not_answer_does_not_hold_a_recording() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let said = text(&host.mount(&[]));
    let pid = process(&said);
    let (recording, path) = begin(&host, &[]);
    signal(pid, Signal::STOP);
    rustix::process::kill_process(rustix::process::Pid::from_child(&recording), Signal::INT)
        .unwrap();
    let output = recording.wait_with_output().unwrap();
    signal(pid, Signal::CONT);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("does not answer"), "{}", text(&output));
    assert!(path.metadata().unwrap().len() > 0);
    host.unmount();
}

#[test]
fn a_recording_ends_with_its_time_and_there_is_one_at_a_time() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let (recording, path) = begin(&host, &[]);
    let at = host.at().display().to_string();
    let refused = fairdisk(&["record", "--at", &at, "-o", path.to_str().unwrap(), "--for", "1s"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused).contains("runs already"), "{}", text(&refused));
    // The file of the first one is still its own.
    let said = end(recording);
    assert!(said.contains("requests recorded"), "{said}");
    assert!(path.metadata().unwrap().len() > 0);
    let second = host.scratch().join("second.fdt").display().to_string();
    let short = fairdisk(&["record", "--at", &at, "-o", &second, "--for", "100ms"]);
    assert!(short.status.success(), "{}", text(&short));
    // Who cannot be asked leaves the file as it is.
    let long = fairdisk(&["record", "--at", "/", "-o", path.to_str().unwrap()]);
    assert_eq!(long.status.code(), Some(1), "{}", text(&long));
    host.unmount();
}

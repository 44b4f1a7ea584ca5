//! Commits: what an `fsync` took, from the call to the answer, and what it waited for.

use crate::host::{Host, fairdisk, finish, lacks_something, text};
use serde_json::Value;
use std::fs;

/// What fio says of its `fsync`s: how many there were, and the 99th percentile in ms.
fn of_fio(output: &str) -> (u64, f64) {
    let fio: Value = serde_json::from_str(output).unwrap();
    let sync = &fio["jobs"][0]["sync"];
    let p99_ns = sync["lat_ns"]["percentile"]["99.000000"].as_f64().unwrap();
    (sync["total_ios"].as_u64().unwrap(), p99_ns / 1e6)
}

#[test]
fn a_commit_is_seen_as_the_program_sees_it() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&["--device-model", "hdd-7200-2007"]);
    let group = host.group("committer", "fsync_p99_ms=0.5");
    let log = host.scratch().join("fio.json");
    let command = format!(
        "fio --name=job --filename={} --size=4M --bs=4k --rw=write --fsync=1 --number_ios=80 \
         --output-format=json --output={}",
        host.file("wal"),
        log.display()
    );
    finish(host.start(&group, &command));
    let (count, p99_ms) = of_fio(&fs::read_to_string(log).unwrap());
    let entry = host.entry(&group);
    let flush = &entry["ops"]["flush"];
    assert!(flush["count"].as_u64() >= Some(count) && count > 40, "{count}: {entry}");
    let ours = flush["p99_ms"].as_f64().unwrap();
    assert!((0.7 * p99_ms..=1.1 * p99_ms + 1.0).contains(&ours), "{ours} ms, fio: {p99_ms} ms");
    // The data of a commit has to be written before anything is flushed.
    let waits = &entry["flush_waits"];
    let p99 = |part: &str| waits[part]["p99_ms"].as_f64().unwrap();
    assert!(p99("own_data") > 0.0, "{waits}");
    assert!(p99("own_data") + p99("scheduler") + p99("source") > 0.7 * ours, "{waits}");
    assert!(p99("own_data") < ours * 1.1 && p99("scheduler") <= ours, "{waits}");
    let list = text(&host.ctl(&["list"]));
    let line = |begin: &str| list.lines().find(|line| line.contains(begin)).unwrap_or_default();
    assert!(line("  fsync  ").contains("  p99: own data "), "{list}");
    assert!(line(&group).contains("(fsync p99<=0.5 ms missed: "), "{list}");
    let at = host.at();
    let top = fairdisk(&["top", "--at", at.to_str().unwrap(), "--json", "--once"]);
    let object: Value = serde_json::from_slice(&top.stdout).unwrap();
    let groups = object["groups"].as_array().unwrap();
    let shown = groups.iter().find(|entry| entry["name"] == group.as_str()).unwrap();
    assert_eq!(shown["limits"]["fsync_p99_ms"], 0.5, "{shown}");
    host.unmount();
}

/// A target is stored and shown, and nobody is told that a scheduler sees to it.
#[test]
fn a_target_for_commits_is_kept_and_no_scheduler_claims_it() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let group = host.group("committer", "weight=300");
    let set = text(&host.ctl(&["set", &group, "fsync_p99_ms=10"]));
    let note = "note: fair takes no notice of fsync_p99_ms; no scheduler does. Whether a target is \
                met is shown\n";
    assert_eq!(set, note);
    let got = text(&host.ctl(&["get", &group]));
    assert_eq!(got, "weight=300 fsync_p99_ms=10 [fair takes no notice of fsync_p99_ms]\n");
    let refused = host.ctl(&["set", &group, "fsync_p99_ms=0"]);
    assert!(text(&refused).contains("a target for fsync is a number of ms from 0.001 to 60000"));
    assert_eq!(refused.status.code(), Some(2));
    host.unmount();
}

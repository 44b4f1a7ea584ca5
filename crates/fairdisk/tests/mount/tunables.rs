//! The tunables of the scheduler on a running mount.

use crate::host::{Host, lacks_something, text};
use serde_json::Value;

/// The value of a tunable as `ctl scheduler --json` shows it.
fn shown(host: &Host, key: &str) -> Value {
    let said = host.ctl(&["scheduler", "--json"]);
    let all: Value = serde_json::from_slice(&said.stdout).unwrap();
    let tunables = all["tunables"].as_array().unwrap();
    let found = tunables.iter().find(|tunable| tunable["key"] == key);
    found.unwrap_or_else(|| panic!("{key}: {all:#}"))["value"].clone()
}

#[test]
fn tunables_are_set_under_load_shown_and_kept_with_the_scheduler() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    host.make_file("data", 64);
    host.mount_well(&["--scheduler", "cfq", "--tunable", "slice_sync_ms=50"]);
    let group = host.group("load", "weight=200");
    let file = host.file("data");
    let load = host.start(
        &group,
        &format!(
            "fio --name=job --filename={file} --size=64M --bs=4k --rw=randread --direct=1 \
             --runtime=2 --time_based --minimal"
        ),
    );
    let set = |args: &[&str]| {
        let done = host.ctl(&[&["scheduler"], args].concat());
        assert!(done.status.success(), "{}", text(&done));
    };
    set(&["cfq", "cfq.slice_idle_ms=0", "quantum=8"]);
    assert_eq!(shown(&host, "cfq.slice_sync_ms"), "50");
    assert_eq!(shown(&host, "cfq.slice_idle_ms"), "0");
    // The scheduler that runs keeps what is not named.
    set(&["cfq", "quantum=default"]);
    let tunables = host.status()["tunables"].clone();
    assert_eq!(tunables, serde_json::json!(["cfq.slice_idle_ms=0", "cfq.slice_sync_ms=50"]));
    let table = text(&host.ctl(&["scheduler"]));
    let line = table.lines().find(|line| line.starts_with("cfq.slice_idle_ms ")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words, ["cfq.slice_idle_ms", "0", "8", "0", "to", "1000000"], "{table}");
    // Another one begins with its own.
    set(&["fair", "rules.pace=false"]);
    assert_eq!(host.status()["tunables"], serde_json::json!(["rules.pace=false"]));
    set(&["cfq"]);
    assert_eq!(shown(&host, "cfq.slice_idle_ms"), "8");
    crate::host::finish(load);
    host.unmount();
}

#[test]
fn a_tunable_that_cannot_be_set_changes_nothing() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let wrong = host.mount(&["--tunable", "rules.paces=false"]);
    assert_eq!(wrong.status.code(), Some(2));
    let says = "--tunable rules.paces=false: unknown tunable `rules.paces`; did you mean \
                `rules.pace`?";
    assert!(text(&wrong).contains(says), "{}", text(&wrong));
    host.mount_well(&["--tunable", "rules.pace=false"]);
    for (args, says) in [
        (["cfq", "quantum=0"], "quantum=0: `quantum` is 0; allowed: 1 to 1000000"),
        (["group-cfq", "group_layer.slice_ms=0"], "`slice_ms` is 0; allowed: 1 to 1000000"),
        (["cfq", "quantom=8"], "unknown tunable `quantom`; did you mean `quantum`?"),
        (["fair", "rules.room=off"], "`room`: expected true or false"),
        (["fair", "pace"], "pace: expected KEY=VALUE"),
    ] {
        let refused = host.ctl(&[&["scheduler"], &args[..]].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
        assert!(text(&refused).contains(says), "{}", text(&refused));
    }
    let status = host.status();
    assert_eq!(status["scheduler"], "fair");
    assert_eq!(status["tunables"], serde_json::json!(["rules.pace=false"]));
    host.unmount();
}

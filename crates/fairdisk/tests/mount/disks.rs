//! Two disks with mounts: settings are for both, or for one, and say which.

use crate::host::{Host, is_missing, lacks_something, text};
use serde_json::Value;
use std::process::{Command, Output};

/// Runs a script beside two mounts on two disks, with the process identifiers of both ended after
/// it. `ctl ARGUMENTS` stands for `fairdisk ctl`.
fn beside_two(host: &Host, script: &str) -> Output {
    let begin = "mount -t tmpfs none /run; set -e; ctl() { \"$PROGRAM\" ctl \"$@\"; }
        mkdir -p $PLACE/memory $PLACE/other; mount -t tmpfs none $PLACE/memory
        for pair in \"$SOURCE $MNT\" \"$PLACE/memory $PLACE/other\"; do
            \"$PROGRAM\" mount --separate --log-file $PLACE/log $pair > /dev/null 2>&1
        done
        trap 'umount $MNT $PLACE/other' EXIT";
    Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &format!("{begin}\n{script}")])
        .env("PROGRAM", env!("CARGO_BIN_EXE_fairdisk"))
        .env("PLACE", host.scratch())
        .env("GROUP", host.path_of("tenant"))
        .env("DIRECTORY", host.group_directory("tenant"))
        .env("SOURCE", host.source(""))
        .env("MNT", host.at())
        .output()
        .unwrap()
}

/// Lines of `ctl get` without the names of disks.
fn got(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", text(output));
    let said = String::from_utf8_lossy(&output.stdout);
    let without = |line: &str| {
        let disk = line.split_once(": ").filter(|(disk, _)| !disk.contains(' '));
        disk.map_or(line, |(_, rest)| rest).to_owned()
    };
    said.lines().map(without).collect()
}

#[test]
fn each_disk_has_its_own_ceiling_and_both_have_the_weight() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let host = Host::new();
    host.make_group("tenant");
    // A file system in memory is another disk whenever it is mounted, so this is one script.
    let all = beside_two(
        &host,
        "ctl set --at $MNT $GROUP max_bps=400M
         ctl set --at $PLACE/other $GROUP max_bps=20M weight=300
         ctl get --at $MNT $GROUP; ctl get --at $PLACE/other $GROUP
         ctl set $DIRECTORY max_bps=1M max_iops=70; ctl get $GROUP | sort -t = -k 4
         FAIRDISK_AT=$MNT ctl set $GROUP max_bps=none; ctl get --at $MNT $GROUP
         ctl set $GROUP max_bps=2M; ctl get --at $MNT $GROUP
         ctl list | grep -c '^group  *weight'",
    );
    let (own, both) = (["419430400", "20971520"], "weight=300 max_iops=70");
    let replaced = "[other disks: max_bps=1048576]";
    let expected = [
        format!("weight=300 max_bps={}", own[0]),
        format!("weight=300 max_bps={}", own[1]),
        // What is set for all does not change what a disk has of its own.
        format!("{both} max_bps={} {replaced}", own[1]),
        format!("{both} max_bps={} {replaced}", own[0]),
        format!("{both} {replaced}"),
        format!("{both} max_bps=2097152"),
        "2".to_owned(),
    ];
    assert_eq!(got(&all), expected);
    let which = beside_two(&host, "ctl scheduler noop");
    assert_eq!(which.status.code(), Some(2), "{}", text(&which));
    let says = "several mounts have schedulers of their own; choose one with --at:\n  --at ";
    assert!(text(&which).contains(says), "{}", text(&which));
}

/// A group that has used a disk is shown there with what was set for it at another.
#[test]
fn a_disk_without_load_shows_a_change_within_a_second() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let host = Host::new();
    host.make_group("tenant");
    let seen = beside_two(
        &host,
        "sh -c 'echo 0 > $DIRECTORY/cgroup.procs; for at in $MNT $PLACE/other; do
             dd if=/dev/zero of=$at/file bs=4k count=1 conv=fsync 2>/dev/null; done'
         ctl set --at $MNT $GROUP weight=440 > /dev/null
         for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
             line=$(ctl list --at $PLACE/other | grep \"^$GROUP .* 440 \") && break
             timeout 0.1 tail -f /dev/null || true
         done
         echo $line | cut -d ' ' -f 2",
    );
    assert_eq!(got(&seen), ["440"], "{}", text(&seen));
}

/// What was done before a mark is in the totals alone.
#[test]
fn what_groups_got_since_a_mark_is_told_apart() {
    if lacks_something() || is_missing("unshare") {
        return;
    }
    let host = Host::new();
    host.make_group("tenant");
    let load = |mib: u32| {
        format!(
            "sh -c 'echo 0 > $DIRECTORY/cgroup.procs
             dd if=/dev/zero of=$MNT/file bs=1M count={mib} oflag=direct 2>/dev/null'"
        )
    };
    let script = format!(
        "{}; ctl mark --at $MNT monday; {}
         ctl list --at $MNT --since monday --json; ctl list --at $MNT --json
         ctl list --since monday; ctl status",
        load(3),
        load(5)
    );
    let output = beside_two(&host, &script);
    assert!(output.status.success(), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stdout);
    let since: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    let group = host.path_of("tenant");
    let of = |value: &Value, key: &str| {
        let groups = value["groups"].as_array().unwrap();
        groups.iter().find(|it| it[key] == group.as_str()).cloned().unwrap()
    };
    let got = of(&since, "name");
    let bytes = 1e6 * got["mb_per_s"].as_f64().unwrap() * since["duration_s"].as_f64().unwrap();
    assert!((bytes - f64::from(5 << 20)).abs() < 1.0, "{got}");
    assert!(got["asked"].as_f64() > Some(0.99), "{got}");
    assert!(said.contains("\"written_bytes\": 8388608"), "{said}");
    // Operations of a megabyte, as the table of them since the mark counts them.
    let table = said.split("since mark monday\n").nth(1).unwrap();
    let counted = table.lines().find(|line| line.contains(" write "));
    let counted = counted.and_then(|line| line.split_whitespace().nth(2)?.parse::<f64>().ok());
    let expected = got["ops"]["write"]["per_s"].as_f64().unwrap();
    let expected = expected * since["duration_s"].as_f64().unwrap();
    assert!(counted.is_some_and(|counted| (counted - expected).abs() < 0.5), "{said}");
    for part in ["since mark monday\n", "since the mount (", ": fair, pid ", " on /"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

//! Two disks with mounts: settings are for both, or for one, and say which.

use crate::host::{Host, is_missing, lacks_something, text};
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
    let both = beside_two(
        &host,
        "ctl set --at $MNT $GROUP max_bps=400M
         ctl set --at $PLACE/other $GROUP max_bps=20M weight=300
         ctl get --at $MNT $GROUP; ctl get --at $PLACE/other $GROUP",
    );
    let (first, second) = ("weight=300 max_bps=419430400", "weight=300 max_bps=20971520");
    assert_eq!(got(&both), [first, second]);
    // What is set for all does not change what a disk has of its own.
    let all = beside_two(&host, "ctl set $DIRECTORY max_bps=1M max_iops=70; ctl get $GROUP");
    let mut lines = got(&all);
    lines.sort();
    let replaced = "[other disks: max_bps=1048576]";
    let [first, second] =
        ["419430400", "20971520"].map(|bps| format!("weight=300 max_iops=70 max_bps={bps}"));
    assert_eq!(lines, [format!("{second} {replaced}"), format!("{first} {replaced}")]);
    let back = beside_two(
        &host,
        "FAIRDISK_AT=$MNT ctl set $GROUP max_bps=none; ctl get --at $MNT $GROUP
         ctl set $GROUP max_bps=2M; ctl get --at $MNT $GROUP
         ctl list | grep -c '^group  *weight'",
    );
    let none = "weight=300 max_iops=70 [other disks: max_bps=1048576]";
    assert_eq!(got(&back), [none, "weight=300 max_iops=70 max_bps=2097152", "2"]);
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

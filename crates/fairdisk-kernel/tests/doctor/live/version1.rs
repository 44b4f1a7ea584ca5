//! Faults that can be planted where version 1 of cgroups has `blkio`, or with any version.

use super::machine::{Machine, run};
use super::{about, faults_about};
use fairdisk_kernel::Cause;
use std::fs;
use std::path::Path;

/// Where `blkio` is, or `None` with the reason printed.
pub(super) fn blkio() -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mut found = fields.filter(|it| it[2] == "cgroup" && it[3].split(',').any(|o| o == "blkio"));
    let top = found.next().map(|fields| fields[1].to_owned());
    if top.is_none() {
        println!("skipped: version 1 of cgroups does not have blkio");
    }
    top
}

/// The top of the tree of version 2.
fn unified() -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.find(|it| it[2] == "cgroup2").map(|fields| fields[1].to_owned())
}

#[test]
fn a_healthy_disk_gives_no_alarm() {
    let (Some(mut machine), Some(top)) = (Machine::new(), blkio()) else { return };
    let name = machine.name();
    let group = machine.group(&top, &name);
    if !machine.schedule(&machine.disk(), "bfq") {
        return;
    }
    fs::write(group.join("blkio.bfq.weight"), "300").unwrap();
    let limit = format!("{} 1048576", machine.number());
    fs::write(group.join("blkio.throttle.read_bps_device"), limit).unwrap();
    machine.waits(&["ionice", "-c", "2", "-n", "1"]);
    let findings = machine.found();
    let faults = faults_about(&findings, &[&machine.disk(), &name]);
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn weights_under_schedulers_that_have_none() {
    let (Some(mut machine), Some(top)) = (Machine::new(), blkio()) else { return };
    let (disk, name) = (machine.disk(), machine.name());
    let group = machine.group(&top, &name);
    if !machine.schedule(&disk, "bfq") {
        return;
    }
    fs::write(group.join("blkio.bfq.weight"), "300").unwrap();
    for scheduler in ["none", "mq-deadline", "kyber"] {
        if !machine.schedule(&disk, scheduler) {
            continue;
        }
        let findings = machine.found();
        let fault = about(&findings, &disk, |it| matches!(it, Cause::WeightsUnheeded { .. }));
        assert!(fault.text.contains(scheduler), "{}", fault.text);
        let place = fault.places.iter().find(|place| place.file.contains(&name)).unwrap();
        assert_eq!(place.value, "300");
        // The command that is proposed mends it.
        run("sh", &["-c", &fault.mend[0]]).unwrap();
        let findings = machine.found();
        let mended = faults_about(&findings, &[&disk]);
        assert!(mended.is_empty(), "{mended:#?}");
    }
}

#[test]
fn io_priorities_under_a_scheduler_that_has_none() {
    let Some(mut machine) = Machine::new() else { return };
    let disk = machine.disk();
    if !machine.schedule(&disk, "none") {
        return;
    }
    machine.waits(&["ionice", "-c", "3"]);
    let findings = machine.found();
    let fault = about(&findings, &disk, |it| matches!(it, Cause::IoniceUnheeded { .. }));
    assert!(fault.places.iter().any(|place| place.value == "idle"), "{fault:#?}");
    if machine.schedule(&disk, "mq-deadline") {
        machine.waits(&["ionice", "-c", "2", "-n", "0"]);
        let findings = machine.found();
        let fault = about(&findings, &disk, |it| matches!(it, Cause::LevelUnheeded { .. }));
        assert!(fault.places.iter().any(|place| place.value == "best-effort:0"), "{fault:#?}");
    }
}

#[test]
fn a_limit_of_writes_that_buffered_writes_pass_by() {
    let (Some(mut machine), Some(top)) = (Machine::new(), blkio()) else { return };
    let name = machine.name();
    let group = machine.group(&top, &name);
    let limit = format!("{} 1048576", machine.number());
    fs::write(group.join("blkio.throttle.write_bps_device"), limit).unwrap();
    let findings = machine.found();
    let fault = about(&findings, &name, |it| {
        matches!(it, Cause::WritebackOfVersionOne { has_limit: true, .. })
    });
    assert!(fault.is_fault());
}

#[test]
fn a_scheduler_above_the_disk_that_goes_by_weights() {
    let (Some(mut machine), Some(top)) = (Machine::new(), blkio()) else { return };
    let name = machine.name();
    let group = machine.group(&top, &name);
    // The disk below is a loop device with a file system, on which the upper one lies.
    let (below, at) = (machine.disk(), tempfile::tempdir().unwrap());
    let device = format!("/dev/{below}");
    run("mkfs.ext4", &["-q", &device]).unwrap();
    run("mount", &[&device, at.path().to_str().unwrap()]).unwrap();
    let upper = machine.add_loop(at.path()).unwrap();
    let ready = machine.schedule(&below, "none") && machine.schedule(&upper, "bfq");
    let findings = ready.then(|| {
        fs::write(group.join("blkio.bfq.weight"), "300").unwrap();
        machine.findings(&format!("/dev/{upper}"), &[])
    });
    drop(machine);
    run("umount", &["--lazy", at.path().to_str().unwrap()]).unwrap();
    let Some(findings) = findings else { return };
    let fault = about(&findings, &upper, |it| matches!(it, Cause::SchedulerAbove { .. }));
    assert!(fault.text.contains(&below), "{}", fault.text);
}

#[test]
fn a_limit_of_a_unit_on_a_partition() {
    let Some(mut machine) = Machine::new() else { return };
    let disk = machine.disk();
    run("addpart", &[&format!("/dev/{disk}"), "1", "2048", "4096"]).unwrap();
    let unit = machine.unit(&format!("IOReadBandwidthMax=/dev/{disk}p1 1M"));
    let findings = machine.found();
    let fault = about(&findings, &unit, |it| matches!(it, Cause::OnPartition { .. }));
    assert!(fault.text.contains(&format!("all of {disk}")), "{}", fault.text);
}

#[test]
fn a_limit_on_a_partition_is_refused_by_the_kernel() {
    let (Some(mut machine), Some(top)) = (Machine::new(), blkio()) else { return };
    let (disk, name) = (machine.disk(), machine.name());
    let group = machine.group(&top, &name);
    run("addpart", &[&format!("/dev/{disk}"), "1", "2048", "4096"]).unwrap();
    let number = fs::read_to_string(format!("/sys/block/{disk}/{disk}p1/dev")).unwrap();
    let limit = format!("{} 1048576", number.trim());
    assert!(fs::write(group.join("blkio.throttle.read_bps_device"), limit).is_err());
}

#[test]
fn a_limit_of_a_unit_on_a_disk_that_is_gone() {
    let Some(mut machine) = Machine::new() else { return };
    let unit = machine.unit("IOWriteBandwidthMax=/dev/fairdisk-is-not-there 1M");
    let findings = machine.found();
    about(&findings, &unit, |it| matches!(it, Cause::DiskGone { .. }));
}

#[test]
fn a_group_of_version_2_while_version_1_has_the_controller() {
    let (Some(mut machine), Some(_)) = (Machine::new(), blkio()) else { return };
    let Some(top) = unified() else {
        println!("skipped: version 2 of cgroups is not mounted");
        return;
    };
    let unit = machine.unit("IOWeight=200");
    machine.group(&top, &unit);
    let findings = machine.findings(&format!("/dev/{}", machine.disk()), &[&unit]);
    let is_wanted = |it: &Cause| matches!(it, Cause::VersionOneHasIo { group: Some(_), .. });
    let of_group = about(&findings, &unit, is_wanted);
    assert!(of_group.text.contains("version 1"), "{}", of_group.text);
    let of_unit = about(&findings, "/run/systemd/system", is_wanted);
    assert_eq!(of_unit.places[0].value, "IOWeight=200");
}

#[test]
fn a_path_without_disk() {
    let Some(machine) = Machine::new() else { return };
    if !Path::new("/dev/shm").is_dir() {
        println!("skipped: no /dev/shm");
        return;
    }
    let findings = machine.findings("/dev/shm/.", &[]);
    about(&findings, "/dev/shm", |it| matches!(it, Cause::NoDisk { .. }));
}

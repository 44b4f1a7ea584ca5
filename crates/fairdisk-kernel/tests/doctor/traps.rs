//! The known traps, each as a tree of files, and healthy systems that give no false alarm.

use crate::tree::Tree;
use fairdisk_kernel::{Cause, Finding, Severity};

/// The one fault among the findings.
fn the_fault(findings: &[Finding]) -> &Finding {
    let faults: Vec<&Finding> = findings.iter().filter(|finding| finding.is_fault()).collect();
    assert_eq!(faults.len(), 1, "{findings:#?}");
    faults[0]
}

fn mends(finding: &Finding, command: &str) {
    assert!(finding.mend.iter().any(|one| one == command), "{finding:#?}");
}

#[test]
fn a_healthy_disk_gives_no_alarm() {
    for scheduler in ["none", "mq-deadline", "kyber", "bfq"] {
        let findings = Tree::new().disk("sda", "8:0", scheduler).v2().findings();
        assert!(findings.is_empty(), "{scheduler}: {findings:#?}");
    }
    let shared = Tree::new()
        .disk("sda", "8:0", "bfq")
        .v2()
        .group("db", "io.bfq.weight", "default 300")
        .group("backup", "io.max", "8:0 rbps=max wbps=1048576 riops=max wiops=max")
        .thread(70, 1 << 13);
    let findings = shared.findings();
    assert!(findings.is_empty(), "{findings:#?}");
    let by_cost = Tree::new()
        .disk("sda", "8:0", "none")
        .v2()
        .file("sys/fs/cgroup/io.cost.qos", "8:0 enable=1 ctrl=user rpct=95.00 rlat=5000")
        .file("sys/fs/cgroup/io.cost.model", "8:0 ctrl=user model=linear rbps=1000000")
        .group("db", "io.weight", "default 300\n8:0 400");
    let findings = by_cost.findings();
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn weights_without_bfq_and_io_cost_do_nothing() {
    for (scheduler, file) in
        [("none", "io.weight"), ("mq-deadline", "io.bfq.weight"), ("kyber", "io.weight")]
    {
        let tree = Tree::new().disk("sda", "8:0", scheduler).v2();
        let findings = tree.group("db", file, "default 300").findings();
        let fault = the_fault(&findings);
        assert_eq!(fault.severity, Severity::DoesNothing);
        let Cause::WeightsUnheeded { disk, scheduler: named, groups, .. } = &fault.cause else {
            panic!("{fault:#?}")
        };
        assert_eq!((disk.as_str(), named.as_str(), *groups), ("sda", scheduler, 1));
        assert_eq!(fault.places[1].file, format!("/sys/fs/cgroup/db/{file}"));
        assert_eq!(fault.places[1].value, "300");
        mends(fault, "echo bfq > /sys/block/sda/queue/scheduler");
    }
    let tree = Tree::new().disk("sda", "8:0", "none").v1();
    let findings = tree.group_of_v1("db", "blkio.bfq.weight", "300").findings();
    assert!(matches!(the_fault(&findings).cause, Cause::WeightsUnheeded { .. }));
}

#[test]
fn each_scheduler_goes_by_a_weight_of_its_own() {
    let tree = Tree::new().disk("sda", "8:0", "bfq").v2();
    let findings = tree.group("db", "io.weight", "default 300").findings();
    let fault = the_fault(&findings);
    assert!(matches!(&fault.cause, Cause::OtherWeight { by, .. } if by == "BFQ"), "{fault:#?}");
    mends(fault, "echo 300 > /sys/fs/cgroup/db/io.bfq.weight");
    // BFQ takes 1000 at most.
    let tree = Tree::new().disk("sda", "8:0", "bfq").v2();
    let findings = tree.group("db", "io.weight", "default 3400").findings();
    mends(the_fault(&findings), "echo 1000 > /sys/fs/cgroup/db/io.bfq.weight");
    let tree = Tree::new()
        .disk("sda", "8:0", "none")
        .v2()
        .file("sys/fs/cgroup/io.cost.qos", "8:0 enable=1 ctrl=user")
        .file("sys/fs/cgroup/io.cost.model", "8:0 ctrl=user model=linear");
    let findings = tree.group("db", "io.bfq.weight", "default 300").findings();
    mends(the_fault(&findings), "echo 300 > /sys/fs/cgroup/db/io.weight");
}

#[test]
fn weights_of_systemd_are_squeezed_for_bfq() {
    let found = |group: &str, asked: u64, made: u64| {
        let tree = Tree::new().disk("sda", "8:0", "bfq").v2();
        tree.group(group, "io.weight", &format!("default {asked}"))
            .group(group, "io.bfq.weight", &format!("default {made}"))
            .findings()
    };
    // The mend asks for what becomes 105, 200, 300 and 666. Of 105 systemd makes the usual 100.
    for (asked, made, mend) in
        [(105, 100, 155), (200, 109, 1200), (300, 118, 2300), (666, 151, 6326)]
    {
        let findings = found("db.service", asked, made);
        let fault = the_fault(&findings);
        assert_eq!(fault.severity, Severity::DoesSomethingElse);
        assert!(matches!(fault.cause, Cause::SystemdScale { .. }), "{fault:#?}");
        mends(fault, &format!("systemctl set-property db.service IOWeight={mend}"));
        // What is asked for so is no fault.
        let findings = found("db.service", mend, asked);
        assert_eq!((findings.len(), findings[0].severity), (1, Severity::Note), "{findings:#?}");
    }
    mends(the_fault(&found("db", 200, 109)), "echo 200 > /sys/fs/cgroup/db/io.bfq.weight");
    // Nobody means 10000 for BFQ.
    let most = found("db.service", 10_000, 1000);
    assert_eq!((most.len(), most[0].severity), (1, Severity::Note), "{most:#?}");
    assert!(most[0].mend.is_empty(), "{most:#?}");
    // Weights that somebody chose himself are no fault.
    let tree = Tree::new().disk("sda", "8:0", "bfq").v2();
    let tree = tree.group("db", "io.weight", "default 300");
    assert!(tree.group("db", "io.bfq.weight", "default 300").findings().is_empty());
}

#[test]
fn io_priorities_need_a_scheduler_that_has_them() {
    let best_effort_0 = 2 << 13;
    let idle = 3 << 13;
    let found = |scheduler: &str, kernel: &str, priority: u32| {
        let tree = Tree::new().disk("sda", "8:0", scheduler).v2().thread(70, priority);
        tree.file("proc/sys/kernel/osrelease", kernel).findings()
    };
    for scheduler in ["none", "kyber"] {
        let findings = found(scheduler, "6.1.0", idle);
        let fault = the_fault(&findings);
        assert!(matches!(&fault.cause, Cause::IoniceUnheeded { threads: 1, .. }), "{fault:#?}");
        assert_eq!(fault.places[0].value, "idle");
        assert!(fault.places[0].file.contains("thread 70 (worker)"));
    }
    assert!(found("mq-deadline", "6.1.0", idle).is_empty());
    assert!(found("bfq", "4.19.0", best_effort_0).is_empty());
    let before_classes = found("mq-deadline", "5.13.0", idle);
    assert!(matches!(the_fault(&before_classes).cause, Cause::IoniceUnheeded { .. }));
    let level = found("mq-deadline", "6.1.0", best_effort_0);
    assert!(matches!(the_fault(&level).cause, Cause::LevelUnheeded { threads: 1, .. }));
    // The usual priority, said aloud.
    assert!(found("none", "6.1.0", 2 << 13 | 4).is_empty());
}

#[test]
fn a_limit_on_a_partition_holds_for_the_disk() {
    let tree = Tree::new().disk("sda", "8:0", "none").partition("sda", "sda1", "8:1").v2();
    let limit = "8:1 rbps=1048576 wbps=max riops=max wiops=max";
    let findings = tree.group("backup", "io.max", limit).findings();
    let fault = the_fault(&findings);
    assert!(fault.text.contains("for all of sda"), "{}", fault.text);
    assert!(matches!(&fault.cause, Cause::OnPartition { device, .. } if device == "sda1"));
    let tree = Tree::new().disk("sda", "8:0", "none").partition("sda", "sda1", "8:1").v2();
    let unit = "[Service]\nIOReadBandwidthMax=/dev/sda1 1M\n";
    let findings = tree.file("etc/systemd/system/backup.service", unit).findings();
    let fault = the_fault(&findings);
    assert!(matches!(fault.cause, Cause::OnPartition { .. }), "{fault:#?}");
    assert_eq!(fault.places[0].value, "IOReadBandwidthMax=/dev/sda1 1M");
}

#[test]
fn a_group_below_one_without_io_has_no_share() {
    let tree = || {
        Tree::new()
            .disk("sda", "8:0", "bfq")
            .v2()
            .group("machine.slice", "io.bfq.weight", "default 200")
            .group("machine.slice/vm1", "cgroup.procs", "70")
    };
    let group = || ["machine.slice/vm1".to_owned()];
    let findings = tree().findings_for(&group()).unwrap();
    let fault = the_fault(&findings);
    assert_eq!(fault.severity, Severity::DoesNothing);
    mends(fault, "echo +io > /sys/fs/cgroup/machine.slice/cgroup.subtree_control");
    let handed = tree().file("sys/fs/cgroup/machine.slice/cgroup.subtree_control", "io memory");
    assert!(handed.findings_for(&group()).unwrap().is_empty());
    // The topmost must hand on first, and processes are in the way.
    let deep = tree()
        .file("sys/fs/cgroup/machine.slice/cgroup.procs", "7")
        .file("sys/fs/cgroup/cgroup.subtree_control", "memory");
    let findings = deep.findings_for(&group()).unwrap();
    let mends: Vec<&String> = findings.iter().flat_map(|finding| &finding.mend).collect();
    let expected = [
        "echo +io > /sys/fs/cgroup/cgroup.subtree_control",
        "mkdir /sys/fs/cgroup/machine.slice/own && for pid in \
         $(cat /sys/fs/cgroup/machine.slice/cgroup.procs); \
         do echo $pid > /sys/fs/cgroup/machine.slice/own/cgroup.procs; done",
        "echo +io > /sys/fs/cgroup/machine.slice/cgroup.subtree_control",
    ];
    assert_eq!(mends, expected);
    assert!(findings[1].text.contains("while processes are in itself"), "{findings:#?}");
    // Who did not ask for a share there is not bothered.
    assert!(tree().findings().is_empty());
    assert_eq!(tree().findings_for(&["/none".into()]).unwrap_err(), "/none: no such cgroup");
}

#[test]
fn version_1_keeps_the_controller_from_version_2() {
    let tree = Tree::new().disk("sda", "8:0", "bfq").v1().v2_without_io().group(
        "db.service",
        "cgroup.procs",
        "70",
    );
    let findings = tree.findings();
    assert_eq!((findings.len(), findings[0].severity), (1, Severity::Note), "{findings:#?}");
    let findings = tree.findings_for(&["db.service".to_owned()]).unwrap();
    let fault = the_fault(&findings);
    assert!(matches!(&fault.cause, Cause::VersionOneHasIo { group: Some(_), .. }), "{fault:#?}");
    let tree = tree.file("etc/systemd/system/db.service", "[Service]\nIOWeight=200\n");
    let findings = tree.findings();
    let fault = the_fault(&findings);
    assert!(fault.text.contains("mounted as `blkio` at /sys/fs/cgroup/blkio"), "{}", fault.text);
}

#[test]
fn buffered_writes_are_charged_to_the_top() {
    let of = |file_system: &str| {
        let tree = Tree::new().disk("sda", "8:0", "bfq").v2();
        let tree = tree.mount("8:0", "/data", file_system, "/dev/sda", "rw");
        let tree = tree.file("data/file", "").group("db", "io.bfq.weight", "default 300");
        tree.findings_at("/data/file").unwrap()
    };
    for file_system in ["ext4", "xfs", "btrfs", "f2fs"] {
        assert!(of(file_system).is_empty(), "{file_system}");
    }
    for file_system in ["vfat", "ntfs3", "jfs"] {
        let findings = of(file_system);
        let fault = the_fault(&findings);
        assert_eq!(fault.severity, Severity::DoesAPart);
        assert!(matches!(&fault.cause, Cause::WritebackOfTop { file_system: named, .. }
            if named == file_system));
    }
}

/// As in the root of a container.
#[test]
fn buffered_writes_on_an_overlay_are_those_of_its_upper_directory() {
    for (file_system, faults) in [("ext4", 0), ("vfat", 1)] {
        let tree = Tree::new()
            .disk("sda", "8:0", "bfq")
            .v2()
            .mount("8:0", "/data", file_system, "/dev/sda", "rw")
            .mount("0:50", "/", "overlay", "overlay", "rw,lowerdir=/l,upperdir=/data/u")
            .group("db", "io.bfq.weight", "default 300")
            .file("x", "");
        let findings = tree.findings_at("/x").unwrap();
        assert_eq!(findings.len(), faults, "{findings:#?}");
        let of_upper = |it: &Finding| {
            matches!(&it.cause, Cause::WritebackOfTop { file_system, .. }
            if file_system == "vfat")
        };
        assert!(findings.iter().all(of_upper), "{findings:#?}");
    }
    // Two that lie on each other have no disk, and end.
    let ring = Tree::new()
        .mount("0:50", "/a", "overlay", "overlay", "rw,lowerdir=/,upperdir=/b/u")
        .mount("0:51", "/b", "overlay", "overlay", "rw,lowerdir=/,upperdir=/a/u")
        .file("a/x", "");
    let findings = ring.findings_at("/a/x").unwrap();
    assert!(matches!(findings[0].cause, Cause::NoDisk { .. }), "{findings:#?}");
}

#[test]
fn all_buffered_writes_are_the_tops_in_version_1() {
    let of = |file: &str, value: &str| {
        let tree = Tree::new().disk("sda", "8:0", "bfq").v1();
        tree.group_of_v1("db", file, value).findings()
    };
    let limited = of("blkio.throttle.write_bps_device", "8:0 1048576");
    let fault = the_fault(&limited);
    assert!(matches!(fault.cause, Cause::WritebackOfVersionOne { has_limit: true, .. }));
    assert!(of("blkio.throttle.read_bps_device", "8:0 1048576").is_empty());
    // A limit for another disk makes no fault of a weight.
    let tree = Tree::new().disk("sda", "8:0", "bfq").disk("sdb", "8:16", "bfq").v1();
    let findings = tree
        .group_of_v1("db", "blkio.bfq.weight", "300")
        .group_of_v1("db", "blkio.throttle.write_bps_device", "8:16 1048576")
        .findings_at("sda")
        .unwrap();
    assert_eq!((findings.len(), findings[0].severity), (1, Severity::Note), "{findings:#?}");
    // Weights are in force, but for that.
    let weighted = of("blkio.bfq.weight", "300");
    assert_eq!((weighted.len(), weighted[0].severity), (1, Severity::Note), "{weighted:#?}");
}

#[test]
fn buffered_writes_are_charged_by_memory() {
    let tree = Tree::new().disk("sda", "8:0", "bfq").v2();
    let tree = tree.group("db", "io.bfq.weight", "default 300");
    let findings = tree.file("sys/fs/cgroup/db/cgroup.controllers", "io").findings();
    let fault = the_fault(&findings);
    assert!(matches!(fault.cause, Cause::WritebackWithoutMemory { .. }), "{fault:#?}");
    mends(fault, "echo +memory > /sys/fs/cgroup/cgroup.subtree_control");
    let deep = |at_top: &str| {
        let tree = Tree::new().disk("sda", "8:0", "bfq").v2();
        tree.file("sys/fs/cgroup/cgroup.controllers", at_top)
            .group("shop", "cgroup.controllers", "io")
            .group("shop/db", "io.bfq.weight", "default 300")
            .file("sys/fs/cgroup/shop/db/cgroup.controllers", "io")
            .findings()
    };
    let findings = deep("io memory");
    let expected = ["", "/shop"]
        .map(|group| format!("echo +memory > /sys/fs/cgroup{group}/cgroup.subtree_control"));
    assert_eq!(the_fault(&findings).mend, expected);
    let findings = deep("io");
    let fault = the_fault(&findings);
    assert!(fault.mend.is_empty() && fault.text.contains("does not have here"), "{fault:#?}");
}

#[test]
fn a_latency_target_needs_a_kernel_that_has_it() {
    let unit = "[Service]\nIODeviceLatencyTargetSec=/dev/sda 25ms\n";
    let tree = || Tree::new().disk("sda", "8:0", "none").v2().group("db", "cgroup.procs", "7");
    let tree = || tree().file("etc/systemd/system/db.service.d/50.conf", unit);
    let findings = tree().findings();
    let fault = the_fault(&findings);
    assert!(matches!(&fault.cause, Cause::LatencyUnsupported { unit, .. } if unit == "db.service"));
    assert!(tree().group("db", "io.latency", "8:0 target=25000").findings().is_empty());
}

#[test]
fn what_units_ask_for_must_be_in_their_groups() {
    let tree = |place: &str, text: &str| {
        let tree = Tree::new().disk("sda", "8:0", "bfq").v2();
        let tree = tree.group("system.slice", "cgroup.procs", "");
        let tree = tree.group("system.slice/db.service", "cgroup.procs", "70");
        tree.file(&format!("{place}/db.service"), &format!("[Service]\n{text}\n"))
    };
    let findings = tree("etc/systemd/system", "IOWeight=300").findings();
    let fault = the_fault(&findings);
    assert!(matches!(&fault.cause, Cause::NotInForce { key, .. } if key == "IOWeight"));
    assert!(tree("etc/systemd/system", "IOWeight=100").findings().is_empty());
    assert!(tree("etc/systemd/system", "IOWeight=").findings().is_empty());
    let kept = tree("etc/systemd/system", "IOReadBandwidthMax=/dev/sda 1M");
    let limit = "8:0 rbps=1000000 wbps=max riops=max wiops=max";
    assert!(kept.group("system.slice/db.service", "io.max", limit).findings().is_empty());
    let of_user = tree("etc/systemd/user", "IOWeight=300");
    let of_user = of_user.file("sys/fs/cgroup/system.slice/db.service/cgroup.controllers", "cpu");
    let findings = of_user.findings();
    let fault = the_fault(&findings);
    assert!(matches!(fault.cause, Cause::NotHandedToUsers { .. }), "{fault:#?}");
}

#[test]
fn a_scheduler_above_the_disk_shares_the_upper_device_only() {
    let tree = Tree::new()
        .disk("sda", "8:0", "mq-deadline")
        .mount("8:0", "/", "ext4", "/dev/sda", "rw")
        .disk("loop0", "7:0", "bfq")
        .file("sys/block/loop0/loop/backing_file", "/images/disk")
        .v2()
        .group("db", "io.bfq.weight", "default 300");
    let findings = tree.findings_at("/dev/loop0").unwrap();
    let fault = the_fault(&findings);
    assert!(matches!(&fault.cause, Cause::SchedulerAbove { upper, disk, .. }
        if upper == "loop0" && disk == "sda"));
    mends(fault, "echo bfq > /sys/block/sda/queue/scheduler");
}

#[test]
fn a_weight_for_a_device_that_hands_on_does_nothing() {
    let tree = Tree::new()
        .disk("sda", "8:0", "bfq")
        .disk("dm-0", "253:0", "none")
        .file("sys/block/dm-0/dm/uuid", "CRYPT-LUKS2-0-x")
        .file("sys/block/dm-0/dm/name", "secret")
        .file("sys/block/dm-0/slaves/sda/size", "8")
        .v2();
    let findings = tree.group("db", "io.bfq.weight", "default 100\n253:0 300").findings();
    let fault = the_fault(&findings);
    assert!(matches!(&fault.cause, Cause::WeightOfOtherDisk { device, disk, .. }
        if device == "dm-0" && disk == "sda"));
    mends(fault, "echo '8:0 300' > /sys/fs/cgroup/db/io.bfq.weight");
}

#[test]
fn each_disk_of_an_array_gets_the_weight_that_was_given_to_the_array() {
    let findings = Tree::new()
        .disk("sda", "8:0", "bfq")
        .disk("sdb", "8:16", "bfq")
        .disk("md0", "9:0", "none")
        .file("sys/block/md0/md/level", "raid1")
        .file("sys/block/md0/slaves/sda/size", "1")
        .file("sys/block/md0/slaves/sdb/size", "1")
        .v2()
        .group("db", "io.weight", "9:0 3000")
        .findings_at("md0")
        .unwrap();
    let of_array = findings.iter().filter(|it| matches!(it.cause, Cause::WeightOfOtherDisk { .. }));
    let mends: Vec<&str> = of_array.map(|finding| finding.mend[0].as_str()).collect();
    let expected = ["8:0", "8:16"]
        .map(|number| format!("echo '{number} 1000' > /sys/fs/cgroup/db/io.bfq.weight"));
    assert_eq!(mends, expected);
}

#[test]
fn the_ways_to_a_disk_need_no_scheduler_if_their_device_has_one() {
    let tree = Tree::new()
        .disk("sda", "8:0", "none")
        .disk("sdb", "8:16", "none")
        .disk("dm-0", "253:0", "bfq")
        .file("sys/block/dm-0/dm/uuid", "mpath-360")
        .file("sys/block/dm-0/slaves/sda/size", "8")
        .file("sys/block/dm-0/slaves/sdb/size", "8")
        .v2()
        .group("db", "io.bfq.weight", "default 300");
    let findings = tree.findings_at("/dev/dm-0").unwrap();
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn drives_without_a_medium_give_no_alarm() {
    let found = |name: &str, removable: &str, mounted: bool| {
        let tree = Tree::new()
            .disk(name, "11:0", "mq-deadline")
            .file(&format!("sys/block/{name}/removable"), removable)
            .v2()
            .group("db", "io.bfq.weight", "default 300");
        let mount = |tree: Tree| tree.mount("11:0", "/m", "ext4", &format!("/dev/{name}"), "rw");
        if mounted { mount(tree) } else { tree }.findings()
    };
    for (name, removable) in [("sr0", "1"), ("sr1", "0"), ("fd0", "1"), ("sdc", "1")] {
        let empty = found(name, removable, false);
        assert!(empty.is_empty(), "{name}: {empty:#?}");
        let mounted = found(name, removable, true);
        assert!(matches!(the_fault(&mounted).cause, Cause::WeightsUnheeded { .. }), "{name}");
    }
    assert_eq!(found("sdc", "0", false).len(), 1);
}

#[test]
fn two_that_share_one_disk_are_one_too_many() {
    let tree = |model: &str, scheduler: &str| {
        let tree = Tree::new().disk("sda", "8:0", scheduler).v2();
        let tree = tree.file("sys/fs/cgroup/io.cost.qos", "8:0 enable=1 ctrl=user rpct=95.00");
        tree.file("sys/fs/cgroup/io.cost.model", &format!("8:0 ctrl={model} model=linear"))
    };
    let findings = tree("user", "bfq").findings();
    let fault = the_fault(&findings);
    assert!(matches!(fault.cause, Cause::BfqAndCost { .. }), "{fault:#?}");
    mends(fault, "echo '8:0 enable=0' > /sys/fs/cgroup/io.cost.qos");
    let findings = tree("auto", "none").findings();
    let fault = the_fault(&findings);
    assert!(matches!(fault.cause, Cause::CostUnmeasured { .. }), "{fault:#?}");
    mends(fault, "fairdisk calibrate /dev/sda --reads-only --for io.cost");
}

#[test]
fn a_disk_that_is_gone_is_named() {
    let tree = || Tree::new().disk("sda", "8:0", "none").v2();
    let limit = "8:16 rbps=1048576 wbps=max riops=max wiops=max";
    let findings = tree().group("backup", "io.max", limit).findings();
    let fault = the_fault(&findings);
    assert!(matches!(&fault.cause, Cause::DiskGone { device } if device == "8:16"));
    let unit = "[Service]\nIOWriteIOPSMax=/dev/sdz 100\n";
    let findings = tree().file("run/systemd/system/backup.service", unit).findings();
    assert!(matches!(&the_fault(&findings).cause, Cause::DiskGone { device }
        if device == "/dev/sdz"));
}

#[test]
fn a_path_without_disk_is_said_to_have_none() {
    let tree = Tree::new().v2().mount("0:30", "/tmp", "tmpfs", "tmpfs", "rw");
    let findings = tree.file("tmp/x", "").findings_at("/tmp/x").unwrap();
    assert_eq!((findings.len(), findings[0].severity), (1, Severity::Note));
    assert!(matches!(findings[0].cause, Cause::NoDisk { .. }));
}

//! The devices under a path or device.

use crate::tree::Tree;
use fairdisk_kernel::{Kind, Report, Stack};

fn layers(stack: &Stack) -> Vec<(&str, Kind)> {
    stack.layers.iter().map(|layer| (layer.name.as_str(), layer.kind)).collect()
}

/// A root file system on a logical volume on an encrypted array of two partitions.
fn deep() -> Tree {
    Tree::new()
        .disk("sda", "8:0", "mq-deadline")
        .partition("sda", "sda1", "8:1")
        .disk("sdb", "8:16", "mq-deadline")
        .partition("sdb", "sdb1", "8:17")
        .disk("md0", "9:0", "none")
        .file("sys/block/md0/md/level", "raid1")
        .file("sys/block/md0/slaves/sda1/size", "1")
        .file("sys/block/md0/slaves/sdb1/size", "1")
        .disk("dm-0", "253:0", "none")
        .file("sys/block/dm-0/dm/uuid", "CRYPT-LUKS2-1-x")
        .file("sys/block/dm-0/dm/name", "md0_crypt")
        .file("sys/block/dm-0/slaves/md0/size", "1")
        .disk("dm-1", "253:1", "none")
        .file("sys/block/dm-1/dm/uuid", "LVM-abc")
        .file("sys/block/dm-1/dm/name", "vg-root")
        .file("sys/block/dm-1/slaves/dm-0/size", "1")
        .link("dev/mapper/vg-root", "../dm-1")
        .mount("253:1", "/", "ext4", "/dev/mapper/vg-root", "rw")
}

#[test]
fn a_path_leads_through_all_layers_to_the_disks() {
    let tree = deep().file("srv/db/table", "");
    let stack = tree.stack("/srv/db/table");
    let expected = [
        ("dm-1", Kind::Lvm),
        ("dm-0", Kind::Crypt),
        ("md0", Kind::Array),
        ("sda1", Kind::Partition),
        ("sdb1", Kind::Partition),
        ("sda", Kind::Disk),
        ("sdb", Kind::Disk),
    ];
    assert_eq!(layers(&stack), expected);
    assert_eq!(stack.disks().map(|disk| disk.name.as_str()).collect::<Vec<_>>(), ["sda", "sdb"]);
    // Only the disks have a scheduler.
    let schedulers = stack.layers.iter().filter(|layer| layer.scheduler.is_some());
    assert_eq!(schedulers.count(), 2);
    assert_eq!(layers(&tree.stack("/dev/mapper/vg-root")), expected);
    assert_eq!(layers(&tree.stack("sdb1")), [("sdb1", Kind::Partition), ("sdb", Kind::Disk)]);
    assert!(tree.snapshot().stack("/dev/sdz").unwrap_err().contains("no such device or path"));
}

#[test]
fn files_as_disks_and_layered_file_systems_are_followed() {
    let tree = deep()
        .disk("loop3", "7:3", "bfq")
        .file("sys/block/loop3/loop/backing_file", "/images/data")
        .mount("7:3", "/upper", "ext4", "/dev/loop3", "rw")
        .mount("0:50", "/merged", "overlay", "overlay", "rw,lowerdir=/,upperdir=/upper/u")
        .file("merged/x", "");
    let stack = tree.stack("/merged/x");
    assert_eq!(stack.file_system.as_deref(), Some("overlay"));
    assert_eq!(layers(&stack)[..2], [("loop3", Kind::Loop), ("dm-1", Kind::Lvm)]);
    assert_eq!(stack.disks().count(), 2);
}

#[test]
fn a_file_system_of_several_disks_lies_on_all_of_them() {
    let tree = Tree::new()
        .disk("sda", "8:0", "bfq")
        .disk("sdb", "8:16", "none")
        .file("sys/fs/btrfs/id/devices/sda", "")
        .file("sys/fs/btrfs/id/devices/sdb", "")
        .mount("0:40", "/", "btrfs", "/dev/sda", "rw,subvol=/")
        .v2()
        .group("db", "io.bfq.weight", "default 300");
    assert_eq!(tree.stack("/").layers.len(), 2);
    // One of two goes by weights.
    let findings = tree.findings_at("/").unwrap();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].text.contains("sdb"), "{findings:#?}");
}

#[test]
fn a_report_has_the_stack_and_the_worst_finding_first() {
    let tree = Tree::new()
        .disk("sda", "8:0", "none")
        .partition("sda", "sda1", "8:1")
        .mount("8:1", "/", "vfat", "/dev/sda1", "rw")
        .v2()
        .group("db", "io.weight", "default 300");
    let snapshot = tree.snapshot();
    let stacks = vec![snapshot.stack("/").unwrap()];
    let findings = fairdisk_kernel::check(&snapshot, &stacks, &[]).unwrap();
    let report = Report::new(&snapshot, stacks, findings);
    assert_eq!(report.faults(), 2);
    let text = report.to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "/ (vfat)");
    assert_eq!(lines[2], "  sda          8:0      disk       scheduler none         io.cost off");
    assert!(lines[4].starts_with("1. [does nothing] The weights of 1 group do nothing on sda"));
    assert!(text.contains("\n2. [does only a part] Buffered writes below / belong to nobody"));
    assert!(text.contains("\n   # echo bfq > /sys/block/sda/queue/scheduler\n"), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["findings"][0]["cause"], "weights-unheeded");
    assert_eq!(json["findings"][0]["severity"], "does-nothing");
    assert_eq!(json["stacks"][0]["layers"][1]["scheduler"], "none");
}

#[test]
fn nothing_is_called_healthy_that_was_not_read() {
    let text = |tree: &Tree| {
        let snapshot = tree.snapshot();
        let stacks = snapshot.all_stacks();
        let findings = fairdisk_kernel::check(&snapshot, &stacks, &[]).unwrap();
        Report::new(&snapshot, stacks, findings).to_text()
    };
    let tree = || Tree::new().disk("sda", "8:0", "none").v2().group("db", "cgroup.procs", "7");
    assert!(text(&tree()).contains("Healthy"));
    // A directory, which nobody can read as a file.
    let said = text(&tree().file("sys/fs/cgroup/db/io.max/x", ""));
    let expected = "Not all was seen: 1 file cannot be read, as /sys/fs/cgroup/db/io.max.\n";
    assert!(said.contains(expected) && !said.contains("Healthy"), "{said}");
}

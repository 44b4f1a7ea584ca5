//! What requests cost: measured through a mount that keeps to a device model, and told to another.

use crate::host::{Host, fairdisk, lacks_something, text};
use crate::loop_disk::LoopDisk;
use std::fs;
use std::path::Path;

/// Four servers that take 4 ms for each request, and 200 MB/s each.
const SLOW: &str = "id = \"slow\"\ntitle = \"four servers\"\nkind = \"fixed\"\n\
    capacity_sectors = 8_388_608\nparallel = 4\nlatency_us = 4_000\nmb_per_s = 200\n";

fn calibrate(args: &[&str]) -> std::process::Output {
    fairdisk(&[&["calibrate", "--size", "16M", "--quiet"], args].concat())
}

/// A disk is measured as it is, whatever serves it.
#[test]
fn a_device_behind_a_mount_measures_as_it_is_described() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let slow = host.scratch().join("slow.toml");
    fs::write(&slow, SLOW).unwrap();
    host.mount_well(&["--device-model", slow.to_str().unwrap(), "--scheduler", "noop"]);
    let at = host.at();
    let output = calibrate(&[at.to_str().unwrap(), "--json", "--depth", "8", "--time", "250ms"]);
    assert!(output.status.success(), "{}", text(&output));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let device = &value["device"];
    println!("{device:#}");
    // 4 ms, and 0.02 for 4 KiB or 1.3 for 256 KiB. Only what is at random places, since a mount
    // merges what is adjacent.
    let large = 4.0 * 0.262_144 / 5.31e-3;
    for (path, is) in [
        ("/random_read_iops_qd1", 249.0),
        ("/random_read_iops_qd2", 498.0),
        ("/read/random_iops", 995.0),
        ("/read/random_mb_per_s", large),
        ("/write/random_iops", 995.0),
        ("/write/random_mb_per_s", large),
    ] {
        let found = device.pointer(path).and_then(serde_json::Value::as_f64).unwrap();
        // What the programs on the way take is a part of it.
        assert!((0.6..=1.1).contains(&(found / is)), "{path}: {found}, not {is}");
    }
    assert!(fs::read_dir(&at).unwrap().next().is_none(), "the scratch file is gone");
    host.unmount();
}

#[test]
fn a_mount_goes_by_the_costs_it_is_told() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    let costs = host.scratch().join("mine.toml");
    let (path, source) = (costs.to_str().unwrap().to_owned(), host.source(""));
    let output = calibrate(&[source.to_str().unwrap(), "--output", &path, "--time", "20ms"]);
    assert!(output.status.success(), "{}", text(&output));
    host.mount_well(&["--costs", &path]);
    assert_eq!(host.status()["costs"], *path);
    let shown = text(&host.ctl(&["list"]));
    assert!(shown.contains(&format!(", fair by the costs of {path}, ")), "{shown}");
    host.unmount();
}

#[test]
fn costs_of_no_device_and_of_several_are_refused() {
    if lacks_something() {
        return;
    }
    let mut host = Host::new();
    for (costs, said) in [
        ("nvm", "unknown device `nvm`; did you mean `nvme`?"),
        ("jbod-12x2", "is 12 disks, a mount has one; choose another --costs"),
    ] {
        let output = host.mount(&["--costs", costs]);
        assert_eq!(output.status.code(), Some(2), "{costs}");
        assert!(text(&output).contains(said), "{costs}: {}", text(&output));
    }
    let both = text(&host.mount(&["--costs", "nvme", "--device-model", "nvme"]));
    assert!(both.contains("cannot be used with"), "{both}");
}

/// What is on a device is destroyed only if that is asked for.
#[test]
fn a_block_device_is_written_to_only_if_told_to() {
    if lacks_something() {
        return;
    }
    let host = Host::new();
    let disk = match LoopDisk::new(host.scratch()) {
        Ok(disk) => disk,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let device = format!("/dev/{}", disk.name());
    let image = host.scratch().join("disk");
    let begins = || fs::read(&image).unwrap()[..4096].to_vec();
    let before = begins();
    let refused = calibrate(&[&device]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("--reads-only"), "{}", text(&refused));
    let busy = calibrate(&[&device, "--overwrite"]);
    assert_eq!(busy.status.code(), Some(2), "{}", text(&busy));
    assert!(text(&busy).contains("is in use by another run or mounted"), "{}", text(&busy));
    let read = calibrate(&[&device, "--reads-only", "--time", "20ms", "--json"]);
    assert!(read.status.success(), "{}", text(&read));
    let value: serde_json::Value = serde_json::from_slice(&read.stdout).unwrap();
    assert_eq!(value["device"]["id"], *disk.name());
    let bytes = fs::metadata(&image).unwrap().len();
    assert_eq!(value["device"]["capacity_sectors"], bytes / 512);
    let onto = calibrate(&[host.source("").to_str().unwrap(), "--output", &device]);
    assert_eq!(onto.status.code(), Some(2), "{}", text(&onto));
    assert!(text(&onto).contains("a block device; expected the name of a file"), "{}", text(&onto));
    assert_eq!(before, begins());
    drop(disk);
    let made = LoopDisk::bare(&image).expect("there was one before");
    let device = format!("/dev/{}", made.name());
    let written = calibrate(&[&device, "--overwrite", "--time", "20ms"]);
    assert!(written.status.success(), "{}", text(&written));
    assert!(Path::new(&device).exists() && begins() != before, "it was written to");
    drop(made);
    let closed = LoopDisk::read_only(&image).expect("there was one before");
    let device = format!("/dev/{}", closed.name());
    let refused = calibrate(&[&device, "--overwrite", "--time", "20ms"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("a read-only device"), "{}", text(&refused));
    assert!(text(&refused).contains("use --reads-only"), "{}", text(&refused));
}

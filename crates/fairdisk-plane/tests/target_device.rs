//! A block device as a target. These tests are a program of their own, because a child process
//! holds the locks of files that other tests have open until it executes its program.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::LoopDevice;
use common::target::{open, overwrite, read_only};
use fairdisk_plane::FileNeeds;
use fairdisk_plane::file::is_read_only_device;
use std::path::Path;

#[test]
fn a_block_device_is_read_freely_written_on_demand_and_held_alone() {
    let Some(device) = LoopDevice::attach(1 << 20) else { return };
    let path = &device.path;
    assert!(!is_read_only_device(path));
    assert_eq!(open(path, &read_only(2048)).unwrap().capacity_sectors(), 2048);
    let foreign = open(path, &FileNeeds::scratch(2048)).unwrap_err().to_string();
    assert!(foreign.contains("was not made by Fairdisk"), "{foreign}");
    let small = open(path, &overwrite(2049)).unwrap_err().to_string();
    assert!(small.contains("it has 1048576 bytes, the run needs 1049088"), "{small}");
    let target = open(path, &overwrite(2048)).unwrap();
    assert_eq!((target.capacity_sectors(), target.mark()), (2048, None));
    let busy = open(path, &overwrite(2048)).unwrap_err().to_string();
    assert!(busy.contains("is in use by another run or mounted"), "{busy}");
}

#[test]
fn a_device_that_is_read_only_is_refused_before_the_first_write() {
    let Some(device) = LoopDevice::attach_read_only(1 << 20) else { return };
    let path = &device.path;
    assert!(is_read_only_device(path) && !is_read_only_device(Path::new("/dev/null")));
    let refused = open(path, &overwrite(2048)).unwrap_err().to_string();
    assert!(refused.contains("is a read-only device; name another one"), "{refused}");
    assert_eq!(open(path, &read_only(2048)).unwrap().capacity_sectors(), 2048);
}

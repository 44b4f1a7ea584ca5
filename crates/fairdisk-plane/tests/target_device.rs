//! A block device as a target. These tests are a program of their own, because a child process
//! holds the locks of files that other tests have open until it executes its program.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::LoopDevice;
use common::target::{open, overwrite, read_only};
use fairdisk_plane::FileNeeds;

#[test]
fn a_block_device_is_read_freely_written_on_demand_and_held_alone() {
    let Some(device) = LoopDevice::attach(1 << 20) else { return };
    let path = &device.path;
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

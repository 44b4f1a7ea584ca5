//! The scripts that compare a mount with alternatives, in their short forms; `make bench` runs the
//! long ones. The scripts check what they measure.

use crate::host::{Host, lacks_something, text};
use std::path::Path;
use std::process::Command;

fn short(script: &str) {
    short_in("scripts/mount", script);
}

fn short_in(folder: &str, script: &str) {
    if lacks_something() {
        return;
    }
    // Holds the lock on which tests take turns.
    let _host = Host::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("bash")
        .arg(root.join(folder).join(script))
        .arg("--short")
        .env("FAIRDISK", env!("CARGO_BIN_EXE_fairdisk"))
        .output()
        .unwrap();
    println!("{}", text(&output));
    assert!(output.status.success(), "{script}: {}", output.status);
}

#[test]
fn shares_beside_those_of_the_kernels_schedulers() {
    short("against-kernel.sh");
}

#[test]
fn a_database_beside_a_backup() {
    short("database.sh");
}

#[test]
fn a_database_beside_backups_that_write() {
    short("writing-backup.sh");
}

#[test]
fn recordings_beside_their_replays_and_predictions_beside_what_came() {
    short("round-trip.sh");
}

#[test]
fn what_a_mount_costs() {
    short("cost.sh");
}

#[test]
fn the_page_cache_of_the_kernel_at_hand_misses_what_the_lab_says() {
    short("page-cache.sh");
}

#[test]
fn which_tunables_of_a_loop_device_cost_what() {
    short_in("scripts/blame", "loop-device.sh");
}

//! Daemons that are killed.

use crate::common::{How, Tree, can_mount, detach, until};
use crate::volume::Volume;
use fairdisk_core::Prng;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[test]
fn a_mount_point_whose_daemon_was_killed_can_be_mounted_again() {
    let Some(mut tree) = Tree::new() else { return };
    let mut file = File::create(tree.at("file")).unwrap();
    file.write_all(b"confirmed").unwrap();
    file.sync_all().unwrap();
    drop(file);
    for _ in 0..3 {
        tree.kill();
        let dead = fs::read(tree.at("file")).unwrap_err();
        assert_eq!(dead.raw_os_error(), Some(rustix::io::Errno::NOTCONN.raw_os_error()));
        tree.start(How::default()).unwrap();
        assert_eq!(fs::read(tree.at("file")).unwrap(), b"confirmed");
    }
}

/// The number of rounds: `FAIRDISK_KILLS`, which `make soak` sets.
fn rounds() -> u64 {
    std::env::var("FAIRDISK_KILLS").map_or(5, |rounds| rounds.parse().unwrap())
}

/// The record with this number, which differs from all others.
fn record(number: u64) -> Vec<u8> {
    let mut prng = Prng::new(number);
    let len = prng.below(40_000) + 1;
    (0..len).map(|_| prng.next_u64() as u8).collect()
}

/// Appends records until the mount is gone, and counts those that `fsync` has confirmed.
fn write_on(path: &Path, seed: u64, confirmed: &AtomicU64) {
    let mut prng = Prng::new(seed);
    let Ok(mut file) = File::create(path) else { return };
    for number in 0.. {
        if file.write_all(&record(number)).is_err() {
            return;
        }
        if prng.chance(1, 4) {
            if file.sync_data().is_err() {
                return;
            }
            confirmed.store(number + 1, Ordering::Release);
        }
    }
}

/// Whenever the daemon is killed, what `fsync` has confirmed is on the disk.
#[test]
fn what_fsync_confirmed_is_there_after_a_kill() {
    if !can_mount() {
        return;
    }
    let Some(volume) = Volume::new(64, 5) else { return };
    for seed in 0..rounds() {
        let how = How { shuffled: true, ..How::default() };
        let mut tree = Tree::over(&volume.path, how);
        let (path, confirmed) = (tree.at("file"), AtomicU64::new(0));
        let enough = Prng::new(seed).below(12);
        let seen = thread::scope(|scope| {
            scope.spawn(|| write_on(&path, seed, &confirmed));
            let count = || confirmed.load(Ordering::Acquire);
            until("enough is confirmed", || count() > enough);
            let seen = count();
            tree.kill();
            seen
        });
        let Some(disk) = volume.snapshot() else { return };
        let found = fs::read(disk.path.join("file")).unwrap();
        let expected: Vec<u8> = (0..seen).flat_map(record).collect();
        let same = found.len() >= expected.len() && found[..expected.len()] == expected;
        assert!(same, "seed {seed}: {} bytes of {}, or others", found.len(), expected.len());
        detach(&tree.mount);
    }
}

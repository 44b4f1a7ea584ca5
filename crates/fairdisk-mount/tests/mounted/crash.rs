//! A daemon that is killed.

use crate::common::{How, Tree};
use std::fs::{self, File};
use std::io::Write;

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

/// So many rounds: `FAIRDISK_KILLS`, as `make soak` sets it.
fn rounds() -> u64 {
    std::env::var("FAIRDISK_KILLS").map_or(10, |rounds| rounds.parse().unwrap())
}

/// What `fsync` confirmed is below, whenever the daemon is killed.
#[test]
fn what_fsync_confirmed_is_there_after_a_kill() {
    let shuffled = How { shuffled: true, ..How::default() };
    let Some(mut tree) = Tree::served(shuffled) else { return };
    for round in 0..rounds() {
        let mut file = File::create(tree.at("file")).unwrap();
        let mut prng = fairdisk_core::Prng::new(round);
        for _ in 0..prng.below(20) + 1 {
            file.write_all(&vec![round as u8; prng.below(100_000) as usize]).unwrap();
        }
        file.sync_all().unwrap();
        let confirmed = file.metadata().unwrap().len();
        for _ in 0..prng.below(20) {
            file.write_all(&[0xff; 10_000]).unwrap();
        }
        tree.kill();
        drop(file);
        let data = fs::read(tree.below("file")).unwrap();
        assert!(data.len() as u64 >= confirmed);
        assert!(data[..confirmed as usize].iter().all(|byte| *byte == round as u8));
        tree.start(shuffled).unwrap();
    }
}

//! fio writes data, reads it back and verifies it.

use crate::common::{How, Tree, printed};
use std::process::Command;

fn verify(how: How, options: &[&str]) {
    let Some(tree) = Tree::served(how) else { return };
    let mut fio = Command::new("fio");
    fio.args([
        "--name=verify",
        "--size=16m",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--verify_state_save=0",
    ])
    .args(["--bs=4k-128k", "--rw=randrw", "--randrepeat=1", "--fallocate=none"])
    .args(["--thread", "--output-format=terse", "--unlink=1"])
    .arg(format!("--directory={}", tree.mount.display()))
    .args(options);
    match fio.output() {
        Ok(output) => drop(printed("fio", &output)),
        Err(_) => {
            println!("skipped: fio is not installed (Debian: apt install fio)");
            assert!(std::env::var("CI").as_deref() != Ok("true"), "missing in CI: fio");
        }
    }
}

const SHUFFLED: How = How {
    shuffled: true,
    read_only: false,
    owner_only: false,
    believed: false,
    few_files: false,
    small_files: false,
    recorded: false,
    watched: false,
};

#[test]
fn direct() {
    verify(SHUFFLED, &["--ioengine=libaio", "--iodepth=16", "--direct=1", "--numjobs=2"]);
}

#[test]
fn buffered() {
    verify(SHUFFLED, &["--ioengine=psync", "--fsync=37", "--numjobs=2"]);
}

#[test]
fn mapped() {
    verify(SHUFFLED, &["--ioengine=mmap", "--bs=4k", "--numjobs=2"]);
}

#[test]
fn direct_at_once() {
    verify(How::default(), &["--ioengine=libaio", "--iodepth=16", "--direct=1"]);
}

#[test]
fn buffered_at_once() {
    verify(How::default(), &["--ioengine=psync", "--end_fsync=1"]);
}

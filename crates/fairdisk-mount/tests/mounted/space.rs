//! The space of removed files on a full file system. Programs fill it, since child processes of
//! other tests hold our own descriptors until they execute their program.

use crate::closed::{ClosedGate, unmount};
use crate::common::{How, Tree, can_mount, place, printed};
use crate::volume::Volume;
use fairdisk_mount::{MountOptions, Mounted};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The size of the file system in MiB, and the number of bytes that a file can have of it.
const MIB: u64 = 24;
const MOST: u64 = 23 << 20;

/// Fills the file system with one file, removes that and begins again: closed before it is removed,
/// and after. Prints the sizes of the files, and what is free once they are removed.
const FILL_AND_REMOVE: &str = "
    fill() { dd if=/dev/zero bs=256k 2> /dev/null || true; }
    for round in 1 2 3; do
        fill > file; stat -c %s file; rm file
        fill > file; stat -c %s file; rm file; echo $(($(stat -f -c '%a * %S' .)))
        exec 3> file; fill >&3; stat -c %s file; rm file; exec 3>&-
        exec 3> file; fill >&3; stat -c %s file; rm file; exec 3>&-
        echo $(($(stat -f -c '%a * %S' .)))
    done";

fn fill_and_remove(directory: &Path) -> Vec<u64> {
    let mut shell = Command::new("sh");
    let output = shell.args(["-ec", FILL_AND_REMOVE]).current_dir(directory).output().unwrap();
    let said = printed("fills and removes", &output);
    said.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn the_space_of_a_removed_file_is_free_at_once() {
    for shuffled in [false, true] {
        if !can_mount() {
            return;
        }
        let Some(volume) = Volume::in_memory(MIB) else { return };
        let tree = Tree::over(&volume.path, How { shuffled, ..How::default() });
        let bytes = fill_and_remove(&tree.mount);
        assert!(bytes.len() == 18 && bytes.iter().all(|bytes| *bytes >= MOST), "{bytes:?}");
        tree.shell("exec 3> file; head -c 8M /dev/zero >&3; rm file");
        let open = "exec 3> file; head -c 20M /dev/zero >&3; rm file; stat -f -c %a .";
        let free: u64 = tree.shell(open).parse().unwrap();
        assert!(free < 5 << 8, "what is open takes space: {free}");
    }
}

#[test]
fn what_waits_to_be_written_to_a_removed_file_takes_no_space() {
    if !can_mount() {
        return;
    }
    let Some(volume) = Volume::in_memory(MIB) else { return };
    let (mount, gate) = (place(), ClosedGate::default());
    let options = MountOptions { dirty_limit: 1 << 30, ..MountOptions::default() };
    let gate_of_mount = Arc::new(gate.clone());
    let mut mounted = Mounted::mount(&volume.path, mount.path(), options, gate_of_mount).unwrap();
    let bytes = fill_and_remove(mount.path());
    let waiting = gate.waiting();
    while gate.let_one_through().is_some() {}
    assert_eq!(mounted.counts().dirty_bytes, 0);
    unmount(&mut mounted);
    assert!(waiting > 0, "nothing was let through");
    assert!(bytes.iter().all(|bytes| *bytes >= MOST), "{bytes:?}");
}

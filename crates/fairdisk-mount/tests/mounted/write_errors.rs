//! Errors below after a write was answered: who is told, and how often.

use crate::closed::{closed, unmount};
use crate::common::{How, Tree, can_mount, until};
use crate::data::noise;
use crate::volume::Volume;
use rustix::fs::OFlags;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::time::Duration;

const MIB: usize = 1 << 20;

/// The error number of a failure.
fn errno(done: io::Result<()>) -> Option<i32> {
    done.err().and_then(|error| error.raw_os_error())
}

#[test]
fn each_who_had_the_file_open_is_told_once() {
    if !can_mount() {
        return;
    }
    let Some(volume) = Volume::thin(200, 24) else { return };
    let tree = Tree::over(&volume.path, How { shuffled: true, ..How::default() });
    let open = || {
        File::options().read(true).write(true).create(true).truncate(false).open(tree.at("file"))
    };
    let one = open().unwrap();
    one.write_all_at(&noise(MIB, 1), 0).unwrap();
    one.sync_all().unwrap();
    let two = open().unwrap();
    one.write_all_at(&noise(28 * MIB, 2), MIB as u64).unwrap();
    assert!(errno(one.sync_all()).is_some());
    // The file system below may report failures to write its own metadata, too, once or more.
    until("all is told", || one.sync_all().is_ok());
    // There is room for this data, because the range was written before.
    two.write_all_at(&noise(4096, 3), 0).unwrap();
    assert_eq!(errno(one.sync_all()), None, "was told");
    assert!(errno(two.sync_all()).is_some());
    assert_eq!((errno(one.sync_all()), errno(two.sync_all())), (None, None));
    drop((one, two));

    // Nobody waits for this write, so only whoever opens the file next and calls fsync is told.
    let mut file = File::create(tree.at("other")).unwrap();
    file.write_all(&noise(4 * MIB, 4)).unwrap();
    drop(file);
    until("it is written out", || tree.open_files() == 0);
    for _ in 0..2 {
        assert_eq!(tree.shell("cat other > /dev/null; echo read"), "read");
    }
    assert!(errno(File::open(tree.at("other")).unwrap().sync_all()).is_some());
    fs::remove_file(tree.at("other")).unwrap();
}

/// A synchronous write reports its error itself.
#[test]
fn what_a_durable_write_has_told_is_not_told_again() {
    if !can_mount() {
        return;
    }
    let Some(volume) = Volume::thin(200, 24) else { return };
    let tree = Tree::over(&volume.path, How { shuffled: true, ..How::default() });
    let open = |flags: OFlags| {
        let mut options = File::options();
        options.write(true).create(true).truncate(false).custom_flags(flags.bits() as i32);
        options.open(tree.at("file")).unwrap()
    };
    let file = open(OFlags::empty());
    file.write_all_at(&noise(MIB, 1), 0).unwrap();
    file.sync_all().unwrap();
    let durable = open(OFlags::DSYNC);
    assert!(errno(durable.write_all_at(&noise(28 * MIB, 2), MIB as u64)).is_some());
    // There is room for this data, because the range was written before.
    file.write_all_at(&noise(4096, 3), 0).unwrap();
    let told = || [errno(durable.sync_all()), errno(file.sync_all())];
    assert!(matches!(told(), [None, Some(_)]), "the other has not heard of it");
    assert_eq!(told(), [None, None]);
}

/// With direct I/O, too, the write itself reports the error, as it does without a mount.
#[test]
fn what_a_durable_write_past_the_cache_has_told_is_not_told_again() {
    if !can_mount() {
        return;
    }
    let told = |at: &std::path::Path| {
        let open = |flags: OFlags| {
            let mut options = File::options();
            options.write(true).create(true).truncate(false).custom_flags(flags.bits() as i32);
            options.open(at.join("file")).unwrap()
        };
        let file = open(OFlags::empty());
        file.write_all_at(&noise(MIB, 1), 0).unwrap();
        file.sync_all().unwrap();
        let durable = open(OFlags::DSYNC | OFlags::DIRECT);
        let data = fairdisk_plane::buffer::Buffer::noise(28 * MIB, 2);
        assert!(errno(durable.write_all_at(data.bytes(), MIB as u64)).is_some());
        file.write_all_at(&noise(4096, 3), 0).unwrap();
        [(); 2].map(|()| [errno(durable.sync_all()), errno(file.sync_all())])
    };
    let [Some(here), Some(there)] = [(); 2].map(|()| Volume::thin(200, 24)) else { return };
    let tree = Tree::over(&here.path, How { shuffled: true, ..How::default() });
    assert_eq!(told(&tree.at("")), told(&there.path));
}

/// The semantics of `fsync(2)` on other file systems.
#[test]
fn a_lost_write_is_told_once_to_all_who_were_there_or_to_whoever_comes_next() {
    let Some((_place, gate, mut mounted)) = closed() else { return };
    let path = mounted.mountpoint().join("file");
    let io = Some(rustix::io::Errno::IO.raw_os_error());
    let lose = || {
        fs::write(&path, "lost").unwrap();
        until("it is being written out", || gate.waiting() == 1);
        gate.fail_one();
    };
    lose();
    let next = File::open(&path).unwrap();
    assert_eq!((gate.sync(&next), gate.sync(&next)), (io, None));
    let (one, other) = (File::open(&path).unwrap(), File::open(&path).unwrap());
    assert_eq!(gate.sync(&one), None, "somebody has heard of it");
    lose();
    // Closing a duplicate of the descriptor does not consume the error.
    drop(one.try_clone().unwrap());
    assert_eq!((gate.sync(&one), gate.sync(&one), gate.sync(&other)), (io, None, io));
    drop((next, one, other));
    unmount(&mut mounted);
}

/// The error is not lost even if the kernel has forgotten the file meanwhile.
#[test]
fn a_lost_write_is_told_to_whoever_comes_next_by_another_name() {
    let Some((place, gate, mut mounted)) = closed() else { return };
    let [path, other] = ["file", "other"].map(|name| mounted.mountpoint().join(name));
    fs::write(&path, "lost").unwrap();
    until("it is being written out", || gate.waiting() == 1);
    gate.fail_one();
    let known = mounted.counts().nodes;
    // The kernel takes this for the last name.
    fs::hard_link(place.path().join("source/file"), place.path().join("source/other")).unwrap();
    fs::remove_file(&path).unwrap();
    until("it is forgotten", || mounted.counts().nodes < known);
    // Opening the file does not consume the error.
    for _ in 0..3 {
        drop(File::open(&other).unwrap());
        fairdisk_plane::pause(Duration::from_millis(10));
    }
    let next = File::open(&other).unwrap();
    let io = Some(rustix::io::Errno::IO.raw_os_error());
    assert_eq!((gate.sync(&next), gate.sync(&next)), (io, None));
    drop(next);
    unmount(&mut mounted);
}

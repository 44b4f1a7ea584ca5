//! A user who opens as many files as possible, and others beside.

use crate::common::{FEW_FILES, How, Tree, open_to_all};
use crate::users::{as_nobody, as_user};
use fairdisk_plane::buffer::Buffer;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// A tree whose daemon may have few descriptors, with a directory for everybody.
fn tree(how: How) -> Option<Tree> {
    let tree = Tree::served(how)?;
    open_to_all(&tree.source);
    fs::create_dir(tree.at("all")).unwrap();
    fs::set_permissions(tree.at("all"), Permissions::from_mode(0o1777)).unwrap();
    Some(tree)
}

/// The most descriptors of one user: half are for users, an eighth of these for root alone, and the
/// user may have half of the rest.
const HOARD: usize = (FEW_FILES / 2 - FEW_FILES / 16) / 2;

/// Opens files with `open` until that fails; returns them and the error number.
fn hoard(mut open: impl FnMut(usize) -> io::Result<File>) -> (Vec<File>, Option<i32>) {
    let mut files = Vec::new();
    loop {
        match open(files.len()) {
            Ok(file) => files.push(file),
            Err(error) => return (files, error.raw_os_error()),
        }
    }
}

/// Creates a file that has no name any more.
fn nameless(directory: &Path, number: usize) -> io::Result<File> {
    let path = directory.join(format!("hoarded-{number}"));
    let file = File::create_new(&path)?;
    fs::remove_file(path)?;
    Ok(file)
}

#[test]
fn a_user_with_all_the_files_there_are_locks_nobody_out() {
    let Some(tree) = tree(How { few_files: true, ..How::default() }) else { return };
    let (all, before) = (tree.at("all"), tree.descriptors());
    let (mut hoarded, why) = as_nobody(|| hoard(|number| nameless(&all, number)));
    assert_eq!(why, Some(Errno::NFILE.raw_os_error()), "its own limit is not reached");
    assert_eq!(hoarded.len(), HOARD);
    assert_eq!(tree.descriptors(), before + HOARD, "one for each");
    let others = [1234, 2345].map(|uid| as_user(uid, || hoard(|_| File::open(&all)).0.len()));
    assert!(others.iter().all(|opened| *opened >= 7), "{others:?}");
    let roots: Vec<File> = (0..20).map(|number| nameless(&all, number).unwrap()).collect();
    assert_eq!(fs::read_dir(&all).unwrap().count(), 0);
    tree.shell("ls; stat all; echo text > file; cat file; rm file");
    drop(roots);
    hoarded.truncate(10);
    let again = as_nobody(|| hoard(|number| nameless(&all, 100 + number)).0.len());
    assert!((15..=18).contains(&again), "what was closed can be opened again: {again}");
}

/// Creates a file and writes to it with direct I/O and through the page cache, for which the daemon
/// has further descriptors.
fn written(directory: &Path, number: usize) -> io::Result<File> {
    let path = directory.join(format!("hoarded-{number}"));
    let direct = OFlags::DIRECT.bits() as i32;
    let file = File::options().write(true).create_new(true).custom_flags(direct).open(&path)?;
    file.write_all_at(Buffer::zeroed(4096).bytes(), 0)?;
    rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    file.write_all_at(b"text", 4096)?;
    Ok(file)
}

#[test]
fn every_descriptor_of_an_open_file_counts() {
    let how = How { few_files: true, shuffled: true, ..How::default() };
    let Some(tree) = tree(how) else { return };
    let (all, before) = (tree.at("all"), tree.descriptors());
    let (files, _) = as_nobody(|| hoard(|number| written(&all, number)));
    assert!(files.len() >= 9, "at most three each: {}", files.len());
    assert!(tree.descriptors() <= before + HOARD, "{} files", files.len());
    for number in 0..files.len() {
        let len = fs::metadata(all.join(format!("hoarded-{number}"))).unwrap().len();
        assert_eq!(len, 4096 + 4, "it works without a further descriptor");
    }
    tree.shell("ls; echo text > file; cat file");
}

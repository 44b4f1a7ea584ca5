//! Attributes, links and special files.

use crate::common::Tree;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat,
};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;

#[test]
fn attributes_are_those_of_the_file_below_and_can_be_changed() {
    let Some(tree) = Tree::new() else { return };
    let (here, below) = (tree.at("file"), tree.below("file"));
    fs::write(&here, "twelve bytes").unwrap();
    let (seen, is) = (fs::metadata(&here).unwrap(), fs::metadata(&below).unwrap());
    assert_eq!((seen.ino(), seen.len(), seen.blocks()), (is.ino(), 12, is.blocks()));
    fs::set_permissions(&here, fs::Permissions::from_mode(0o4710)).unwrap();
    assert_eq!(fs::metadata(&below).unwrap().mode() & 0o7777, 0o4710);
    std::os::unix::fs::chown(&here, Some(123), Some(456)).unwrap();
    let now = fs::metadata(&below).unwrap();
    assert_eq!((now.uid(), now.gid(), now.mode() & 0o7777), (123, 456, 0o710), "suid goes");
    fs::OpenOptions::new().write(true).open(&here).unwrap().set_len(5).unwrap();
    assert_eq!(fs::read_to_string(&below).unwrap(), "twelv");
    rustix::fs::chmod(&here, Mode::empty()).unwrap();
    assert_eq!(fs::metadata(&here).unwrap().mode() & 0o7777, 0);
}

/// A backup reads with O_NOATIME, which does not count as a use of the file.
#[test]
fn a_file_can_be_read_without_a_trace() {
    let Some(tree) = Tree::new() else { return };
    let (here, below) = (tree.at("file"), tree.below("file"));
    fs::write(&below, "text").unwrap();
    // Older than the last change, so that a read without O_NOATIME would update it.
    let old = Timespec { tv_sec: 1000, tv_nsec: 0 };
    let now = Timespec { tv_nsec: UTIME_OMIT, ..old };
    let times = Timestamps { last_access: old, last_modification: now };
    utimensat(CWD, &below, &times, AtFlags::empty()).unwrap();
    let flags = OFlags::NOATIME | OFlags::RDONLY;
    let file = rustix::fs::open(&here, flags, Mode::empty()).unwrap();
    let mut text = [0; 4];
    assert_eq!(rustix::io::read(&file, &mut text).unwrap(), 4);
    assert_eq!(fs::metadata(&below).unwrap().atime(), 1000);
}

#[test]
fn times_can_be_set_one_by_one_to_the_nanosecond_and_to_before_1970() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.at("file"), "").unwrap();
    let set = |access: (i64, i64), modification: (i64, i64)| {
        let spec = |(tv_sec, tv_nsec)| Timespec { tv_sec, tv_nsec };
        let times = Timestamps { last_access: spec(access), last_modification: spec(modification) };
        utimensat(CWD, tree.at("file"), &times, AtFlags::empty()).unwrap();
        let seen = fs::metadata(tree.at("file")).unwrap();
        let is = fs::metadata(tree.below("file")).unwrap();
        assert_eq!((seen.mtime(), seen.mtime_nsec()), (is.mtime(), is.mtime_nsec()));
        (is.atime(), is.atime_nsec(), is.mtime(), is.mtime_nsec())
    };
    assert_eq!(set((1000, 1), (-5, 999_999_999)), (1000, 1, -5, 999_999_999));
    assert_eq!(set((0, UTIME_OMIT), (7, 7)), (1000, 1, 7, 7));
    let (access, _, modification, _) = set((0, UTIME_NOW), (0, UTIME_OMIT));
    assert!(access > 1_600_000_000 && modification == 7);
}

#[test]
fn hard_links_are_one_file() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.at("a"), "1").unwrap();
    fs::hard_link(tree.at("a"), tree.at("b")).unwrap();
    let (a, b) = (fs::metadata(tree.at("a")).unwrap(), fs::metadata(tree.at("b")).unwrap());
    assert_eq!((a.ino(), a.nlink()), (b.ino(), 2));
    fs::write(tree.at("b"), "22").unwrap();
    assert_eq!(fs::metadata(tree.at("a")).unwrap().len(), 2);
    fs::remove_file(tree.at("a")).unwrap();
    assert_eq!(fs::metadata(tree.at("b")).unwrap().nlink(), 1);
    let taken = fs::hard_link(tree.at("b"), tree.at("b")).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
}

#[test]
fn symbolic_links_hold_any_text_and_have_attributes_of_their_own() {
    let Some(tree) = Tree::new() else { return };
    let long = "x/".repeat(2000);
    for (name, target) in [("a", "nowhere"), ("b", "/etc/passwd"), ("c", long.as_str())] {
        std::os::unix::fs::symlink(target, tree.at(name)).unwrap();
        assert_eq!(fs::read_link(tree.at(name)).unwrap().to_str(), Some(target));
        assert_eq!(fs::read_link(tree.below(name)).unwrap().to_str(), Some(target));
        assert_eq!(fs::symlink_metadata(tree.at(name)).unwrap().len(), target.len() as u64);
    }
    std::os::unix::fs::lchown(tree.at("a"), Some(5), Some(6)).unwrap();
    tree.shell("touch -h -d @77 a");
    let is = fs::symlink_metadata(tree.below("a")).unwrap();
    assert_eq!((is.uid(), is.gid(), is.mtime()), (5, 6, 77));
}

#[test]
fn special_files_can_be_made() {
    let Some(tree) = Tree::new() else { return };
    let said = tree.shell(
        "mkfifo pipe; mknod null c 1 3; mknod disk b 259 300; stat -c '%F %t %T' pipe null disk
         (echo through > pipe &) ; cat pipe",
    );
    let expected = "fifo 0 0\ncharacter special file 1 3\nblock special file 103 12c\nthrough";
    assert_eq!(said, expected);
    let socket = std::os::unix::net::UnixListener::bind(tree.at("socket"));
    // The path may be too long for a socket to connect to; creating it is what counts.
    if let Ok(listener) = socket {
        assert!(std::os::unix::net::UnixStream::connect(tree.at("socket")).is_ok());
        drop(listener);
    }
}

#[test]
fn flags_of_files_are_those_below() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.at("file"), "as it was").unwrap();
    fs::create_dir(tree.at("directory")).unwrap();
    let of = |at: PathBuf| Command::new("lsattr").arg("-d").arg(at).output();
    if !of(tree.below("file")).is_ok_and(|output| output.status.success()) {
        return println!("skipped: no lsattr, or a file system without flags");
    }
    let flags = |at: PathBuf| {
        let said = String::from_utf8(of(at).unwrap().stdout).unwrap();
        said.split(' ').next().unwrap().to_owned()
    };
    let before = flags(tree.at("file"));
    tree.shell("chattr +dA file; chattr +d directory");
    for name in ["file", "directory"] {
        let here = flags(tree.at(name));
        assert!(here.contains('d') && here == flags(tree.below(name)), "{name}: {here}");
    }
    tree.shell("chattr -dA file; chattr -d directory; chattr +i file");
    assert!(fs::write(tree.at("file"), "more").is_err());
    assert!(flags(tree.below("file")).contains('i'));
    // Files of others, and flags that take more than ownership.
    let stranger = "setpriv --reuid=65534 --regid=65534 --clear-groups chattr";
    let said = tree.shell(&format!(
        "cannot() {{ ! {stranger} $1 file 2> /dev/null || exit 1; }}
         chattr -i file; cannot +d; chown 65534 file; {stranger} +d file
         cannot +i; chattr -d file; cat file"
    ));
    assert_eq!((said.as_str(), flags(tree.below("file"))), ("as it was", before));
}

#[test]
fn removed_files_and_directories_live_as_long_as_they_are_used() {
    let Some(tree) = Tree::new() else { return };
    let said = tree.shell(
        "echo still > file; exec 3< file 4>> file; rm file; echo there >&4; cat <&3
         stat -L -c %h /proc/self/fd/3; test ! -e file
         mkdir gone; cd gone; rmdir ../gone; stat -c %F .; ls | wc -l; ! touch new 2> /dev/null",
    );
    assert_eq!(said, "still\nthere\n0\ndirectory\n0");
}

/// Failed attempts leave nothing behind, however often they are repeated.
#[test]
fn what_is_not_removed_takes_no_descriptors() {
    let Some(tree) = Tree::new() else { return };
    const MANY: usize = 300;
    let at = |number: usize| tree.at(&format!("{number}"));
    for number in 0..MANY {
        fs::create_dir(at(number)).unwrap();
        fs::write(at(number).join("file"), "").unwrap();
    }
    fs::create_dir(tree.at("other")).unwrap();
    let before = tree.descriptors();
    for number in 0..MANY {
        let error = fs::remove_dir(at(number)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DirectoryNotEmpty);
        let error = fs::rename(tree.at("other"), at(number)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DirectoryNotEmpty);
    }
    let after = tree.descriptors();
    assert!(after < before + MANY / 2, "{before} descriptors, then {after}");
    assert_eq!(fs::read(at(7).join("file")).unwrap(), b"");
}

#[test]
fn the_space_is_that_of_the_file_system_below() {
    let Some(tree) = Tree::new() else { return };
    let (here, below) =
        (rustix::fs::statvfs(&tree.mount).unwrap(), rustix::fs::statvfs(&tree.source).unwrap());
    assert_eq!((here.f_blocks, here.f_frsize), (below.f_blocks, below.f_frsize));
    assert_eq!((here.f_files, here.f_namemax), (below.f_files, below.f_namemax));
}

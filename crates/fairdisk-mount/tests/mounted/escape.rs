//! Attempts to reach files outside the source through the mount.

use crate::common::{Tree, until};
use rustix::mount::UnmountFlags;
use std::fs::{self, File};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[test]
fn links_that_point_out_are_the_callers_business() {
    let Some(tree) = Tree::new() else { return };
    let outside = tree.place.path().join("outside");
    fs::write(&outside, "outside").unwrap();
    std::os::unix::fs::symlink("../outside", tree.at("relative")).unwrap();
    // In the mount, `..` is the directory of the mount point, by the kernel's own rules.
    assert_eq!(fs::read_to_string(tree.at("relative")).unwrap(), "outside");
    // Opening, creating, removing and changing through the daemon never follow links.
    fs::remove_file(tree.at("relative")).unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside");
}

#[test]
fn names_cannot_lead_up() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.place.path().join("outside"), "").unwrap();
    fs::create_dir(tree.at("dir")).unwrap();
    // `..` of the root is the directory that contains the mount point, not that of the source.
    assert_eq!(
        tree.shell("cd dir/..; ls; stat -c %i . ; stat -c %i .. > /dev/null").lines().next(),
        Some("dir")
    );
    let above = fs::canonicalize(tree.at("dir/../..")).unwrap();
    assert_eq!(above, fs::canonicalize(tree.place.path()).unwrap());
}

/// While a file of the tree is repeatedly exchanged with a link to a secret, opening it through the
/// mount yields the file or an error, never the secret.
#[test]
fn exchanging_a_file_with_a_link_does_not_lead_out() {
    let Some(tree) = Tree::new() else { return };
    let secret = tree.place.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    fs::create_dir(tree.below("a")).unwrap();
    fs::write(tree.below("a/file"), "harmless").unwrap();
    fs::create_dir(tree.place.path().join("b")).unwrap();
    fs::write(tree.place.path().join("b/file"), "secret").unwrap();
    // In the source this leads to the secret; in the mount, relative to the reader, it leads
    // nowhere.
    std::os::unix::fs::symlink("../b", tree.below("link")).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = rustix::fs::RenameFlags::EXCHANGE;
            while !done.load(Ordering::Relaxed) {
                let (a, link) = (tree.below("a"), tree.below("link"));
                let cwd = rustix::fs::CWD;
                rustix::fs::renameat_with(cwd, a, cwd, link, exchange).unwrap();
            }
        });
        for _ in 0..3000 {
            // O_NOFOLLOW, so that only a link followed by the daemon itself could lead out.
            let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::NOFOLLOW;
            let empty = rustix::fs::Mode::empty();
            let Ok(dir) = rustix::fs::open(tree.at("a"), flags, empty) else { continue };
            let nofollow = rustix::fs::OFlags::NOFOLLOW;
            let Ok(file) = rustix::fs::openat(&dir, "file", nofollow, empty) else { continue };
            let mut text = String::new();
            if File::from(file).read_to_string(&mut text).is_ok() {
                assert_eq!(text, "harmless");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// A directory that is moved out of the source while it is in use still shows its contents, and
/// nothing above it.
#[test]
fn a_directory_moved_away_does_not_lead_up() {
    let Some(tree) = Tree::new() else { return };
    fs::create_dir(tree.at("dir")).unwrap();
    let outside = tree.place.path().join("moved");
    let dir = rustix::fs::open(
        tree.at("dir"),
        rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    fs::rename(tree.below("dir"), &outside).unwrap();
    fs::write(tree.place.path().join("secret"), "secret").unwrap();
    let up = rustix::fs::openat(
        &dir,
        "../secret",
        rustix::fs::OFlags::RDONLY,
        rustix::fs::Mode::empty(),
    );
    assert!(up.is_err());
    assert!(!tree.at("secret").exists());
}

/// A thread that served a request in there would wait for a request to its own process.
#[test]
fn a_mount_below_its_own_source_is_not_entered() {
    let Some(tree) = Tree::new() else { return };
    fs::create_dir(tree.below("again")).unwrap();
    fs::write(tree.below("file"), "here").unwrap();
    rustix::mount::mount_bind(tree.at(""), tree.below("again")).unwrap();
    let entered = fs::read(tree.at("again/file")).map_err(|error| error.raw_os_error());
    let names = fs::read_dir(tree.at("")).unwrap().count();
    rustix::mount::unmount(tree.below("again"), UnmountFlags::DETACH).unwrap();
    assert_eq!(entered, Err(Some(rustix::io::Errno::LOOP.raw_os_error())));
    assert_eq!(names, 2);
    // The directory below the mount is visible again.
    until("the kernel looks again", || fs::read_dir(tree.at("again")).is_ok());
}

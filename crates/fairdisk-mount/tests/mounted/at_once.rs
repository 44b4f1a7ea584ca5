//! Attributes that the kernel has cached, and operations that change them without naming them.

use crate::common::{How, Tree, printed};
use crate::users::NOBODY;
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The attributes that can be asked for alone. The kernel may know some and ask for others.
const KINDS: [StatxFlags; 8] = [
    StatxFlags::MODE,
    StatxFlags::NLINK,
    StatxFlags::UID,
    StatxFlags::GID,
    StatxFlags::SIZE,
    StatxFlags::BLOCKS,
    StatxFlags::MTIME,
    StatxFlags::CTIME,
];

/// One attribute of a file.
fn attribute(path: &Path, kind: StatxFlags) -> String {
    let it = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, kind).unwrap();
    match kind {
        StatxFlags::MODE => format!("mode {:o}", it.stx_mode),
        StatxFlags::NLINK => format!("{} links", it.stx_nlink),
        StatxFlags::UID => format!("user {}", it.stx_uid),
        StatxFlags::GID => format!("group {}", it.stx_gid),
        StatxFlags::SIZE => format!("{} bytes", it.stx_size),
        StatxFlags::BLOCKS => format!("{} blocks", it.stx_blocks),
        StatxFlags::MTIME => {
            format!("modified {}.{:09}", it.stx_mtime.tv_sec, it.stx_mtime.tv_nsec)
        }
        _ => format!("changed {}.{:09}", it.stx_ctime.tv_sec, it.stx_ctime.tv_nsec),
    }
}

/// A program for writes that no usual tool makes: through a memory map, and asynchronous ones.
fn is_missing(program: &str) -> bool {
    let is = Command::new(program).arg("--version").output().is_err();
    if is {
        println!("skipped: no {program} (scripts/setup.sh installs it)");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "missing in CI: {program}");
    }
    is
}

/// The file and the directory that are changed, and the directory they are in.
const LOOKED_AT: [&str; 3] = ["f", "d", ""];

/// Makes the files anew, and has the kernel learn their attributes.
fn make_anew(tree: &Tree) {
    tree.shell(
        "rm -rf f d other; mkdir -m 2777 d; head -c 65536 /dev/zero > f
        head -c 32768 /dev/zero > other; chmod 6777 f; chmod 666 other; sync f other",
    );
    assert!(LOOKED_AT.iter().all(|name| fs::symlink_metadata(tree.at(name)).is_ok()));
}

/// Carries out each of `changes` on files of which the kernel believes that it knows everything for
/// an hour, and asks for each attribute before any other.
fn all_seen_at_once(who: Option<&[&str]>, changes: &[&str]) {
    let how = How { believed: true, ..How::default() };
    let Some(tree) = Tree::served(how) else { return };
    fs::set_permissions(&tree.mount, Permissions::from_mode(0o777)).unwrap();
    let all = |at: PathBuf| KINDS.map(|kind| attribute(&at, kind));
    let mut wrong = Vec::new();
    for change in changes {
        for first in KINDS {
            make_anew(&tree);
            let before = LOOKED_AT.map(|name| all(tree.below(name)));
            match who {
                Some(who) => drop(printed(change, &tree.shell_as(who, change))),
                None => drop(tree.shell(change)),
            }
            for name in LOOKED_AT {
                let (seen, is) = (tree.at(name), tree.below(name));
                let (seen, is) = (attribute(&seen, first), attribute(&is, first));
                if seen != is {
                    wrong.push(format!("{change}: {name:?} has {is}, seen is {seen}"));
                }
            }
            let now = LOOKED_AT.map(|name| all(tree.below(name)));
            assert_ne!(before, now, "{change} changes nothing");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const MAPPED: &str = "python3 -c 'import mmap, os
f = os.open(\"f\", os.O_RDWR); m = mmap.mmap(f, 65536); m[5] = 7; m.flush(); os.fsync(f)'";

/// What chattr(1) and the like do to a file changes its change time.
#[test]
fn what_root_changes_is_seen_at_once() {
    if is_missing("python3") {
        return;
    }
    let changes = [
        "chattr +d f",
        "chattr +d d",
        "chattr +d f; chattr -d f",
        "python3 -c 'import os; os.setxattr(\"f\", \"user.a\", b\"1\")'",
        "python3 -c 'import os; os.setxattr(\"d\", \"user.a\", b\"1\"); os.removexattr(\"d\", \"user.a\")'",
        "ln f d/link",
        "mv f d/f; mv d/f f",
        "mkdir d/within",
        "echo more >> f",
        "fallocate -l 900000 f",
        "fallocate -p -o 0 -l 4096 f",
        "fallocate -z -o 0 -l 4096 f",
        "truncate -s 5 f",
        "dd if=other of=f bs=4096 count=2 conv=notrunc oflag=direct status=none",
        "dd if=other of=f bs=4096 count=2 conv=notrunc oflag=dsync status=none",
        "dd if=other of=f bs=4096 count=2 seek=20 oflag=direct status=none",
        "cp other f",
        MAPPED,
        "touch -d @7 f",
        "chown 5:6 f",
        "chmod 644 f",
    ];
    all_seen_at_once(None, &changes);
}

/// A user's write clears the set-user-id and the set-group-id bit.
#[test]
fn what_a_users_write_clears_is_seen_at_once() {
    if is_missing("python3") {
        return;
    }
    let changes = [
        "echo more >> f",
        "dd if=other of=f bs=5 count=1 conv=notrunc status=none",
        "dd if=other of=f bs=4096 count=1 conv=notrunc oflag=direct status=none",
        "dd if=other of=f bs=4096 count=1 oflag=append,direct conv=notrunc status=none",
        "dd if=other of=f bs=4096 count=1 conv=notrunc oflag=dsync status=none",
        "fallocate -l 900000 f",
        "fallocate -p -o 0 -l 4096 f",
        "fallocate -z -o 0 -l 4096 f",
        "truncate -s 5 f",
        "cp other f",
        "python3 -c 'import os
a = os.open(\"other\", os.O_RDONLY); b = os.open(\"f\", os.O_RDWR)
assert os.copy_file_range(a, b, 4096) == 4096'",
        MAPPED,
    ];
    all_seen_at_once(Some(&NOBODY), &changes);
}

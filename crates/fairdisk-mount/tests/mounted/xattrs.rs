//! Extended attributes and POSIX ACLs.

use crate::common::{Tree, printed};
use crate::users::as_nobody;
use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

const USER: u16 = 2;
const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// An ACL in the kernel's format: version 2, then tag, permissions and id of each entry.
fn acl(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

/// An ACL with entries for the owner, one user, the owning group, the mask and others.
fn acl_for(user: u32, permissions: u16) -> Vec<u8> {
    const NONE: u32 = u32::MAX;
    acl(&[(1, 7, NONE), (USER, permissions, user), (4, 0, NONE), (16, 7, NONE), (32, 0, NONE)])
}

#[test]
fn attributes_of_files_directories_and_links() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.at("file"), "").unwrap();
    fs::create_dir(tree.at("dir")).unwrap();
    std::os::unix::fs::symlink("file", tree.at("link")).unwrap();
    for name in ["file", "dir"] {
        let (here, below) = (tree.at(name), tree.below(name));
        let value = [7; 1000];
        setxattr(&here, "user.test", &value, XattrFlags::CREATE).unwrap();
        let taken = setxattr(&here, "user.test", b"", XattrFlags::CREATE).unwrap_err();
        assert_eq!(taken, rustix::io::Errno::EXIST);
        let mut back = [0; 2000];
        assert_eq!(getxattr(&below, "user.test", &mut back).unwrap(), 1000);
        assert_eq!(getxattr(&here, "user.test", &mut back).unwrap(), 1000);
        assert_eq!(back[..1000], value);
        let short = getxattr(&here, "user.test", &mut back[..10]).unwrap_err();
        assert_eq!(short, rustix::io::Errno::RANGE);
        let len = listxattr(&here, &mut back[..]).unwrap();
        assert_eq!(&back[..len], b"user.test\0");
        removexattr(&here, "user.test").unwrap();
        let gone = getxattr(&here, "user.test", &mut back).unwrap_err();
        assert_eq!(gone, rustix::io::Errno::NODATA);
    }
    let on_link = |value: &[u8]| {
        rustix::fs::lsetxattr(tree.at("link"), "trusted.test", value, XattrFlags::empty())
    };
    on_link(b"of the link").unwrap();
    let mut back = [0; 100];
    let len = rustix::fs::lgetxattr(tree.below("link"), "trusted.test", &mut back).unwrap();
    assert_eq!(&back[..len], b"of the link");
}

/// A program that copies all listed attributes would fail at one whose value it cannot get.
#[test]
fn attributes_for_administrators_are_listed_for_nobody_else() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.at("file"), "").unwrap();
    for name in ["trusted.test", "user.test"] {
        setxattr(tree.at("file"), name, b"1", XattrFlags::CREATE).unwrap();
    }
    let names = || {
        let mut names = [0; 100];
        let len = listxattr(tree.at("file"), &mut names[..]).unwrap();
        let mut names: Vec<_> = names[..len].split(|byte| *byte == 0).map(Vec::from).collect();
        names.sort();
        names
    };
    assert_eq!(names(), [&b""[..], b"trusted.test", b"user.test"]);
    assert_eq!(as_nobody(names), [&b""[..], b"user.test"]);
}

#[test]
fn acls_decide_who_may() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.at("file"), "for you").unwrap();
    fs::set_permissions(tree.at("file"), Permissions::from_mode(0o600)).unwrap();
    assert!(!tree.shell_as(&NOBODY, "cat file").status.success());
    let set = setxattr(
        tree.at("file"),
        "system.posix_acl_access",
        &acl_for(65534, 4),
        XattrFlags::empty(),
    );
    if set == Err(rustix::io::Errno::OPNOTSUPP) {
        println!("skipped: no ACLs on this file system");
        return;
    }
    set.unwrap();
    assert_eq!(printed("cat", &tree.shell_as(&NOBODY, "cat file")), "for you");
    assert!(!tree.shell_as(&NOBODY, "echo >> file").status.success());
    removexattr(tree.at("file"), "system.posix_acl_access").unwrap();
    fs::set_permissions(tree.at("file"), Permissions::from_mode(0o600)).unwrap();
    assert!(!tree.shell_as(&NOBODY, "cat file").status.success());
}

#[test]
fn a_default_acl_takes_the_place_of_the_umask() {
    let Some(tree) = Tree::new() else { return };
    for folder in ["with", "without"] {
        fs::create_dir(tree.at(folder)).unwrap();
        fs::set_permissions(tree.at(folder), Permissions::from_mode(0o777)).unwrap();
    }
    let set = setxattr(
        tree.at("with"),
        "system.posix_acl_default",
        &acl_for(1234, 6),
        XattrFlags::empty(),
    );
    if set == Err(rustix::io::Errno::OPNOTSUPP) {
        println!("skipped: no ACLs on this file system");
        return;
    }
    set.unwrap();
    let script = "umask 077; for d in with without; do echo > $d/file; mkdir $d/dir; done";
    for (number, identity) in [&[][..], &NOBODY].into_iter().enumerate() {
        printed(script, &tree.shell_as(identity, script));
        let mode = |name: &str| fs::metadata(tree.below(name)).unwrap().mode() & 0o777;
        assert_eq!((mode("with/file"), mode("with/dir")), (0o660, 0o770), "{number}");
        assert_eq!((mode("without/file"), mode("without/dir")), (0o600, 0o700), "{number}");
        tree.shell("rm -r with/* without/*");
    }
}

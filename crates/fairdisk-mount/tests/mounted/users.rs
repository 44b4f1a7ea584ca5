//! Permissions of callers, and the ownership of what they create.

use crate::common::{How, Tree, can_mount, printed};
use crate::volume::Volume;
use rustix::fs::{XattrFlags, setxattr};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::thread;

pub(crate) const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];
const IN_GROUP: [&str; 3] = ["--reuid=65534", "--regid=65534", "--groups=4321"];

/// Runs `what` as the user nobody, on a thread of its own.
pub(crate) fn as_nobody<T: Send>(what: impl FnOnce() -> T + Send) -> T {
    as_user(65534, what)
}

/// Runs `what` as a user of a group with the same number, on a thread of its own.
pub(crate) fn as_user<T: Send>(number: u32, what: impl FnOnce() -> T + Send) -> T {
    let become_user = || {
        let (uid, gid) = (Uid::from_raw(number), Gid::from_raw(number));
        set_thread_groups(&[]).unwrap();
        set_thread_res_gid(gid, gid, gid).unwrap();
        set_thread_res_uid(uid, uid, uid).unwrap();
        what()
    };
    thread::scope(|scope| scope.spawn(become_user).join().unwrap())
}

fn mode(tree: &Tree, name: &str, mode: u32) {
    fs::set_permissions(tree.at(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_a_user_makes_belongs_to_the_user() {
    let Some(tree) = Tree::new() else { return };
    fs::create_dir(tree.at("open")).unwrap();
    mode(&tree, "open", 0o1777);
    let script = "cd open; umask 027; echo > file; mkdir dir; mkfifo pipe; ln -s file link
                  umask 077; echo > tight; umask 0; echo > loose";
    printed(script, &tree.shell_as(&NOBODY, script));
    for (name, mode) in
        [("file", 0o640), ("dir", 0o750), ("pipe", 0o640), ("tight", 0o600), ("loose", 0o666)]
    {
        let is = fs::metadata(tree.below("open").join(name)).unwrap();
        assert_eq!((is.uid(), is.gid(), is.mode() & 0o7777), (65534, 65534, mode), "{name}");
    }
    assert_eq!(fs::symlink_metadata(tree.below("open/link")).unwrap().uid(), 65534);
    // Files created afterwards belong to root again.
    for number in 0..20 {
        let name = format!("root-{number}");
        fs::write(tree.at(&name), "").unwrap();
        assert_eq!(fs::metadata(tree.below(&name)).unwrap().uid(), 0);
    }
}

#[test]
fn what_a_user_may_not_do_is_refused() {
    let Some(tree) = Tree::new() else { return };
    fs::write(tree.at("secret"), "secret").unwrap();
    mode(&tree, "secret", 0o600);
    fs::create_dir(tree.at("sticky")).unwrap();
    mode(&tree, "sticky", 0o1777);
    fs::write(tree.at("sticky/roots"), "").unwrap();
    fs::write(tree.at("readable"), "r").unwrap();
    mode(&tree, "readable", 0o644);
    for refused in [
        "cat secret",
        "echo > secret",
        "echo > new",
        "rm -f sticky/roots",
        "mv sticky/roots sticky/mine",
        "chmod 777 readable",
        "chown 65534 readable",
        "echo >> readable",
        "truncate -s 0 readable",
        "touch -d @5 readable",
        "mknod sticky/null c 1 3",
        "ls -l secret && cat < secret",
    ] {
        let output = tree.shell_as(&NOBODY, refused);
        assert!(!output.status.success(), "{refused}");
    }
    assert_eq!(fs::read(tree.below("readable")).unwrap(), b"r");
    printed("reads", &tree.shell_as(&NOBODY, "cat readable; ls sticky"));
}

#[test]
fn all_groups_of_a_user_count() {
    let Some(tree) = Tree::new() else { return };
    fs::create_dir(tree.at("shared")).unwrap();
    chown(tree.at("shared"), Some(0), Some(4321)).unwrap();
    mode(&tree, "shared", 0o2770);
    fs::write(tree.at("shared/roots"), "").unwrap();
    chown(tree.at("shared/roots"), Some(0), Some(4321)).unwrap();
    mode(&tree, "shared/roots", 0o664);
    let script = "cd shared; echo mine > file; mkdir dir; chgrp 4321 file; cat file
                  chmod 2770 dir; touch roots; mv file moved; ln moved file; rm moved
                  ln -s x soft; mkfifo pipe; mknod hole p; rm soft pipe hole; mkdir e; rmdir e";
    for line in script.split('\n') {
        assert!(!tree.shell_as(&NOBODY, line).status.success());
    }
    printed(script, &tree.shell_as(&IN_GROUP, script));
    let (file, dir) = (tree.below("shared/file"), tree.below("shared/dir"));
    let (file, dir) = (fs::metadata(file).unwrap(), fs::metadata(dir).unwrap());
    assert_eq!((file.uid(), file.gid()), (65534, 4321));
    assert_eq!((dir.uid(), dir.gid(), dir.mode() & 0o2000), (65534, 4321, 0o2000));
}

#[test]
fn writing_takes_set_user_id_bits_away_but_not_for_root() {
    let Some(tree) = Tree::new() else { return };
    for write in [
        "echo >> f",
        "truncate -s 1 f",
        "dd if=/dev/zero of=f bs=4096 count=1 \
        oflag=direct conv=notrunc 2>&1",
        "fallocate -p -o 0 -l 4096 f",
    ] {
        let fresh = || {
            tree.shell("rm -f f; dd if=/dev/zero of=f bs=8k count=1 2>&1; chmod 6777 f");
        };
        fresh();
        printed(write, &tree.shell_as(&NOBODY, write));
        assert_eq!(fs::metadata(tree.below("f")).unwrap().mode() & 0o7777, 0o777, "{write}");
        assert_eq!(fs::metadata(tree.at("f")).unwrap().mode() & 0o7777, 0o777, "{write}");
        fresh();
        tree.shell(write);
        assert_eq!(fs::metadata(tree.below("f")).unwrap().mode() & 0o7777, 0o6777, "{write}");
    }
}

#[test]
fn others_are_let_in_only_if_asked_for() {
    let how = How { owner_only: true, ..How::default() };
    let Some(tree) = Tree::served(how) else { return };
    fs::write(tree.at("file"), "").unwrap();
    mode(&tree, "file", 0o644);
    let identity = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let look = format!("cd /; cat {}", tree.at("file").display());
    let output = std::process::Command::new("setpriv")
        .args(identity)
        .args(["sh", "-ec", &look])
        .output()
        .unwrap();
    assert!(!output.status.success());
}

#[test]
fn a_read_only_mount_changes_nothing() {
    let how = How { read_only: true, ..How::default() };
    let Some(tree) = Tree::served(how) else { return };
    fs::write(tree.below("file"), "as it was").unwrap();
    assert_eq!(tree.shell("cat file"), "as it was");
    for refused in ["echo > file", "rm -f file", "mkdir d", "touch file", "chmod 0 file"] {
        let output = tree.shell_as(&[], refused);
        assert!(!output.status.success(), "{refused}");
    }
}

/// Other users do not get the space reserved for root, however they write.
#[test]
fn users_do_not_get_what_is_kept_for_root() {
    if !can_mount() {
        return;
    }
    let Some(volume) = Volume::new(32, 25) else { return };
    let tree = Tree::over(&volume.path, How { shuffled: true, ..How::default() });
    fs::create_dir(tree.at("open")).unwrap();
    mode(&tree, "open", 0o1777);
    let free = || rustix::fs::statvfs(&volume.path).unwrap();
    let kept = free().f_bfree - free().f_bavail;
    assert!(kept > 1000);
    for write in [
        "dd if=/dev/zero of=file bs=64k",
        "dd if=/dev/zero of=file bs=64k oflag=direct",
        "dd if=/dev/zero of=file bs=64k oflag=dsync",
        "dd if=/dev/zero of=file bs=4k conv=fsync",
        "fallocate -l 30M file",
    ] {
        let output = tree.shell_as(&NOBODY, &format!("cd open; {write}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("No space left"), "{write}: {said}");
        // A part of the reserved space is used by the file system itself.
        let left = free().f_bfree;
        assert!(left >= kept * 9 / 10, "{write}: {left} blocks left of {kept}");
        fs::remove_file(tree.at("open/file")).unwrap();
    }
    tree.shell("cd open; dd if=/dev/zero of=root bs=64k count=350 2>&1");
    assert!(free().f_bfree < kept, "root may have it");
}

/// The kernel above may have outdated attributes cached; those of the file system below count.
#[test]
fn the_file_system_below_has_the_last_word() {
    let how = How { believed: true, ..How::default() };
    let Some(tree) = Tree::served(how) else { return };
    tree.shell("mkdir -p d/sub; touch d/file own; chown -R 65534:65534 d own; chmod 777 d");
    let look = "find . -exec stat -c '%n %a %u %g %Y %h' {} + | sort";
    printed(look, &tree.shell_as(&NOBODY, look));
    chown(tree.below("d"), Some(0), Some(0)).unwrap();
    fs::set_permissions(tree.below("d"), Permissions::from_mode(0o755)).unwrap();
    chown(tree.below("own"), Some(0), Some(0)).unwrap();
    let below = || {
        let mut command = std::process::Command::new("sh");
        printed(look, &command.args(["-ec", look]).current_dir(&tree.source).output().unwrap())
    };
    let before = below();
    for refused in [
        "rm -f d/file",
        "mv d/file d/other",
        "mv -T d/sub d/moved",
        "ln d/file d/linked",
        "rmdir d/sub",
        "mkdir d/new",
        "mkfifo d/pipe",
        "ln -s x d/soft",
        "echo > d/made",
        "chmod 777 own",
        "chgrp 65534 own",
        "touch -d @5 own",
    ] {
        let output = tree.shell_as(&NOBODY, refused);
        assert!(!output.status.success(), "{refused}");
        assert_eq!(below(), before, "{refused}");
    }
    let own = tree.at("own");
    let set = || setxattr(&own, "user.test", b"mine", XattrFlags::empty());
    assert_eq!(as_nobody(set), Err(rustix::io::Errno::ACCESS));
}

#[test]
fn who_has_rights_over_files_of_others_keeps_them() {
    let Some(tree) = Tree::new() else { return };
    tree.shell("mkdir d; touch d/file d/mine own; chmod 700 d; chmod 600 own");
    let given = "--inh-caps=+fowner,+chown,+dac_override";
    let kept = "--ambient-caps=+fowner,+chown,+dac_override";
    let identity = [&NOBODY[..], &[given, kept]].concat();
    let script = "rm d/file; mv d/mine d/other; chmod 640 own; touch -d @5 own; chown 7:8 own";
    assert!(!tree.shell_as(&NOBODY, script).status.success());
    printed(script, &tree.shell_as(&identity, script));
    let own = fs::metadata(tree.below("own")).unwrap();
    assert_eq!((own.uid(), own.gid(), own.mode() & 0o7777, own.mtime()), (7, 8, 0o640, 5));
    assert_eq!(tree.shell("ls d"), "other");
}

/// Attributes and names take space, too.
#[test]
fn users_do_not_get_what_is_kept_for_root_by_attributes() {
    if !can_mount() {
        return;
    }
    let Some(volume) = Volume::new(32, 25) else { return };
    let tree = Tree::over(&volume.path, How::default());
    tree.shell("mkdir open; chmod 777 open");
    let script = "cd open; for i in $(seq 200); do echo > $i; done; dd if=/dev/zero of=all bs=64k";
    assert!(!tree.shell_as(&NOBODY, script).status.success());
    tree.shell("sync -f .");
    let set = |file: u32| {
        // Different values, since equal ones would share a block.
        let value: Vec<u8> = (0..900).map(|at| (at * file) as u8).collect();
        setxattr(tree.at(&format!("open/{file}")), "user.test", &value, XattrFlags::empty())
    };
    let refused = as_nobody(|| (1..=200).find_map(|file| set(file).err()));
    assert_eq!(refused, Some(rustix::io::Errno::NOSPC));
    assert_eq!(set(200), Ok(()), "root may have it");
}

/// Mounts another file system below the source, at `name`; `None` where that is impossible.
fn other(tree: &Tree, name: &str, kind: &str) -> Option<Other> {
    let at = tree.below(name);
    fs::create_dir(&at).unwrap();
    let flags = rustix::mount::MountFlags::empty();
    match rustix::mount::mount(kind, &at, kind, flags, None) {
        Ok(()) => Some(Other(at)),
        Err(error) => {
            println!("skipped: cannot mount {kind}: {error}");
            None
        }
    }
}

/// A mount that is unmounted when dropped.
struct Other(std::path::PathBuf);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

#[test]
fn where_there_are_no_acls_the_mode_alone_decides() {
    let Some(tree) = Tree::new() else { return };
    let Some(_other) = other(&tree, "plain", "ramfs") else { return };
    let plain = tree.below("plain");
    fs::set_permissions(&plain, Permissions::from_mode(0o755)).unwrap();
    for (name, mode) in [("readable", 0o644), ("secret", 0o640)] {
        fs::write(plain.join(name), "text").unwrap();
        fs::set_permissions(plain.join(name), Permissions::from_mode(mode)).unwrap();
    }
    fs::write(plain.join("theirs"), "text").unwrap();
    chown(plain.join("theirs"), Some(65534), Some(65534)).unwrap();
    let said = printed("as nobody", &tree.shell_as(&NOBODY, "cd plain; ls; cat readable theirs"));
    assert_eq!(said, "readable\nsecret\ntheirs\ntexttext");
    assert!(!tree.shell_as(&NOBODY, "cat plain/secret").status.success());
    assert_eq!(tree.shell("cat plain/theirs"), "text", "root is not its owner");
}

/// The kernel checks the process that opens a file in such a file system, which would be us.
#[test]
fn nothing_is_opened_in_a_file_system_that_the_kernel_makes_up() {
    let Some(tree) = Tree::new() else { return };
    let Some(_other) = other(&tree, "proc", "proc") else { return };
    for opened in [
        "cat proc/1/maps",
        "cat proc/version",
        "dd if=proc/1/maps iflag=direct",
        "readlink proc/1/exe",
        "truncate -s 0 proc/self/comm",
    ] {
        for output in [tree.shell_as(&NOBODY, opened), tree.shell_as(&["--reuid=0"], opened)] {
            assert!(!output.status.success(), "{opened}");
            assert!(output.stdout.is_empty(), "{opened}");
        }
    }
    assert_eq!(tree.shell("stat -c %F proc/version"), "regular empty file");
}

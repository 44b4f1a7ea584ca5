//! stress-ng's file-system stressors through a mount, all at once, each verifying its own work.

use crate::host::{Host, finish, is_missing, lacks_something, soak, wait_until};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The stressors that use files, as of the version in Debian 12.
const STRESSORS: &str = "access aio aiol chattr chdir chmod chown copy-file dentry dir dirdeep \
    dirmany fallocate fcntl fiemap file-ioctl filename flock fpunch fstat getdent hdd inode-flags \
    io iomix lease link locka lockf lockofd mknod mmap open readahead rename revio seek sendfile \
    symlink sync-file touch utime xattr";

#[test]
fn file_system_stressors_find_nothing_wrong() {
    if lacks_something() || is_missing("stress-ng") {
        return;
    }
    let mut host = Host::new();
    host.mount_well(&[]);
    let group = host.group("stress", "weight=100");
    let stressors: String = STRESSORS.split(' ').map(|name| format!(" --{name} 1")).collect();
    let seconds = if soak() { 60 } else { 3 };
    let at = host.at();
    let command =
        format!("stress-ng --temp-path {} --timeout {seconds} --verify{stressors}", at.display());
    let said = finish(host.start(&group, &command));
    assert!(said.contains("successful run completed"), "{said}");
    let procs = host.group_directory("stress").join("cgroup.procs");
    wait_until(|| fs::read_to_string(&procs).unwrap().is_empty());
    host.unmount();
    let left = fs::read_dir(host.source("")).unwrap().map(|entry| entry.unwrap().path());
    let left: Vec<PathBuf> = left.filter(|path| !is_locked(path)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Whether this is the directory of the stressor `chattr` with a file that nobody can remove.
///
/// Its time may end between a step that makes its file immutable or append-only and the step that
/// undoes that; then its file stays on every file system.
fn is_locked(directory: &Path) -> bool {
    let is_of_chattr = directory.to_string_lossy().contains("stress-ng-chattr");
    let flags = Command::new("lsattr").arg(directory).output().unwrap().stdout;
    let flags = String::from_utf8(flags).unwrap();
    let has_lock = |line: &str| line.split(' ').next().unwrap_or_default().contains(['i', 'a']);
    let is_locked = is_of_chattr && !flags.is_empty() && flags.lines().all(has_lock);
    if is_locked {
        let status = Command::new("chattr").args(["-R", "-ia"]).arg(directory).status().unwrap();
        assert!(status.success(), "{status}");
    }
    is_locked
}

//! stress-ng's file-system stressors through a mount, all at once, each verifying its own work.

use crate::host::{Host, finish, is_missing, lacks_something, soak};
use std::fs;

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
    host.unmount();
    let left: Vec<_> = fs::read_dir(host.source("")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

//! A file system that is easily filled.

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};
use std::ffi::CStr;
use std::path::Path;
use tempfile::TempDir;

/// A small tmpfs, unmounted when dropped.
pub struct SmallDisk(TempDir);

impl SmallDisk {
    /// Mounts a tmpfs of this size; `None`, with a message that says why, where that is not
    /// permitted.
    pub fn mount(size: &CStr) -> Option<Self> {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mounted = mount("none", place.path(), "tmpfs", MountFlags::empty(), Some(size));
        if let Err(errno) = mounted {
            eprintln!("skipped: full disk: cannot mount a tmpfs: {errno}");
            return None;
        }
        Some(Self(place))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn make_read_only(&self) {
        mount_remount(self.0.path(), MountFlags::RDONLY, "").unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = unmount(self.0.path(), UnmountFlags::DETACH);
    }
}

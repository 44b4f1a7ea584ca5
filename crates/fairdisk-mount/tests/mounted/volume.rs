//! A file system of our own on a disk of our own: a file behind a loop device.

use crate::common::{place, printed};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A file system, mounted; gone with the value.
pub(crate) struct Volume {
    place: TempDir,
    pub(crate) path: PathBuf,
    /// The disk is on a file system of its own.
    thin: bool,
}

fn run(program: &str, args: &[&str], path: &Path) -> Output {
    Command::new(program).args(args).arg(path).output().unwrap()
}

impl Volume {
    /// An ext4 of so many MiB, of which so many percent are kept for root; not without loop
    /// devices.
    pub(crate) fn new(mib: u64, reserved: u32) -> Option<Self> {
        let place = place();
        let image = place.path().join("disk");
        File::create(&image).unwrap().set_len(mib << 20).unwrap();
        let percent = reserved.to_string();
        printed("mkfs.ext4", &run("mkfs.ext4", &["-q", "-m", &percent], &image));
        Self::over(place, false)
    }

    /// An ext4 of so many MiB without a journal, whose disk has no room for more than so many:
    /// writing fails below what has been written to.
    pub(crate) fn thin(mib: u64, room_mib: u64) -> Option<Self> {
        let place = place();
        let size = format!("size={room_mib}M");
        if !run("mount", &["-t", "tmpfs", "-o", &size, "tmpfs"], place.path()).status.success() {
            println!("skipped: no tmpfs can be mounted");
            return None;
        }
        let image = place.path().join("disk");
        File::create(&image).unwrap().set_len(mib << 20).unwrap();
        let plain = ["-q", "-O", "^has_journal", "-E", "lazy_itable_init=0", "-N", "64"];
        printed("mkfs.ext4", &run("mkfs.ext4", &plain, &image));
        Self::over(place, true)
    }

    fn over(place: TempDir, thin: bool) -> Option<Self> {
        let path = place.path().join("root");
        fs::create_dir(&path).unwrap();
        let image = place.path().join("disk");
        let output =
            Command::new("mount").args(["-o", "loop"]).args([&image, &path]).output().unwrap();
        if !output.status.success() {
            println!("skipped: no loop device: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Self { place, path, thin })
    }

    /// Nothing on it is changed until it is thawed: whoever tries to waits.
    pub(crate) fn freeze(&self) -> bool {
        run("fsfreeze", &["--freeze"], &self.path).status.success()
    }

    pub(crate) fn thaw(&self) {
        printed("fsfreeze", &run("fsfreeze", &["--unfreeze"], &self.path));
    }

    /// What is on the disk at this moment, as another disk with the same on it would show after a
    /// loss of power.
    pub(crate) fn snapshot(&self) -> Option<Self> {
        let place = place();
        fs::copy(self.place.path().join("disk"), place.path().join("disk")).unwrap();
        Self::over(place, false)
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let mut done = run("umount", &[], &self.path).status.success();
        if self.thin {
            done &= run("umount", &[], self.place.path()).status.success();
        }
        assert!(done || std::thread::panicking(), "{} is in use", self.path.display());
    }
}

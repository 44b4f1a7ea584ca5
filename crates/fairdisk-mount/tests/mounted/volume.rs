//! A file system of our own, on a loop device.

use crate::common::{place, printed};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A mounted file system, unmounted and deleted when dropped.
pub(crate) struct Volume {
    place: TempDir,
    pub(crate) path: PathBuf,
    /// Whether the disk image is on a file system of its own.
    thin: bool,
}

fn run(program: &str, args: &[&str], path: &Path) -> Output {
    Command::new(program).args(args).arg(path).output().unwrap()
}

impl Volume {
    /// An ext4 file system of `mib` MiB, of which `reserved` percent are reserved for root; `None`
    /// without loop devices.
    pub(crate) fn new(mib: u64, reserved: u32) -> Option<Self> {
        let place = place();
        let image = place.path().join("disk");
        File::create(&image).unwrap().set_len(mib << 20).unwrap();
        let percent = reserved.to_string();
        printed("mkfs.ext4", &run("mkfs.ext4", &["-q", "-m", &percent], &image));
        Self::over(place, false)
    }

    /// An ext4 file system of `mib` MiB without a journal, whose disk has room for only `room_mib`
    /// MiB, so that writes beyond that fail below.
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

    /// A file system of `mib` MiB in memory, where the blocks of a removed file are free at once.
    /// Those of one on a disk may be about to be written by the kernel.
    pub(crate) fn in_memory(mib: u64) -> Option<Self> {
        let place = place();
        let path = place.path().join("root");
        fs::create_dir(&path).unwrap();
        let size = format!("size={mib}M");
        if !run("mount", &["-t", "tmpfs", "-o", &size, "tmpfs"], &path).status.success() {
            println!("skipped: no tmpfs can be mounted");
            return None;
        }
        Some(Self { place, path, thin: false })
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

    /// Freezes the file system: changes block until it is thawed.
    pub(crate) fn freeze(&self) -> bool {
        run("fsfreeze", &["--freeze"], &self.path).status.success()
    }

    pub(crate) fn thaw(&self) {
        printed("fsfreeze", &run("fsfreeze", &["--unfreeze"], &self.path));
    }

    /// A copy of the disk at this moment, as it would be found after a loss of power.
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

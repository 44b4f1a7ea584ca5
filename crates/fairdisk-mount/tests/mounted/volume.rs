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
        Self::over(place)
    }

    fn over(place: TempDir) -> Option<Self> {
        let path = place.path().join("root");
        fs::create_dir(&path).unwrap();
        let image = place.path().join("disk");
        let output =
            Command::new("mount").args(["-o", "loop"]).args([&image, &path]).output().unwrap();
        if !output.status.success() {
            println!("skipped: no loop device: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Self { place, path })
    }

    /// What is on the disk at this moment, as another disk with the same on it would show after a
    /// loss of power.
    pub(crate) fn snapshot(&self) -> Option<Self> {
        let place = place();
        fs::copy(self.place.path().join("disk"), place.path().join("disk")).unwrap();
        Self::over(place)
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let done = run("umount", &[], &self.path).status.success();
        assert!(done || std::thread::panicking(), "{} is in use", self.path.display());
    }
}

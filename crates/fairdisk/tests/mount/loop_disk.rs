//! A disk of our own with two partitions, on a loop device.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of sectors before the first partition, and the number in each partition.
const FIRST: u64 = 2048;
const LENGTH: u64 = 96 * 2048;

/// Two file systems on one disk, removed when dropped.
pub(crate) struct LoopDisk {
    device: String,
    mounted: Vec<PathBuf>,
}

fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

impl LoopDisk {
    /// Creates the disk in a directory, with its file systems mounted there as `part1` and `part2`.
    /// Fails without loop devices.
    pub(crate) fn new(directory: &Path) -> Result<Self, String> {
        let image = directory.join("disk");
        let file = fs::File::create(&image).unwrap();
        file.set_len((FIRST + 2 * LENGTH) * 512).unwrap();
        let device = run("losetup", &["--find", "--show", image.to_str().unwrap()])?;
        let mut disk = Self { device, mounted: Vec::new() };
        for number in ["1", "2"] {
            let start = FIRST + (number.parse::<u64>().unwrap() - 1) * LENGTH;
            let (start, length) = (start.to_string(), LENGTH.to_string());
            run("addpart", &[&disk.device, number, &start, &length]).unwrap();
            let partition = format!("{}p{number}", disk.device);
            run("mkfs.ext4", &["-q", &partition]).unwrap();
            let at = directory.join(format!("part{number}"));
            fs::create_dir(&at).unwrap();
            run("mount", &[&partition, at.to_str().unwrap()]).unwrap();
            disk.mounted.push(at);
        }
        Ok(disk)
    }

    /// A disk of so many bytes without partitions, past the page cache, with a file system that is
    /// mounted at a directory. Fails without loop devices.
    pub(crate) fn with_file_system(image: &Path, bytes: u64, at: &Path) -> Result<Self, String> {
        fs::File::create(image).unwrap().set_len(bytes).unwrap();
        let mut disk = Self::of(image, &["--direct-io=on"])?;
        let lazily = "lazy_itable_init=0,lazy_journal_init=0";
        run("mkfs.ext4", &["-q", "-E", lazily, &disk.device])?;
        run("mount", &[&disk.device, at.to_str().unwrap()])?;
        disk.mounted.push(at.to_owned());
        Ok(disk)
    }

    /// A disk without partitions, of an image that is there.
    pub(crate) fn bare(image: &Path) -> Result<Self, String> {
        Self::of(image, &[])
    }

    /// A disk without partitions, of an image that is there, to which the kernel does not write.
    pub(crate) fn read_only(image: &Path) -> Result<Self, String> {
        Self::of(image, &["--read-only"])
    }

    fn of(image: &Path, more: &[&str]) -> Result<Self, String> {
        let attach = ["--find", "--show", image.to_str().unwrap()];
        let device = run("losetup", &[more, &attach[..]].concat())?;
        Ok(Self { device, mounted: Vec::new() })
    }

    /// The kernel's name of the disk.
    pub(crate) fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        for at in &self.mounted {
            let _ = run("umount", &[at.to_str().unwrap()]);
        }
        for number in ["1", "2"] {
            let _ = run("delpart", &[&self.device, number]);
        }
        let _ = run("losetup", &["--detach", &self.device]);
    }
}

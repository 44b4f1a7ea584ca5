//! Determines the disk of a directory, and the position of its file system on that disk.

use super::mountinfo::Mountinfo;
use super::mountpoint::TYPE;
use rustix::fs::{FileType, major, minor, stat};
use std::fs;
use std::path::{Path, PathBuf};

/// The directory in which the kernel lists block devices by number.
const BY_NUMBER: &str = "/sys/dev/block";

/// A whole disk, and where on it the file system of a directory begins.
///
/// A partition belongs to the disk that it is a part of, and a device that the kernel builds on one
/// other device, such as an encrypted or logical volume, belongs to that one. A device built on
/// several others counts as a disk itself, since only it knows how it uses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// The device number, `MAJOR:MINOR`. A file system without a block device has one of its own.
    pub number: String,
    /// The name of the device, or its number if it has none.
    pub name: String,
    /// The number of sectors before the file system, not counting those that a volume manager
    /// reserves.
    pub start: u64,
    /// Whether the kernel reports the disk as rotational; `None` without a block device.
    pub rotational: Option<bool>,
    /// The size of the disk in sectors; `None` without a block device.
    pub sectors: Option<u64>,
    /// The type of a file system without a block device, where the mount table has it.
    pub kind: Option<String>,
}

impl BlockDevice {
    /// The disk of a directory, or the disk that a block device is or belongs to.
    ///
    /// # Errors
    /// What is at `path` cannot be inspected.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        let found = stat(path)?;
        let is_block = FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice;
        let number = number_of(if is_block { found.st_rdev } else { found.st_dev });
        let found = Self::find(Path::new(BY_NUMBER), &number);
        if let Some(found) = found {
            return Ok(found);
        }
        let (source, kind) = mounted_from(&number).unzip();
        // A file system that spans several devices names one of them in the mount table.
        let found = source.and_then(|source| {
            let device = stat(&source).ok()?;
            let is_block = FileType::from_raw_mode(device.st_mode) == FileType::BlockDevice;
            is_block.then(|| Self::find(Path::new(BY_NUMBER), &number_of(device.st_rdev)))?
        });
        Ok(found.unwrap_or_else(|| Self {
            name: number.clone(),
            number,
            start: 0,
            rotational: None,
            sectors: None,
            kind,
        }))
    }

    /// Why sharing it is hardly what was meant, if so.
    #[must_use]
    pub fn doubt(&self) -> Option<&'static str> {
        match self.kind.as_deref()? {
            "tmpfs" | "ramfs" => Some("this is in memory; there is no disk to share"),
            TYPE => Some(
                "this is a mount of Fairdisk; what goes through both is scheduled twice, and the \
                 second scheduler sees the waits of the first as the disk's. Mount the first one's \
                 source instead",
            ),
            _ => None,
        }
    }

    /// The disk that contains the device `number`, as listed in the directory `by_number`.
    fn find(by_number: &Path, number: &str) -> Option<Self> {
        let mut device = fs::canonicalize(by_number.join(number)).ok()?;
        let mut start = 0;
        loop {
            if device.join("partition").exists() {
                start += read(&device, "start")?.parse::<u64>().ok()?;
                device.pop();
            } else if let Some(below) = only_slave(&device) {
                device = below;
            } else {
                break;
            }
        }
        Some(Self {
            number: read(&device, "dev")?,
            name: device.file_name()?.to_string_lossy().into_owned(),
            start,
            rotational: read(&device, "queue/rotational").map(|it| it == "1"),
            sectors: read(&device, "size").and_then(|size| size.parse().ok()),
            kind: None,
        })
    }
}

fn number_of(device: u64) -> String {
    format!("{}:{}", major(device), minor(device))
}

fn read(device: &Path, attribute: &str) -> Option<String> {
    Some(fs::read_to_string(device.join(attribute)).ok()?.trim().to_owned())
}

/// The device that this one is built on, if it is exactly one.
fn only_slave(device: &Path) -> Option<PathBuf> {
    let mut slaves = fs::read_dir(device.join("slaves")).ok()?.flatten();
    let slave = slaves.next()?;
    if slaves.next().is_some() { None } else { fs::canonicalize(slave.path()).ok() }
}

/// The source of the mount with this device number, and the type of its file system.
fn mounted_from(number: &str) -> Option<(PathBuf, String)> {
    let table = Mountinfo::read().ok()?;
    let line = table.lines().find(|line| line.device == number.as_bytes())?;
    Some((line.source.into_owned(), String::from_utf8_lossy(line.kind).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A directory like the kernel's: disks with partitions, and devices built on others.
    struct Kernel(tempfile::TempDir);

    impl Kernel {
        fn new() -> Self {
            let kernel = Self(tempfile::tempdir().unwrap());
            fs::create_dir(kernel.0.path().join("dev")).unwrap();
            kernel
        }

        fn by_number(&self) -> PathBuf {
            self.0.path().join("dev")
        }

        fn device(&self, path: &str, number: &str, attributes: &[(&str, &str)]) {
            let device = self.0.path().join(path);
            fs::create_dir_all(device.join("queue")).unwrap();
            for (name, value) in [&[("dev", number)], attributes].concat() {
                fs::write(device.join(name), format!("{value}\n")).unwrap();
            }
            symlink(&device, self.by_number().join(number)).unwrap();
        }

        fn built_on(&self, device: &str, below: &[&str]) {
            let slaves = self.0.path().join(device).join("slaves");
            fs::create_dir(&slaves).unwrap();
            for path in below {
                let to = self.0.path().join(path);
                symlink(&to, slaves.join(to.file_name().unwrap())).unwrap();
            }
        }

        fn find(&self, number: &str) -> (String, u64) {
            let found = BlockDevice::find(&self.by_number(), number).unwrap();
            (format!("{} {}", found.name, found.number), found.start)
        }
    }

    fn two_disks() -> Kernel {
        let kernel = Kernel::new();
        for (disk, number) in [("sda", "8"), ("sdb", "9")] {
            let attributes = [("queue/rotational", "1"), ("size", "976773168")];
            kernel.device(disk, &format!("{number}:0"), &attributes);
            for (part, start) in [(1, "2048"), (2, "1050624")] {
                let (path, number) = (format!("{disk}/{disk}{part}"), format!("{number}:{part}"));
                kernel.device(&path, &number, &[("partition", "1"), ("start", start)]);
            }
        }
        kernel
    }

    #[test]
    fn partitions_are_on_their_disk() {
        let kernel = two_disks();
        assert_eq!(kernel.find("8:0"), ("sda 8:0".to_owned(), 0));
        assert_eq!(kernel.find("8:1"), ("sda 8:0".to_owned(), 2048));
        assert_eq!(kernel.find("9:2"), ("sdb 9:0".to_owned(), 1_050_624));
        let disk = BlockDevice::find(&kernel.by_number(), "8:2").unwrap();
        assert_eq!((disk.rotational, disk.sectors), (Some(true), Some(976_773_168)));
    }

    #[test]
    fn a_volume_on_one_disk_is_on_that_disk_and_one_on_several_is_a_disk() {
        let kernel = two_disks();
        kernel.device("dm-0", "253:0", &[]);
        kernel.built_on("dm-0", &["sda/sda2"]);
        kernel.device("dm-1", "253:1", &[]);
        kernel.built_on("dm-1", &["dm-0"]);
        assert_eq!(kernel.find("253:1"), ("sda 8:0".to_owned(), 1_050_624));
        kernel.device("md0", "9:127", &[]);
        kernel.built_on("md0", &["sda/sda1", "sdb/sdb1"]);
        kernel.device("dm-2", "253:2", &[]);
        kernel.built_on("dm-2", &["md0"]);
        assert_eq!(kernel.find("253:2"), ("md0 9:127".to_owned(), 0));
        assert_eq!(BlockDevice::find(&kernel.by_number(), "0:45"), None);
    }

    #[test]
    fn memory_and_our_own_mounts_are_doubted() {
        let doubt = |kind: &str| {
            let number = "0:41".to_owned();
            let (name, kind) = (number.clone(), Some(kind.to_owned()));
            let on = BlockDevice { number, name, start: 0, rotational: None, sectors: None, kind };
            on.doubt().unwrap_or_default()
        };
        assert!(doubt("tmpfs").contains("no disk"));
        assert!(doubt("fuse.fairdisk").contains("scheduled twice"));
        assert_eq!(["nfs4", "btrfs", "fuse.sshfs"].map(doubt), [""; 3]);
        let shared = Path::new("/dev/shm");
        if mounted_from(&number_of(stat(shared).unwrap().st_dev)).is_some_and(|it| it.1 == "tmpfs")
        {
            assert_eq!(BlockDevice::of(shared).unwrap().kind.as_deref(), Some("tmpfs"));
        }
    }

    #[test]
    fn every_directory_is_on_something() {
        for directory in ["/", "/proc"] {
            let device = BlockDevice::of(Path::new(directory)).unwrap();
            assert!(device.number.contains(':'), "{device:?}");
        }
        assert!(BlockDevice::of(Path::new("/nonexistent")).is_err());
    }
}

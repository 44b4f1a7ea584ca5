//! Conversion of file attributes between the system's format and that of the FUSE protocol.

use fuser::{FileAttr, FileType, INodeNo, TimeOrNow};
use rustix::fs::{Dev, Stat, Timespec, UTIME_NOW, UTIME_OMIT, major, makedev, minor};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The result of stat(2) as FUSE attributes, with the node number that the kernel knows the file
/// by.
pub(crate) fn attributes(node: u64, stat: &Stat) -> FileAttr {
    FileAttr {
        ino: INodeNo(node),
        size: stat.st_size as u64,
        blocks: stat.st_blocks as u64,
        atime: time(stat.st_atime, stat.st_atime_nsec),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind(rustix::fs::FileType::from_raw_mode(stat.st_mode)),
        perm: (stat.st_mode & 0o7777) as u16,
        nlink: stat.st_nlink as u32,
        uid: stat.st_uid,
        gid: stat.st_gid,
        rdev: device_to_wire(stat.st_rdev),
        blksize: stat.st_blksize as u32,
        flags: 0,
    }
}

/// A file type as FUSE names it.
pub(crate) fn kind(kind: rustix::fs::FileType) -> FileType {
    match kind {
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::NamedPipe,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        rustix::fs::FileType::RegularFile | rustix::fs::FileType::Unknown => FileType::RegularFile,
    }
}

fn time(seconds: impl Into<i64>, nanos: impl TryInto<u32>) -> SystemTime {
    let (seconds, nanos) = (seconds.into(), nanos.try_into().unwrap_or(0));
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let second = if seconds < 0 { UNIX_EPOCH - whole } else { UNIX_EPOCH + whole };
    second + Duration::from_nanos(u64::from(nanos))
}

/// A device number in the 32 bits of the FUSE protocol: 12 bits for the major and 20 for the minor
/// number.
fn device_to_wire(device: Dev) -> u32 {
    let (major, minor) = (major(device), minor(device));
    (minor & 0xff) | ((major & 0xfff) << 8) | ((minor & !0xff) << 12)
}

/// The device number encoded in the 32 bits of the FUSE protocol.
pub(crate) fn device_from_wire(wire: u32) -> Dev {
    makedev((wire >> 8) & 0xfff, (wire & 0xff) | ((wire >> 12) & 0xf_ff00))
}

/// A time in the format of utimensat(2); `None` leaves the time unchanged.
pub(crate) fn timespec(wanted: Option<TimeOrNow>) -> Timespec {
    match wanted {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(TimeOrNow::Now) => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        Some(TimeOrNow::SpecificTime(time)) => match time.duration_since(UNIX_EPOCH) {
            Ok(since) => {
                Timespec { tv_sec: since.as_secs() as i64, tv_nsec: since.subsec_nanos().into() }
            }
            Err(before) => before_epoch(before.duration()),
        },
    }
}

/// Converts a time before 1970, given as its distance. The kernel means whole seconds before the
/// epoch and nanoseconds after that second; fuser counts both backwards.
fn before_epoch(before: Duration) -> Timespec {
    Timespec { tv_sec: -(before.as_secs() as i64), tv_nsec: before.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_are_taken_as_they_are() {
        let there = TimeOrNow::SpecificTime(time(4_000_000_000_i64, 1));
        let back = timespec(Some(there));
        assert_eq!((back.tv_sec, back.tv_nsec), (4_000_000_000, 1));
        assert_eq!(timespec(None).tv_nsec, UTIME_OMIT);
        assert_eq!(timespec(Some(TimeOrNow::Now)).tv_nsec, UTIME_NOW);
        assert_eq!(time(-5, 0), UNIX_EPOCH - Duration::from_secs(5));
    }

    #[test]
    fn device_numbers_survive_both_ways() {
        for (major, minor) in [(0, 0), (8, 1), (259, 300), (0xfff, 0xf_ffff)] {
            let device = makedev(major, minor);
            assert_eq!(device_from_wire(device_to_wire(device)), device);
        }
    }
}

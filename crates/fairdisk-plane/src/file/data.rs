//! Opens, locks and measures files, and finds out whether direct I/O works.

use super::error::{TargetError, TargetProblem};
use crate::buffer::{ALIGN, Buffer};
use rustix::fs::{FlockOperation, OFlags, StatVfs, flock};
use rustix::io::Errno;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file for reading, and also for writing if `write`.
pub(super) fn open_file(path: &Path, write: bool, flags: OFlags) -> Result<File, TargetError> {
    let to = if write { "write" } else { "read" };
    open_raw(path, write, flags).map_err(|error| TargetError::os(path, to, &error))
}

fn open_raw(path: &Path, write: bool, flags: OFlags) -> io::Result<File> {
    OpenOptions::new().read(true).write(write).custom_flags(flags.bits() as i32).open(path)
}

/// Locks the file without waiting: against other writers, or with `exclusive` against readers, too.
pub(super) fn lock(path: &Path, file: &File, exclusive: bool) -> Result<(), TargetError> {
    let operation = if exclusive {
        FlockOperation::NonBlockingLockExclusive
    } else {
        FlockOperation::NonBlockingLockShared
    };
    match flock(file, operation) {
        Err(Errno::WOULDBLOCK) => Err(TargetError::new(path, TargetProblem::Busy)),
        // Some network file systems have no locks. There, the user has to keep two runs apart.
        _ => Ok(()),
    }
}

/// Unlocks the file, even if this process has other descriptors of the same open file.
pub(super) fn unlock(file: &File) {
    let _ = flock(file, FlockOperation::Unlock);
}

/// The size in bytes of a file or block device.
pub(super) fn size_of(mut file: &File) -> io::Result<u64> {
    file.seek(SeekFrom::End(0))
}

/// The offset of the first hole, which is at the end of a file without holes; `None` if the file
/// system does not tell.
pub(super) fn first_hole(file: &File) -> Option<u64> {
    rustix::fs::seek(file, rustix::fs::SeekFrom::Hole(0)).ok()
}

/// The number of bytes that the file occupies on its disk.
pub(super) fn taken_bytes(file: &File) -> u64 {
    file.metadata().map_or(0, |found| found.blocks() * 512)
}

/// The number of bytes of the file's disk that a run may still take; `None` if its file system does
/// not tell.
pub(super) fn free_bytes(file: &File) -> Option<u64> {
    rustix::fs::fstatvfs(file).ok().as_ref().and_then(available_bytes)
}

/// What a file system keeps back is not for runs: it is there for when the disk is full, and not
/// every file system lets root have all of it.
fn available_bytes(disk: &StatVfs) -> Option<u64> {
    (disk.f_blocks > 0).then(|| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Which file it is, whatever it is called.
pub(super) fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// A file opened for direct I/O.
#[derive(Debug)]
pub(crate) struct TargetFd {
    file: File,
    align: u64,
}

impl TargetFd {
    /// Opens `path` for direct I/O, if that is still the file `buffered` and direct I/O works. It
    /// is tried out, because a file system may accept O_DIRECT and then fail reads. The alignment
    /// is the smaller of 512 and 4096 bytes that works.
    pub(super) fn probe(path: &Path, buffered: &File, write: bool, bytes: u64) -> Option<Self> {
        let file = open_raw(path, write, OFlags::DIRECT).ok()?;
        if !is_same(&file, buffered) {
            return None;
        }
        let mut buffer = Buffer::zeroed(ALIGN);
        [512, ALIGN]
            .into_iter()
            .filter(|step| bytes >= 2 * *step as u64)
            .find_map(|step| {
                let read = file.read_at(&mut buffer.bytes_mut()[..step], step as u64);
                matches!(read, Ok(len) if len == step).then_some(step as u64)
            })
            .map(|align| Self { file, align })
    }

    /// The number of bytes of which offsets and lengths must be multiples.
    pub(crate) const fn align(&self) -> u64 {
        self.align
    }

    /// The file opened for direct I/O.
    pub(crate) const fn file(&self) -> &File {
        &self.file
    }
}

/// Whether both are the same file. Another one may have appeared at the path meanwhile.
fn is_same(one: &File, two: &File) -> bool {
    let id = |file: &File| file.metadata().map(|found| identity(&found)).ok();
    id(one).is_some() && id(one) == id(two)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::StatVfsMountFlags;

    #[test]
    fn what_a_file_system_keeps_back_is_not_free() {
        let disk = |blocks, free, available| StatVfs {
            f_bsize: 4096,
            f_frsize: 4096,
            f_blocks: blocks,
            f_bfree: free,
            f_bavail: available,
            f_files: 0,
            f_ffree: 0,
            f_favail: 0,
            f_fsid: 0,
            f_flag: StatVfsMountFlags::empty(),
            f_namemax: 255,
        };
        assert_eq!(available_bytes(&disk(1000, 800, 200)), Some(200 * 4096));
        assert_eq!(available_bytes(&disk(1000, 50, 0)), Some(0), "all that is left is kept back");
        assert_eq!(available_bytes(&disk(0, 0, 0)), None, "it does not tell");
    }
}

//! Opening, locking and measuring, and the way around the page cache.

use super::error::{TargetError, TargetProblem};
use crate::buffer::{ALIGN, Buffer};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens for reading, and for writing too if `write`.
pub(super) fn open_file(path: &Path, write: bool, flags: OFlags) -> Result<File, TargetError> {
    let to = if write { "write" } else { "read" };
    open_raw(path, write, flags).map_err(|error| TargetError::os(path, to, &error))
}

fn open_raw(path: &Path, write: bool, flags: OFlags) -> io::Result<File> {
    OpenOptions::new().read(true).write(write).custom_flags(flags.bits() as i32).open(path)
}

/// Keeps other runs away: from writing, or with `exclusive` from reading too.
pub(super) fn lock(path: &Path, file: &File, exclusive: bool) -> Result<(), TargetError> {
    let operation = if exclusive {
        FlockOperation::NonBlockingLockExclusive
    } else {
        FlockOperation::NonBlockingLockShared
    };
    match flock(file, operation) {
        Err(Errno::WOULDBLOCK) => Err(TargetError::new(path, TargetProblem::Busy)),
        // Some network file systems have no locks; then two runs on one file are up to the user.
        _ => Ok(()),
    }
}

/// Lets others have it, whoever else has the file open in this process.
pub(super) fn unlock(file: &File) {
    let _ = flock(file, FlockOperation::Unlock);
}

/// Length of a file or block device.
pub(super) fn size_of(mut file: &File) -> io::Result<u64> {
    file.seek(SeekFrom::End(0))
}

/// Where the first hole of a file begins, at the latest at its end; `None` if the file system does
/// not tell.
pub(super) fn first_hole(file: &File) -> Option<u64> {
    rustix::fs::seek(file, rustix::fs::SeekFrom::Hole(0)).ok()
}

/// Bytes the file takes up.
pub(super) fn taken_bytes(file: &File) -> u64 {
    file.metadata().map_or(0, |found| found.blocks() * 512)
}

/// A file opened around the page cache.
#[derive(Debug)]
pub(crate) struct TargetFd {
    file: File,
    align: u64,
}

impl TargetFd {
    /// Opens `buffered`, which is at `path`, around the page cache if that works: tries, since what
    /// a file system says about direct I/O and what it does are two things.
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

    /// What offsets and lengths must be a multiple of.
    pub(crate) const fn align(&self) -> u64 {
        self.align
    }

    /// The file.
    pub(crate) const fn file(&self) -> &File {
        &self.file
    }
}

/// Another file may have come to the path in between.
fn is_same(one: &File, two: &File) -> bool {
    let id = |file: &File| file.metadata().map(|found| (found.dev(), found.ino())).ok();
    id(one).is_some() && id(one) == id(two)
}

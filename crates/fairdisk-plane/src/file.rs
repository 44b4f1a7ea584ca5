//! Target files: the file or block device on which a run does its I/O.
//!
//! `file:PATH` creates the file if it does not exist: a data area of holes, followed by a [`Mark`]
//! that identifies it as made by Fairdisk. A marked file may be reused by any later run. Anything
//! else at PATH, block devices included, may be read, but is written only if the caller says
//! *overwrite*.
//!
//! Holes read as zeroes without touching the disk. That suits a modelled disk; to measure the real
//! one, set [`FileNeeds::allocate`], which writes out beforehand what the run reaches.

mod create;
mod data;
mod error;
mod made;
mod mark;
mod stale;

pub use create::{Allocated, Watch};
pub use error::{TargetError, TargetProblem};
pub use made::Made;
pub use mark::Mark;

use create::create;
pub(crate) use data::TargetFd;
use data::{free_bytes, lock, open_file, size_of, taken_bytes, unlock};
use fairdisk_core::SECTOR_BYTES;
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::{File, FileType};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What a run needs of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileNeeds {
    /// The number of sectors that the run reaches, from the first on.
    pub sectors: u64,
    /// Whether the run writes.
    pub writes: bool,
    /// Whether the contents of a file that Fairdisk did not make may be destroyed.
    pub overwrite: bool,
    /// Whether to write out what the run reaches before it begins, so that its reads reach the
    /// disk. Applies to files made by Fairdisk.
    pub allocate: bool,
}

impl FileNeeds {
    /// The needs of a run that reads and writes `sectors`.
    #[must_use]
    pub const fn scratch(sectors: u64) -> Self {
        Self { sectors, writes: true, overwrite: false, allocate: false }
    }

    const fn bytes(&self) -> u64 {
        self.sectors.saturating_mul(SECTOR_BYTES)
    }
}

/// Parses `file:PATH`.
///
/// # Errors
/// The text is something else, or `dir:PATH`, which is reserved.
pub fn parse_target(text: &OsStr) -> Result<PathBuf, TargetError> {
    let fail = |problem| Err(TargetError::new(Path::new(text), problem));
    let bytes = text.as_bytes();
    match bytes.strip_prefix(b"file:") {
        Some([]) => fail(TargetProblem::NotATarget),
        Some(path) => Ok(PathBuf::from(OsStr::from_bytes(path))),
        None if bytes.starts_with(b"dir:") => fail(TargetProblem::DirNotSupported),
        None => fail(TargetProblem::NotATarget),
    }
}

/// Whether a block device is one that the kernel does not write to. It can be opened for writing
/// all the same, and only the first write fails.
#[must_use]
pub fn is_read_only_device(path: &Path) -> bool {
    let Ok(found) = std::fs::metadata(path) else { return false };
    let (major, minor) = (rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev()));
    let attribute = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/ro"));
    found.file_type().is_block_device() && attribute.is_ok_and(|text| text.trim() == "1")
}

/// An open target, locked until it is dropped: exclusively if it may be written, else against
/// writers only, so that runs that only read can share a target.
#[derive(Debug)]
pub struct TargetFile {
    path: PathBuf,
    /// Goes through the page cache; serves what direct I/O cannot.
    buffered: File,
    direct: Option<TargetFd>,
    capacity_sectors: u64,
    mark: Option<Mark>,
    writable: bool,
    /// Whether it was not there before.
    is_new: bool,
}

impl Drop for TargetFile {
    /// Unlocks the file explicitly, because `io_uring` closes its files some time after the ring is
    /// gone.
    fn drop(&mut self) {
        unlock(&self.buffered);
    }
}

impl TargetFile {
    /// Opens what is at `path`, or creates it. `watch` receives the progress of writing out.
    ///
    /// # Errors
    /// The target cannot meet the needs; the error says why and what to do. A file that could not
    /// be completed is removed.
    pub fn open(
        path: &Path,
        needs: &FileNeeds,
        watch: &mut dyn FnMut(Allocated) -> Watch,
    ) -> Result<Self, TargetError> {
        match std::fs::metadata(path) {
            Ok(found) if found.file_type().is_block_device() => Self::open_device(path, needs),
            Ok(found) if found.is_file() => {
                stale::sweep(path);
                Self::open_existing(path, needs, watch)
            }
            Ok(found) => {
                Err(TargetError::new(path, TargetProblem::NotAFile(kind(found.file_type()))))
            }
            Err(_) if is_a_directorys(path) => {
                Err(TargetError::new(path, TargetProblem::NotAFile("the name of a directory")))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                stale::sweep(path);
                let (file, mark) = create(path, needs, watch)?;
                let mut made = Self::assemble(path, file, mark.data_bytes, Some(mark), true);
                made.is_new = true;
                Ok(made)
            }
            Err(error) => Err(TargetError::os(path, "look at", &error)),
        }
    }

    /// Makes a file without a name in a directory, for a run that leaves nothing, however it ends.
    /// `watch` receives the progress of writing out.
    ///
    /// # Errors
    /// The directory's disk cannot meet the needs.
    pub fn unnamed(
        directory: &Path,
        needs: &FileNeeds,
        watch: &mut dyn FnMut(Allocated) -> Watch,
    ) -> Result<Self, TargetError> {
        let (file, mark) = create::create_unnamed(directory, needs, watch)?;
        let again = format!("/proc/self/fd/{}", file.as_raw_fd());
        let mut made = Self::assemble(Path::new(&again), file, mark.data_bytes, Some(mark), true);
        directory.clone_into(&mut made.path);
        Ok(made)
    }

    fn open_device(path: &Path, needs: &FileNeeds) -> Result<Self, TargetError> {
        if needs.writes && !needs.overwrite {
            return Err(TargetError::new(path, TargetProblem::Foreign));
        }
        if needs.writes && is_read_only_device(path) {
            return Err(TargetError::new(path, TargetProblem::ReadOnlyDevice));
        }
        // With O_EXCL the kernel refuses a block device that is mounted or otherwise in use.
        let flags = if needs.writes { OFlags::EXCL } else { OFlags::empty() };
        let file = open_file(path, needs.writes, flags)?;
        Self::from_foreign(path, needs, file)
    }

    fn open_existing(
        path: &Path,
        needs: &FileNeeds,
        watch: &mut dyn FnMut(Allocated) -> Watch,
    ) -> Result<Self, TargetError> {
        let file = open_file(path, false, OFlags::empty())?;
        if !needs.writes {
            // Locked before the mark is read, since a writing run might change it.
            lock(path, &file, false)?;
        }
        let mark = Mark::read(&file).map_err(|error| TargetError::os(path, "read", &error))?;
        let Some(mark) = mark else {
            return Self::open_foreign(path, needs, file);
        };
        if !needs.writes && mark.serves(needs) {
            return Ok(Self::assemble(path, file, mark.data_bytes, Some(mark), false));
        }
        drop(file);
        let (file, mark) = create::adapt(path, needs, watch)?;
        Ok(Self::assemble(path, file, mark.data_bytes, Some(mark), true))
    }

    fn open_foreign(path: &Path, needs: &FileNeeds, file: File) -> Result<Self, TargetError> {
        if needs.writes && !needs.overwrite {
            return Err(TargetError::new(path, TargetProblem::Foreign));
        }
        let file = if needs.writes { open_file(path, true, OFlags::empty())? } else { file };
        Self::from_foreign(path, needs, file)
    }

    fn from_foreign(path: &Path, needs: &FileNeeds, file: File) -> Result<Self, TargetError> {
        lock(path, &file, needs.writes)?;
        let have = size_of(&file).map_err(|error| TargetError::os(path, "measure", &error))?;
        if have < needs.bytes() {
            let problem = TargetProblem::TooSmall { have, need: needs.bytes() };
            return Err(TargetError::new(path, problem));
        }
        Ok(Self::assemble(path, file, have, None, needs.writes))
    }

    fn assemble(
        path: &Path,
        buffered: File,
        bytes: u64,
        mark: Option<Mark>,
        writable: bool,
    ) -> Self {
        let direct = TargetFd::probe(path, &buffered, writable, bytes);
        let capacity_sectors = bytes / SECTOR_BYTES;
        let path = path.to_owned();
        Self { path, buffered, direct, capacity_sectors, mark, writable, is_new: false }
    }

    /// The path of the target.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The size of the data area in sectors.
    #[must_use]
    pub const fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    /// The mark, if Fairdisk made the file.
    #[must_use]
    pub const fn mark(&self) -> Option<Mark> {
        self.mark
    }

    /// Whether the target may be written.
    #[must_use]
    pub const fn is_writable(&self) -> bool {
        self.writable
    }

    /// The file, if it was made by being opened.
    #[must_use]
    pub fn made(&self) -> Option<Made> {
        if self.is_new { Made::new(&self.path, &self.buffered) } else { None }
    }

    /// How many bytes of it its disk has room for, at the most: what is free, and what the file has
    /// taken already. `None` for a device, and if the file system does not tell.
    #[must_use]
    pub fn room(&self) -> Option<u64> {
        if !self.buffered.metadata().is_ok_and(|found| found.is_file()) {
            return None;
        }
        Some(free_bytes(&self.buffered)?.saturating_add(taken_bytes(&self.buffered)))
    }

    /// The number of bytes of which offset and length of a request must be multiples for direct
    /// I/O; `None` if direct I/O does not work here.
    #[must_use]
    pub fn direct_align(&self) -> Option<u64> {
        self.direct.as_ref().map(TargetFd::align)
    }

    /// Does all I/O through the page cache.
    #[must_use]
    pub fn buffered_only(mut self) -> Self {
        self.direct = None;
        self
    }

    /// The file to use for `len` bytes at `offset`: opened for direct I/O if the alignment permits.
    pub(crate) fn fd_for(&self, offset: u64, len: u64) -> &File {
        match &self.direct {
            Some(direct) if (offset | len).is_multiple_of(direct.align()) => direct.file(),
            _ => &self.buffered,
        }
    }

    /// The file to use for operations without data.
    pub(crate) const fn fd(&self) -> &File {
        &self.buffered
    }
}

/// Whether only a directory can have this name.
fn is_a_directorys(path: &Path) -> bool {
    let name = path.as_os_str().as_bytes();
    ["/", "/.", "/.."].iter().any(|end| name.ends_with(end.as_bytes()))
}

fn kind(found: FileType) -> &'static str {
    if found.is_dir() {
        "a directory"
    } else if found.is_char_device() {
        "a character device"
    } else if found.is_fifo() {
        "a pipe"
    } else if found.is_socket() {
        "a socket"
    } else {
        "not a file"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_ends_with_the_target_whoever_else_has_the_file_open() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("target");
        let open = || TargetFile::open(&path, &FileNeeds::scratch(8), &mut |_| Watch::Continue);
        let target = open().unwrap();
        let kept = target.buffered.try_clone().unwrap();
        assert!(open().is_err());
        drop(target);
        assert!(open().is_ok());
        drop(kept);
    }
}

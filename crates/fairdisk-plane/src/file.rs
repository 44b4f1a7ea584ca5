//! The file or block device a run does its I/O on.
//!
//! `file:PATH` makes the file if it is not there: a data area of holes followed by a mark
//! ([`Mark`]) that says Fairdisk made it. A marked file is used again by any later run. Anything
//! else at PATH, a block device included, is read without further ado but only written if the
//! caller says *overwrite*.
//!
//! Holes read as zeroes without touching the disk. That is right under a modelled disk; to measure
//! the real one, ask for [`FileNeeds::allocate`], which writes out what the run reaches first.

mod create;
mod data;
mod error;
mod mark;
mod stale;

pub use create::{Allocated, Watch};
pub use error::{TargetError, TargetProblem};
pub use mark::Mark;

use create::create;
pub(crate) use data::TargetFd;
use data::{lock, open_file, size_of, unlock};
use fairdisk_core::SECTOR_BYTES;
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::{File, FileType};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// What a target is asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileNeeds {
    /// Sectors the run reaches.
    pub sectors: u64,
    /// Whether the run changes them.
    pub writes: bool,
    /// Whether the contents of a file Fairdisk did not make may be destroyed.
    pub overwrite: bool,
    /// Whether what the run reaches of a file of Fairdisk's own is written out before it, so that
    /// reads reach the disk.
    pub allocate: bool,
}

impl FileNeeds {
    /// A scratch area of `sectors` to read and write.
    #[must_use]
    pub const fn scratch(sectors: u64) -> Self {
        Self { sectors, writes: true, overwrite: false, allocate: false }
    }

    const fn bytes(&self) -> u64 {
        self.sectors.saturating_mul(SECTOR_BYTES)
    }
}

/// Takes `file:PATH` apart.
///
/// # Errors
/// It is something else, or `dir:PATH`, which is reserved.
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

/// An open file or block device, locked against other runs until it is dropped: against all of them
/// if it may be written, else against those that write. Runs that only read may share what they
/// read, as programs that read do.
#[derive(Debug)]
pub struct TargetFile {
    path: PathBuf,
    /// Through the page cache; serves what direct I/O cannot.
    buffered: File,
    direct: Option<TargetFd>,
    capacity_sectors: u64,
    mark: Option<Mark>,
    writable: bool,
}

impl Drop for TargetFile {
    /// A ring gives up its files some time after it is gone; the lock is not to last until then.
    fn drop(&mut self) {
        unlock(&self.buffered);
    }
}

impl TargetFile {
    /// Opens what is at `path`, or makes it.
    ///
    /// # Errors
    /// It cannot serve the needs; the error says why and what to do. A file that could not be
    /// completed leaves nothing behind.
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
                Ok(Self::assemble(path, file, mark.data_bytes, Some(mark), true))
            }
            Err(error) => Err(TargetError::os(path, "look at", &error)),
        }
    }

    fn open_device(path: &Path, needs: &FileNeeds) -> Result<Self, TargetError> {
        if needs.writes && !needs.overwrite {
            return Err(TargetError::new(path, TargetProblem::Foreign));
        }
        // On a block device the kernel refuses O_EXCL while it is mounted or otherwise in use.
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
            // Before the mark is read, since another run may be about to change what it says.
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
        Self { path: path.to_owned(), buffered, direct, capacity_sectors, mark, writable }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sectors in its data area.
    #[must_use]
    pub const fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    /// The mark, if Fairdisk made it.
    #[must_use]
    pub const fn mark(&self) -> Option<Mark> {
        self.mark
    }

    /// Whether it may be written.
    #[must_use]
    pub const fn is_writable(&self) -> bool {
        self.writable
    }

    /// What the offset and length of a request must be a multiple of to bypass the page cache;
    /// `None` if nothing bypasses it.
    #[must_use]
    pub fn direct_align(&self) -> Option<u64> {
        self.direct.as_ref().map(TargetFd::align)
    }

    /// Gives up bypassing the page cache.
    #[must_use]
    pub fn buffered_only(mut self) -> Self {
        self.direct = None;
        self
    }

    /// The way to the file for `len` bytes at `offset`.
    pub(crate) fn fd_for(&self, offset: u64, len: u64) -> &File {
        match &self.direct {
            Some(direct) if (offset | len).is_multiple_of(direct.align()) => direct.file(),
            _ => &self.buffered,
        }
    }

    /// The way to the file for what carries no data.
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

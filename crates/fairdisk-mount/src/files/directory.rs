//! Open directories and the reading of their entries.

use super::descriptor::Descriptor;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{FileType, RawDir, SeekFrom, seek};
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The size in bytes of the buffer for one getdents64(2) call.
const BATCH_BYTES: usize = 32 << 10;

/// A directory entry.
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) inode: u64,
    pub(crate) kind: FileType,
    /// The file system's cookie for the next entry. It stays valid while the directory is open,
    /// whatever is added or removed.
    pub(crate) next: u64,
}

/// An open directory.
pub(crate) struct OpenDirectory {
    fd: Descriptor,
    /// The read position. It belongs to the descriptor, so only one thread reads at a time.
    position: Mutex<Position>,
}

struct Position {
    at: u64,
    /// Entries read ahead.
    ahead: std::collections::VecDeque<Entry>,
}

impl AsFd for OpenDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl OpenDirectory {
    /// Wraps a descriptor that has just been opened.
    pub(crate) fn new(fd: Descriptor) -> Self {
        let position = Position { at: 0, ahead: std::collections::VecDeque::new() };
        Self { fd, position: Mutex::new(position) }
    }

    /// The descriptor of the directory.
    pub(crate) fn fd(&self) -> &Descriptor {
        &self.fd
    }

    /// Passes entries from `offset` on to `take`, until that returns false or there are no more. An
    /// error after at least one entry is not reported now; the next call meets it again.
    pub(crate) fn read(&self, offset: u64, take: impl FnMut(&Entry) -> bool) -> io::Result<()> {
        self.read_by(offset, take, |position| self.fetch(position))
    }

    fn read_by(
        &self,
        offset: u64,
        mut take: impl FnMut(&Entry) -> bool,
        mut fetch: impl FnMut(&mut Position) -> io::Result<bool>,
    ) -> io::Result<()> {
        let mut position = self.position();
        if offset != position.at || offset == 0 {
            position.ahead.clear();
            seek(&self.fd, SeekFrom::Start(offset))?;
            position.at = offset;
        }
        let mut any = false;
        loop {
            while let Some(entry) = position.ahead.front() {
                if !take(entry) {
                    return Ok(());
                }
                any = true;
                position.at = entry.next;
                position.ahead.pop_front();
            }
            match fetch(&mut position) {
                Ok(true) => {}
                Err(error) if !any => return Err(error),
                Ok(false) | Err(_) => return Ok(()),
            }
        }
    }

    fn position(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fetch(&self, position: &mut Position) -> io::Result<bool> {
        let mut batch = [MaybeUninit::uninit(); BATCH_BYTES];
        let mut entries = RawDir::new(&self.fd, &mut batch);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            position.ahead.push_back(Entry {
                name: OsStr::from_bytes(entry.file_name().to_bytes()).to_owned(),
                inode: entry.ino(),
                kind: entry.file_type(),
                next: entry.next_entry_cookie(),
            });
            if entries.is_buffer_empty() {
                break;
            }
        }
        Ok(!position.ahead.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_listed_before_an_error_is_listed() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("name"), "").unwrap();
        let fd = std::fs::File::open(place.path()).unwrap().into();
        let fd = Descriptor::uncounted(fd);
        let directory = OpenDirectory::new(fd);
        let (mut names, mut at) = (Vec::new(), 0);
        let mut read = |offset| {
            let mut fetches = 0;
            let take = |entry: &Entry| {
                names.push(entry.name.clone());
                at = entry.next;
                true
            };
            let done = directory.read_by(offset, take, |position| {
                fetches += 1;
                match (offset, fetches) {
                    (0, 1) => directory.fetch(position),
                    _ => Err(io::Error::from_raw_os_error(libc::EIO)),
                }
            });
            (done.map_err(|error| error.raw_os_error()), at)
        };
        let (first, behind) = read(0);
        assert_eq!(first, Ok(()));
        assert_eq!(read(behind).0, Err(Some(libc::EIO)));
        names.sort();
        assert_eq!(names, [".", "..", "name"]);
    }
}

//! Directories while they are open.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, RawDir, SeekFrom, seek};
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of entries taken from the system at once.
const BATCH_BYTES: usize = 32 << 10;

/// A name in a directory.
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) inode: u64,
    pub(crate) kind: FileType,
    /// Where the next one is: the file system's own mark, good for as long as the directory is
    /// open, whatever is added and removed meanwhile.
    pub(crate) next: u64,
}

/// An open directory.
pub(crate) struct OpenDirectory {
    fd: OwnedFd,
    /// One reads at a time: the position belongs to the descriptor.
    position: Mutex<Position>,
}

struct Position {
    at: u64,
    /// Entries taken and not asked for yet.
    ahead: std::collections::VecDeque<Entry>,
}

impl AsFd for OpenDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl OpenDirectory {
    /// Just opened.
    pub(crate) fn new(fd: OwnedFd) -> Self {
        let position = Position { at: 0, ahead: std::collections::VecDeque::new() };
        Self { fd, position: Mutex::new(position) }
    }

    /// The directory, open.
    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Gives entries from `offset` on to `take`, until it wants no more or there are none. Where it
    /// had some before an error, that is for whoever comes for the next ones.
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

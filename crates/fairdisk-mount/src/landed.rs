//! Writing to a file below, and where that came to lie.

use crate::jobs::uninterrupted;
use crate::open_file::OpenFile;
use rustix::fd::OwnedFd;
use rustix::fs::tell;
use rustix::io::{ReadWriteFlags, pwritev2};
use std::io::{self, IoSlice};

/// Where something is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// At this offset.
    At(u64),
    /// At the end, wherever that is by now: others append to the file below.
    End,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Landed {
    /// Where it begins,
    pub(crate) start: u64,
    /// and ends.
    pub(crate) end: u64,
    /// How much of it is ours: others may have appended something between two pieces.
    pub(crate) len: usize,
    /// Why there is not more, if that is known.
    pub(crate) errno: Option<i32>,
}

impl Landed {
    fn add(&mut self, at: u64, len: usize) {
        if self.len == 0 {
            self.start = at;
        }
        self.end = at + len as u64;
        self.len += len;
    }
}

impl OpenFile {
    /// Writes all of it, or what could be written before an error, through `fd`, which is this file
    /// once more or itself.
    pub(crate) fn write(
        &self,
        fd: &OwnedFd,
        target: Target,
        data: &[u8],
        flags: ReadWriteFlags,
    ) -> io::Result<Landed> {
        let mut landed = Landed::default();
        while landed.len < data.len() {
            let rest = &data[landed.len..];
            let written = match target {
                // By a memory map: the kernel above does not know that it could not be made below.
                Target::At(_) if self.only_appends() => {
                    Err(io::Error::from_raw_os_error(libc::EPERM))
                }
                Target::At(offset) => {
                    let at = offset + landed.len as u64;
                    let write = || pwritev2(fd, &[IoSlice::new(rest)], at, flags);
                    uninterrupted(write).map(|len| (at, len))
                }
                Target::End => self.append(fd, rest, flags),
            };
            match written {
                Ok((_, 0)) => break,
                Ok((at, len)) => landed.add(at, len),
                // What is written is written; the next write will meet the error.
                Err(error) if landed.len > 0 => {
                    landed.errno = error.raw_os_error();
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(landed)
    }

    /// Writes at the end; where that was, and how much.
    fn append(&self, fd: &OwnedFd, data: &[u8], flags: ReadWriteFlags) -> io::Result<(u64, usize)> {
        /// Where the descriptor is, and on from there.
        const HERE: u64 = u64::MAX;
        // The descriptor says where it is by then, if nobody else moves it.
        let _alone = self.appending();
        let flags = flags | ReadWriteFlags::APPEND;
        let len = uninterrupted(|| pwritev2(fd, &[IoSlice::new(data)], HERE, flags))?;
        Ok((tell(fd)? - len as u64, len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_landed_is_from_the_first_piece_to_the_last() {
        let mut landed = Landed::default();
        landed.add(100, 10);
        landed.add(150, 5);
        assert_eq!(landed, Landed { start: 100, end: 155, len: 15, errno: None });
    }
}

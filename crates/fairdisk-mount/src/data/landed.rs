//! Writes to a file below, and the record of where the data landed.

use super::jobs::uninterrupted;
use crate::files::open_file::OpenFile;
use rustix::fd::AsFd;
use rustix::fs::tell;
use rustix::io::{ReadWriteFlags, pwritev2};
use std::io::{self, IoSlice};

/// Where to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// At this offset in bytes.
    At(u64),
    /// At the end of the file, wherever it is at that moment, since others may append, too.
    End,
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Landed {
    /// The offset at which the data begins.
    pub(crate) start: u64,
    /// The offset at which the data ends.
    pub(crate) end: u64,
    /// The number of bytes written. It may be less than the range, if others appended between two
    /// of our writes.
    pub(crate) len: usize,
    /// The error that kept the rest from being written, if any.
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
    /// Writes all of `data`, or as much as possible before an error. `fd` is this file's descriptor
    /// or another one of the same file.
    pub(crate) fn write(
        &self,
        fd: impl AsFd,
        target: Target,
        data: &[u8],
        flags: ReadWriteFlags,
    ) -> io::Result<Landed> {
        let mut landed = Landed::default();
        while landed.len < data.len() {
            let rest = &data[landed.len..];
            let written = match target {
                // The write comes from a memory map: the kernel above does not know that the file
                // below only permits appending.
                Target::At(_) if self.only_appends() => {
                    Err(io::Error::from_raw_os_error(libc::EPERM))
                }
                Target::At(offset) => {
                    let at = offset + landed.len as u64;
                    let write = || pwritev2(&fd, &[IoSlice::new(rest)], at, flags);
                    self.with_space(|| uninterrupted(write)).map(|len| (at, len))
                }
                Target::End => self.with_space(|| self.append(&fd, rest, flags)),
            };
            match written {
                Ok((_, 0)) => break,
                Ok((at, len)) => landed.add(at, len),
                // The part that was written counts; the next write will meet the error.
                Err(error) if landed.len > 0 => {
                    landed.errno = error.raw_os_error();
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(landed)
    }

    /// Appends once. Returns the offset and the number of bytes written.
    fn append(
        &self,
        fd: impl AsFd,
        data: &[u8],
        flags: ReadWriteFlags,
    ) -> io::Result<(u64, usize)> {
        /// The offset with which pwritev2(2) uses and advances the position of the descriptor.
        const HERE: u64 = u64::MAX;
        // Afterwards the position tells where the data is, unless another thread moves it.
        let _alone = self.appending();
        let flags = flags | ReadWriteFlags::APPEND;
        let len = uninterrupted(|| pwritev2(&fd, &[IoSlice::new(data)], HERE, flags))?;
        Ok((tell(&fd)? - len as u64, len))
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

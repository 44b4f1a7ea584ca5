//! Files reached by name, where there are no handles: in the directory they were found in, which
//! is a node itself. A descriptor saves looking for them again, for as long as there is room.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Stat, StatxFlags, statx};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// A file and the name it had last.
#[derive(Debug)]
pub(super) struct Named {
    /// The node of its directory, which stays known as long as this is.
    pub(super) parent: u64,
    pub(super) name: OsString,
    pub(super) mark: Mark,
    pub(super) fd: Option<Arc<OwnedFd>>,
    /// The descriptor was of use since there was last one too many.
    pub(super) used: bool,
}

/// What tells a file from others, as far as its file system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    device: u64,
    inode: u64,
    /// When it was made, in nanoseconds; 0 where that is not kept.
    born: u64,
}

impl Mark {
    /// Of an open file.
    pub(crate) fn of(fd: impl AsFd, stat: &Stat) -> Self {
        let born = statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).map_or(0, |all| {
            let known = StatxFlags::from_bits_retain(all.stx_mask).contains(StatxFlags::BTIME);
            let (seconds, nanos) = (all.stx_btime.tv_sec as u64, all.stx_btime.tv_nsec);
            if known { seconds.wrapping_mul(1_000_000_000) + u64::from(nanos) } else { 0 }
        });
        Self { device: stat.st_dev, inode: stat.st_ino, born }
    }

    /// Whether no other file has the same one later.
    pub(crate) const fn is_sure(&self) -> bool {
        self.born != 0
    }

    /// Tells files apart that have the same inode number one after the other.
    pub(super) const fn generation(&self) -> u64 {
        self.born
    }
}

impl Named {
    /// Just found.
    pub(super) fn new(parent: u64, name: &OsStr, mark: Mark, fd: Arc<OwnedFd>) -> Self {
        Self { parent, name: name.to_owned(), mark, fd: Some(fd), used: false }
    }

    /// Whether both are the same file under the same name.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        (self.parent, &self.name, self.mark) == (other.parent, &other.name, other.mark)
    }
}

/// The way to a node: from a place that needs no way, down these steps.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub(super) start: u64,
    /// The last one first.
    pub(super) steps: Vec<Step>,
}

/// One name on the way to a node.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) node: u64,
    pub(super) name: OsString,
    pub(super) mark: Mark,
}

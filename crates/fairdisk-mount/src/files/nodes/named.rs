//! Nodes reached by name, where there are no handles. The name is relative to the directory in
//! which the file was found, which is a node itself. A descriptor spares looking the file up again,
//! as long as there is room for it.

use crate::files::descriptor::Descriptor;
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, Stat, StatxFlags, statx};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// A file and the name by which it was last found.
#[derive(Debug)]
pub(super) struct Named {
    /// The node of the directory, which stays in the table as long as this one does.
    pub(super) parent: u64,
    pub(super) name: OsString,
    pub(super) mark: Mark,
    pub(super) fd: Option<Arc<Descriptor>>,
    /// Whether the descriptor was used since it was last considered for closing.
    pub(super) used: bool,
}

/// Identifies a file, as well as its file system permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    device: u64,
    inode: u64,
    /// The birth time in nanoseconds; 0 where the file system does not record it.
    born: u64,
}

impl Mark {
    /// The mark of an open file.
    pub(crate) fn of(fd: impl AsFd, stat: &Stat) -> Self {
        let born = statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).map_or(0, |all| {
            let known = StatxFlags::from_bits_retain(all.stx_mask).contains(StatxFlags::BTIME);
            let (seconds, nanos) = (all.stx_btime.tv_sec as u64, all.stx_btime.tv_nsec);
            if known { seconds.wrapping_mul(1_000_000_000) + u64::from(nanos) } else { 0 }
        });
        Self { device: stat.st_dev, inode: stat.st_ino, born }
    }

    /// Whether the mark is unique for all time, so that no later file can have it.
    pub(crate) const fn is_sure(&self) -> bool {
        self.born != 0
    }

    /// Distinguishes files that successively have the same inode number.
    pub(super) const fn generation(&self) -> u64 {
        self.born
    }
}

impl Named {
    /// A file that has just been found.
    pub(super) fn new(parent: u64, name: &OsStr, mark: Mark, fd: Arc<Descriptor>) -> Self {
        Self { parent, name: name.to_owned(), mark, fd: Some(fd), used: false }
    }

    /// Whether both are the same file under the same name.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        (self.parent, &self.name, self.mark) == (other.parent, &other.name, other.mark)
    }
}

/// The way to a node: from a node that can be referred to directly, down these steps.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub(super) start: u64,
    /// The steps, the last one first.
    pub(super) steps: Vec<Step>,
}

/// One name on the way to a node.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) node: u64,
    pub(super) name: OsString,
    pub(super) mark: Mark,
}

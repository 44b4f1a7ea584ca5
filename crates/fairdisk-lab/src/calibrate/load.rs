//! A load of a calibration: requests of one kind, a number of them at a time.

use fairdisk_core::{Op, Sectors};
use std::fmt;

/// Where the requests of a load are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Each continues the one before.
    Sequential,
    /// Anywhere.
    Random,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Reads, writes, or flushes after writes.
    pub op: Op,
    /// Where they are.
    pub place: Place,
    /// Their size.
    pub size: Sectors,
    /// How many there are at a time.
    pub depth: u32,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.op {
            Op::Read => "reads",
            Op::Flush => "writes, each with a flush",
            _ => "writes",
        };
        let place = match self.place {
            Place::Sequential => "sequential",
            Place::Random => "random",
        };
        let kib = self.size.bytes() / 1024;
        write!(f, "{place} {kib} KiB {what}, {} at a time", self.depth)
    }
}

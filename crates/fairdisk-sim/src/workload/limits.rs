//! When a task is done, and with which seeds it repeats what it did.

use fairdisk_core::Span;

/// When a task is done. A pass ends when an I/O no longer fits into any file; the next pass starts
/// at the beginning of every file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Stop after this many bytes.
    pub bytes: Option<u64>,
    /// Stop after this many I/Os.
    pub ios: Option<u64>,
    /// Stop this long after the start.
    pub runtime: Option<Span>,
    /// Stop after this many passes, if at least `bytes_min` bytes were transferred.
    pub passes: Option<u32>,
    /// The least number of bytes for which whole passes are repeated.
    pub bytes_min: u64,
    /// End a pass once this many bytes of it are under way, before a flush that would be due.
    pub pass_bytes: Option<u64>,
    /// Whether passes never end by themselves: a file all of whose blocks were visited starts again
    /// at once, and so does an operation at the end of the only file.
    pub endless: bool,
}

/// The seeds of a task's random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// Seed of positions; `None` derives it from the run's seed.
    pub places: Option<u64>,
    /// Seed of sizes and of the mix; `None` derives it from the run's seed.
    pub choices: Option<u64>,
    /// Whether every pass repeats the positions of the first one.
    pub same_passes: bool,
}

//! The parts of the host that decide how I/O reaches the disk: CPUs, file systems, the journal,
//! and the page cache's read-ahead.

mod cpu;
mod journal;
mod readahead;
mod volume;

pub use cpu::CpuSpec;
pub(crate) use cpu::Cpus;
pub use journal::JournalSpec;
pub(crate) use journal::{Journal, JournalStep, Touch};
pub(crate) use readahead::ReadAhead;
pub(crate) use volume::{File, Mapped};
pub use volume::{FileSpec, VolumeKind, VolumeSpec, ext_bytes_on_disk};

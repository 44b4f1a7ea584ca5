//! The parts of the host that decide how I/O reaches the disk: CPUs, file systems, the journal,
//! the page
//! cache and its read-ahead.

mod cpu;
mod journal;
mod mapping;
mod pages;
mod readahead;
mod volume;
mod windows;

pub use cpu::CpuSpec;
pub(crate) use cpu::Cpus;
pub use journal::JournalSpec;
pub(crate) use journal::{Journal, JournalStep, Touch};
pub use mapping::Advice;
pub(crate) use mapping::Mapping;
pub(crate) use pages::PageCache;
pub(crate) use readahead::ReadAhead;
pub(crate) use volume::{File, Mapped};
pub use volume::{FileSpec, VolumeKind, VolumeSpec, ext_bytes_on_disk};
pub(crate) use windows::Window;

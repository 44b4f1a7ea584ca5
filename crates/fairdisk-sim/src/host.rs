//! The parts of the host that shape the I/O the disk sees: CPUs, file systems, the journal, the
//! page cache, its read-ahead and its write-back.

mod cpu;
mod dirty;
mod domain;
mod journal;
mod mapping;
pub mod memory;
mod ownership;
mod page_set;
mod pages;
mod readahead;
mod volume;
mod windows;
mod write_back;

pub use cpu::CpuSpec;
pub(crate) use cpu::Cpus;
pub(crate) use dirty::{DirtyMark, DirtyPages, Stretch};
pub(crate) use domain::{Division, Domain, Domains};
pub use journal::JournalSpec;
pub(crate) use journal::{Journal, JournalStep, Touch};
pub use mapping::Advice;
pub(crate) use mapping::Mapping;
pub(crate) use ownership::Ownership;
pub use ownership::Payer;
pub use pages::Presence;
pub(crate) use pages::{Kept, PageCache, SecondChance};
pub(crate) use readahead::ReadAhead;
pub(crate) use volume::{File, Mapped, Metadata, Pointer};
pub use volume::{FileSpec, VolumeKind, VolumeSpec, ext_bytes_on_disk};
pub(crate) use windows::Window;
pub(crate) use write_back::{Dirtying, Thresholds, Throttle};
pub use write_back::{GroupLimits, WriteBackSpec};

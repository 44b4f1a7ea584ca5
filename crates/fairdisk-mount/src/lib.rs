//! The pass-through file system of `fairdisk mount`.
//!
//! [`Mounted::mount`] shows the tree below a source directory at a mount point. Metadata operations
//! are passed through; every read, write-back and flush of file data becomes a [`Piece`], which a
//! [`Gate`] lets through when it is that piece's turn. [`OpenGate`] lets everything through at
//! once.
//!
//! Nothing here resolves a path below the source: every object is reached from the descriptor of
//! its parent, without following links, and reopened through that descriptor.

pub mod cgroups;
mod clock;
pub mod control;
mod data;
mod ending;
mod fair_pool;
mod file_lock;
mod files;
mod fingerprint;
pub mod identity;
mod memory;
pub mod metrics;
mod mounting;
mod requests;
mod shortage;
mod sys;
mod trouble;
mod visitors;

pub use data::gate::{DirtyAccounts, Gate, Job, OpenGate, Piece};
pub use data::scheduled::{BlockedTask, GroupStatus, MountGate, ScheduledGate};
pub use ending::ends::Rounds;
pub use ending::guardian::{Guardian, run_if_called as run_guardian_if_called};
pub use ending::panics::end_at_first_panic;
pub use memory::give_back as give_memory_back;
pub use mounting::block_device::BlockDevice;
pub use mounting::errors::{Lack, MountError, MountProblem};
pub use mounting::mounted::{Mounted, Watch};
pub use mounting::mountpoint::is_ours as is_mount;
pub use mounting::mounts::{MountEntry, Mounts};
pub use mounting::options::MountOptions;
pub use requests::tree::MountCounts;
pub use sys::descriptors::Inherited;
pub use trouble::tell_unsaid;

//! The pass-through file system of `fairdisk mount`.
//!
//! [`Mounted::mount`] shows the tree below a source directory at a mount point. Metadata operations
//! are passed through; every read, write-back and flush of file data becomes a [`Piece`], which a
//! [`Gate`] lets through when it is that piece's turn. [`OpenGate`] lets everything through at
//! once.
//!
//! Nothing here resolves a path below the source: every object is reached from the descriptor of
//! its parent, without following links, and reopened through that descriptor.

mod answers;
mod appends;
mod attributes;
mod block_device;
mod buffers;
mod caller;
pub mod cgroups;
mod clock;
pub mod control;
mod directory;
mod dirty;
mod ends;
mod errors;
mod extents;
mod file_lock;
mod filesystem;
mod fingerprint;
mod freshness;
mod gate;
mod guardian;
mod handles;
pub mod identity;
mod jobs;
mod landed;
mod made_up;
pub mod metrics;
mod mounted;
mod mountinfo;
mod mountpoint;
mod mounts;
mod nodes;
mod notices;
mod open_file;
mod ops;
mod options;
mod own_devices;
mod panics;
mod readers;
mod scheduled;
mod shortage;
mod sys;
mod tree;
mod trouble;
mod visitors;
mod wanted;
mod write_errors;

pub use block_device::BlockDevice;
pub use ends::Rounds;
pub use errors::{Lack, MountError, MountProblem};
pub use gate::{DirtyAccounts, Gate, Job, OpenGate, Piece};
pub use guardian::{Guardian, run_if_called as run_guardian_if_called};
pub use mounted::{Mounted, Watch};
pub use mountpoint::is_ours as is_mount;
pub use mounts::{MountEntry, Mounts};
pub use options::MountOptions;
pub use panics::end_at_first_panic;
pub use scheduled::{GroupStatus, MountGate, ScheduledGate, scheduler};
pub use sys::descriptors::Inherited;
pub use tree::MountCounts;

//! The directory of `fairdisk cgroup mount`: shows groups with the control files that the two-layer
//! CFQ patches of 2008 had.
//!
//! The kernel maintains which task is in which group. A cgroup hierarchy of version 1 without
//! controllers is mounted in a private place and shown through a small FUSE file system; where
//! version 1 is not available, the tree of version 2 is shown. Directories and files of the kernel
//! are passed through, and every directory has a few `cfq.*` files in addition. What is written to
//! those is stored with the kernel's directory, where running mounts find it.

mod error;
mod filesystem;
mod mounted;
mod nodes;
mod open_file;
mod own_file;
mod stat;
mod user;
mod version1;

pub use error::CgroupError;
pub use mounted::{CgroupMount, unmount};
pub use stat::strangers;
pub use version1::{Left, OWN_NAME, Say};

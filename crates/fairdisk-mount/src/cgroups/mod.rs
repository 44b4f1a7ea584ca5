//! The directory of `fairdisk cgroup mount`: groups as the two-layer CFQ patches of 2008 showed
//! them.
//!
//! Membership is the kernel's: a hierarchy of version 1 without controllers is mounted out of the
//! way and shown through a small file system; where there is no version 1, the tree of version 2.
//! Its directories and files go straight through; every directory has a few `cfq.*` files besides.
//! What is written to those is kept with the kernel's directory, where running mounts find it.

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

//! Safe wrappers of system calls that rustix does not cover.

pub(crate) mod descriptors;
pub(crate) mod fiemap;
pub(crate) mod fsid;
pub(crate) mod fuse_device;
pub(crate) mod handle;
pub(crate) mod inode_flags;
pub(crate) mod proc_fd;
pub(crate) mod range;

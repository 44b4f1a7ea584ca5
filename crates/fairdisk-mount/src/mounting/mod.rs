//! Mounting: what is mounted where and how, and the life of the mounts on a disk.

pub(crate) mod block_device;
pub(crate) mod errors;
pub(crate) mod made_up;
pub(crate) mod mounted;
pub(crate) mod mountinfo;
pub(crate) mod mountpoint;
pub(crate) mod mounts;
pub(crate) mod options;
pub(crate) mod own_devices;

//! The devices of the mounts that this process serves.
//!
//! One of these mounts may be below the source of another, or of its own. A thread that served a
//! request there would wait for another request to this process while it occupies a slot at the
//! disk; if all threads wait like that, nobody is left to answer. So nothing on these devices is
//! shown.

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, StatxFlags, makedev, statx};
use std::io;
use std::sync::{PoisonError, RwLock};

static DEVICES: RwLock<Vec<u64>> = RwLock::new(Vec::new());

/// Flags of statx(2) that avoid requests to the file system.
const STAYS_HERE: AtFlags = AtFlags::EMPTY_PATH.union(AtFlags::STATX_DONT_SYNC);

/// Registers a device as that of a mount of ours, until dropped.
#[derive(Debug)]
pub(crate) struct OwnDevice(u64);

impl OwnDevice {
    pub(crate) fn new(device: u64) -> Self {
        DEVICES.write().unwrap_or_else(PoisonError::into_inner).push(device);
        Self(device)
    }

    /// Whether the open file `fd` is on a mount of ours other than the device `source`. Sends no
    /// request to its file system.
    pub(crate) fn has(fd: impl AsFd, source: u64) -> io::Result<bool> {
        let found = statx(fd, "", STAYS_HERE, StatxFlags::TYPE)?;
        let device = makedev(found.stx_dev_major, found.stx_dev_minor);
        Ok(device != source && Self::is_one(device))
    }

    /// Whether the device belongs to a mount of ours.
    fn is_one(device: u64) -> bool {
        DEVICES.read().unwrap_or_else(PoisonError::into_inner).contains(&device)
    }
}

impl Drop for OwnDevice {
    fn drop(&mut self) {
        let mut devices = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = devices.iter().position(|device| *device == self.0) {
            devices.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_ours_until_the_last_that_says_so_is_gone() {
        let number = u64::MAX - 1;
        let [one, two] = [(); 2].map(|()| OwnDevice::new(number));
        drop(one);
        assert!(OwnDevice::is_one(number));
        drop(two);
        assert!(!OwnDevice::is_one(number));
    }
}

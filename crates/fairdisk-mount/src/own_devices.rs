//! The devices of the mounts that this process serves.
//!
//! One of them may come to lie below the source of another, or of its own. Whoever served a request
//! there would wait for a request of its own, with its place at the disk taken: when all wait so,
//! nobody is left to answer. So nothing of theirs is shown.

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, StatxFlags, makedev, statx};
use std::io;
use std::sync::{PoisonError, RwLock};

static DEVICES: RwLock<Vec<u64>> = RwLock::new(Vec::new());

/// What is known of an open file without asking its file system.
const STAYS_HERE: AtFlags = AtFlags::EMPTY_PATH.union(AtFlags::STATX_DONT_SYNC);

/// A device is that of a mount of ours for as long as this is kept.
#[derive(Debug)]
pub(crate) struct OwnDevice(u64);

impl OwnDevice {
    pub(crate) fn new(device: u64) -> Self {
        DEVICES.write().unwrap_or_else(PoisonError::into_inner).push(device);
        Self(device)
    }

    /// Whether what is open lies on a mount of ours, and not on the device of the source. Nothing
    /// is asked of its file system.
    pub(crate) fn has(fd: impl AsFd, source: u64) -> io::Result<bool> {
        let found = statx(fd, "", STAYS_HERE, StatxFlags::TYPE)?;
        let device = makedev(found.stx_dev_major, found.stx_dev_minor);
        Ok(device != source && Self::is_one(device))
    }

    /// Whether a device is that of any mount of ours.
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

//! A connection of our own to the kernel's side of a mount, beside those that requests use.

use crate::files::cached::WHOLE;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use std::io;
use std::ops::Range;

/// `FUSE_DEV_IOC_CLONE`, `_IOR(229, 0, uint32_t)`.
const FUSE_DEV_IOC_CLONE: libc::Ioctl = 0x8004_E500_u32 as libc::Ioctl;
/// The code of the notification that cached data of an inode is invalid.
const FUSE_NOTIFY_INVAL_INODE: i32 = 2;

/// The size of `struct fuse_out_header` and `struct fuse_notify_inval_inode_out` in bytes.
const NOTICE_BYTES: usize = 16 + 24;

/// Opens another connection to the mount that `session` serves.
pub(crate) fn another(session: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let device = open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let mut session = session.as_raw_fd() as u32;
    // SAFETY: the call reads a 32-bit number, which outlives it.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), FUSE_DEV_IOC_CLONE, &raw mut session) };
    if done == 0 { Ok(device) } else { Err(io::Error::last_os_error()) }
}

/// Tells the kernel to drop its cached data of a range of a file. Returns only once requests under
/// way for these pages have been answered. Fails if the kernel has nothing cached of the file.
pub(crate) fn invalidate(device: impl AsFd, node: u64, range: &Range<u64>) -> io::Result<()> {
    let mut notice = Vec::with_capacity(NOTICE_BYTES);
    notice.extend((NOTICE_BYTES as u32).to_ne_bytes());
    notice.extend(FUSE_NOTIFY_INVAL_INODE.to_ne_bytes());
    let len = if *range == WHOLE { 0 } else { range.end - range.start };
    // The fields are: 0, as this answers no request; the node; the offset; the length, 0 for all.
    [0, node, range.start, len].iter().for_each(|word| notice.extend(word.to_ne_bytes()));
    rustix::io::write(device, &notice)?;
    Ok(())
}

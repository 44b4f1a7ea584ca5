//! A way of our own to the kernel's side of a mount, beside those that requests come by.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use std::io;

/// `FUSE_DEV_IOC_CLONE`, `_IOR(229, 0, uint32_t)`.
const FUSE_DEV_IOC_CLONE: libc::Ioctl = 0x8004_E500_u32 as libc::Ioctl;
/// The notice that what is cached of a file is not valid.
const FUSE_NOTIFY_INVAL_INODE: i32 = 2;

/// `struct fuse_out_header` and `struct fuse_notify_inval_inode_out`.
const NOTICE_BYTES: usize = 16 + 24;

/// Another descriptor to the mount that `session` serves.
pub(crate) fn another(session: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let device = open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let mut session = session.as_raw_fd() as u32;
    // SAFETY: the call reads a number of 32 bits, which outlives it.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), FUSE_DEV_IOC_CLONE, &raw mut session) };
    if done == 0 { Ok(device) } else { Err(io::Error::last_os_error()) }
}

/// The kernel is to drop all it has of a file. It does so when requests under way for the file have
/// been answered, and this returns then; if it has nothing of it that is an error.
pub(crate) fn invalidate(device: impl AsFd, node: u64) -> io::Result<()> {
    let mut notice = Vec::with_capacity(NOTICE_BYTES);
    notice.extend((NOTICE_BYTES as u32).to_ne_bytes());
    notice.extend(FUSE_NOTIFY_INVAL_INODE.to_ne_bytes());
    // No request is answered by it; the node; from the beginning; to the end.
    [0, node, 0, 0].iter().for_each(|word| notice.extend(word.to_ne_bytes()));
    rustix::io::write(device, &notice)?;
    Ok(())
}

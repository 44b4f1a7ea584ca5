//! The ioctls for inode flags, which chattr(1) and lsattr(1) use.

use rustix::fd::{AsFd, AsRawFd};
use std::io;

/// The size of `struct fsxattr` in bytes.
const FSXATTR_BYTES: usize = 28;
/// The size of the flags in bytes. They are an `int`, although the ioctl numbers encode `long`.
const FLAGS_BYTES: usize = size_of::<libc::c_int>();
/// `FS_IOC_FSGETXATTR`, `_IOR('X', 31, struct fsxattr)`.
const FS_IOC_FSGETXATTR: libc::Ioctl = 0x801C_581F_u32 as libc::Ioctl;
/// `FS_IOC_FSSETXATTR`, `_IOW('X', 32, struct fsxattr)`.
const FS_IOC_FSSETXATTR: libc::Ioctl = 0x401C_5820_u32 as libc::Ioctl;

/// Whether the ioctl changes something.
pub(crate) const fn changes(command: u32) -> bool {
    matches!(command as libc::Ioctl, libc::FS_IOC_SETFLAGS | FS_IOC_FSSETXATTR)
}

/// Passes an ioctl to the file system of `fd`. `data` is its input; its output is returned.
///
/// # Errors
/// It is another ioctl, or the file system refuses it.
pub(crate) fn pass_on(fd: impl AsFd, command: u32, data: &[u8]) -> io::Result<Vec<u8>> {
    let command = command as libc::Ioctl;
    let (goes_in, comes_out) = match command {
        libc::FS_IOC_GETFLAGS => (0, FLAGS_BYTES),
        libc::FS_IOC_SETFLAGS => (FLAGS_BYTES, 0),
        FS_IOC_FSGETXATTR => (0, FSXATTR_BYTES),
        FS_IOC_FSSETXATTR => (FSXATTR_BYTES, 0),
        _ => return Err(io::Error::from_raw_os_error(libc::ENOTTY)),
    };
    let mut wire = [0_u64; FSXATTR_BYTES.div_ceil(size_of::<u64>())];
    let bytes = bytes_of(&mut wire);
    let data = data.get(..goes_in).ok_or(io::ErrorKind::InvalidInput)?;
    bytes[..goes_in].copy_from_slice(data);
    // SAFETY: each of the four reads or writes at most a `struct fsxattr`, for which there is room
    // with sufficient alignment, and which outlives the call.
    let done = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), command, bytes.as_mut_ptr()) };
    match done {
        0 => Ok(bytes[..comes_out].to_vec()),
        _ => Err(io::Error::last_os_error()),
    }
}

const fn bytes_of(wire: &mut [u64; 4]) -> &mut [u8; 32] {
    // SAFETY: both types have the same size, and any bytes are valid for them.
    unsafe { &mut *std::ptr::from_mut(wire).cast() }
}

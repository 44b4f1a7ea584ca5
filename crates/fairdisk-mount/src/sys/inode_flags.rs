//! What `chattr` and `lsattr` ask of a file.

use rustix::fd::{AsFd, AsRawFd};
use std::io;

/// `struct fsxattr`.
const FSXATTR_BYTES: usize = 28;
/// Flags are an `int`, whatever the numbers of the calls say.
const FLAGS_BYTES: usize = size_of::<libc::c_int>();
/// `FS_IOC_FSGETXATTR`, `_IOR('X', 31, struct fsxattr)`.
const FS_IOC_FSGETXATTR: libc::Ioctl = 0x801C_581F_u32 as libc::Ioctl;
/// `FS_IOC_FSSETXATTR`, `_IOW('X', 32, struct fsxattr)`.
const FS_IOC_FSSETXATTR: libc::Ioctl = 0x401C_5820_u32 as libc::Ioctl;

/// Whether the question is to change something.
pub(crate) const fn changes(command: u32) -> bool {
    matches!(command as libc::Ioctl, libc::FS_IOC_SETFLAGS | FS_IOC_FSSETXATTR)
}

/// Asks the file system of `fd` the same: `command` with what goes in, and what comes out.
///
/// # Errors
/// It is another question, or what the system says.
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
    // SAFETY: each of the four reads or writes no more than a `struct fsxattr`, for which there is
    // room, aligned to more than it needs, and which outlives the call.
    let done = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), command, bytes.as_mut_ptr()) };
    match done {
        0 => Ok(bytes[..comes_out].to_vec()),
        _ => Err(io::Error::last_os_error()),
    }
}

const fn bytes_of(wire: &mut [u64; 4]) -> &mut [u8; 32] {
    // SAFETY: the same bytes, each of which may be anything.
    unsafe { &mut *std::ptr::from_mut(wire).cast() }
}

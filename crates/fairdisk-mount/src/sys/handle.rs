//! File handles, which refer to a file without an open descriptor. A handle becomes invalid when
//! its file is deleted.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::io;

/// The largest size of a handle in bytes (MAX_HANDLE_SZ).
const HANDLE_BYTES_MAX: usize = 128;

/// A file handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawHandle {
    /// The type of the handle, which is specific to its file system.
    pub(crate) kind: i32,
    /// The opaque contents.
    pub(crate) bytes: Vec<u8>,
}

/// `struct file_handle` with room for its contents.
#[repr(C)]
struct Wire {
    len: u32,
    kind: i32,
    bytes: [u8; HANDLE_BYTES_MAX],
}

/// The handle of the file that `fd` refers to, and the id of the mount through which it was
/// reached.
pub(crate) fn handle_of(fd: impl AsFd) -> io::Result<(RawHandle, i32)> {
    let mut wire = Wire { len: HANDLE_BYTES_MAX as u32, kind: 0, bytes: [0; HANDLE_BYTES_MAX] };
    let mut mount: libc::c_int = 0;
    // SAFETY: the path is an empty C string, `wire` has the layout of `struct file_handle` followed
    // by as many bytes as `len` says, and `mount` is an int; all outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            fd.as_fd().as_raw_fd(),
            c"".as_ptr(),
            &raw mut wire,
            &raw mut mount,
            libc::AT_EMPTY_PATH,
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    let bytes = wire.bytes[..(wire.len as usize).min(HANDLE_BYTES_MAX)].to_vec();
    Ok((RawHandle { kind: wire.kind, bytes }, mount))
}

/// Opens an O_PATH descriptor of the file of a handle. `mount` is any open file of its mount.
pub(crate) fn open_path(mount: BorrowedFd<'_>, kind: i32, bytes: &[u8]) -> io::Result<OwnedFd> {
    if bytes.len() > HANDLE_BYTES_MAX {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut wire = Wire { len: bytes.len() as u32, kind, bytes: [0; HANDLE_BYTES_MAX] };
    wire.bytes[..bytes.len()].copy_from_slice(bytes);
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: `wire` has the layout of `struct file_handle` and outlives the call.
    let fd = unsafe {
        libc::syscall(libc::SYS_open_by_handle_at, mount.as_raw_fd(), &raw mut wire, flags)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) })
}

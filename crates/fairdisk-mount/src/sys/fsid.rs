//! The user and group ids with which a thread accesses file systems.

use std::io;

/// Sets the file-system user id of this thread.
pub(crate) fn set_user(uid: u32) -> io::Result<()> {
    // SAFETY: the call takes a number and changes this thread alone. It returns the previous id, so
    // that a call with an invalid id tells whether the first one has worked.
    let now = unsafe {
        libc::setfsuid(uid);
        libc::setfsuid(u32::MAX)
    };
    if now as u32 == uid { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
}

/// Sets the file-system group id of this thread.
pub(crate) fn set_group(gid: u32) -> io::Result<()> {
    // SAFETY: as in `set_user`.
    let now = unsafe {
        libc::setfsgid(gid);
        libc::setfsgid(u32::MAX)
    };
    if now as u32 == gid { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
}

/// Gives this thread a umask and a working directory of its own.
pub(crate) fn own_umask() -> io::Result<()> {
    // SAFETY: the call takes a flag, and copies for this thread what was shared.
    if unsafe { libc::unshare(libc::CLONE_FS) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

//! The user and group a thread acts as towards file systems.

use std::io;

/// Lets this thread act as `uid`.
pub(crate) fn set_user(uid: u32) -> io::Result<()> {
    // SAFETY: takes a number and changes this thread alone. It answers with the user before, so
    // asking with an impossible one tells whether it worked.
    let now = unsafe {
        libc::setfsuid(uid);
        libc::setfsuid(u32::MAX)
    };
    if now as u32 == uid { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
}

/// Lets this thread act as `gid`.
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
    // SAFETY: takes a flag; what was shared is copied for this thread, nothing is lost.
    if unsafe { libc::unshare(libc::CLONE_FS) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

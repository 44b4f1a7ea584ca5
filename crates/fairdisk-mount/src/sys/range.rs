//! Write-back of a part of a file.

use rustix::fd::{AsFd, AsRawFd};
use std::io;

/// Writes a range of the page cache to the disk and waits for it. Metadata is not written.
pub(crate) fn write_out(fd: impl AsFd, offset: u64, len: u64) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    let (offset, len) = (offset as libc::off64_t, len as libc::off64_t);
    // SAFETY: the call takes only numbers.
    if unsafe { libc::sync_file_range(fd.as_fd().as_raw_fd(), offset, len, flags) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

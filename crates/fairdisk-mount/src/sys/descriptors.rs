//! The descriptors a thread has.

use rustix::fd::{AsRawFd, BorrowedFd};

/// Gives this thread, and those that it starts, descriptors of their own: `kept` alone, under the
/// number it has. Whether they are its own now, even if others than `kept` are left; kernels before
/// 5.9 cannot do it, and the thread shares all with the others as before.
///
/// # Safety
/// This thread, and those that it starts, use no other descriptor from now on, and drop none.
pub(crate) unsafe fn keep_only(kept: BorrowedFd<'_>) -> bool {
    let kept = kept.as_raw_fd() as libc::c_uint;
    let close = |first: libc::c_uint, last: libc::c_uint, how: libc::c_uint| {
        // SAFETY: takes numbers; the caller uses none of what is closed.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, how) == 0 }
    };
    let apart = close(kept + 1, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE);
    if apart && kept > 0 {
        // Nobody could be told if it failed: the log is a descriptor, too.
        close(0, kept - 1, 0);
    }
    apart
}

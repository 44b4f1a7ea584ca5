//! The descriptors of a thread, and those that a process has inherited.

use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use rustix::io::{FdFlags, fcntl_getfd};
use std::fs;

/// Gives this thread, and those that it starts later, a descriptor table of their own with `kept`
/// alone, under the same number. Returns whether the table is private, even if closing others has
/// failed. Kernels before 5.9 do not support this; then the thread shares the process's table as
/// before.
///
/// # Safety
/// This thread, and those that it starts later, must neither use nor drop any other descriptor.
pub(crate) unsafe fn keep_only(kept: BorrowedFd<'_>) -> bool {
    let kept = kept.as_raw_fd() as libc::c_uint;
    let close = |first: libc::c_uint, last: libc::c_uint, how: libc::c_uint| {
        // SAFETY: the call takes numbers, and the caller uses none of the closed descriptors.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, how) == 0 }
    };
    let apart = close(kept + 1, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE);
    if apart && kept > 0 {
        // A failure could not be logged, since the log is a descriptor, too.
        close(0, kept - 1, 0);
    }
    apart
}

/// Descriptors inherited from the parent process, apart from the standard three, such as a lock or
/// the end of a pipe that others wait for.
#[derive(Debug)]
pub struct Inherited(Vec<RawFd>);

impl Inherited {
    /// The inherited descriptors. They are recognised by the missing FD_CLOEXEC, which is set on
    /// everything we open ourselves.
    #[must_use]
    pub fn find() -> Self {
        let all = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<RawFd>().ok());
        let is_inherited = |number: &RawFd| {
            // SAFETY: the number is used for this query alone, which may find that it is not open.
            let fd = unsafe { BorrowedFd::borrow_raw(*number) };
            *number > 2 && fcntl_getfd(fd).is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC))
        };
        Self(numbers.filter(is_inherited).collect())
    }

    /// Closes the descriptors, which no code here knows of.
    pub fn close(self) {
        for number in self.0 {
            // SAFETY: the descriptor was open when this process began, and nothing here owns it.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
}

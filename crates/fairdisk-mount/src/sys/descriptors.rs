//! The descriptors a thread has, and those that a process was started with.

use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use rustix::io::{FdFlags, fcntl_getfd};
use std::fs;

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

/// What whoever started this process had open and has left to it, beside the three that are meant
/// to be left: a lock or the end of a pipe, say, that others wait for.
#[derive(Debug)]
pub struct Inherited(Vec<RawFd>);

impl Inherited {
    /// Those there are. What is opened here does not outlive a process, what was inherited has.
    #[must_use]
    pub fn find() -> Self {
        let all = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<RawFd>().ok());
        let is_inherited = |number: &RawFd| {
            // SAFETY: used for this question alone, the answer to which may be that there is none.
            let fd = unsafe { BorrowedFd::borrow_raw(*number) };
            *number > 2 && fcntl_getfd(fd).is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC))
        };
        Self(numbers.filter(is_inherited).collect())
    }

    /// Closes them: nobody here knows of them.
    pub fn close(self) {
        for number in self.0 {
            // SAFETY: it was there when this process began, and nothing here has ever owned it.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
}

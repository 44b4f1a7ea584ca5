//! `/proc/self/fd`: turns an O_PATH descriptor into an open file without going through a path.

use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::path::DecInt;
use std::io;

/// The directory `/proc/self/fd`.
#[derive(Debug)]
pub(crate) struct ProcFd(OwnedFd);

impl ProcFd {
    /// Opens the directory.
    pub(crate) fn new() -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(open("/proc/self/fd", flags, Mode::empty())?))
    }

    /// The directory, for calls that take a directory and a name.
    pub(crate) fn dir(&self) -> &OwnedFd {
        &self.0
    }

    /// The name of `fd` in the directory.
    pub(crate) fn name(fd: impl AsFd) -> DecInt {
        DecInt::from_fd(fd)
    }

    /// The path of `fd`, for calls that take only a path.
    pub(crate) fn path(fd: impl AsFd) -> String {
        format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd())
    }

    /// Opens the file that `fd` refers to.
    pub(crate) fn reopen(&self, fd: impl AsFd, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = (flags | OFlags::CLOEXEC) - OFlags::NOFOLLOW;
        Ok(openat(&self.0, Self::name(fd), flags, Mode::empty())?)
    }
}

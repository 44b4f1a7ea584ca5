//! `/proc/self/fd`: the way from a descriptor that only refers to a file to one that is open,
//! without a path in between.

use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::path::DecInt;
use std::io;

/// The directory of our own descriptors.
#[derive(Debug)]
pub(crate) struct ProcFd(OwnedFd);

impl ProcFd {
    /// Opens it.
    pub(crate) fn new() -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(open("/proc/self/fd", flags, Mode::empty())?))
    }

    /// The directory, for calls that take one and a name.
    pub(crate) fn dir(&self) -> &OwnedFd {
        &self.0
    }

    /// The name of `fd` in it.
    pub(crate) fn name(fd: impl AsFd) -> DecInt {
        DecInt::from_fd(fd)
    }

    /// The path of `fd`, for calls that take nothing else.
    pub(crate) fn path(fd: impl AsFd) -> String {
        format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd())
    }

    /// Opens what `fd` refers to.
    pub(crate) fn reopen(&self, fd: impl AsFd, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = (flags | OFlags::CLOEXEC) - OFlags::NOFOLLOW;
        Ok(openat(&self.0, Self::name(fd), flags, Mode::empty())?)
    }
}

//! Errors of mounting and unmounting, with advice on what to do about them.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What the machine lacks for any mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// There is no `/dev/fuse`.
    NoFuse,
    /// `/dev/fuse` is not the FUSE device.
    NotFuse,
    /// The user may not open `/dev/fuse`.
    DeviceClosed,
    /// The user may not mount, and there is no helper (fusermount3) that may.
    NotPermitted,
    /// Root may not mount, as in most containers.
    RootMayNot,
    /// `/proc` is not mounted.
    NoProc,
}

/// What is wrong with a mount.
#[derive(Debug)]
pub enum MountProblem {
    /// The machine lacks something that any mount needs.
    Lacking(Lack),
    /// The source does not exist.
    SourceMissing,
    /// The source is not a directory.
    SourceNotDirectory,
    /// The source is in a pseudo file system, whose files the kernel generates.
    SourceMadeUp,
    /// The mount point does not exist.
    MountPointMissing,
    /// The mount point is not a directory.
    MountPointNotDirectory,
    /// The mount point contains files, which the mount would hide.
    MountPointNotEmpty,
    /// One of our mounts is at the mount point already.
    AlreadyMounted,
    /// The mount at the mount point does not answer.
    Silent,
    /// Another process holds the lock for mounting and does not release it.
    Locked {
        /// The process, and its lock file.
        by: String,
    },
    /// The lock for mounting cannot be taken at the moment.
    NotLocked {
        /// The lock file, the error of the system, and what to do.
        why: String,
    },
    /// The source and the mount point are inside one another.
    Nested,
    /// The mount is in use.
    Busy,
    /// Any other error of the system.
    Os {
        /// What was attempted, as a verb.
        doing: &'static str,
        /// The error of the system.
        error: io::Error,
    },
}

impl MountProblem {
    /// Whether the request was wrong. Of the system's errors, these are the ones that say that a
    /// path is malformed.
    fn is_bad_input(&self) -> bool {
        match self {
            Self::SourceMissing
            | Self::SourceNotDirectory
            | Self::SourceMadeUp
            | Self::MountPointMissing
            | Self::MountPointNotDirectory
            | Self::MountPointNotEmpty
            | Self::AlreadyMounted
            | Self::Nested => true,
            Self::Lacking(_)
            | Self::Silent
            | Self::Locked { .. }
            | Self::NotLocked { .. }
            | Self::Busy => false,
            Self::Os { error, .. } => matches!(
                error.raw_os_error(),
                Some(libc::ENOTDIR | libc::ELOOP | libc::ENAMETOOLONG)
            ),
        }
    }
}

/// Why mounting or unmounting has failed.
#[derive(Debug)]
pub struct MountError {
    path: PathBuf,
    problem: MountProblem,
}

impl MountError {
    pub(crate) fn new(path: &Path, problem: MountProblem) -> Self {
        Self { path: path.to_owned(), problem }
    }

    pub(crate) fn lacking(path: &Path, lack: Lack) -> Self {
        Self::new(path, MountProblem::Lacking(lack))
    }

    pub(crate) fn os(path: &Path, doing: &'static str, error: impl Into<io::Error>) -> Self {
        Self::new(path, MountProblem::Os { doing, error: error.into() })
    }

    /// An error in inspecting the source.
    #[must_use]
    pub fn of_source(source: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::new(source, MountProblem::SourceMissing),
            _ => Self::os(source, "look at it", error),
        }
    }

    /// Whether the request was wrong. Any other error may be temporary.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        self.problem.is_bad_input()
    }

    /// What is wrong.
    #[must_use]
    pub const fn problem(&self) -> &MountProblem {
        &self.problem
    }
}

/// The advice on what works in any case.
const INSTEAD: &str = "fairdisk run works without, in the lab and --on file:PATH";

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFuse => {
                "there is no /dev/fuse; load the module (modprobe fuse), or give the container \
                 that device"
            }
            Self::NotFuse => {
                "/dev/fuse is not the device of that name; as root: rm /dev/fuse && mknod -m 600 \
                 /dev/fuse c 10 229, or give the container the real one"
            }
            Self::DeviceClosed => {
                "/dev/fuse may not be opened; as root: chmod 666 /dev/fuse, or give the container \
                 that device"
            }
            Self::RootMayNot => {
                "root may not mount here; give the container the capability CAP_SYS_ADMIN \
                 (--cap-add SYS_ADMIN) and the device /dev/fuse"
            }
            Self::NotPermitted => {
                "not permitted; run as root, or install fusermount3 (package fuse3) to mount as \
                 yourself"
            }
            Self::NoProc => "/proc is not mounted; mount -t proc proc /proc",
        })
    }
}

impl fmt::Display for MountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problem {
            MountProblem::Lacking(lack) => {
                write!(f, "{path}: cannot mount: {lack}; {INSTEAD}")
            }
            MountProblem::SourceMissing => {
                write!(f, "{path}: no such directory to show; check SOURCE")
            }
            MountProblem::SourceNotDirectory => {
                write!(f, "{path}: not a directory; SOURCE must be one")
            }
            MountProblem::SourceMadeUp => write!(
                f,
                "{path}: the kernel makes up the files there, and none could be opened through a \
                 mount; SOURCE must be on a file system that stores them"
            ),
            MountProblem::MountPointMissing => {
                write!(f, "{path}: no such directory to mount on; mkdir -p {path}")
            }
            MountProblem::MountPointNotDirectory => {
                write!(f, "{path}: not a directory; mount on one")
            }
            MountProblem::MountPointNotEmpty => write!(
                f,
                "{path}: not empty, and what is in it would be hidden; mount on an empty \
                 directory, or over what is to be shown"
            ),
            MountProblem::AlreadyMounted => {
                write!(f, "{path}: Fairdisk is mounted there already; umount {path} first")
            }
            MountProblem::Silent => write!(
                f,
                "{path}: what is mounted there does not answer; if its process was killed and cannot \
                 end, umount -f {path} takes it away, with errors for who uses it"
            ),
            MountProblem::Locked { by } => write!(
                f,
                "{path}: waited in vain for {by}; let it go on or end it, and mount again"
            ),
            MountProblem::NotLocked { why } => write!(f, "{path}: {why}"),
            MountProblem::Nested => write!(
                f,
                "{path}: SOURCE and the mount point are inside one another; they must be apart, \
                 or the same directory"
            ),
            MountProblem::Busy => write!(
                f,
                "{path}: still in use; close what is open there (fuser -vm {path} shows it), \
                 or umount -l {path}"
            ),
            MountProblem::Os { doing, error } => write!(f, "{path}: cannot {doing}: {error}"),
        }
    }
}

impl Error for MountError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.problem {
            MountProblem::Os { error, .. } => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A service is restarted except after a permanent failure.
    #[test]
    fn what_may_work_the_next_time_is_no_bad_input() {
        let lacking = [
            Lack::NoFuse,
            Lack::NotFuse,
            Lack::DeviceClosed,
            Lack::NotPermitted,
            Lack::RootMayNot,
            Lack::NoProc,
        ];
        let refused =
            |code| MountProblem::Os { doing: "mount", error: io::Error::from_raw_os_error(code) };
        let bad_input = [
            MountProblem::SourceMissing,
            MountProblem::SourceNotDirectory,
            MountProblem::SourceMadeUp,
            MountProblem::MountPointMissing,
            MountProblem::MountPointNotDirectory,
            MountProblem::MountPointNotEmpty,
            MountProblem::AlreadyMounted,
            MountProblem::Nested,
            refused(libc::ENOTDIR),
            refused(libc::ELOOP),
            refused(libc::ENAMETOOLONG),
        ];
        let passing = [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::EIO, libc::EBUSY]
            .map(refused)
            .into_iter()
            .chain(lacking.map(MountProblem::Lacking))
            .chain([MountProblem::Silent, MountProblem::Busy])
            .chain([MountProblem::Locked { by: String::new() }])
            .chain([MountProblem::NotLocked { why: String::new() }]);
        let all = bad_input.map(|it| (it, true)).into_iter().chain(passing.map(|it| (it, false)));
        for (problem, expected) in all {
            let error = MountError::new(Path::new("/mnt"), problem);
            assert_eq!(error.is_bad_input(), expected, "{error}");
        }
    }
}

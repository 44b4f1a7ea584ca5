//! Errors of targets, with advice on what to do about them.

use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A target that cannot be used, and why.
#[derive(Debug)]
pub struct TargetError {
    /// The path of the target.
    pub path: PathBuf,
    /// What is wrong with the target.
    pub problem: TargetProblem,
}

/// What is wrong with a target.
#[derive(Debug)]
pub enum TargetProblem {
    /// The text is not `file:PATH`.
    NotATarget,
    /// The text is `dir:PATH`, which is reserved.
    DirNotSupported,
    /// The target is neither a regular file nor a block device, but this.
    NotAFile(&'static str),
    /// The target's directory is missing.
    ParentMissing,
    /// The target was removed while it was being opened.
    Vanished,
    /// No files can be made there, as in directories whose files the kernel makes up.
    NoFilesThere,
    /// The target is a symbolic link to a missing file.
    DanglingLink,
    /// Another file appeared under the name while the target was being created.
    Appeared,
    /// Fairdisk did not make the target, and the run would write to it.
    Foreign,
    /// The target is too small.
    TooSmall {
        /// The size of the target in bytes.
        have: u64,
        /// The number of bytes that the run reaches.
        need: u64,
    },
    /// The target's disk has too little room.
    DiskFull {
        /// The number of free bytes, if known.
        free: Option<u64>,
        /// The number of bytes needed.
        need: u64,
    },
    /// The disk it lies on has no room for what the run writes.
    NoRoom {
        /// Bytes of the file there is room for.
        room: u64,
        /// Bytes the run writes.
        need: u64,
    },
    /// The file system does not allow a file of that size.
    TooLarge {
        /// The number of bytes needed.
        need: u64,
    },
    /// The user lacks a permission.
    NoPermission {
        /// What was attempted, as a verb.
        to: &'static str,
    },
    /// The file system is mounted read-only.
    ReadOnly,
    /// The target is a block device that the kernel does not write to.
    ReadOnlyDevice,
    /// Another run or a mount is using the target.
    Busy,
    /// The caller stopped the writing out.
    Stopped,
    /// Any other error of the system.
    Os {
        /// What was attempted, as a verb.
        to: &'static str,
        /// The error of the system.
        error: io::Error,
    },
}

impl TargetError {
    /// `problem` with what is at `path`.
    #[must_use]
    pub fn new(path: &Path, problem: TargetProblem) -> Self {
        Self { path: path.to_owned(), problem }
    }

    /// The problem behind a system error in an attempt `to` do something with `path`.
    pub(super) fn os(path: &Path, to: &'static str, error: &io::Error) -> Self {
        let problem = match Errno::from_io_error(error) {
            Some(Errno::ACCESS | Errno::PERM) => TargetProblem::NoPermission { to },
            Some(Errno::ROFS) => TargetProblem::ReadOnly,
            Some(Errno::BUSY | Errno::TXTBSY | Errno::WOULDBLOCK) => TargetProblem::Busy,
            Some(Errno::NOENT) if has_directory(path) => TargetProblem::Vanished,
            Some(Errno::NOTDIR | Errno::NOENT) => TargetProblem::ParentMissing,
            Some(Errno::ISDIR) => TargetProblem::NotAFile("a directory"),
            _ => TargetProblem::Os { to, error: io::Error::new(error.kind(), error.to_string()) },
        };
        Self::new(path, problem)
    }

    /// Like [`os`](Self::os), for an attempt to make a new file.
    pub(super) fn making(path: &Path, error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::NOENT) if has_directory(path) => {
                Self::new(path, TargetProblem::NoFilesThere)
            }
            _ => Self::growing(path, "make", error, 0),
        }
    }

    /// Like [`os`](Self::os), for an operation that needs `need` bytes of space.
    pub(super) fn growing(path: &Path, to: &'static str, error: &io::Error, need: u64) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::NOSPC | Errno::DQUOT) => {
                Self::new(path, TargetProblem::DiskFull { free: None, need })
            }
            Some(Errno::FBIG | Errno::INVAL) => Self::new(path, TargetProblem::TooLarge { need }),
            _ => Self::os(path, to, error),
        }
    }
}

fn has_directory(path: &Path) -> bool {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).is_dir()
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problem {
            TargetProblem::NotATarget => {
                write!(f, "{path}: not a target; expected file:PATH")
            }
            TargetProblem::DirNotSupported => {
                write!(f, "{path}: directories are not supported yet; use file:PATH")
            }
            TargetProblem::NotAFile(kind) => {
                write!(f, "{path} is {kind}; name a regular file or a block device")
            }
            TargetProblem::ParentMissing => {
                write!(f, "{path}: its directory does not exist; make it or name another path")
            }
            TargetProblem::Vanished => {
                write!(f, "{path} was removed just now; run again or name another path")
            }
            TargetProblem::NoFilesThere => {
                write!(f, "{path}: no files can be made there; name a path on a disk")
            }
            TargetProblem::DanglingLink => {
                write!(f, "{path} is a link to a missing file; remove it or name another path")
            }
            TargetProblem::Appeared => {
                write!(f, "{path} was made by somebody else just now; name another path")
            }
            TargetProblem::Foreign => write!(
                f,
                "{path} was not made by Fairdisk and this run writes to it; name another path, or \
                 say --overwrite to destroy what is in it"
            ),
            problem => self.fmt_limits(problem, f),
        }
    }
}

impl TargetError {
    fn fmt_limits(&self, problem: &TargetProblem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match problem {
            TargetProblem::TooSmall { have, need } => write!(
                f,
                "{path} is too small: it has {have} bytes, the run needs {need}; make it larger, \
                 name another path, or run on a smaller size"
            ),
            TargetProblem::DiskFull { free: Some(free), need } => write!(
                f,
                "{path}: its disk has {free} bytes free, {need} are needed; free space or run on \
                 a smaller size"
            ),
            TargetProblem::DiskFull { free: None, need } => write!(
                f,
                "{path}: its disk is full, {need} bytes are needed; free space or run on a \
                 smaller size"
            ),
            TargetProblem::NoRoom { room, need } => write!(
                f,
                "{path}: its disk has {room} bytes free, {need} are needed for what this run \
                 writes; free space, or run on a smaller size or for a shorter time"
            ),
            TargetProblem::TooLarge { need } => write!(
                f,
                "{path}: its file system or a limit does not allow a file of {need} bytes; run on \
                 a smaller size or name a path elsewhere"
            ),
            TargetProblem::NoPermission { to } => write!(
                f,
                "{path}: no permission to {to} it; change its permissions, name another path, or \
                 run as a user who may"
            ),
            TargetProblem::ReadOnly => {
                write!(f, "{path} lies on a read-only file system; name another path")
            }
            TargetProblem::ReadOnlyDevice => {
                write!(f, "{path} is a read-only device; name another one")
            }
            TargetProblem::Busy => write!(
                f,
                "{path} is in use by another run or mounted; wait, unmount it, or name another path"
            ),
            TargetProblem::Stopped => write!(f, "{path}: stopped while it was being written out"),
            TargetProblem::Os { to, error } => write!(f, "{path}: cannot {to} it: {error}"),
            _ => write!(f, "{path} cannot be used"),
        }
    }
}

impl std::error::Error for TargetError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_vanished_is_told_from_a_missing_directory() {
        let told = |path: &str| {
            TargetError::os(Path::new(path), "write", &Errno::NOENT.into()).to_string()
        };
        assert_eq!(told("gone"), "gone was removed just now; run again or name another path");
        let made = TargetError::making(Path::new("/proc/new"), &Errno::NOENT.into()).to_string();
        assert_eq!(made, "/proc/new: no files can be made there; name a path on a disk");
        assert!(told("/gone").contains("was removed just now"));
        assert!(told("no/such/gone").contains("its directory does not exist"));
    }
}

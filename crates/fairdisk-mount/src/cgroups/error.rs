//! Errors of the directory of groups, with what works instead.

use crate::identity::HierarchyError;
use crate::mounting::errors::MountError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why groups cannot be shown, or their hierarchy not be unmounted.
#[derive(Debug)]
pub enum CgroupError {
    /// Only root may mount hierarchies.
    NotRoot,
    /// No hierarchy can have this name.
    Name(String),
    /// The kernel has no hierarchies of version 1, or does not permit mounting one.
    NoVersion1(io::Error),
    /// The directory for the hierarchy cannot be created.
    Directory(PathBuf, io::Error),
    /// The lock for mounting hierarchies cannot be taken at the moment. The text names the lock
    /// file, the error of the system, and what to do.
    NotLocked(String),
    /// The hierarchy cannot be found.
    Hierarchy(HierarchyError),
    /// The directory cannot be mounted on or unmounted.
    Mount(MountError),
    /// No groups are shown in this directory.
    NotOurs(PathBuf),
}

/// The advice on what works in any case.
const INSTEAD: &str = "programs can share by their cgroups of version 2 all the same: \
    fairdisk mount, then fairdisk ctl set /GROUP ioprio=2";

impl fmt::Display for CgroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRoot => {
                f.write_str("a cgroup hierarchy can be mounted by root only; run it as root")
            }
            Self::Name(name) => write!(
                f,
                "`{name}` cannot name a hierarchy: up to 63 of letters, digits, `.`, `_` and `-`"
            ),
            Self::NoVersion1(error) => write!(
                f,
                "a cgroup hierarchy of version 1 is needed and cannot be mounted: {error}; this \
                 kernel or container has none; {INSTEAD}"
            ),
            Self::Directory(path, error) => {
                write!(f, "{}: cannot be made for the hierarchy: {error}", path.display())
            }
            Self::NotLocked(why) => f.write_str(why),
            Self::Hierarchy(error) => error.fmt(f),
            Self::Mount(error) => error.fmt(f),
            Self::NotOurs(path) => write!(
                f,
                "{}: no groups are mounted there (fairdisk cgroup mount mounts them)",
                path.display()
            ),
        }
    }
}

impl std::error::Error for CgroupError {}

impl CgroupError {
    /// Whether the request was wrong. Any other error may be temporary.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Name(_) | Self::NotOurs(_) => true,
            Self::NotRoot | Self::NoVersion1(_) | Self::Directory(..) | Self::NotLocked(_) => false,
            Self::Hierarchy(error) => error.is_bad_input(),
            Self::Mount(error) => error.is_bad_input(),
        }
    }
}

impl From<MountError> for CgroupError {
    fn from(error: MountError) -> Self {
        Self::Mount(error)
    }
}

impl From<HierarchyError> for CgroupError {
    fn from(error: HierarchyError) -> Self {
        Self::Hierarchy(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounting::errors::MountProblem;
    use std::path::Path;

    #[test]
    fn what_may_work_the_next_time_is_no_bad_input() {
        let broken = || io::Error::from_raw_os_error(libc::EIO);
        let mount = |problem| CgroupError::Mount(MountError::new(Path::new("/mnt"), problem));
        for (error, expected) in [
            (CgroupError::Name("a,b".to_owned()), true),
            (CgroupError::NotOurs(PathBuf::from("/mnt")), true),
            (CgroupError::Hierarchy(HierarchyError::NotMounted("v2".to_owned())), true),
            (mount(MountProblem::Nested), true),
            (mount(MountProblem::Busy), false),
            (CgroupError::Hierarchy(HierarchyError::NoneMounted), false),
            (CgroupError::Hierarchy(HierarchyError::Unreadable(String::new())), false),
            (CgroupError::NotRoot, false),
            (CgroupError::NoVersion1(broken()), false),
            (CgroupError::Directory(PathBuf::from("/run"), broken()), false),
            (CgroupError::NotLocked(String::new()), false),
        ] {
            assert_eq!(error.is_bad_input(), expected, "{error}");
        }
    }
}

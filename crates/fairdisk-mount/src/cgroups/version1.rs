//! The hierarchy behind the directory of groups: of version 1, without controllers, mounted in a
//! private place.

use super::error::CgroupError;
use crate::file_lock::{FileLock, NotLocked, NotNow};
use crate::identity::{Hierarchy, HierarchyError, VERSION2};
use crate::mounting::mountpoint;
use fairdisk_core::Span;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the hierarchy that mounts prefer.
pub const OWN_NAME: &str = crate::identity::OWN;

/// The directory for the run-time files of our programs.
const RUN: &str = "/run/fairdisk";

/// The name of the lock file in that directory.
const LOCK: &str = "cgroup.lock";

/// How long to wait for the lock before telling the user for whom.
const QUIETLY: Span = Span::from_s(1);

/// A function that tells the user something.
pub type Say = fn(&str);

/// What remains of a hierarchy that is no longer shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing: it is unmounted.
    Nothing,
    /// All of it, because it was not mounted by us or is still shown elsewhere.
    Everything,
    /// This number of groups, because of which it stays mounted.
    Groups(usize),
}

/// The directory in which we mount the hierarchy called `name`.
pub(super) fn directory(name: &str) -> PathBuf {
    let run = Path::new(RUN);
    if name == OWN_NAME { run.join("cgroup") } else { run.join(format!("cgroup-{name}")) }
}

/// Checks that a hierarchy can have this name.
pub(super) fn check_name(name: &str) -> Result<(), CgroupError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let fits = (1..64).contains(&name.len()) && name.chars().all(plain);
    if fits { Ok(()) } else { Err(CgroupError::Name(name.to_owned())) }
}

/// Finds the hierarchy called `name`, or mounts it. Where our own cannot be mounted, the tree of
/// version 2 is used instead.
pub(super) fn find_or_mount(_: &Turn, name: &str) -> Result<Hierarchy, CgroupError> {
    if let Ok(Some(hierarchy)) = Hierarchy::find(Some(name)) {
        return Ok(hierarchy);
    }
    if name == VERSION2 {
        return Err(HierarchyError::NotMounted(name.to_owned()).into());
    }
    let place = directory(name);
    fs::create_dir_all(&place).map_err(|error| CgroupError::Directory(place.clone(), error))?;
    let options = CString::new(format!("none,name={name}")).unwrap_or_default();
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if let Err(error) = mount("fairdisk", &place, "cgroup", flags, options.as_c_str()) {
        let _ = fs::remove_dir(&place);
        // Without a particular request, any hierarchy will do.
        return match Hierarchy::find(Some(VERSION2)) {
            Ok(Some(there)) if name == OWN_NAME => Ok(there),
            _ => Err(CgroupError::NoVersion1(error.into())),
        };
    }
    Hierarchy::find(Some(name))?.ok_or_else(|| CgroupError::Name(name.to_owned()))
}

/// The exclusive right to mount and unmount hierarchies, until dropped. Without it, one process
/// could take a hierarchy that another has just mounted and not yet shown for a left-over.
#[derive(Debug)]
pub(super) struct Turn {
    _lock: FileLock,
}

impl Turn {
    /// Waits for the right. Tells the user for whom if that takes a while.
    pub(super) fn wait(say: Say) -> Result<Self, CgroupError> {
        Self::wait_in(Path::new(RUN), say)
    }

    fn wait_in(run: &Path, say: impl Fn(&str)) -> Result<Self, CgroupError> {
        let failed = |path: &Path, error| CgroupError::Directory(path.to_owned(), error);
        fs::create_dir_all(run).map_err(|error| failed(run, error))?;
        let path = run.join(LOCK);
        let lock = match FileLock::within(&path, QUIETLY) {
            Ok(lock) => lock,
            Err(NotLocked::Never(error)) => return Err(failed(&path, error)),
            Err(NotLocked::NotNow(NotNow::Held(held))) => {
                say(&format!("waiting for {held}"));
                held.wait().map_err(|error| failed(&path, error))?
            }
            Err(NotLocked::NotNow(NotNow::Failed(why))) => {
                return Err(CgroupError::NotLocked(why.to_string()));
            }
        };
        Ok(Self { _lock: lock })
    }
}

/// Unmounts the hierarchy if we mounted it, nobody shows it and it has no groups.
pub(super) fn put_away(_: &Turn, name: &str) -> Left {
    let place = directory(name);
    match Hierarchy::find(Some(name)) {
        Err(_) | Ok(None) => return Left::Nothing,
        Ok(Some(hierarchy)) if hierarchy.mount() != place => return Left::Everything,
        Ok(Some(_)) => {}
    }
    if !mountpoint::shown_at(&place).is_empty() {
        return Left::Everything;
    }
    let groups = groups_below(&place);
    if groups > 0 {
        return Left::Groups(groups);
    }
    // Detached, since the process that served it may still have it open for a moment.
    if unmount(&place, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH).is_err() {
        return Left::Everything;
    }
    let _ = fs::remove_dir(&place);
    Left::Nothing
}

fn groups_below(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    below.map(|entry| 1 + groups_below(&entry.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FlockOperation, flock};
    use std::fs::File;
    use std::sync::Mutex;

    #[test]
    fn names_are_those_the_kernel_takes() {
        assert!(check_name("fairdisk").is_ok() && check_name("a.b_c-1").is_ok());
        for name in ["", "a,b", "a b", "a/b", "..//", &"x".repeat(64)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    /// Everybody may open the directory, and so could lock it.
    #[test]
    fn a_lock_on_the_directory_holds_up_nobody() {
        let place = tempfile::tempdir().unwrap();
        let other = File::open(place.path()).unwrap();
        flock(&other, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(Turn::wait_in(place.path(), |said| panic!("{said}")).is_ok());
    }

    #[test]
    fn who_waits_for_long_is_told_for_whom() {
        let place = tempfile::tempdir().unwrap();
        let turn = Mutex::new(Some(Turn::wait_in(place.path(), |_| ()).unwrap()));
        let told = Mutex::new(String::new());
        let next = Turn::wait_in(place.path(), |said| {
            said.clone_into(&mut told.lock().unwrap());
            drop(turn.lock().unwrap().take());
        });
        assert!(next.is_ok());
        let whom = format!("waiting for process {} (", std::process::id());
        let told = told.into_inner().unwrap();
        assert!(told.starts_with(&whom), "{told}");
    }

    #[test]
    fn our_own_has_the_short_place() {
        assert_eq!(directory(OWN_NAME), Path::new("/run/fairdisk/cgroup"));
        assert_eq!(directory("x"), Path::new("/run/fairdisk/cgroup-x"));
    }
}

//! The hierarchy behind the directory: of version 1, without controllers, mounted out of the way.

use super::error::CgroupError;
use crate::file_lock::{FileLock, NotLocked};
use crate::identity::{Hierarchy, HierarchyError, VERSION2};
use crate::mountpoint;
use fairdisk_core::Span;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the hierarchy that mounts prefer.
pub const OWN_NAME: &str = crate::identity::OWN;

/// What belongs to running programs of ours.
const RUN: &str = "/run/fairdisk";

/// What only one may hold at a time.
const LOCK: &str = "cgroup.lock";

/// How long we wait for our turn before we say for whom.
const QUIETLY: Span = Span::from_s(1);

/// Tells the user something.
pub type Say = fn(&str);

/// What became of a hierarchy that is not shown any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It is gone.
    Nothing,
    /// All of it: it was there before, or is still shown elsewhere.
    Everything,
    /// It has groups, which stay as they are.
    Groups(usize),
}

/// Where we mount the hierarchy called `name`.
pub(super) fn directory(name: &str) -> PathBuf {
    let run = Path::new(RUN);
    if name == OWN_NAME { run.join("cgroup") } else { run.join(format!("cgroup-{name}")) }
}

/// Whether a hierarchy can be called that.
pub(super) fn check_name(name: &str) -> Result<(), CgroupError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let fits = (1..64).contains(&name.len()) && name.chars().all(plain);
    if fits { Ok(()) } else { Err(CgroupError::Name(name.to_owned())) }
}

/// The hierarchy called `name`, mounted now if it is not yet. The tree of version 2 instead of our
/// own where that cannot be mounted.
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
        // Whoever has asked for none in particular gets what there is.
        return match Hierarchy::find(Some(VERSION2)) {
            Ok(Some(there)) if name == OWN_NAME => Ok(there),
            _ => Err(CgroupError::NoVersion1(error.into())),
        };
    }
    Hierarchy::find(Some(name))?.ok_or_else(|| CgroupError::Name(name.to_owned()))
}

/// The right to mount hierarchies and put them away: what one has just mounted and does not show
/// yet, another must not take for left over. Given back when dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _lock: FileLock,
}

impl Turn {
    /// Waits for it; says for whom if that takes a while.
    pub(super) fn wait(say: Say) -> Result<Self, CgroupError> {
        let run = Path::new(RUN);
        Self::wait_in(run, say).map_err(|error| CgroupError::Directory(run.to_owned(), error))
    }

    fn wait_in(run: &Path, say: impl Fn(&str)) -> io::Result<Self> {
        fs::create_dir_all(run)?;
        let lock = match FileLock::within(&run.join(LOCK), QUIETLY) {
            Ok(lock) => lock,
            Err(NotLocked::System(error)) => return Err(error),
            Err(NotLocked::Held(held)) => {
                say(&format!("waiting for {held}"));
                held.wait()?
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
    // Whoever served it may still have it open, and lets go of it in a moment.
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

    /// The directory is everybody's to open, and so to lock.
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

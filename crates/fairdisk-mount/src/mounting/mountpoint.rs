//! Mount points: checking, recovery from a dead daemon, mounting and unmounting.

use super::errors::{Lack, MountError, MountProblem};
use super::mountinfo::Mountinfo;
use super::options::MountOptions;
use crate::control::{Alone, directory};
use crate::file_lock::NotNow;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, StatVfsMountFlags, StatxFlags, fstat, fstatvfs,
    major, makedev, minor, open, statvfs, statx,
};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{getegid, geteuid};
use std::ffi::CString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The file system type of our mounts in the mount table.
pub(super) const TYPE: &str = "fuse.fairdisk";

/// The device number of `/dev/fuse`, major and minor.
const FUSE: (u32, u32) = (10, 229);

/// A source and a mount point that have been checked.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) source: PathBuf,
    pub(crate) mountpoint: PathBuf,
}

/// Checks both directories. A mount point whose daemon has died is recovered first.
pub(crate) fn check(source: &Path, mountpoint: &Path) -> Result<Places, MountError> {
    recover(mountpoint)?;
    let source = real(source, MountProblem::SourceMissing, MountProblem::SourceNotDirectory)?;
    let missing = MountProblem::MountPointMissing;
    let mountpoint = real(mountpoint, missing, MountProblem::MountPointNotDirectory)?;
    if is_ours(&mountpoint) {
        return Err(MountError::new(&mountpoint, MountProblem::AlreadyMounted));
    }
    if source == mountpoint {
        return Ok(Places { source, mountpoint });
    }
    if source.starts_with(&mountpoint) || mountpoint.starts_with(&source) {
        return Err(MountError::new(&mountpoint, MountProblem::Nested));
    }
    let mut inside = fs::read_dir(&mountpoint)
        .map_err(|error| MountError::os(&mountpoint, "look into the mount point", error))?;
    if inside.next().is_some() {
        return Err(MountError::new(&mountpoint, MountProblem::MountPointNotEmpty));
    }
    Ok(Places { source, mountpoint })
}

fn real(path: &Path, missing: MountProblem, other: MountProblem) -> Result<PathBuf, MountError> {
    match fs::canonicalize(path) {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(MountError::new(path, other)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(MountError::new(path, missing))
        }
        Err(error) => Err(MountError::os(path, "look at it", error)),
    }
}

/// Removes the mount of a daemon that ended without unmounting.
fn recover(mountpoint: &Path) -> Result<(), MountError> {
    let take_away = || {
        let taken = detach(mountpoint).or_else(|error| match helper() {
            Some(helper) => detach_as_user(&helper, mountpoint),
            None => Err(error),
        });
        taken.map_err(|error| MountError::os(mountpoint, "take a dead mount away", error))
    };
    let is_dead = |within| is_dead(mountpoint, within);
    let lock = || alone(&directory(), mountpoint);
    while recover_once(mountpoint, is_dead, lock, take_away)? {}
    Ok(())
}

/// Removes the topmost mount if it is dead, and returns whether it was; there may be another below.
/// `is_dead` is given the time after which it returns `None`. `lock` returns what keeps the lock.
fn recover_once<L>(
    mountpoint: &Path,
    is_dead: impl Fn(Duration) -> Result<Option<bool>, MountError>,
    lock: impl Fn() -> Result<L, MountError>,
    take_away: impl FnOnce() -> Result<(), MountError>,
) -> Result<bool, MountError> {
    let silent = || MountError::new(mountpoint, MountProblem::Silent);
    for _ in 0..ROUNDS {
        if !is_dead(ANSWERS_WITHIN)?.ok_or_else(silent)? {
            return Ok(false);
        }
        // Under the lock, because another process may be about to mount there.
        let _alone = lock()?;
        match is_dead(Alone::ANSWERS_WITHIN)? {
            Some(true) => return take_away().map(|()| true),
            Some(false) => return Ok(false),
            // Another mount is there by now, or the way there is slow. It has the full time, but
            // not while others wait for the lock.
            None => {}
        }
    }
    Err(silent())
}

/// Waits for the lock under which mounts are made and dead ones removed.
fn alone(directory: &Path, mountpoint: &Path) -> Result<Option<Alone>, MountError> {
    let problem = |why: NotNow| match why {
        NotNow::Held(held) => MountProblem::Locked { by: held.to_string() },
        NotNow::Failed(failed) => MountProblem::NotLocked { why: failed.to_string() },
    };
    Alone::wait(directory).map_err(|why| MountError::new(mountpoint, problem(why)))
}

/// Whether the daemon of the mount at `path` has ended. `None` if it does not answer in time, as
/// one that was killed but cannot end.
fn is_dead(path: &Path, within: Duration) -> Result<Option<bool>, MountError> {
    let (answer, answered) = mpsc::channel();
    let asked = path.to_owned();
    // statfs(2), because attributes may still be cached, but the free space never is.
    let ask = thread::Builder::new().spawn(move || answer.send(statvfs(&asked)));
    ask.map_err(|error| MountError::os(path, "start a thread", error))?;
    let answer = answered.recv_timeout(within).ok();
    Ok(answer.map(|answer| matches!(answer, Err(Errno::NOTCONN))))
}

/// The time limit for the answer of a mount, far longer than a busy disk takes. While others wait
/// for the lock it is [`Alone::ANSWERS_WITHIN`].
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// How often to ask anew if there is no answer under the lock.
const ROUNDS: u32 = 3;

/// Whether the topmost mount at `path` is one of ours.
#[must_use]
pub fn is_ours(path: &Path) -> bool {
    let Ok(table) = Mountinfo::read() else { return false };
    let there = table.lines().filter(|line| line.place == path);
    there.last().is_some_and(|line| line.kind == TYPE.as_bytes())
}

/// The places at which our mounts show `source`.
pub(crate) fn shown_at(source: &Path) -> Vec<PathBuf> {
    let Ok(table) = Mountinfo::read() else { return Vec::new() };
    let ours = table.lines().filter(|line| line.kind == TYPE.as_bytes() && line.source == source);
    ours.map(|line| line.place.into_owned()).collect()
}

/// Opens `/dev/fuse`.
pub(crate) fn open_fuse(mountpoint: &Path) -> Result<OwnedFd, MountError> {
    let opened = open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let fuse = opened.map_err(|error| match error {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => MountError::lacking(mountpoint, Lack::NoFuse),
        Errno::ACCESS | Errno::PERM => MountError::lacking(mountpoint, Lack::DeviceClosed),
        error => MountError::os(mountpoint, "open /dev/fuse", error),
    })?;
    let is_fuse = |stat: Stat| {
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
        is_device && (major(stat.st_rdev), minor(stat.st_rdev)) == FUSE
    };
    if fstat(&fuse).is_ok_and(is_fuse) {
        Ok(fuse)
    } else {
        Err(MountError::lacking(mountpoint, Lack::NotFuse))
    }
}

/// The flags of a mount. What the mount of the source forbids is forbidden here, too.
pub(crate) fn flags(source: impl AsFd, options: &MountOptions) -> MountFlags {
    let below = fstatvfs(source).map_or(StatVfsMountFlags::empty(), |space| space.f_flag);
    let mut flags = MountFlags::empty();
    let forbidden = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID, !options.allow_suid),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV, !options.allow_suid),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC, options.no_exec),
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY, options.read_only),
    ];
    for (there, here, asked) in forbidden {
        if asked || below.contains(there) {
            flags |= here;
        }
    }
    flags
}

/// Mounts, as root.
pub(crate) fn attach(
    places: &Places,
    fuse: &OwnedFd,
    flags: MountFlags,
    options: &MountOptions,
) -> Result<(), MountError> {
    let (fd, user, group) = (fuse.as_raw_fd(), geteuid().as_raw(), getegid().as_raw());
    let other = if options.allow_other { ",allow_other" } else { "" };
    let data = format!(
        "fd={fd},rootmode=40000,user_id={user},group_id={group},default_permissions{other}"
    );
    let data = CString::new(data).unwrap_or_default();
    // Under the lock, because another process may have mounted there since the check, and the
    // kernel would mount on top.
    let directory = directory();
    // The first process that mounts creates the directory. Without it, the mount is made without
    // the lock.
    let _ = fs::create_dir_all(&directory);
    let _alone = alone(&directory, &places.mountpoint)?;
    if is_ours(&places.mountpoint) {
        return Err(MountError::new(&places.mountpoint, MountProblem::AlreadyMounted));
    }
    mount(&places.source, &places.mountpoint, TYPE, flags, data.as_c_str()).map_err(|error| {
        match error {
            Errno::PERM => MountError::lacking(&places.mountpoint, Lack::RootMayNot),
            Errno::NODEV => MountError::lacking(&places.mountpoint, Lack::NoFuse),
            error => MountError::os(&places.mountpoint, "mount", error),
        }
    })
}

/// Unmounts if the mount is not in use.
pub(crate) fn release(mountpoint: &Path) -> Result<(), MountError> {
    unmount(mountpoint, UnmountFlags::NOFOLLOW).map_err(|error| match error {
        Errno::BUSY => MountError::new(mountpoint, MountProblem::Busy),
        error => MountError::os(mountpoint, "unmount", error),
    })
}

/// Detaches the mount from the directory tree; files that are open remain usable.
pub(crate) fn detach(mountpoint: &Path) -> io::Result<()> {
    Ok(unmount(mountpoint, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?)
}

/// The path of fusermount3, with which users mount, if it is installed.
pub(crate) fn helper() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let helpers = std::env::split_paths(&path).map(|folder| folder.join("fusermount3"));
    helpers.into_iter().find(|helper| helper.exists())
}

fn detach_as_user(helper: &Path, mountpoint: &Path) -> io::Result<()> {
    let output = Command::new(helper).args(["-u", "-z", "--"]).arg(mountpoint).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(io::Error::other(said.trim().to_owned())) }
}

/// The device number of the mount, determined without a request to its daemon, which may be us.
pub(crate) fn device(mountpoint: &Path) -> Option<u64> {
    let found = statx(CWD, mountpoint, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    Some(makedev(found.stx_dev_major, found.stx_dev_minor))
}

/// The places at which the device is mounted, as far as this process sees; `None` if that cannot be
/// told.
pub(crate) fn places(device: u64) -> Option<Vec<PathBuf>> {
    let table = Mountinfo::read().ok()?;
    let number = format!("{}:{}", major(device), minor(device));
    let there = table.lines().filter(|line| line.device == number.as_bytes());
    Some(there.map(|line| line.place.into_owned()).collect())
}

/// Sets the kernel's read-ahead for the mount. Without permission, the kernel's default remains.
pub(crate) fn read_ahead(device: u64, kib: u32) {
    let file = format!("/sys/class/bdi/{}:{}/read_ahead_kb", major(device), minor(device));
    let _ = fs::write(file, kib.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Another mount, which does not answer, may have taken the place of a dead one just when the
    /// lock was taken.
    #[test]
    fn nobody_has_the_lock_for_as_long_as_others_wait_for_it() {
        struct Locked<'a>(&'a Cell<bool>);
        impl Drop for Locked<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        let (asked, locked, waited) = (Cell::new(0), Cell::new(false), Cell::new(Duration::ZERO));
        let is_dead = |within| {
            asked.set(asked.get() + 1);
            if locked.get() {
                waited.set(waited.get() + within);
            }
            Ok((asked.get() == 1).then_some(true))
        };
        let lock = || {
            locked.set(true);
            Ok(Locked(&locked))
        };
        let at = Path::new("/mnt");
        let error = recover_once(at, is_dead, lock, || panic!("it is not dead")).unwrap_err();
        assert!(matches!(error.problem(), MountProblem::Silent));
        assert_eq!(asked.get(), 3);
        let patience = Duration::from_nanos(Alone::PATIENCE.as_ns());
        assert!(!waited.get().is_zero() && 2 * waited.get() < patience, "{waited:?}");
    }

    /// Where the way to the mount point is slow, a dead mount may never answer under the lock.
    #[test]
    fn who_never_answers_under_the_lock_is_asked_a_few_times() {
        let (asked, locked) = (Cell::new(0), Cell::new(0));
        let is_dead = |within| {
            asked.set(asked.get() + 1);
            Ok((within == ANSWERS_WITHIN).then_some(true))
        };
        let lock = || {
            locked.set(locked.get() + 1);
            Ok(())
        };
        let take_away = || panic!("nobody knows whether it is dead");
        let error = recover_once(Path::new("/mnt"), is_dead, lock, take_away).unwrap_err();
        assert!(matches!(error.problem(), MountProblem::Silent));
        assert_eq!((asked.get(), locked.get()), (2 * ROUNDS, ROUNDS));
    }

    #[test]
    fn places_that_cannot_work_are_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let (a, b) = (scratch.path().join("a"), scratch.path().join("b"));
        fs::create_dir_all(a.join("inside")).unwrap();
        fs::create_dir(&b).unwrap();
        let file = scratch.path().join("file");
        fs::write(&file, "").unwrap();
        let problem = |source: &Path, target: &Path| {
            let error = check(source, target).unwrap_err();
            assert!(error.to_string().contains(';'), "no remedy in: {error}");
            format!("{:?}", error.problem())
        };
        assert_eq!(problem(&scratch.path().join("no"), &b), "SourceMissing");
        assert_eq!(problem(&file, &b), "SourceNotDirectory");
        assert_eq!(problem(&a, &scratch.path().join("no")), "MountPointMissing");
        assert_eq!(problem(&a, &file), "MountPointNotDirectory");
        assert_eq!(problem(&b, &a), "MountPointNotEmpty");
        assert_eq!(problem(&a, &a.join("inside")), "Nested");
        assert_eq!(problem(&a.join("inside"), &a), "Nested");
        assert!(check(&a, &b).is_ok() && check(&a, &a).is_ok());
    }
}

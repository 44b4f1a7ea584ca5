//! Exclusive locks on files (flock(2)). The kernel releases a lock when its holder ends, however it
//! ends.

use crate::clock;
use fairdisk_core::Span;
use rustix::fs::{FlockOperation, flock, major, minor};
use rustix::io::Errno;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The interval between attempts to lock, since flock(2) can wait only without a time limit.
const PAUSE: Duration = Duration::from_millis(20);

/// A lock, held until dropped.
#[derive(Debug)]
pub(crate) struct FileLock(File);

/// Why a file could not be locked.
#[derive(Debug)]
pub(crate) enum NotLocked {
    /// Nobody can lock a file there: there can be none, or its file system has no locks.
    Never(io::Error),
    /// The lock may be obtained later.
    NotNow(NotNow),
}

/// Why a lock could not be obtained although there are locks.
#[derive(Debug)]
pub(crate) enum NotNow {
    /// Another process holds the lock for longer than the time limit.
    Held(Held),
    /// The system has failed in a way that may pass.
    Failed(Failed),
}

/// A file that could not be opened or locked because of an error that may pass.
#[derive(Debug)]
pub(crate) struct Failed {
    path: PathBuf,
    error: io::Error,
}

/// A lock that another process holds.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    file: File,
}

impl FileLock {
    /// Locks the file at `path`, which is created if necessary, and waits at most for `time`. The
    /// file is private to its owner, since whoever may open a file may lock it.
    pub(crate) fn within(path: &Path, time: Span) -> Result<Self, NotLocked> {
        // Neither follows a symbolic link nor waits for the other end of a pipe that somebody may
        // have put there.
        let mut how = File::options();
        let how = how.create(true).truncate(false).write(true).mode(0o600);
        let how = how.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let failed = |error| NotLocked::of(path, error);
        let file = how.open(path).map_err(failed)?;
        let deadline = clock::now() + time;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if clock::now() < deadline => {
                    fairdisk_plane::pause(PAUSE);
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    let held = Held { path: path.to_owned(), file };
                    return Err(NotLocked::NotNow(NotNow::Held(held)));
                }
                Err(error) => return Err(failed(error.into())),
            }
        }
    }

    /// Whether the locked file is still the one at `path`.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        let there = fs::symlink_metadata(path).map(identity).ok();
        there.is_some() && there == self.0.metadata().map(identity).ok()
    }
}

impl NotLocked {
    /// The failure to open or lock the file at `path`. Only errors that say what the place is like
    /// are taken to last. Without locks two processes could do the same at once, so no shortage may
    /// be mistaken for that.
    pub(crate) fn of(path: &Path, error: io::Error) -> Self {
        let lasts = Errno::from_io_error(&error).is_none_or(|error| {
            matches!(
                error,
                Errno::NOENT
                    | Errno::NOTDIR
                    | Errno::ISDIR
                    | Errno::LOOP
                    | Errno::NAMETOOLONG
                    | Errno::NXIO
                    | Errno::NODEV
                    | Errno::ACCESS
                    | Errno::PERM
                    | Errno::ROFS
                    | Errno::NOSYS
                    | Errno::OPNOTSUPP
                    | Errno::INVAL
            )
        });
        if lasts {
            return Self::Never(error);
        }
        Self::NotNow(NotNow::Failed(Failed { path: path.to_owned(), error }))
    }
}

impl Failed {
    /// What to do before trying again.
    fn remedy(&self) -> &'static str {
        match Errno::from_io_error(&self.error) {
            Some(Errno::MFILE) => "let this process open more files (ulimit -n)",
            Some(Errno::NFILE) => "let the system open more files (sysctl fs.file-max)",
            Some(Errno::NOMEM) => "free some memory",
            Some(Errno::NOSPC | Errno::DQUOT) => "make room there",
            // The directory for temporary files may be on a network file system without locks.
            Some(Errno::NOLCK) => "set XDG_RUNTIME_DIR to a directory on a disk of this machine",
            _ => "see to that",
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, error, remedy) = (self.path.display(), &self.error, self.remedy());
        write!(f, "cannot lock {path}: {error}; {remedy} and try again")
    }
}

impl Held {
    /// Waits for the lock without a time limit.
    pub(crate) fn wait(self) -> io::Result<FileLock> {
        flock(&self.file, FlockOperation::LockExclusive)?;
        Ok(FileLock(self.file))
    }

    /// The process that holds the lock, as far as the kernel tells.
    fn holder(&self) -> Option<String> {
        let found = self.file.metadata().ok()?;
        let (device, inode) = (found.dev(), found.ino());
        let place = format!("{:02x}:{:02x}:{inode}", major(device), minor(device));
        let locks = fs::read_to_string("/proc/locks").ok()?;
        let pid = locks.lines().find_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            // In the entry of a waiting process, an arrow precedes the type.
            let is_held = words.next() == Some("FLOCK");
            let (pid, at) = (words.nth(2)?, words.next()?);
            (is_held && at == place).then_some(pid)
        })?;
        let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        Some(format!("process {pid} ({})", String::from_utf8_lossy(&name).trim_end()))
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whom = self.holder();
        let whom = whom.as_deref().unwrap_or("another process");
        write!(f, "{whom}, which has locked {}", self.path.display())
    }
}

impl From<NotNow> for io::Error {
    fn from(why: NotNow) -> Self {
        match why {
            NotNow::Held(held) => {
                Self::new(io::ErrorKind::TimedOut, format!("waited in vain for {held}"))
            }
            NotNow::Failed(failed) => Self::new(failed.error.kind(), failed.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(path: &Path) -> Result<FileLock, NotLocked> {
        FileLock::within(path, Span::ZERO)
    }

    #[test]
    fn one_at_a_time_and_who_has_it_is_named() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let lock = now(&path).unwrap();
        let not_locked = FileLock::within(&path, Span::from_ms(30));
        let Err(NotLocked::NotNow(NotNow::Held(held))) = not_locked else { panic!("two have it") };
        let said = held.to_string();
        assert!(said.starts_with(&format!("process {} (", std::process::id())), "{said}");
        assert!(said.ends_with(&format!("which has locked {}", path.display())), "{said}");
        std::thread::scope(|scope| {
            let next = scope.spawn(|| FileLock::within(&path, Span::from_s(60)));
            drop(lock);
            let next = next.join().unwrap();
            assert!(next.is_ok());
            assert!(matches!(now(&path), Err(NotLocked::NotNow(NotNow::Held(_)))));
        });
        assert!(held.wait().is_ok());
        assert!(matches!(now(&place.path().join("none/lock")), Err(NotLocked::Never(_))));
    }

    #[test]
    fn what_may_pass_is_told_from_a_place_without_locks_with_what_to_do() {
        let why = |code| NotLocked::of(Path::new("/run/lock"), io::Error::from_raw_os_error(code));
        for (code, remedy) in [
            (libc::EMFILE, "ulimit -n"),
            (libc::ENFILE, "fs.file-max"),
            (libc::ENOMEM, "memory"),
            (libc::ENOSPC, "make room"),
            (libc::EDQUOT, "make room"),
            (libc::EIO, "try again"),
            (libc::ENOLCK, "set XDG_RUNTIME_DIR"),
        ] {
            let NotLocked::NotNow(not_now) = why(code) else { panic!("{code} passes") };
            let said = io::Error::from(not_now).to_string();
            assert!(said.starts_with("cannot lock /run/lock: ") && said.contains(remedy), "{said}");
        }
        for code in [libc::ENOENT, libc::EACCES, libc::EROFS, libc::ELOOP, libc::EOPNOTSUPP] {
            assert!(matches!(why(code), NotLocked::Never(_)), "{code} lasts");
        }
        let not_ours = NotLocked::of(Path::new("/run/lock"), io::Error::other("another's"));
        assert!(matches!(not_ours, NotLocked::Never(_)));
    }

    #[test]
    fn nobody_else_may_open_it_and_what_another_put_there_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (path, link) = (place.path().join("lock"), place.path().join("link"));
        drop(now(&path).unwrap());
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(now(&link), Err(NotLocked::Never(_))));
    }

    #[test]
    fn a_lock_on_a_file_that_was_taken_away_is_told_from_one_there() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let old = now(&path).unwrap();
        assert!(old.is_at(&path));
        fs::remove_file(&path).unwrap();
        assert!(!old.is_at(&path));
        assert!(now(&path).unwrap().is_at(&path) && !old.is_at(&path));
    }
}

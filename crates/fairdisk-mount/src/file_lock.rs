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
    /// Another process holds the lock for longer than the time limit.
    Held(Held),
    /// The file cannot be opened or locked.
    System(io::Error),
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
        let file = how.open(path).map_err(NotLocked::System)?;
        let deadline = clock::now() + time;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if clock::now() < deadline => {
                    fairdisk_plane::pause(PAUSE);
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    return Err(NotLocked::Held(Held { path: path.to_owned(), file }));
                }
                Err(error) => return Err(NotLocked::System(error.into())),
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

impl From<Held> for io::Error {
    fn from(held: Held) -> Self {
        Self::new(io::ErrorKind::TimedOut, format!("waited in vain for {held}"))
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
        let Err(NotLocked::Held(held)) = FileLock::within(&path, Span::from_ms(30)) else {
            panic!("two have it")
        };
        let said = held.to_string();
        assert!(said.starts_with(&format!("process {} (", std::process::id())), "{said}");
        assert!(said.ends_with(&format!("which has locked {}", path.display())), "{said}");
        std::thread::scope(|scope| {
            let next = scope.spawn(|| FileLock::within(&path, Span::from_s(60)));
            drop(lock);
            let next = next.join().unwrap();
            assert!(next.is_ok());
            assert!(matches!(now(&path), Err(NotLocked::Held(_))));
        });
        assert!(held.wait().is_ok());
        assert!(matches!(now(&place.path().join("none/lock")), Err(NotLocked::System(_))));
    }

    #[test]
    fn nobody_else_may_open_it_and_what_another_put_there_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (path, link) = (place.path().join("lock"), place.path().join("link"));
        drop(now(&path).unwrap());
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(now(&link), Err(NotLocked::System(_))));
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

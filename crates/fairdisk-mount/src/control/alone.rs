//! The lock under which sockets, names and mounts are created and removed. Finding that a socket is
//! left over and removing it are two steps, between which another process could create a new one,
//! so these steps are taken under an exclusive lock. The same holds for checking a mount point and
//! mounting on it.

use crate::file_lock::{FileLock, NotLocked, NotNow};
use fairdisk_core::Span;
use std::path::Path;
use std::time::Duration;

/// The name of the lock file in the directory of sockets. The file is never removed.
const NAME: &str = ".lock";

/// The exclusive right to create and remove files in the directory, until dropped.
#[derive(Debug)]
pub(crate) struct Alone {
    _lock: FileLock,
}

impl Alone {
    /// How long to wait for other processes, which hold the lock only briefly unless they are
    /// stopped.
    pub(crate) const PATIENCE: Span = Span::from_s(5);

    /// The longest time for which somebody who holds the lock may wait for an answer. Several may
    /// hold it one after the other before somebody else loses patience.
    pub(crate) const ANSWERS_WITHIN: Duration = Duration::from_nanos(Self::PATIENCE.as_ns() / 5);

    /// Waits for the lock in `directory`. `None` if there are no locks there, in which case
    /// everybody does without.
    ///
    /// # Errors
    /// Another process keeps the lock, or the system fails in a way that may pass: others may have
    /// the lock all the same.
    pub(crate) fn wait(directory: &Path) -> Result<Option<Self>, NotNow> {
        Self::within(directory, Self::PATIENCE)
    }

    /// The lock, if it is free at the moment.
    pub(super) fn now(directory: &Path) -> Option<Self> {
        Self::within(directory, Span::ZERO).ok().flatten()
    }

    fn within(directory: &Path, time: Span) -> Result<Option<Self>, NotNow> {
        match FileLock::within(&directory.join(NAME), time) {
            Ok(lock) => Ok(Some(Self { _lock: lock })),
            Err(NotLocked::Never(_)) => Ok(None),
            Err(NotLocked::NotNow(why)) => Err(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let alone = Alone::wait(place.path()).unwrap();
        assert!(alone.is_some() && Alone::now(place.path()).is_none());
        let stopped = Alone::within(place.path(), Span::from_ms(1));
        assert!(stopped.is_err(), "who has it may have been stopped, and has it all the same");
        drop(alone);
        assert!(Alone::now(place.path()).is_some());
        assert!(Alone::wait(&place.path().join("none")).unwrap().is_none());
    }
}

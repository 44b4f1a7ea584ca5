//! Who makes or takes away sockets and names does so alone: whether one is left behind, and taking
//! it away, are two steps, and another one may be made there in between. So who mounts looks and
//! mounts alone.

use crate::file_lock::{FileLock, Held, NotLocked};
use fairdisk_core::Span;
use std::path::Path;

/// The lock's name in the directory of sockets. It stays there.
const NAME: &str = ".lock";

/// How long we wait for others, whom it takes no time. One may have been stopped.
const PATIENCE: Span = Span::from_s(5);

/// While it is kept nobody else makes or takes away anything in the directory.
#[derive(Debug)]
pub(crate) struct Alone {
    _lock: FileLock,
}

impl Alone {
    /// Waits until the others are done in `directory`; nothing where there are no locks, and
    /// everybody does without.
    ///
    /// # Errors
    /// Another one does not come to an end: nobody is alone then.
    pub(crate) fn wait(directory: &Path) -> Result<Option<Self>, Held> {
        Self::within(directory, PATIENCE)
    }

    /// If nobody else is at it.
    pub(super) fn now(directory: &Path) -> Option<Self> {
        Self::within(directory, Span::ZERO).ok().flatten()
    }

    fn within(directory: &Path, time: Span) -> Result<Option<Self>, Held> {
        match FileLock::within(&directory.join(NAME), time) {
            Ok(lock) => Ok(Some(Self { _lock: lock })),
            Err(NotLocked::System(_)) => Ok(None),
            Err(NotLocked::Held(held)) => Err(held),
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

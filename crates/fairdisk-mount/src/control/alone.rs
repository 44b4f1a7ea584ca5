//! Who makes or takes away sockets and names does so alone: whether one is left behind, and taking
//! it away, are two steps, and another one may be made there in between. So who mounts looks and
//! mounts alone.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// The lock's name in the directory of sockets. It stays there.
const NAME: &str = ".lock";

/// How often we look whether others are done, which takes them no time.
const LOOKS: u32 = 100;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// While it is kept nobody else makes or takes away anything in the directory.
#[derive(Debug)]
pub(crate) struct Alone {
    _lock: File,
}

impl Alone {
    /// Waits until the others are done in `directory`; not for ever, as one may have been stopped.
    pub(crate) fn wait(directory: &Path) -> Option<Self> {
        Self::within(directory, LOOKS)
    }

    /// If nobody else is at it.
    pub(super) fn now(directory: &Path) -> Option<Self> {
        Self::within(directory, 1)
    }

    fn within(directory: &Path, looks: u32) -> Option<Self> {
        let lock = open(directory)?;
        for look in 0..looks {
            if look > 0 {
                std::thread::park_timeout(PAUSE);
            }
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(Self { _lock: lock }),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                // There are no locks here.
                Err(_) => break,
            }
        }
        None
    }
}

/// What somebody else may have put there is not waited for.
fn open(directory: &Path) -> Option<File> {
    let mut how = File::options();
    let how = how.create(true).truncate(false).write(true).mode(0o600);
    how.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(directory.join(NAME)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let alone = Alone::wait(place.path());
        assert!(alone.is_some() && Alone::now(place.path()).is_none());
        assert!(Alone::within(place.path(), 2).is_none(), "who has it may have been stopped");
        drop(alone);
        assert!(Alone::now(place.path()).is_some());
        assert!(Alone::wait(&place.path().join("none")).is_none());
    }
}

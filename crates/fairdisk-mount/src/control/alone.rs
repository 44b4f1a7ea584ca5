//! Who makes or takes away sockets and names does so alone: whether one is left behind, and taking
//! it away, are two steps, and another one may be made there in between. So who mounts looks and
//! mounts alone.

use rustix::fs::{FlockOperation, flock};
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
        let lock = open(directory)?;
        let mut looks = (0..LOOKS).map(|_| {
            let had = has(&lock);
            if !had {
                std::thread::park_timeout(PAUSE);
            }
            had
        });
        looks.any(|had| had).then_some(Self { _lock: lock })
    }

    /// If nobody else is at it.
    pub(super) fn now(directory: &Path) -> Option<Self> {
        let lock = open(directory)?;
        has(&lock).then_some(Self { _lock: lock })
    }
}

fn open(directory: &Path) -> Option<File> {
    let mut how = File::options();
    let how = how.create(true).truncate(false).write(true).mode(0o600);
    how.custom_flags(libc::O_NOFOLLOW).open(directory.join(NAME)).ok()
}

fn has(lock: &File) -> bool {
    flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let alone = Alone::wait(place.path());
        assert!(alone.is_some() && Alone::now(place.path()).is_none());
        drop(alone);
        assert!(Alone::now(place.path()).is_some());
        assert!(Alone::wait(&place.path().join("none")).is_none());
    }
}

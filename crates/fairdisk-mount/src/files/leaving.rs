//! Removed files that are about to be closed.
//!
//! The kernel tells us that it has forgotten a file, or that it is closed, only after it has
//! answered the program that removed or closed it. Until then the file's blocks are in use, where
//! a file system without a mount has freed them. So what needs space and finds none is tried again
//! as long as such a file is there.

use super::descriptor::Kept;
use crate::clock;
use fairdisk_core::{Instant, Span};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// How long after a removal, or after a close(2), a file is expected to be closed. Then somebody
/// still has it open. The kernel takes a few microseconds, and longer on a busy machine.
const EXPECTED_FOR: Span = Span::from_s(1);

/// The most intervals for which somebody waits who only asks how much space is free.
const PATIENCE: u32 = 250;

/// The interval between two attempts.
const PAUSE: Duration = Duration::from_millis(1);

/// Removed files that are about to be closed, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Leaving(Mutex<VecDeque<(Instant, Weak<Kept>)>>);

impl Leaving {
    fn lock(&self) -> MutexGuard<'_, VecDeque<(Instant, Weak<Kept>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a removed file is about to be closed, unless somebody else has it open.
    pub(crate) fn expect(&self, file: &Arc<Kept>) {
        let now = clock::now();
        let mut files = self.lock();
        while files.front().is_some_and(|file| !is_awaited(file, now)) {
            files.pop_front();
        }
        files.push_back((now, Arc::downgrade(file)));
    }

    /// Whether there are any.
    fn any(&self) -> bool {
        let mut files = self.lock();
        if !files.is_empty() {
            let now = clock::now();
            files.retain(|file| is_awaited(file, now));
        }
        !files.is_empty()
    }

    /// Does what needs space. Without space, it is tried again while removed files are about to be
    /// closed.
    pub(crate) fn with_space<T>(&self, mut task: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            // Asked before, since one may go while the attempt fails.
            let any = self.any();
            match task() {
                Err(error) if any && is_lack_of_space(&error) => fairdisk_plane::pause(PAUSE),
                done => return done,
            }
        }
    }

    /// Waits until none is left, but not for long.
    pub(crate) fn settle(&self) {
        for _ in 0..PATIENCE {
            if !self.any() {
                break;
            }
            fairdisk_plane::pause(PAUSE);
        }
    }
}

fn is_awaited((since, file): &(Instant, Weak<Kept>), now: Instant) -> bool {
    file.upgrade().is_some_and(|file| now < *since + EXPECTED_FOR || file.is_closing())
}

/// Whether blocks, inodes or a quota are used up.
fn is_lack_of_space(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full<T>() -> io::Result<T> {
        Err(io::Error::from_raw_os_error(libc::ENOSPC))
    }

    #[test]
    fn what_finds_no_space_is_tried_again_until_the_removed_file_is_closed() {
        let (leaving, mut tried) = (Leaving::default(), 0);
        let mut file = Some(Arc::default());
        let mut attempt = |file: &mut Option<Arc<Kept>>| {
            tried += 1;
            if tried == 3 {
                *file = None;
            }
            full::<()>()
        };
        assert!(leaving.with_space(|| attempt(&mut file)).is_err());
        leaving.expect(file.as_ref().unwrap());
        assert!(leaving.with_space(|| attempt(&mut file)).is_err());
        assert_eq!(tried, 1 + 3, "once without and three times with a removed file");
        leaving.settle();
    }

    #[test]
    fn a_file_that_somebody_has_open_is_not_waited_for_for_long() {
        let (leaving, file) = (Leaving::default(), Arc::default());
        leaving.expect(&file);
        assert!(leaving.with_space(full::<()>).is_err());
        assert!(!leaving.any());
        let other_error = || Err::<(), _>(io::Error::from_raw_os_error(libc::EIO));
        leaving.expect(&file);
        assert!(leaving.with_space(other_error).is_err());
        assert!(leaving.any(), "no error that space would mend");
    }
}

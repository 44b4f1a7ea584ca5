//! Whoever serves mounts looks now and then what is to be done; at once when one of them ends.
//! Until this process has ended, too, the file system of its source is busy.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A mount that has ended is over when its last thread is, which is not long after, and so is what
/// it has left to be written out.
const BRISK: Duration = Duration::from_millis(2);
/// So often it is looked for then.
const BRISK_LOOKS: u32 = 50;

static ENDS: Ends = Ends::new();

/// What of the mounts of a process has ended.
struct Ends {
    /// Looks that are to come soon.
    looks: Mutex<u32>,
    ended: Condvar,
}

impl Ends {
    const fn new() -> Self {
        Self { looks: Mutex::new(0), ended: Condvar::new() }
    }

    fn one(&self) {
        *self.looks.lock().unwrap_or_else(PoisonError::into_inner) = BRISK_LOOKS;
        self.ended.notify_all();
    }

    fn wait(&self, at_most: Duration) -> bool {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        if *looks > 0 {
            *looks -= 1;
            drop(looks);
            std::thread::park_timeout(BRISK.min(at_most));
            return false;
        }
        let waited = self.ended.wait_timeout_while(looks, at_most, |looks| *looks == 0);
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// A mount of this process has ended.
pub(crate) fn one_ended() {
    ENDS.one();
}

/// Waits until it is time to look again what has become of the mounts of this process: for so long,
/// or less where one has ended. Whether it was that long is the answer.
pub fn wait_for_ends(at_most: Duration) -> bool {
    ENDS.wait(at_most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_looked_at_soon_and_for_a_while() {
        const LONG: Duration = Duration::from_secs(60);
        let ends = Ends::new();
        assert!(ends.wait(Duration::ZERO));
        ends.one();
        assert!((0..BRISK_LOOKS).all(|_| !ends.wait(LONG)));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| ends.wait(LONG));
            ends.one();
            assert_eq!(waits.join().ok(), Some(false));
        });
    }
}

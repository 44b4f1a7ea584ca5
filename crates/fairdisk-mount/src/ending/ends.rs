//! Wakes the main loop, which checks on the mounts now and then, at once when a mount ends. The
//! loop must not be late, because the file system of a source is busy until this process has ended,
//! too.

use crate::clock;
use fairdisk_core::{Instant, Span};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The number of checks after a mount has ended. Its session is over a short time later, when its
/// last thread has ended, and so is the write-back of its dirty data.
const LOOKS: u32 = 14;
/// The amount by which the pause before each of these checks is longer than the one before.
const LATER: Duration = Duration::from_millis(1);

static ENDS: Ends = Ends::new();

/// Ends of mounts of this process.
struct Ends {
    /// The number of checks that are to follow soon.
    looks: Mutex<u32>,
    ended: Condvar,
}

impl Ends {
    const fn new() -> Self {
        Self { looks: Mutex::new(0), ended: Condvar::new() }
    }

    fn one(&self) {
        *self.looks.lock().unwrap_or_else(PoisonError::into_inner) = LOOKS;
        self.ended.notify_all();
    }

    /// Waits until a mount ends or, if one has ended recently, until the next check.
    fn wait(&self, at_most: Duration) {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        if *looks > 0 {
            let pause = LATER * (LOOKS + 1 - *looks);
            *looks -= 1;
            drop(looks);
            return fairdisk_plane::pause(pause.min(at_most));
        }
        // Only one thread waits, and the reason why the wait ended does not matter.
        drop(self.ended.wait_timeout_while(looks, at_most, |looks| *looks == 0));
    }
}

/// Notes that a mount of this process has ended.
pub(crate) fn one_ended() {
    ENDS.one();
}

/// The rounds of the loop that looks after the mounts of this process.
#[derive(Debug)]
pub struct Rounds {
    every: Span,
    next: Instant,
}

impl Rounds {
    /// Rounds at this interval.
    #[must_use]
    pub const fn every(every: Span) -> Self {
        Self { every, next: Instant::ZERO }
    }

    /// Waits until the mounts are to be checked: until the next round, or shorter if a mount has
    /// ended. Returns whether the next round has begun.
    pub fn wait(&mut self) -> bool {
        let left = self.next.as_ns().saturating_sub(clock::now().as_ns());
        ENDS.wait(Duration::from_nanos(left));
        self.begin_if_due(clock::now())
    }

    /// Begins the next round if it is due. The number of rounds does not depend on how often this
    /// is called.
    fn begin_if_due(&mut self, now: Instant) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + self.every;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_looked_at_soon_and_for_a_while() {
        const LONG: Duration = Duration::from_secs(60);
        let ends = Ends::new();
        ends.wait(Duration::ZERO);
        ends.one();
        // Each of these waits would take a minute.
        (0..LOOKS).for_each(|_| ends.wait(LONG));
        std::thread::scope(|scope| {
            scope.spawn(|| ends.wait(LONG));
            ends.one();
        });
        assert!(*ends.looks.lock().unwrap() >= LOOKS - 1);
    }

    #[test]
    fn rounds_come_however_often_something_ends() {
        let mut rounds = Rounds::every(Span::from_ms(100));
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let due: Vec<u64> =
            (0..1000).step_by(30).filter(|ms| rounds.begin_if_due(at(*ms))).collect();
        assert_eq!(due, [0, 120, 240, 360, 480, 600, 720, 840, 960]);
    }
}

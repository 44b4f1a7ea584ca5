//! Whoever serves mounts looks now and then what is to be done; at once when one of them ends.
//! Until this process has ended, too, the file system of its source is busy.

use crate::clock;
use fairdisk_core::{Instant, Span};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A mount that has ended is over when its last thread is, which is not long after, and so is what
/// it has left to be written out. So often it is looked for then, each time this much later.
const LOOKS: u32 = 14;
const LATER: Duration = Duration::from_millis(1);

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
        *self.looks.lock().unwrap_or_else(PoisonError::into_inner) = LOOKS;
        self.ended.notify_all();
    }

    /// Waits for an end, or where there was one for the next look.
    fn wait(&self, at_most: Duration) {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        if *looks > 0 {
            let pause = LATER * (LOOKS + 1 - *looks);
            *looks -= 1;
            drop(looks);
            return fairdisk_plane::pause(pause.min(at_most));
        }
        // Nobody else has it, and why the wait has ended does not matter.
        drop(self.ended.wait_timeout_while(looks, at_most, |looks| *looks == 0));
    }
}

/// A mount of this process has ended.
pub(crate) fn one_ended() {
    ENDS.one();
}

/// The rounds of a loop that looks after the mounts of this process.
#[derive(Debug)]
pub struct Rounds {
    every: Span,
    next: Instant,
}

impl Rounds {
    /// One round in so much time.
    #[must_use]
    pub const fn every(every: Span) -> Self {
        Self { every, next: Instant::ZERO }
    }

    /// Waits until it is time to look again what has become of the mounts: until the next round,
    /// which is the answer, or shorter where one has ended.
    pub fn wait(&mut self) -> bool {
        let left = self.next.as_ns().saturating_sub(clock::now().as_ns());
        ENDS.wait(Duration::from_nanos(left));
        self.is_due(clock::now())
    }

    /// However often it is asked, there are no more rounds, and no fewer.
    fn is_due(&mut self, now: Instant) -> bool {
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
        // Each would be a minute.
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
        let due: Vec<u64> = (0..1000).step_by(30).filter(|ms| rounds.is_due(at(*ms))).collect();
        assert_eq!(due, [0, 120, 240, 360, 480, 600, 720, 840, 960]);
    }
}

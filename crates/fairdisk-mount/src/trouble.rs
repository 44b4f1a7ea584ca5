//! Log messages about failing I/O below, limited to a rate that can be read.

use crate::clock;
use crate::sys::proc_fd::ProcFd;
use fairdisk_core::{Instant, Span};
use rustix::fd::AsFd;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The shortest time between two messages.
const PAUSE: Span = Span::from_s(1);

/// Errors that are the caller's own mistake and are reported to the caller alone.
const NOT_OURS: [i32; 7] = [
    libc::EINVAL,
    libc::EBADF,
    libc::EFBIG,
    libc::EISDIR,
    libc::EOPNOTSUPP,
    libc::EXDEV,
    libc::ETXTBSY,
];

static SAID: Seldom = Seldom::new();

/// A rate limit of one message per second.
#[derive(Debug)]
pub(crate) struct Seldom(Mutex<Pace>);

impl Seldom {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Pace { next: Instant::ZERO, unsaid: 0 }))
    }

    /// Asks to write a message now. Returns how many messages have been suppressed since the last
    /// one, or `None` if this one is suppressed, too.
    pub(crate) fn pass(&self) -> Option<u64> {
        self.pace().pass(clock::now())
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Pace {
    next: Instant,
    unsaid: u64,
}

impl Pace {
    fn pass(&mut self, now: Instant) -> Option<u64> {
        if now < self.next {
            self.unsaid += 1;
            return None;
        }
        self.next = now + PAUSE;
        Some(std::mem::take(&mut self.unsaid))
    }

    /// Asks to say how many messages have been suppressed. `None` if none have been, or if it is
    /// too early and not the `last` time.
    fn pass_rest(&mut self, now: Instant, last: bool) -> Option<u64> {
        if self.unsaid == 0 || (now < self.next && !last) {
            return None;
        }
        self.next = now + PAUSE;
        Some(std::mem::take(&mut self.unsaid))
    }
}

/// Logs that the operation `doing` on the file `fd` failed.
pub(crate) fn tell(doing: &'static str, fd: impl AsFd, error: &io::Error) {
    let errno = error.raw_os_error().unwrap_or(0);
    if NOT_OURS.contains(&errno) {
        return;
    }
    if let Some(unsaid) = SAID.pass() {
        let path = std::fs::read_link(ProcFd::path(fd)).unwrap_or_default();
        let path = path.display();
        tracing::error!(op = doing, %path, errno, %error, unsaid, "I/O error");
    }
}

/// Logs how many messages about failing I/O were suppressed, if some were and the last message is
/// long enough ago, or this is the `last` time.
pub fn tell_unsaid(last: bool) {
    let rest = SAID.pace().pass_rest(clock::now(), last);
    if let Some(unsaid) = rest {
        tracing::error!(unsaid, "more I/O errors");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_a_second_is_said_and_the_others_are_counted() {
        let mut pace = Pace { next: Instant::ZERO, unsaid: 0 };
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        assert_eq!(pace.pass(at(0)), Some(0));
        assert_eq!((pace.pass(at(1)), pace.pass(at(999))), (None, None));
        assert_eq!(pace.pass(at(1000)), Some(2));
        assert_eq!(pace.pass(at(5000)), Some(0));
    }

    #[test]
    fn what_was_not_said_is_told_when_there_is_time_or_at_the_end() {
        let mut pace = Pace { next: Instant::ZERO, unsaid: 0 };
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        assert_eq!((pace.pass(at(0)), pace.pass_rest(at(0), true)), (Some(0), None));
        assert_eq!((pace.pass(at(1)), pace.pass_rest(at(999), false)), (None, None));
        assert_eq!(pace.pass_rest(at(1000), false), Some(1));
        assert_eq!((pace.pass(at(1001)), pace.pass_rest(at(1002), true)), (None, Some(1)));
        assert_eq!(pace.pass_rest(at(9000), true), None, "all is said");
    }
}

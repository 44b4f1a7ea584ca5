//! Log messages about failing I/O below, limited to a rate that can be read.

use crate::clock;
use crate::sys::proc_fd::ProcFd;
use fairdisk_core::{Instant, Span};
use rustix::fd::AsFd;
use std::io;
use std::sync::{Mutex, PoisonError};

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pass(clock::now())
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
}

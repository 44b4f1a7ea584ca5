//! The inbox of the ring's thread, in which other threads leave work.

use super::state::Issued;
use super::{Job, Order};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The work in an inbox.
#[derive(Default)]
pub(super) struct Letters {
    /// Requests to submit to the scheduler.
    pub(super) orders: Vec<(Order, Box<dyn Job>)>,
    /// Requests that the scheduler has issued, to be performed.
    pub(super) issued: Vec<Issued>,
}

impl Letters {
    pub(super) const fn is_empty(&self) -> bool {
        self.orders.is_empty() && self.issued.is_empty()
    }
}

#[derive(Default)]
struct Waiting {
    letters: Letters,
    /// Whether the ring's thread sleeps until a completion or the bell.
    asleep: bool,
    closed: bool,
}

/// The work for the ring's thread, with a bell (an eventfd) to wake it.
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    bell: OwnedFd,
}

impl Inbox {
    pub(super) fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { waiting: Mutex::default(), bell })
    }

    /// Leaves a request for the scheduler.
    pub(super) fn order(&self, order: &Order, job: Box<dyn Job>) {
        self.post(|waiting| waiting.letters.orders.push((*order, job)));
    }

    /// Leaves a request that the scheduler has issued.
    pub(super) fn issued(&self, issued: Issued) {
        self.post(|waiting| waiting.letters.issued.push(issued));
    }

    /// Closes the inbox: nothing more will be left in it.
    pub(super) fn close(&self) {
        self.post(|waiting| waiting.closed = true);
    }

    /// Moves all work into `letters`, which must be empty. If there is none and the caller is
    /// `idle`, it is considered asleep, so that the next work rings the bell. Returns whether the
    /// inbox is closed.
    pub(super) fn take(&self, letters: &mut Letters, idle: bool) -> bool {
        let mut waiting = self.lock();
        std::mem::swap(&mut waiting.letters, letters);
        waiting.asleep = idle && letters.is_empty();
        waiting.closed
    }

    /// The descriptor that becomes readable when the bell rings.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Silences the bell.
    pub(super) fn silence(&self) {
        // An error means that it is silent already.
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    fn post(&self, with: impl FnOnce(&mut Waiting)) {
        let mut waiting = self.lock();
        with(&mut waiting);
        let asleep = std::mem::take(&mut waiting.asleep);
        drop(waiting);
        if asleep {
            // The write cannot fail, since the counter is far from its limit.
            let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

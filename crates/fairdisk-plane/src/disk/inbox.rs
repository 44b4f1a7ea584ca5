//! Where others leave what the thread of the ring is to see to.

use super::state::Issued;
use super::{Job, Order};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What there is to see to.
#[derive(Default)]
pub(super) struct Letters {
    /// For the scheduler.
    pub(super) orders: Vec<(Order, Box<dyn Job>)>,
    /// From the scheduler, for the disk.
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
    /// The thread waits for the bell, and for what is at the kernel.
    asleep: bool,
    closed: bool,
}

/// What the thread is to see to, and a bell for when it sleeps.
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    bell: OwnedFd,
}

impl Inbox {
    pub(super) fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { waiting: Mutex::default(), bell })
    }

    /// An order for the scheduler.
    pub(super) fn order(&self, order: &Order, job: Box<dyn Job>) {
        self.post(|waiting| waiting.letters.orders.push((*order, job)));
    }

    /// A request that the scheduler has issued.
    pub(super) fn issued(&self, issued: Issued) {
        self.post(|waiting| waiting.letters.issued.push(issued));
    }

    /// Nothing more is to come.
    pub(super) fn close(&self) {
        self.post(|waiting| waiting.closed = true);
    }

    /// All there is, into the empty `letters`. Whoever takes nothing and is `idle` is taken to
    /// sleep, and must be called. Whether the inbox is closed is the answer.
    pub(super) fn take(&self, letters: &mut Letters, idle: bool) -> bool {
        let mut waiting = self.lock();
        std::mem::swap(&mut waiting.letters, letters);
        waiting.asleep = idle && letters.is_empty();
        waiting.closed
    }

    /// What becomes readable when the sleeper is called.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// The bell has been heard.
    pub(super) fn silence(&self) {
        // It may have been silenced before.
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    fn post(&self, with: impl FnOnce(&mut Waiting)) {
        let mut waiting = self.lock();
        with(&mut waiting);
        let asleep = std::mem::take(&mut waiting.asleep);
        drop(waiting);
        if asleep {
            // It cannot fail: the count is far from the largest.
            let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The threads that perform what nobody else is at hand for.

use super::Issued;
use super::state::Performed;
use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What a thread of the pool does.
pub(super) enum Work {
    Perform(Issued),
    Finish(Performed),
}

/// What is to be done, in the order in which it came.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    added: Condvar,
}

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    closed: bool,
}

impl Queue {
    pub(super) fn push(&self, work: Work) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).work.push_back(work);
        self.added.notify_one();
    }

    /// Waits for the next; `None` once the queue is closed and empty.
    pub(super) fn next(&self) -> Option<Work> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(work) = waiting.work.pop_front() {
                return Some(work);
            }
            if waiting.closed {
                return None;
            }
            waiting = self.added.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn close(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.added.notify_all();
    }
}

/// Threads with the same work.
pub(super) struct Pool(Vec<JoinHandle<()>>);

impl Pool {
    pub(super) fn start(
        threads: usize,
        work: impl Fn() + Clone + Send + 'static,
    ) -> io::Result<Self> {
        let threads = (0..threads.max(1)).map(|number| {
            let builder = std::thread::Builder::new().name(format!("fairdisk-disk-{number}"));
            builder.spawn(work.clone())
        });
        threads.collect::<io::Result<_>>().map(Self)
    }

    pub(super) fn join(&mut self) {
        for thread in self.0.drain(..) {
            super::join(thread);
        }
    }
}

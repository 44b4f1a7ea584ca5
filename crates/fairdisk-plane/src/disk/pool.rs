//! The threads that perform what nobody else is at hand for. There is one at first, and another
//! whenever the last idle one gets something to do, until there are as many as there may be.

use super::state::Performed;
use super::unheard::Which;
use super::{Issued, Shared};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// What a thread of the pool does.
pub(super) enum Work {
    Perform(Issued),
    Finish(Performed),
}

/// What is to be done, in the order in which it came, and the threads that do it.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    added: Condvar,
    threads_max: usize,
}

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    threads: Vec<JoinHandle<()>>,
    started: usize,
    idle: usize,
    closed: bool,
}

impl Queue {
    /// Nothing to be done, and nobody to do it.
    pub(super) fn new(threads_max: usize) -> Self {
        Self { waiting: Mutex::default(), added: Condvar::new(), threads_max }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, work: Work) {
        self.lock().work.push_back(work);
        self.added.notify_one();
    }

    /// The threads end when nothing is left to do. Waits for them.
    pub(super) fn end(&self) {
        self.lock().closed = true;
        self.added.notify_all();
        let next = || self.lock().threads.pop();
        while let Some(thread) = next() {
            super::join(thread);
        }
    }
}

impl Shared {
    /// Starts the first thread.
    pub(super) fn start_pool(self: &Arc<Self>) -> io::Result<()> {
        self.start_thread(&mut self.jobs.lock())
    }

    fn start_thread(self: &Arc<Self>, waiting: &mut Waiting) -> io::Result<()> {
        let own = Arc::clone(self);
        let name = format!("fairdisk-disk-{}", waiting.started);
        let thread = Builder::new().name(name).spawn(move || own.work())?;
        waiting.threads.push(thread);
        waiting.started += 1;
        waiting.idle += 1;
        Ok(())
    }

    fn work(self: &Arc<Self>) {
        let jobs = &self.jobs;
        let mut waiting = jobs.lock();
        loop {
            if let Some(work) = waiting.work.pop_front() {
                waiting.idle -= 1;
                if waiting.idle == 0 && waiting.started < jobs.threads_max {
                    // If the system has no more, those that are there go on.
                    let _ = self.start_thread(&mut waiting);
                }
                drop(waiting);
                match work {
                    Work::Perform(Issued { request, jobs }) => {
                        self.perform(Which::Issued(request), jobs);
                    }
                    Work::Finish((job, result)) => job.finish(result),
                }
                waiting = jobs.lock();
                waiting.idle += 1;
            } else if waiting.closed {
                return;
            } else {
                waiting = jobs.added.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

//! The pool of threads that perform jobs which no other thread is available for. It begins with one
//! thread, and starts another whenever the last idle one gets work, up to a limit. All but one end
//! when they have been idle for some seconds.

use super::state::Performed;
use super::unheard::Which;
use super::{Issued, Shared};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

/// How long a thread waits for its next work before it ends, unless it is the last one.
const IDLE: Duration = Duration::from_secs(5);

/// The work of a pool thread.
pub(super) enum Work {
    Perform(Issued),
    Finish(Performed),
}

/// The pool's work, in order of arrival, and its threads.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    added: Condvar,
    threads_max: usize,
}

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    threads: Vec<JoinHandle<()>>,
    idle: usize,
    closed: bool,
}

impl Waiting {
    /// Takes the calling thread, which is idle, out of the pool. Returns false if it is the last.
    fn leave(&mut self) -> bool {
        if self.threads.len() == 1 {
            return false;
        }
        let own = thread::current().id();
        self.threads.retain(|other| other.thread().id() != own);
        self.idle -= 1;
        true
    }
}

impl Queue {
    /// An empty queue for a pool of up to `threads_max` threads.
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

    /// Ends the threads once no work is left, and joins them.
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
        let name = format!("fairdisk-disk-{}", waiting.threads.len());
        let thread = Builder::new().name(name).spawn(move || own.work())?;
        waiting.threads.push(thread);
        waiting.idle += 1;
        Ok(())
    }

    fn work(self: &Arc<Self>) {
        let jobs = &self.jobs;
        let mut waiting = jobs.lock();
        loop {
            if let Some(work) = waiting.work.pop_front() {
                waiting.idle -= 1;
                if waiting.idle == 0 && waiting.threads.len() < jobs.threads_max {
                    // If the system refuses another thread, the existing ones continue.
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
                let waited = jobs.added.wait_timeout(waiting, IDLE);
                let timeout;
                (waiting, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                let is_over = timeout.timed_out() && waiting.work.is_empty() && !waiting.closed;
                if is_over && waiting.leave() {
                    return;
                }
            }
        }
    }
}

//! A backend that serves a file with a pool of threads making blocking calls. It works everywhere.

use super::file_ops::perform;
use super::{Backend, Chosen, Done, in_range};
use crate::buffer::Buffer;
use crate::clock::{Clock, Stance};
use crate::file::TargetFile;
use fairdisk_core::{Instant, Request};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// The largest depth, in requests. Each request has a thread, because requests in a queue of our
/// own would wait where the scheduler cannot reorder them.
pub(super) const DEPTH_MAX: u32 = 1024;

/// A backend that serves up to `depth` requests at once, each on its own thread.
#[derive(Debug)]
pub struct FileThreads {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    depth: u32,
    in_flight: u32,
    why: String,
}

#[derive(Debug)]
struct Shared {
    target: TargetFile,
    jobs: Mutex<Jobs>,
    job_added: Condvar,
    done: Mutex<Vec<Done>>,
    done_added: Condvar,
}

#[derive(Debug, Default)]
struct Jobs {
    queue: VecDeque<(Request, Buffer)>,
    closed: bool,
}

impl FileThreads {
    /// Starts `depth` threads. `why`, the reason for choosing this backend, goes into the report.
    ///
    /// # Errors
    /// The system refuses to start a thread.
    pub fn new(target: TargetFile, depth: u32, why: &str) -> io::Result<Self> {
        assert!(depth > 0, "a backend takes at least one request at a time");
        let shared = Arc::new(Shared {
            target,
            jobs: Mutex::default(),
            job_added: Condvar::new(),
            done: Mutex::default(),
            done_added: Condvar::new(),
        });
        // The pool exists before its threads, so that dropping it joins those already started if a
        // later one fails to start.
        let threads = Vec::new();
        let mut pool = Self { shared, threads, depth, in_flight: 0, why: why.to_owned() };
        for number in 0..depth {
            let shared = Arc::clone(&pool.shared);
            let builder = std::thread::Builder::new().name(format!("fairdisk-io-{number}"));
            pool.threads.push(builder.spawn(move || shared.work())?);
        }
        Ok(pool)
    }

    /// The number of threads.
    #[must_use]
    pub const fn threads(&self) -> usize {
        self.threads.len()
    }

    fn take_done(&mut self, guard: &mut Vec<Done>, done: &mut Vec<Done>) -> bool {
        self.in_flight -= guard.len() as u32;
        let any = !guard.is_empty();
        done.append(guard);
        any
    }
}

/// Locks a mutex, poisoned or not: the data is consistent at every moment, even if a holder
/// panicked.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn work(&self) {
        while let Some((request, mut data)) = self.next_job() {
            let result = in_range(&request, self.target.capacity_sectors())
                .and_then(|()| perform(&self.target, &request, &mut data));
            locked(&self.done).push(Done { id: request.id, data, result });
            self.done_added.notify_one();
        }
    }

    fn next_job(&self) -> Option<(Request, Buffer)> {
        let mut jobs = locked(&self.jobs);
        loop {
            if let Some(job) = jobs.queue.pop_front() {
                return Some(job);
            }
            if jobs.closed {
                return None;
            }
            jobs = self.job_added.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Backend for FileThreads {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn capacity_sectors(&self) -> u64 {
        self.shared.target.capacity_sectors()
    }

    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    fn submit(&mut self, _now: Instant, request: &Request, data: Buffer) {
        assert!(self.in_flight < self.depth, "more requests than the depth");
        self.in_flight += 1;
        locked(&self.shared.jobs).queue.push_back((*request, data));
        self.shared.job_added.notify_one();
    }

    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()> {
        if self.in_flight == 0 {
            if let Some(deadline) = deadline {
                clock.pass_until(deadline);
            }
            return Ok(());
        }
        let shared = Arc::clone(&self.shared);
        let mut guard = locked(&shared.done);
        loop {
            if self.take_done(&mut guard, done) {
                return Ok(());
            }
            guard = match clock.stance(deadline) {
                Stance::Over => return Ok(()),
                Stance::Spin => {
                    drop(guard);
                    std::hint::spin_loop();
                    locked(&shared.done)
                }
                Stance::Block(None) => {
                    shared.done_added.wait(guard).unwrap_or_else(PoisonError::into_inner)
                }
                Stance::Block(Some(span)) => {
                    let waited = shared.done_added.wait_timeout(guard, span);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn chosen(&self) -> Chosen {
        Chosen::new("threads", &self.why)
    }
}

impl Drop for FileThreads {
    fn drop(&mut self) {
        locked(&self.shared.jobs).closed = true;
        self.shared.job_added.notify_all();
        for thread in self.threads.drain(..) {
            // The panic of a thread has already been printed.
            let _ = thread.join();
        }
    }
}

//! The threads that take requests from the kernel (readers), and those that wait for the disk in
//! their place (workers).
//!
//! A reader carries out a request itself as long as another reader is free to take the next one.
//! The last free reader hands its request to a worker. Thus requests are always taken from the
//! kernel at once, however long the disk takes, and the scheduler sees every request as soon as it
//! is made.
//!
//! Buffered writes have workers of their own, and so have other changes, because the file system
//! below may block them for an unlimited time, for example while it is frozen. Other requests
//! continue meanwhile.
//!
//! A worker that panics is not replaced: [the process ends](crate::ending::panics).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The most workers of each kind. Further requests wait for their turn.
const WORKERS_MAX: usize = 32;

/// How long a worker waits for its next task before it ends.
const IDLE: Duration = Duration::from_secs(5);

type Task = Box<dyn FnOnce() + Send>;

/// The number of free readers, and the pools of workers.
#[derive(Debug)]
pub(crate) struct Readers {
    free: AtomicUsize,
    pool: Arc<Pool>,
    writers: Arc<Pool>,
    changers: Arc<Pool>,
}

#[derive(Default)]
struct Queue {
    tasks: VecDeque<Task>,
    idle: usize,
    workers: usize,
    closed: bool,
}

#[derive(Default)]
struct Pool {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pool")
    }
}

/// The right of a reader to wait for the disk, returned when dropped.
pub(crate) struct Seat<'a>(&'a AtomicUsize);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl Readers {
    /// The state for `readers` threads, all of which are free.
    pub(crate) fn new(readers: usize) -> Self {
        let [pool, writers, changers] = Default::default();
        Self { free: AtomicUsize::new(readers), pool, writers, changers }
    }

    /// Permits the calling reader to wait for the disk, unless it is the last free one.
    pub(crate) fn sit(&self) -> Option<Seat<'_>> {
        let sit = |free: usize| (free > 1).then(|| free - 1);
        self.free
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, sit)
            .ok()
            .map(|_| Seat(&self.free))
    }

    /// Carries out a task, on this thread or on a worker.
    pub(crate) fn run(&self, task: impl FnOnce() + Send + 'static) {
        self.run_in(&self.pool, task);
    }

    /// Carries out a change other than a write, on this thread or on a worker for changes.
    pub(crate) fn run_change(&self, task: impl FnOnce() + Send + 'static) {
        self.run_in(&self.changers, task);
    }

    fn run_in(&self, pool: &Arc<Pool>, task: impl FnOnce() + Send + 'static) {
        match self.sit() {
            Some(_seat) => task(),
            None => pool.take(Box::new(task)),
        }
    }

    /// Hands a task to a worker for buffered writes.
    pub(crate) fn hand_over_write(&self, task: Task) {
        self.writers.take(task);
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        for pool in [&self.pool, &self.writers, &self.changers] {
            pool.lock().closed = true;
            pool.changed.notify_all();
        }
    }
}

impl Pool {
    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, task: Task) {
        let mut queue = self.lock();
        queue.tasks.push_back(task);
        if queue.idle < queue.tasks.len() && queue.workers < WORKERS_MAX {
            queue.workers += 1;
            let pool = Arc::clone(self);
            let spawned = thread::Builder::new()
                .name("fairdisk-worker".to_owned())
                .spawn(move || pool.work());
            if spawned.is_err() {
                queue.workers -= 1;
                if queue.workers == 0 {
                    // No thread can be started, so the task is carried out here, although that may
                    // delay other requests.
                    let task = queue.tasks.pop_back();
                    drop(queue);
                    task.into_iter().for_each(|task| task());
                    return;
                }
            }
        }
        drop(queue);
        self.changed.notify_one();
    }

    fn work(&self) {
        let mut queue = self.lock();
        loop {
            if let Some(task) = queue.tasks.pop_front() {
                drop(queue);
                task();
                queue = self.lock();
            } else if queue.closed {
                return;
            } else {
                queue.idle += 1;
                let waited = self.changed.wait_timeout(queue, IDLE);
                let timeout;
                (queue, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                queue.idle -= 1;
                if timeout.timed_out() && queue.tasks.is_empty() {
                    queue.workers -= 1;
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn the_last_reader_never_waits() {
        let readers = Readers::new(2);
        let seat = readers.sit().unwrap();
        assert!(readers.sit().is_none());
        let (tell, told) = mpsc::channel();
        let here = thread::current().id();
        readers.run(move || tell.send(thread::current().id()).unwrap());
        assert_ne!(told.recv().unwrap(), here);
        drop(seat);
        assert!(readers.sit().is_some());
    }

    #[test]
    fn writes_that_are_held_up_hold_nobody_else_up() {
        let readers = Readers::new(1);
        let held_up = Arc::new(Mutex::new(()));
        let held = held_up.lock().unwrap();
        for _ in 0..2 * WORKERS_MAX {
            let held_up = Arc::clone(&held_up);
            readers.hand_over_write(Box::new(move || drop(held_up.lock())));
        }
        let (tell, told) = mpsc::channel();
        readers.run(move || tell.send(()).unwrap());
        assert_eq!(told.recv(), Ok(()));
        drop(held);
    }

    #[test]
    fn tasks_that_wait_for_each_other_all_run() {
        let readers = Readers::new(1);
        let (tell, told) = mpsc::channel();
        let gate = Arc::new(std::sync::Barrier::new(8));
        for number in 0..8 {
            let (tell, gate) = (tell.clone(), Arc::clone(&gate));
            readers.run(move || {
                gate.wait();
                tell.send(number).unwrap();
            });
        }
        let mut seen: Vec<i32> = told.iter().take(8).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..8).collect::<Vec<_>>());
    }
}

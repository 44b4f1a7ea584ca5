//! Threads that share work.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Whoever is told how far runs are.
pub trait Progress: Sync {
    /// A run of this cell begins.
    fn begins(&self, cell: &str);
    /// So many of all runs are done.
    fn done(&self, done: usize, all: usize);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn begins(&self, _cell: &str) {}
    fn done(&self, _done: usize, _all: usize) {}
}

/// The threads that use all cores that this process may use.
#[must_use]
pub fn cores() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// As [`on_up_to`], on all cores.
pub fn on_cores<J: Sync, R: Send>(
    jobs: &[J],
    cell: impl Fn(&J) -> String + Sync,
    progress: &dyn Progress,
    stop: &AtomicBool,
    run: impl Fn(&J) -> R + Sync,
) -> Vec<Option<R>> {
    on_up_to(cores(), jobs, cell, progress, stop, run)
}

/// Does all jobs, each of a cell with this name, on so many threads or fewer and returns what each
/// gave, in order. Setting `stop` ends early; what ends after that gives nothing.
pub fn on_up_to<J: Sync, R: Send>(
    threads: NonZero<usize>,
    jobs: &[J],
    cell: impl Fn(&J) -> String + Sync,
    progress: &dyn Progress,
    stop: &AtomicBool,
    run: impl Fn(&J) -> R + Sync,
) -> Vec<Option<R>> {
    let results = Mutex::new(jobs.iter().map(|_| None).collect::<Vec<Option<R>>>());
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { return };
            if stop.load(Ordering::Relaxed) {
                return;
            }
            progress.begins(&cell(job));
            let result = run(job);
            if stop.load(Ordering::Relaxed) {
                return;
            }
            results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
            progress.done(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        }
    };
    on_threads(threads.get().min(jobs.len()), work);
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Does `work`, which shares itself out, in this thread and in up to `threads` - 1 others. Where no
/// more threads can be started, those that run do all of it.
pub(crate) fn on_threads(threads: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..threads {
            if thread::Builder::new().spawn_scoped(scope, &work).is_err() {
                break;
            }
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_thread_works_itself_and_others_help() {
        for threads in [0, 1, 3] {
            let done = AtomicUsize::new(0);
            on_threads(threads, || {
                done.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(done.into_inner(), threads.max(1));
        }
    }
}

//! Threads that share work.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Called after each run with the number of runs done and the total.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Does all jobs on all cores and returns what each gave, in order. Setting `stop` ends early; what
/// ends after that gives nothing.
pub fn on_cores<J: Sync, R: Send>(
    jobs: &[J],
    progress: Progress<'_>,
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
            let result = run(job);
            if stop.load(Ordering::Relaxed) {
                return;
            }
            results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        }
    };
    on_threads(thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len()), work);
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

//! Threads that share work.

use std::thread;

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

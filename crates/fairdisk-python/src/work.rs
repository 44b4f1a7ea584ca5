//! Work without the interpreter, with progress, and Ctrl-C heard.

use crate::errors::{bad_text, failed};
use fairdisk_lab::run::Progress;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often signals are looked for and progress is told.
const LOOK: Duration = Duration::from_millis(50);

/// The runs done and all runs, and whether one has begun.
#[derive(Debug, Default)]
struct Counts {
    told: Mutex<(usize, usize)>,
    has_begun: AtomicBool,
}

impl Counts {
    fn now(&self) -> (usize, usize) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Counts {
    fn begins(&self, _cell: &str) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    fn done(&self, done: usize, all: usize) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        // Threads may tell late. Another total is that of another phase, which counts anew.
        let before = if told.1 == all { told.0 } else { 0 };
        *told = (done.max(before), all);
    }
}

/// Does `work` in a thread of its own. The interpreter is free meanwhile; `progress` is called with
/// the runs done and all runs, and Ctrl-C sets the flag that `work` is given.
///
/// # Errors
/// Ctrl-C was pressed, or `progress` failed.
pub(crate) fn without_interpreter<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&dyn Progress, &AtomicBool) -> T + Send,
) -> PyResult<T> {
    watched(py, progress, &Counts::default(), work)
}

/// As [`without_interpreter`], of runs.
///
/// # Errors
/// As there; `SpecError` if the work failed before a run began, else `RunError`.
pub(crate) fn runs<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&dyn Progress, &AtomicBool) -> Result<T, String> + Send,
) -> PyResult<T> {
    let counts = Counts::default();
    let result = watched(py, progress, &counts, work)?;
    result.map_err(|error| match counts.has_begun.load(Ordering::Relaxed) {
        true => failed(py, error),
        false => bad_text(py, error),
    })
}

fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    counts: &Counts,
    work: impl FnOnce(&dyn Progress, &AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let told = |py: Python<'_>| match (progress, counts.now()) {
        (Some(progress), (done, all)) if all > 0 => progress.call1(py, (done, all)).map(drop),
        _ => Ok(()),
    };
    let (result, ended) = py.detach(|| {
        thread::scope(|scope| {
            let (send, receive) = channel();
            let stop = &stop;
            scope.spawn(move || {
                // Nobody hears it only if this thread has panicked.
                let _ = send.send(work(counts, stop));
            });
            loop {
                match receive.recv_timeout(LOOK) {
                    Ok(result) => return (Some(result), Ok(())),
                    Err(RecvTimeoutError::Disconnected) => return (None, Ok(())),
                    Err(RecvTimeoutError::Timeout) => {
                        let heard = Python::attach(|py| py.check_signals().and_then(|()| told(py)));
                        if heard.is_err() {
                            stop.store(true, Ordering::Relaxed);
                            return (receive.recv().ok(), heard);
                        }
                    }
                }
            }
        })
    });
    ended?;
    told(py)?;
    // A panic of the work has ended the scope with a panic before.
    result.ok_or_else(|| failed(py, "the run ended without a result".to_owned()))
}

//! Work without the interpreter, with progress, and Ctrl-C heard.

use fairdisk_lab::run::Progress;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often signals are looked for and progress is told.
const LOOK: Duration = Duration::from_millis(50);

/// Does `work` in a thread of its own. The interpreter is free meanwhile; `progress` is called with
/// the runs done and all runs, and Ctrl-C sets the flag that `work` is given.
///
/// # Errors
/// Ctrl-C was pressed, or `progress` failed.
pub(crate) fn without_interpreter<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(Progress<'_>, &AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let (done, all) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let tell = |now: usize, of: usize| {
        done.fetch_max(now, Ordering::Relaxed);
        all.store(of, Ordering::Relaxed);
    };
    let told = |py: Python<'_>| match progress {
        Some(progress) if all.load(Ordering::Relaxed) > 0 => progress
            .call1(py, (done.load(Ordering::Relaxed), all.load(Ordering::Relaxed)))
            .map(drop),
        _ => Ok(()),
    };
    let (result, ended) = py.detach(|| {
        thread::scope(|scope| {
            let (send, receive) = channel();
            let stop = &stop;
            scope.spawn(move || {
                // Nobody hears it only if this thread has panicked.
                let _ = send.send(work(&tell, stop));
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
    result.ok_or_else(|| crate::errors::failed(py, "the run ended without a result".to_owned()))
}

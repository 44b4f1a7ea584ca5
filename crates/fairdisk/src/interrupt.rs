//! Signals that end the program. The first Ctrl-C (or SIGTERM, or SIGHUP from a closed terminal)
//! asks the current run to stop, so that partial results can be printed; a second one ends the
//! program at once.

use crate::failure::{Failure, INTERRUPTED};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets.
///
/// # Errors
/// The signal handlers cannot be installed.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    // nohup ignores SIGHUP, so that a run continues when its terminal is closed.
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in hangup.into_iter().chain([SIGINT, SIGTERM]) {
        // The order of registration matters: at the first signal the shutdown handler must still
        // find the flag unset.
        flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| Failure::Run(format!("cannot listen for Ctrl-C: {error}")))?;
    }
    Ok(stop)
}

/// Whether the parent process has made us ignore `signal`, according to the `SigIgn` mask in
/// `/proc/self/status`. Without `/proc`, no signal counts as ignored.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) & (1 << (signal - 1)) != 0
}

/// Catches SIGXFSZ, so that a write beyond the file size limit (`ulimit -f`) fails with EFBIG,
/// which is reported, and does not kill the program.
///
/// # Errors
/// The signal handler cannot be installed.
pub(crate) fn survive_large_files() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

//! Signals. Ctrl-C: the first one asks the run to end, a second one ends the program. So does a
//! terminal that is closed.

use crate::failure::{Failure, INTERRUPTED};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that Ctrl-C sets.
///
/// # Errors
/// The system refuses to tell us about signals.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    // Under nohup a run goes on when its terminal is closed.
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in hangup.into_iter().chain([SIGINT, SIGTERM]) {
        // In this order: the first signal finds the flag unset.
        flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| Failure::Run(format!("cannot listen for Ctrl-C: {error}")))?;
    }
    Ok(stop)
}

/// Whether whoever started us wants `signal` to be ignored. Without `/proc` nobody does.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) & (1 << (signal - 1)) != 0
}

/// From now on a write beyond the largest size allowed for a file (`ulimit -f`) is an error like
/// others, which has a message, and not the end of the program.
///
/// # Errors
/// The system refuses to tell us about signals.
pub(crate) fn survive_large_files() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

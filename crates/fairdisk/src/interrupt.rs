//! Ctrl-C: the first one asks the run to end, a second one ends the program.

use crate::failure::{Failure, INTERRUPTED};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that Ctrl-C sets.
///
/// # Errors
/// The system refuses to tell us about signals.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset.
        flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| Failure::Run(format!("cannot listen for Ctrl-C: {error}")))?;
    }
    Ok(stop)
}

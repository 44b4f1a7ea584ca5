//! What a panic does to a process that serves mounts: it ends.
//!
//! Whoever panics leaves half done what it was at, and locks what it has half changed; the request
//! it had is never answered, and whoever waits for that waits for ever. So nothing goes on: the
//! process ends as if it were killed, everybody who uses its mounts gets an error at once, and the
//! next mount takes the place. Nothing that programs were answered is lost by that, as it is in the
//! page cache of the source or on its disk.

use std::panic::{self, PanicHookInfo};
use std::process;
use std::thread;
use std::time::Duration;

/// For what there is to say. The log may be on a disk that hangs.
const SAID_WITHIN: Duration = Duration::from_secs(1);

/// From now on the first panic of any thread ends the process. The log has said why, if that is
/// possible within a second.
pub fn end_at_first_panic() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // Without a thread for it we wait for the log.
        let _ = thread::Builder::new().spawn(|| {
            fairdisk_plane::pause(SAID_WITHIN);
            process::abort();
        });
        tell(panic);
        usual(panic);
        process::abort();
    }));
}

fn tell(panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let error = panic.payload_as_str().unwrap_or("no text");
    tracing::error!(error, place, thread, "panicked");
}

//! The handling of panics in a process that serves mounts: it ends.
//!
//! A panic leaves work half done and locked state half changed, and the current request is never
//! answered, so that whoever waits for it would wait for ever. Therefore the process ends as if it
//! were killed: everybody who uses its mounts gets an error at once, and the next mount takes its
//! place. No completed write is lost by that, since it is in the page cache of the source or on its
//! disk.

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::panic::{self, PanicHookInfo};
use std::process;
use std::thread;
use std::time::Duration;

/// The time limit for logging the panic, because the log may be on a disk that hangs.
const SAID_WITHIN: Duration = Duration::from_secs(1);

/// Makes the first panic of any thread end the process, after it has been logged if that is
/// possible within a second.
pub fn end_at_first_panic() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // If no thread can be started, logging has no time limit.
        let _ = thread::Builder::new().spawn(|| {
            fairdisk_plane::pause(SAID_WITHIN);
            end();
        });
        tell(panic);
        usual(panic);
        end();
    }));
}

/// Ends the process without a core dump. Nothing of the process is closed before the dump is
/// written, so that everybody would wait for it, and for ever if it goes to a directory that this
/// process serves. It would also hold data of users.
fn end() -> ! {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    process::abort();
}

fn tell(panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let error = panic.payload_as_str().unwrap_or("no text");
    tracing::error!(error, place, thread, "panicked");
}

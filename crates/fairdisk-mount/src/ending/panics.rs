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
use std::sync::mpsc::{self, Sender, SyncSender};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The time limit for logging the panic, because the log may be on a disk that hangs.
const SAID_WITHIN: Duration = Duration::from_secs(1);

/// What the log says about a panic.
struct Report {
    error: String,
    place: String,
    thread: String,
    /// Where it is said that the report is in the log.
    logged: SyncSender<()>,
}

/// The thread that logs panics.
struct Log {
    thread: ThreadId,
    reports: Sender<Report>,
}

/// Makes the first panic of any thread end the process, after it has been logged if that is
/// possible within a second.
pub fn end_at_first_panic() {
    let usual = panic::take_hook();
    let log = start_log();
    panic::set_hook(Box::new(move |panic| {
        // If no thread can be started, logging has no time limit.
        let _ = thread::Builder::new().spawn(|| {
            fairdisk_plane::pause(SAID_WITHIN);
            end();
        });
        tell(panic, log.as_ref());
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

/// Starts the thread that logs panics, because not every thread can: some have a descriptor table
/// of their own without the log. `None` if no thread can be started.
fn start_log() -> Option<Log> {
    let (reports, sent) = mpsc::channel::<Report>();
    let work = move || sent.iter().for_each(|report| report.log());
    let thread = thread::Builder::new().name("fairdisk-panics".to_owned()).spawn(work).ok()?;
    Some(Log { thread: thread.thread().id(), reports })
}

/// Logs the panic, and waits until that is done. The thread that logs cannot wait for itself.
fn tell(panic: &PanicHookInfo<'_>, log: Option<&Log>) {
    if log.is_some_and(|log| log.thread == thread::current().id()) {
        return;
    }
    let (logged, done) = mpsc::sync_channel(1);
    let report = Report {
        error: panic.payload_as_str().unwrap_or("no text").to_owned(),
        place: panic.location().map(ToString::to_string).unwrap_or_default(),
        thread: thread::current().name().unwrap_or("unnamed").to_owned(),
        logged,
    };
    let unsent = match log {
        Some(log) => log.reports.send(report).err().map(|unsent| unsent.0),
        None => Some(report),
    };
    match unsent {
        Some(report) => report.log(),
        None => drop(done.recv()),
    }
}

impl Report {
    fn log(&self) {
        let (error, place, thread) = (&*self.error, &*self.place, &*self.thread);
        tracing::error!(error, place, thread, "panicked");
        // An error means that nobody waits.
        let _ = self.logged.send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;
    use std::process::Command;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    /// A log that panics.
    struct Faulty;

    impl Subscriber for Faulty {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {
            panic!("the log is at fault");
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    /// The process ends, so the test runs itself in another one.
    #[test]
    fn a_panic_of_the_thread_that_logs_is_told_too() {
        const INSIDE: &str = "FAIRDISK_TEST_PANICS";
        if env::var_os(INSIDE).is_some() {
            end_at_first_panic();
            tracing::subscriber::set_global_default(Faulty).unwrap();
            panic!("the first");
        }
        let name = "ending::panics::tests::a_panic_of_the_thread_that_logs_is_told_too";
        let mut test = Command::new(env::current_exe().unwrap());
        let test = test.args(["--exact", name, "--nocapture"]).env(INSIDE, "1");
        let output = test.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("the log is at fault"), "{said}");
    }
}

//! Daemons: the process that serves a mount in the background, and the command that starts it and
//! waits until it is mounted.

use crate::failure::Failure;
use crate::output;
use fairdisk_mount::Inherited;
use std::env;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Starts this command, which begins with `words`, again as a background process, and returns once
/// that has mounted. Prints its ready line, which has the process number.
///
/// # Errors
/// The background process could not be started. If it cannot mount, it reports why itself, and this
/// process exits with its status.
pub(crate) fn start(words: &[&str]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Run(format!("cannot start a daemon: {error}"));
    let program = env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args(words)
        // Before the user's arguments, since options after a `--` would be taken for paths.
        .args(["--foreground", "--detached"])
        .args(env::args_os().skip(1 + words.len()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line).map_err(failed)?;
    }
    if !line.is_empty() {
        return Ok(output::print(&line)?);
    }
    // The child has printed its message, and its status becomes ours.
    let status = child.wait().map_err(failed)?;
    std::process::exit(status.code().unwrap_or(1));
}

/// Descriptors inherited from the parent process. They are closed only once we are ready, because
/// arguments may refer to them.
static INHERITED: Mutex<Option<Inherited>> = Mutex::new(None);

fn inherited() -> MutexGuard<'static, Option<Inherited>> {
    INHERITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Detaches from the terminal.
pub(crate) fn detach() {
    *inherited() = Some(Inherited::find());
    // setsid(2) fails only for a process group leader, which a new child is not.
    let _ = rustix::process::setsid();
}

/// Tells the waiting command that the mount is ready, and closes its standard output and error.
pub(crate) fn say_ready(text: &str) {
    // Locks and pipes of the parent are not ours to keep.
    inherited().take().into_iter().for_each(Inherited::close);
    // Otherwise the working directory would keep its file system from being unmounted.
    let _ = env::set_current_dir("/");
    // An error means that nobody waits.
    let _ = output::print(&format!("{text}\n"));
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

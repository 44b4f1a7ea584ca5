//! A mount in the background: a process of its own, and a caller who waits until it is mounted.

use crate::failure::Failure;
use crate::output;
use fairdisk_mount::Inherited;
use std::env;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Starts this command, which begins with these words, again in the background; returns when it is
/// mounted. What it prints says which process that is.
///
/// # Errors
/// It could not be mounted; the process in the background has said why.
pub(crate) fn start(words: &[&str]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Run(format!("cannot start a daemon: {error}"));
    let program = env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args(words)
        // Before what was asked for: after a `--` there are no options.
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
    // Its message has been printed; its status becomes ours.
    let status = child.wait().map_err(failed)?;
    std::process::exit(status.code().unwrap_or(1));
}

/// What whoever started us has open, and may name to us until we are ready.
static INHERITED: Mutex<Option<Inherited>> = Mutex::new(None);

fn inherited() -> MutexGuard<'static, Option<Inherited>> {
    INHERITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves the terminal behind.
pub(crate) fn detach() {
    *inherited() = Some(Inherited::find());
    // Refused only to the leader of a group, which a child just started is not.
    let _ = rustix::process::setsid();
}

/// Tells the one who waits; from now on nobody listens.
pub(crate) fn say_ready(text: &str) {
    // Locks and pipes of whoever started us are not ours to keep.
    inherited().take().into_iter().for_each(Inherited::close);
    // The source may be unmounted while we run.
    let _ = env::set_current_dir("/");
    // Without a listener there is nobody to be told.
    let _ = output::print(&format!("{text}\n"));
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

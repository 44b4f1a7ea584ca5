//! Commands of the user, each run with a shell in a process group of its own, within a time.

use crate::output;
use fairdisk_core::Span;
use fairdisk_lab::time_text;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The interval at which the stop flag is checked while a command runs.
const LOOK: Duration = Duration::from_millis(50);
/// The time a command has for its clean-up between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);
/// The most different lines of errors that are told.
const LINES_MAX: usize = 1000;

/// What runs commands: within a time, and until `stop` is set.
pub(super) struct Shell<'a> {
    pub(super) timeout: Span,
    pub(super) stop: &'a AtomicBool,
    /// What commands have written to standard error. Each line is told once.
    told: Arc<Mutex<BTreeSet<String>>>,
}

impl<'a> Shell<'a> {
    pub(super) fn new(timeout: Span, stop: &'a AtomicBool) -> Self {
        Self { timeout, stop, told: Arc::default() }
    }

    /// The exit status and the standard output of `text`, run with these variables in its
    /// environment and in this directory, if one is given; `None` if it was interrupted.
    ///
    /// # Errors
    /// The command cannot be started, or has exceeded its time.
    pub(super) fn run(
        &self,
        text: &str,
        variables: &[(&str, &str)],
        folder: Option<&Path>,
    ) -> Result<Option<(ExitStatus, String)>, String> {
        // An absolute path, because `PATH` may be one of the variables.
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(text).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(variables.iter().copied());
        folder.into_iter().for_each(|folder| _ = command.current_dir(folder));
        // In a process group of its own, so that its children can be signalled, too.
        let child = command.process_group(0).spawn();
        let mut child = child.map_err(|error| format!("cannot be started: {error}"))?;
        let group = Pid::from_child(&child);
        let errors = child.stderr.take().map(|errors| tell_once(errors, Arc::clone(&self.told)));
        let ended = watch(child);
        match self.wait(&ended) {
            Ok(Some(ended)) => {
                // What it said before its end stands before what is said of it.
                errors.into_iter().for_each(|all_told| _ = all_told.recv_timeout(LOOK));
                ended.map(Some).map_err(|error| format!("is lost: {error}"))
            }
            interrupted_or_late => {
                end(group);
                interrupted_or_late.map(|_| None)
            }
        }
    }

    /// The number that such a command prints on its last line; `None` if it was interrupted.
    ///
    /// # Errors
    /// The command failed or printed no number.
    pub(super) fn number(
        &self,
        text: &str,
        variables: &[(&str, &str)],
        folder: Option<&Path>,
    ) -> Result<Option<f64>, String> {
        match self.run(text, variables, folder)? {
            None => Ok(None),
            Some((status, _)) if !status.success() => Err(format!("failed: {status}")),
            Some((_, out)) => number(&out).map(Some),
        }
    }

    /// Waits until the command has ended; `None` if it was interrupted.
    ///
    /// # Errors
    /// The command has exceeded its time.
    fn wait(&self, ended: &Receiver<Ended>) -> Result<Option<Ended>, String> {
        let looks = self.timeout.as_ns().div_ceil(LOOK.as_nanos() as u64);
        for _ in 0..looks {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if let Ok(ended) = ended.recv_timeout(LOOK) {
                return Ok(Some(ended).filter(|_| !self.stop.load(Ordering::Relaxed)));
            }
        }
        let limit = time_text::words(self.timeout);
        Err(format!("was not done after {limit}; allow it more with --timeout"))
    }
}

/// Tells each line of these errors that was not told before; the channel is closed once all is
/// told. What a command leaves behind may keep them open for longer, which nobody waits for.
fn tell_once(errors: ChildStderr, told: Arc<Mutex<BTreeSet<String>>>) -> Receiver<()> {
    let (open, all_told) = mpsc::channel();
    thread::spawn(move || {
        let _open = open;
        // What it says may be in any encoding, and is read to its end: a command whose errors
        // nobody reads would be killed.
        for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() < LINES_MAX && told.insert(line.clone()) {
                output::diagnose(&line);
            }
        }
    });
    all_told
}

/// The exit status and the standard output of a command that has ended.
type Ended = io::Result<(ExitStatus, String)>;

/// Reads the output of a command and waits for its end on a thread, because the command may close
/// its output and continue.
fn watch(mut child: Child) -> Receiver<Ended> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        // The receiver is gone if the run timed out or was interrupted.
        let _ = tell.send(output(&mut child));
    });
    told
}

/// The most that a pipe holds. Source: pipe(7), for what a user may set.
const PIPE_MAX: u64 = 1 << 20;

/// What a command prints until its shell has ended. What the shell leaves behind may keep the
/// output open for longer; nobody waits for that.
fn output(child: &mut Child) -> Ended {
    let mut text = Vec::new();
    let mut open = child.stdout.take();
    if let Some(out) = &open {
        fcntl_setfl(out, OFlags::NONBLOCK)?;
    }
    let status = loop {
        let Some(out) = &mut open else { break child.wait()? };
        // Asked first: once the shell has ended, all that it printed is there to be read.
        let ended = child.try_wait()?;
        let is_closed = read_what_is_there(out, &mut text)?;
        if let Some(status) = ended {
            break status;
        }
        match is_closed {
            true => open = None,
            false => wait_for_more(out)?,
        }
    };
    let text = String::from_utf8(text);
    Ok((status, text.map_err(|_| io::Error::other("it printed what is no text"))?))
}

/// Reads what is there, up to what a pipe holds; tells whether the output is closed.
fn read_what_is_there(out: &mut ChildStdout, text: &mut Vec<u8>) -> io::Result<bool> {
    let before = text.len() as u64;
    match out.by_ref().take(PIPE_MAX).read_to_end(text) {
        Ok(_) => Ok(text.len() as u64 - before < PIPE_MAX),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits until there is more to read, or for a moment in which the shell may have ended.
fn wait_for_more(out: &ChildStdout) -> io::Result<()> {
    let moment = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    match poll(&mut [PollFd::new(out, PollFlags::IN)], Some(&moment)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Ends the command's process group: with SIGTERM first, so that it can clean up, then with
/// SIGKILL.
fn end(group: Pid) {
    for signal in [Signal::TERM, Signal::KILL] {
        // An error means that the group has already ended.
        let _ = kill_process_group(group, signal);
        for _ in 0..GRACE.as_nanos().div_ceil(LOOK.as_nanos()) {
            if test_kill_process_group(group).is_err() {
                return;
            }
            fairdisk_plane::pause(LOOK);
        }
    }
}

/// The largest absolute value accepted. Values are squared and summed, which must not overflow.
const LARGEST: f64 = 1e100;

/// Parses the number on the last non-empty line of a command's output.
fn number(out: &str) -> Result<f64, String> {
    let last = out.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match last.parse::<f64>() {
        Ok(number) if number.abs() <= LARGEST => Ok(number),
        Ok(number) if number.is_finite() => {
            Err(format!("printed `{last}`; numbers up to {LARGEST:e} can be compared"))
        }
        _ if last.is_empty() => Err("printed nothing; its last line must be a number".to_owned()),
        _ => Err(format!("printed `{last}`; its last line must be a number and nothing else")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_the_number() {
        assert_eq!(number("warming up\n 12.5 \n\n"), Ok(12.5));
        assert!(number("").is_err() && number("12 IOPS\n").is_err() && number("nan").is_err());
    }
}

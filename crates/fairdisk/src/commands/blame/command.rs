//! Blame of real runs: the user's command is run with each switch at its good or bad value, and
//! prints the number to compare.

use super::Args;
use crate::failure::Failure;
use crate::interrupt;
use crate::time_arg;
use fairdisk_core::Span;
use fairdisk_lab::blame::{Change, FACTORS_MAX, FactorSet, Measure, Report, Sample};
use fairdisk_lab::nearest::nearest;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// A switch: its name, its good value and its bad value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Switch {
    name: String,
    good: String,
    bad: String,
}

impl Switch {
    /// Parses `NAME=GOOD,BAD`.
    ///
    /// # Errors
    /// A message that says what is wrong or what is expected.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let expected = "expected NAME=GOOD,BAD, as in ra=128,4096";
        let (name, values) = text.split_once('=').ok_or(expected)?;
        let (good, bad) = values.split_once(',').ok_or(expected)?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic());
        if !starts_well || !name.chars().all(is_plain) {
            return Err(
                "the name must begin with a letter and have letters, digits and _".to_owned()
            );
        }
        if good == bad {
            return Err("the good and the bad value are the same".to_owned());
        }
        if bad.contains(',') {
            return Err("expected two values".to_owned());
        }
        Ok(Self { name: name.to_owned(), good: good.to_owned(), bad: bad.to_owned() })
    }

    fn value(&self, is_bad: bool) -> &str {
        if is_bad { &self.bad } else { &self.good }
    }
}

pub(super) fn execute(args: &Args, text: &str) -> Result<(), Failure> {
    let stop = interrupt::stop_flag()?;
    let switches = &args.switches;
    let mut names: Vec<&str> = switches.iter().map(|switch| switch.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::BadInput(format!("--switch {} is given twice", twice[0])));
    }
    if switches.is_empty() || switches.len() > FACTORS_MAX {
        let message =
            format!("--command needs 1 to {FACTORS_MAX} switches: --switch NAME=GOOD,BAD");
        return Err(Failure::BadInput(message));
    }
    demand_known(text, &names)?;
    let command =
        UserCommand { text, switches, timeout: args.timeout.unwrap_or(TIMEOUT), stop: &stop };
    let mut design = args.design(switches.len());
    design.threads = 1;
    design.is_real = true;
    let identity = format!("{text} {switches:?}");
    let (findings, kept) = args.investigate(&command, &design, &identity, &stop)?;
    let change = |switch: &Switch| Change {
        name: switch.name.clone(),
        good: switch.good.clone(),
        bad: switch.bad.clone(),
        about: None,
    };
    let report = Report {
        title: text.to_owned(),
        place: "this machine".to_owned(),
        shell: "command",
        metric: "command".to_owned(),
        unit: "what the command prints".to_owned(),
        good: "all switches good".to_owned(),
        bad: "all switches bad".to_owned(),
        changes: switches.iter().map(change).collect(),
        findings,
        divergence: None,
        published: None,
        caveats: Vec::new(),
        excluded: Vec::new(),
    };
    args.show(&report, kept)
}

/// Checks that no `{NAME}` in the command is a misspelt switch, which would be passed on unreplaced
/// and the switch would have no effect. Other braces belong to the shell.
fn demand_known(text: &str, names: &[&str]) -> Result<(), Failure> {
    let braces = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    // `{}` and `{1}` belong to xargs and to the shell.
    let is_name = |name: &str| name.starts_with(|first: char| first.is_ascii_alphabetic());
    for (name, _) in braces.filter(|(name, _)| is_name(name) && !names.contains(name)) {
        if let Some(near) = nearest(name, names.iter().copied()) {
            let message =
                format!("--command: no switch is called `{name}`; did you mean `{near}`?");
            return Err(Failure::BadInput(message));
        }
    }
    Ok(())
}

/// The user's command and the switches that are put into it.
struct UserCommand<'a> {
    text: &'a str,
    switches: &'a [Switch],
    timeout: Span,
    stop: &'a AtomicBool,
}

/// The default of `--timeout`: the longest a run may take.
const TIMEOUT: Span = Span::from_s(600);
/// The interval at which the stop flag is checked while a command runs.
const LOOK: Duration = Duration::from_millis(50);
/// The time a command has for its clean-up between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

impl Measure for UserCommand<'_> {
    fn measure(&self, set: FactorSet, seed: u32) -> Result<Sample, String> {
        let text = self.with_values(set);
        let failed =
            |why: String| format!("run {} of `{text}` with {} {why}", seed + 1, self.values(set));
        let Some((status, out)) = self.run(&text, set).map_err(failed)? else {
            // The run was interrupted, so nobody uses this value.
            return Ok(Sample { value: 0.0, trace: None });
        };
        if !status.success() {
            return Err(failed(format!("failed: {status}")));
        }
        Ok(Sample { value: number(&out).map_err(failed)?, trace: None })
    }
}

impl UserCommand<'_> {
    /// The command with each `{NAME}` replaced by the value of its switch.
    fn with_values(&self, set: FactorSet) -> String {
        let switches = self.switches.iter().enumerate();
        switches.fold(self.text.to_owned(), |text, (at, switch)| {
            text.replace(&format!("{{{}}}", switch.name), switch.value(set.contains(at)))
        })
    }

    /// Each switch with its value, which the command may have from the environment alone.
    fn values(&self, set: FactorSet) -> String {
        let switches = self.switches.iter().enumerate();
        let values =
            switches.map(|(at, one)| format!("{}={}", one.name, one.value(set.contains(at))));
        values.collect::<Vec<_>>().join(" ")
    }

    /// The exit status and the standard output of a run; `None` if it was interrupted.
    fn run(&self, text: &str, set: FactorSet) -> Result<Option<(ExitStatus, String)>, String> {
        // An absolute path, because `PATH` may be one of the switches.
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(text).stdin(Stdio::null()).stdout(Stdio::piped());
        for (at, switch) in self.switches.iter().enumerate() {
            command.env(&switch.name, switch.value(set.contains(at)));
        }
        // In a process group of its own, so that its children can be signalled, too.
        let child = command.process_group(0).spawn();
        let child = child.map_err(|error| format!("cannot be started: {error}"))?;
        let group = Pid::from_child(&child);
        let ended = watch(child);
        match self.wait(&ended) {
            Ok(Some(ended)) => ended.map(Some).map_err(|error| format!("is lost: {error}")),
            interrupted_or_late => {
                end(group);
                interrupted_or_late.map(|_| None)
            }
        }
    }

    /// Waits until the command has ended; `None` if it was interrupted.
    ///
    /// # Errors
    /// The command has exceeded its timeout.
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
        let limit = time_arg::words(self.timeout);
        Err(format!("was not done after {limit}; allow it more with --timeout"))
    }
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
    fn switches_have_a_name_and_two_values() {
        let switch = Switch::parse("sched=mq-deadline,none").expect("well formed");
        assert_eq!((switch.value(false), switch.value(true)), ("mq-deadline", "none"));
        for bad in ["x", "x=1", "=1,2", "1x=1,2", "a-b=1,2", "x=1,1", "x=1,2,3"] {
            assert!(Switch::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_last_line_is_the_number() {
        assert_eq!(number("warming up\n 12.5 \n\n"), Ok(12.5));
        assert!(number("").is_err() && number("12 IOPS\n").is_err() && number("nan").is_err());
    }
}

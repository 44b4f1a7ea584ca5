//! Blame of real runs: a command of the user's is run with each switch at its good or bad value,
//! and prints a number.

use super::Args;
use crate::failure::Failure;
use crate::interrupt;
use crate::time_arg;
use fairdisk_core::Span;
use fairdisk_lab::blame::{Change, FACTORS_MAX, FactorSet, Measure, Report, Sample};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// A switch: a name, a good and a bad value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Switch {
    name: String,
    good: String,
    bad: String,
}

impl Switch {
    /// Reads `NAME=GOOD,BAD`.
    ///
    /// # Errors
    /// What is expected.
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
    let command = UserCommand { text, switches, timeout: args.timeout, stop: &stop };
    let mut design = args.design(switches.len());
    design.threads = 1;
    design.is_real = true;
    let identity = format!("{text} {switches:?}");
    let findings = args.investigate(&command, &design, &identity, &stop)?;
    let change = |switch: &Switch| Change {
        name: switch.name.clone(),
        good: switch.good.clone(),
        bad: switch.bad.clone(),
        about: None,
    };
    args.show(&Report {
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
    })
}

/// The command and what is put into it.
struct UserCommand<'a> {
    text: &'a str,
    switches: &'a [Switch],
    timeout: Span,
    stop: &'a AtomicBool,
}

/// How long passes between looks at the stop flag.
const LOOK: Duration = Duration::from_millis(50);
/// How long a command has to clean up when it is asked to end.
const GRACE: Duration = Duration::from_secs(3);

impl Measure for UserCommand<'_> {
    fn measure(&self, set: FactorSet, seed: u32) -> Result<Sample, String> {
        let text = self.with_values(set);
        let failed = |why: String| format!("run {} of `{text}` {why}", seed + 1);
        let (status, out) = self.run(&text, set).map_err(failed)?;
        if self.stop.load(Ordering::Relaxed) {
            // What an interrupted run prints is not looked at.
            return Ok(Sample { value: 0.0, trace: None });
        }
        if !status.success() {
            return Err(failed(format!("failed: {status}")));
        }
        Ok(Sample { value: number(&out).map_err(failed)?, trace: None })
    }
}

impl UserCommand<'_> {
    /// The command with each `{NAME}` replaced.
    fn with_values(&self, set: FactorSet) -> String {
        let switches = self.switches.iter().enumerate();
        switches.fold(self.text.to_owned(), |text, (at, switch)| {
            text.replace(&format!("{{{}}}", switch.name), switch.value(set.contains(at)))
        })
    }

    fn run(&self, text: &str, set: FactorSet) -> Result<(ExitStatus, String), String> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(text).stdin(Stdio::null()).stdout(Stdio::piped());
        for (at, switch) in self.switches.iter().enumerate() {
            command.env(&switch.name, switch.value(set.contains(at)));
        }
        // Its own group: what it starts ends with it.
        let child = command.process_group(0).spawn();
        let mut child = child.map_err(|error| format!("cannot be started: {error}"))?;
        let out = read(child.stdout.take());
        let ended = self.wait(&out);
        if ended.is_err() || self.stop.load(Ordering::Relaxed) {
            end(&child, &out);
        }
        let status = child.wait().map_err(|error| format!("cannot be waited for: {error}"))?;
        let text = ended?.map_err(|error| format!("printed what cannot be read: {error}"))?;
        Ok((status, text))
    }

    /// What it printed when it has ended; nothing if somebody interrupts.
    fn wait(&self, out: &Receiver<io::Result<String>>) -> Result<io::Result<String>, String> {
        let looks = self.timeout.as_ns().div_ceil(LOOK.as_nanos() as u64);
        for _ in 0..looks {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Ok(String::new()));
            }
            match out.recv_timeout(LOOK) {
                Ok(text) => return Ok(text),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Ok(String::new())),
            }
        }
        let limit = time_arg::words(self.timeout);
        Err(format!("was not done after {limit}; allow it more with --timeout"))
    }
}

/// Reads to the end, elsewhere.
fn read(out: Option<impl Read + Send + 'static>) -> Receiver<io::Result<String>> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let result = out.map_or(Ok(0), |mut out| out.read_to_string(&mut text));
        // Whoever asked may be gone.
        let _ = tell.send(result.map(|_| text));
    });
    told
}

/// Ends it and what it started: first asked, so that it can clean up, then forced.
fn end(child: &Child, out: &Receiver<io::Result<String>>) {
    // A group that has ended needs no signal.
    let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
    if out.recv_timeout(GRACE).is_err() {
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

/// The number on the last line.
fn number(out: &str) -> Result<f64, String> {
    let last = out.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match last.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
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

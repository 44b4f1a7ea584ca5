//! The processes that serve mounts.

use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// The process that serves a mount, of what was said of it.
pub(crate) fn process(text: &str) -> i32 {
    let pid = text.split_whitespace().find_map(|word| word.strip_prefix("pid="));
    pid.unwrap_or_else(|| panic!("no pid in: {text}")).parse().unwrap()
}

/// Sends a signal to a process.
pub(crate) fn signal(process: i32, signal: Signal) {
    kill_process(Pid::from_raw(process).unwrap(), signal).unwrap();
}

/// Whether a process runs.
pub(crate) fn is_alive(process: i32) -> bool {
    // Orphans disappear once they have ended; our own children remain as zombies.
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// The CPU time that a process has had, its threads' and that of the system for it included.
pub(crate) fn cpu_seconds(process: i32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // The name may contain anything; user and system time are the 12th and 13th after it.
    let (_, after) = stat.rsplit_once(") ").unwrap();
    let ticks = after.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap());
    ticks.sum::<u64>() as f64 / clock_ticks_per_second() as f64
}

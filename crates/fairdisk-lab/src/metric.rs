//! Metrics: the number of a run that is compared.

use crate::catalog::experiment::{Measure, Quantity, Subject};
use crate::outcome::measure;
use crate::plan::Whom;
use crate::run::{GroupRun, MemoryRun, RunEnd, RunResult};
use crate::seconds::in_seconds;
use fairdisk_core::Histogram;

/// A number measured in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Completed I/Os per second of all groups.
    Ios,
    /// Megabytes per second of all groups.
    Mbps,
    /// The 99th percentile of the latency over all groups, in ms.
    P99,
    /// A group's share of all I/Os, in percent.
    Share(String),
    /// Pages read from the disk of a hundred pages that tasks used.
    Missed,
    /// Pages that had been read or written before, of a hundred that were read from the disk.
    Again,
    /// The part of their time that tasks wait for memory, in percent.
    MemoryWait,
    /// Different pages that were read or written, in MiB.
    Touched,
    /// A figure of all together that sources print.
    Figure(Quantity),
}

/// Pages of 4 KiB in a MiB.
const MIB_PAGES: f64 = 256.0;

/// What there is only where the memory of the host is page by page.
pub(crate) const NO_PAGES: &str =
    "the memory of the host is not page by page; add --set host.memory.kernel=now";

impl Metric {
    /// Parses the name of a metric.
    ///
    /// # Errors
    /// Returns what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "ios" => Ok(Self::Ios),
            "mbps" => Ok(Self::Mbps),
            "p99" => Ok(Self::P99),
            "missed" => Ok(Self::Missed),
            "again" => Ok(Self::Again),
            "memory-wait" => Ok(Self::MemoryWait),
            "touched" => Ok(Self::Touched),
            _ => match text.strip_prefix("share:").filter(|group| !group.is_empty()) {
                Some(group) => Ok(Self::Share(group.to_owned())),
                None => Self::figure(text),
            },
        }
    }

    fn figure(text: &str) -> Result<Self, String> {
        let quantity = Quantity::try_from(text.to_owned());
        let quantity = quantity.ok().filter(|quantity| quantity.is_known_of(Subject::All));
        quantity.map(Self::Figure).ok_or_else(|| {
            "expected ios, mbps, p99, share:GROUP, missed, again, memory-wait, touched, or a \
             figure of all together, such as disk_await_ms or read_latency_p99_ms"
                .to_owned()
        })
    }

    /// The metric as given on the command line.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Ios => "ios".to_owned(),
            Self::Mbps => "mbps".to_owned(),
            Self::P99 => "p99".to_owned(),
            Self::Share(group) => format!("share:{group}"),
            Self::Missed => "missed".to_owned(),
            Self::Again => "again".to_owned(),
            Self::MemoryWait => "memory-wait".to_owned(),
            Self::Touched => "touched".to_owned(),
            Self::Figure(quantity) => quantity.key(),
        }
    }

    /// The unit of the metric, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Ios => "I/Os per second".to_owned(),
            Self::Mbps => "MB/s".to_owned(),
            Self::P99 => "p99 latency in ms".to_owned(),
            Self::Share(group) => format!("share of {group} in %"),
            Self::Missed => "missed in %".to_owned(),
            Self::Again => "read again in %".to_owned(),
            Self::MemoryWait => "waits for memory in %".to_owned(),
            Self::Touched => "different MiB".to_owned(),
            Self::Figure(quantity) => quantity.words(),
        }
    }

    /// Whether there is such a number only where the memory of the host is page by page.
    pub(crate) const fn is_of_pages(&self) -> bool {
        match self {
            Self::Missed | Self::Again | Self::MemoryWait | Self::Touched => true,
            Self::Figure(quantity) => matches!(quantity.measure, Measure::Memory(_)),
            Self::Ios | Self::Mbps | Self::P99 | Self::Share(_) => false,
        }
    }

    /// Checks that the group of the metric, if it has one, is among `groups`.
    ///
    /// # Errors
    /// Returns an error if it is not.
    pub fn demand_group(&self, groups: &[String]) -> Result<(), String> {
        match self {
            Self::Share(group) if !groups.contains(group) => {
                let known: Vec<&str> = groups.iter().map(String::as_str).collect();
                Err(crate::catalog::error::unknown("group", group, &known))
            }
            _ => Ok(()),
        }
    }

    /// The value of the metric in a run with these groups.
    ///
    /// # Errors
    /// Returns an error if the run has no such number.
    pub fn of(&self, run: &RunResult, groups: &[String]) -> Result<f64, String> {
        if run.end == RunEnd::GivenUp {
            return Err("a run was not done after 24 hours of simulated time; make its work \
                        smaller, or say with --duration how long to run"
                .to_owned());
        }
        let seconds = in_seconds(run.elapsed);
        let sum = |of: fn(&GroupRun) -> u64| run.groups.iter().map(of).sum::<u64>() as f64;
        let ios = sum(|group| group.ios);
        let nothing = || Err("no I/O finished in a run; make it longer with --duration".to_owned());
        match self {
            _ if seconds == 0.0 || ios == 0.0 => nothing(),
            Self::Ios => Ok(ios / seconds),
            Self::Mbps => Ok(sum(|group| group.bytes) / 1e6 / seconds),
            Self::P99 => {
                let mut latency = Histogram::new();
                run.groups.iter().for_each(|group| latency.merge(&group.latency));
                Ok(latency.quantile(990).as_ns() as f64 / 1e6)
            }
            Self::Share(name) => {
                let at = groups.iter().position(|group| group == name);
                let group = at.and_then(|at| run.groups.get(at));
                Ok(100.0 * group.map_or(0.0, |group| group.ios as f64) / ios)
            }
            _ if self.is_of_pages() && run.memory.is_none() => Err(NO_PAGES.to_owned()),
            Self::Missed | Self::Again | Self::MemoryWait | Self::Touched => {
                self.of_memory(run).ok_or_else(|| NO_PAGES.to_owned())
            }
            Self::Figure(quantity) => {
                let figure = measure(&|_| false, run, &Whom::All, *quantity);
                figure.ok_or_else(|| format!("a run has no {}", quantity.words()))
            }
        }
    }

    fn of_memory(&self, run: &RunResult) -> Option<f64> {
        let MemoryRun { vmstat, tasks, task_time, .. } = run.memory?;
        let percent =
            |of: u64, all: u64| if all > 0 { 100.0 * of as f64 / all as f64 } else { 0.0 };
        Some(match self {
            Self::Missed => percent(vmstat.pages_in, vmstat.pages_used),
            Self::Again => percent(vmstat.pages_again, vmstat.pages_in),
            Self::MemoryWait => percent(tasks.wait.as_ns(), task_time.as_ns()),
            _ => vmstat.pages_known as f64 / MIB_PAGES,
        })
    }
}

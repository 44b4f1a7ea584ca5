//! What is compared: one number of a run.

use crate::run::{GroupRun, RunEnd, RunResult};
use fairdisk_core::Histogram;

/// A number of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Finished I/Os of all groups in a second.
    Ios,
    /// Megabytes of all groups in a second.
    Mbps,
    /// The latency that 99 of 100 I/Os of all groups keep to, in ms.
    P99,
    /// A group's part of all I/Os, in percent.
    Share(String),
}

impl Metric {
    /// Reads `ios`, `mbps`, `p99` or `share:GROUP`.
    ///
    /// # Errors
    /// What is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "ios" => Ok(Self::Ios),
            "mbps" => Ok(Self::Mbps),
            "p99" => Ok(Self::P99),
            _ => match text.strip_prefix("share:").filter(|group| !group.is_empty()) {
                Some(group) => Ok(Self::Share(group.to_owned())),
                None => Err("expected ios, mbps, p99 or share:GROUP".to_owned()),
            },
        }
    }

    /// As it is given.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Ios => "ios".to_owned(),
            Self::Mbps => "mbps".to_owned(),
            Self::P99 => "p99".to_owned(),
            Self::Share(group) => format!("share:{group}"),
        }
    }

    /// What it measures, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Ios => "I/Os per second".to_owned(),
            Self::Mbps => "MB/s".to_owned(),
            Self::P99 => "p99 latency in ms".to_owned(),
            Self::Share(group) => format!("share of {group} in %"),
        }
    }

    /// Demands that a group it is about is one of `groups`.
    ///
    /// # Errors
    /// It is not.
    pub fn demand_group(&self, groups: &[String]) -> Result<(), String> {
        match self {
            Self::Share(group) if !groups.contains(group) => {
                let known: Vec<&str> = groups.iter().map(String::as_str).collect();
                Err(crate::catalog::error::unknown("group", group, &known))
            }
            _ => Ok(()),
        }
    }

    /// What it is in a run with these groups.
    ///
    /// # Errors
    /// The run has no such number.
    pub fn of(&self, run: &RunResult, groups: &[String]) -> Result<f64, String> {
        if run.end == RunEnd::GivenUp {
            return Err("a run was not done after 24 hours of simulated time; make its work \
                        smaller, or say with --duration how long to run"
                .to_owned());
        }
        let seconds = run.elapsed.as_ns() as f64 / 1e9;
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
        }
    }
}

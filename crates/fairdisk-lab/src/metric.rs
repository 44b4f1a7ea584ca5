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
    /// A latency over all groups, in ms: of reads, writes or flushes, or of all but flushes; and so
    /// many of a thousand take no longer, 1000 for the longest.
    Latency(Option<Kind>, u32),
    /// The longest time that a request waited for the disk, in ms.
    Wait,
    /// Another metric, of one group alone.
    Of(Box<Self>, String),
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

/// What a latency is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// `fsync` and `fdatasync`.
    Fsync,
}

impl Kind {
    const ALL: [(&'static str, Self, &'static str); 3] = [
        ("read-", Self::Read, " of reads"),
        ("write-", Self::Write, " of writes"),
        ("fsync-", Self::Fsync, " of fsyncs"),
    ];

    /// What stands before the name of the latency, and the words for it.
    fn texts(self) -> [&'static str; 2] {
        let found = Self::ALL.iter().find(|(_, kind, _)| *kind == self);
        found.map_or(["", ""], |(before, _, words)| [*before, *words])
    }
}

/// The latencies by name, as what so many of a thousand do not exceed.
const LATENCIES: [(&str, u32); 4] = [("p50", 500), ("p99", 990), ("p99.9", 999), ("longest", 1000)];

fn latency_name(per_mille: u32) -> &'static str {
    LATENCIES.iter().find(|(_, it)| *it == per_mille).map_or("latency", |(name, _)| *name)
}

/// Pages of 4 KiB in a MiB.
const MIB_PAGES: f64 = 256.0;

const NOTHING_DONE: &str = "no I/O finished in a run; make it longer with --duration";

fn expected() -> String {
    "expected ios, mbps, wait, p50, p99, p99.9 or longest, the last four also with read-, write- or \
     fsync- before, and all of these with :GROUP behind for one group; share:GROUP, missed, again, \
     memory-wait, touched, or a figure of all together, such as disk_await_ms or read_latency_p99_ms"
        .to_owned()
}

/// What there is only where the memory of the host is page by page.
pub(crate) const NO_PAGES: &str =
    "the memory of the host is not page by page; add --set host.memory.kernel=now";

impl Metric {
    /// The 99th percentile of the latency over all groups, in ms.
    pub const P99: Self = Self::Latency(None, 990);

    /// Parses the name of a metric.
    ///
    /// # Errors
    /// Returns what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "ios" => Ok(Self::Ios),
            "mbps" => Ok(Self::Mbps),
            "wait" => Ok(Self::Wait),
            "missed" => Ok(Self::Missed),
            "again" => Ok(Self::Again),
            "memory-wait" => Ok(Self::MemoryWait),
            "touched" => Ok(Self::Touched),
            _ => match text.split_once(':').filter(|(_, group)| !group.is_empty()) {
                Some(("share", group)) => Ok(Self::Share(group.to_owned())),
                Some((name, group)) => {
                    let of_all = Self::parse(name).ok().filter(Self::is_of_groups);
                    let of_all = of_all.ok_or_else(expected)?;
                    Ok(Self::Of(Box::new(of_all), group.to_owned()))
                }
                None => Self::latency(text).map_or_else(|| Self::figure(text), Ok),
            },
        }
    }

    /// Whether there is such a number of one group, too.
    const fn is_of_groups(&self) -> bool {
        matches!(self, Self::Ios | Self::Mbps | Self::Wait | Self::Latency(..))
    }

    fn latency(text: &str) -> Option<Self> {
        let of =
            |(before, kind, _): &(&str, Kind, _)| Some((Some(*kind), text.strip_prefix(before)?));
        let (kind, name) = Kind::ALL.iter().find_map(of).unwrap_or((None, text));
        let (_, per_mille) = LATENCIES.iter().find(|(known, _)| *known == name)?;
        Some(Self::Latency(kind, *per_mille))
    }

    fn figure(text: &str) -> Result<Self, String> {
        let quantity = Quantity::try_from(text.to_owned());
        let quantity = quantity.ok().filter(|quantity| quantity.is_known_of(Subject::All));
        quantity.map(Self::Figure).ok_or_else(expected)
    }

    /// The metric as given on the command line.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Ios => "ios".to_owned(),
            Self::Mbps => "mbps".to_owned(),
            Self::Latency(kind, per_mille) => {
                let before = kind.map_or("", |kind| kind.texts()[0]);
                format!("{before}{}", latency_name(*per_mille))
            }
            Self::Wait => "wait".to_owned(),
            Self::Of(metric, group) => format!("{}:{group}", metric.name()),
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
            Self::Latency(kind, per_mille) => {
                let of = kind.map_or("", |kind| kind.texts()[1]);
                format!("{} latency{of} in ms", latency_name(*per_mille))
            }
            Self::Wait => "longest wait for the disk in ms".to_owned(),
            Self::Of(metric, group) => format!("{}, {group}", metric.words()),
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
            Self::Ios | Self::Mbps | Self::Latency(..) | Self::Wait => false,
            Self::Of(..) | Self::Share(_) => false,
        }
    }

    /// Checks that the group of the metric, if it has one, is among `groups`.
    ///
    /// # Errors
    /// Returns an error if it is not.
    pub fn demand_group(&self, groups: &[String]) -> Result<(), String> {
        match self {
            Self::Share(group) | Self::Of(_, group) if !groups.contains(group) => {
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
        let has_any = run.groups.iter().any(|group| group.ios > 0);
        if seconds == 0.0 || !has_any {
            return Err(NOTHING_DONE.to_owned());
        }
        if let Self::Of(metric, name) = self {
            let at = groups.iter().position(|group| group == name);
            let chosen: Vec<&GroupRun> = at.and_then(|at| run.groups.get(at)).into_iter().collect();
            return metric.of_groups(&chosen, seconds);
        }
        if self.is_of_groups() {
            return self.of_groups(&run.groups.iter().collect::<Vec<_>>(), seconds);
        }
        let sum = |of: fn(&GroupRun) -> u64| run.groups.iter().map(of).sum::<u64>() as f64;
        let ios = sum(|group| group.ios);
        match self {
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
            // Of groups, as above.
            Self::Ios | Self::Mbps | Self::Latency(..) | Self::Wait | Self::Of(..) => {
                Err(NOTHING_DONE.to_owned())
            }
        }
    }

    /// The value over these groups of a run that took so long.
    fn of_groups(&self, groups: &[&GroupRun], seconds: f64) -> Result<f64, String> {
        let sum = |of: fn(&GroupRun) -> u64| groups.iter().map(|it| of(it)).sum::<u64>() as f64;
        let ios = sum(|group| group.ios);
        match self {
            Self::Mbps => Ok(sum(|group| group.bytes) / 1e6 / seconds),
            Self::Wait => {
                let longest = groups.iter().map(|group| group.wait_max.as_ns()).max();
                Ok(longest.unwrap_or(0) as f64 / 1e6)
            }
            Self::Latency(kind, per_mille) => {
                let mut latency = Histogram::new();
                for group in groups {
                    let of_kind = match kind {
                        None => Some(&group.latency),
                        Some(Kind::Read) => group.read.latency(),
                        Some(Kind::Write) => group.write.latency(),
                        Some(Kind::Fsync) => group.flush.latency(),
                    };
                    of_kind.into_iter().for_each(|one| latency.merge(one));
                }
                match latency.count() {
                    0 => Err(format!("a run has no {}", self.words())),
                    _ => Ok(latency.quantile(*per_mille).as_ns() as f64 / 1e6),
                }
            }
            _ => Ok(ios / seconds),
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

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Span;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in [
            "ios",
            "mbps:a:b",
            "p99",
            "p99.9",
            "longest:/db",
            "read-p50",
            "write-p99.9:x",
            "fsync-longest",
            "wait",
            "wait:/db",
            "share:/db",
            "touched",
            "disk_await_ms",
        ] {
            assert_eq!(Metric::parse(name).expect(name).name(), name);
        }
        for wrong in ["p98", "read-ios", "touched:a", "ios:", "share:", "flush-p99", "speed"] {
            assert!(Metric::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_metric_of_one_group_is_about_nobody_else() {
        let group = |ms: u64, ios: u64| {
            let mut group = GroupRun { ios, wait_max: Span::from_ms(ms), ..GroupRun::default() };
            group.latency.record(Span::from_ms(ms));
            group
        };
        let groups = vec![group(5, 100), group(700, 2)];
        let run = RunResult { elapsed: Span::from_s(2), groups, ..RunResult::default() };
        let names = ["a", "b"].map(str::to_owned);
        let of = |name: &str| Metric::parse(name).expect(name).of(&run, &names);
        assert_eq!((of("ios"), of("ios:b")), (Ok(51.0), Ok(1.0)));
        assert_eq!((of("longest"), of("longest:a")), (Ok(700.0), Ok(5.0)));
        assert_eq!((of("wait:a"), of("p99.9:b")), (Ok(5.0), Ok(700.0)));
        assert!(of("fsync-p99").is_err_and(|why| why.contains("no p99 latency of fsyncs")));
    }
}

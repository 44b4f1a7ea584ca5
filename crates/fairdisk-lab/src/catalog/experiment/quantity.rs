//! Quantities: what published figures measure, and in which unit.

use super::MemoryFigure;
use crate::catalog::error::unknown;
use fairdisk_core::{DiskStats, Span};
use serde::Deserialize;

/// What is counted or measured, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Completed I/Os.
    Ios,
    /// Completed I/Os per second.
    Iops,
    /// Bytes transferred, in MiB.
    Mib,
    /// Bytes transferred, in sectors of 512 bytes.
    Sectors,
    /// Millions of bytes per second.
    MbPerS,
    /// MiB per second.
    MibPerS,
    /// KiB per second.
    KibPerS,
    /// Share of all bytes, in percent.
    BytesPercent,
    /// Run time, in seconds.
    Seconds,
    /// Mean run time of several tasks, in seconds.
    SecondsMean,
    /// Run time of the first of several tasks to end, in seconds.
    SecondsMin,
    /// Time for which the subject had the disk, in milliseconds.
    TimeMs,
    /// Share of the disk time of all, in percent.
    TimePercent,
    /// Mean latency, in milliseconds.
    LatencyMeanMs,
    /// Standard deviation of the latency, in milliseconds.
    LatencySdMs,
    /// Lowest latency, in milliseconds.
    LatencyMinMs,
    /// Median latency, in milliseconds.
    LatencyP50Ms,
    /// 90th percentile of the latency, in milliseconds.
    LatencyP90Ms,
    /// 95th percentile of the latency, in milliseconds.
    LatencyP95Ms,
    /// 99th percentile of the latency, in milliseconds.
    LatencyP99Ms,
    /// 99.9th percentile of the latency, in milliseconds.
    LatencyP99_9Ms,
    /// Highest latency, in milliseconds.
    LatencyMaxMs,
    /// What the disks did, as `iostat -x` prints it; the mean of several disks.
    Disk(DiskFigure),
    /// What happened to memory, where it is page by page.
    Memory(MemoryFigure),
}

/// A column of `iostat -x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiskFigure {
    /// Reads that were merged, a second.
    ReadMerges,
    /// Writes that were merged, a second.
    WriteMerges,
    /// Read requests that completed, a second.
    Reads,
    /// Write requests that completed, a second.
    Writes,
    /// Units of 1024 bytes read, a second.
    ReadKib,
    /// Units of 1024 bytes written, a second.
    WrittenKib,
    /// The mean size of a request, in sectors.
    RequestSectors,
    /// The mean number of requests in the queue and at the device.
    Queue,
    /// The mean time of a request from the queue to its completion, in milliseconds.
    AwaitMs,
    /// How long the disk was busy for each request, in milliseconds.
    ServiceMs,
    /// The part of the time in which there was a request, in percent.
    BusyPercent,
    /// Completions of every kind, flushes included, a second.
    Interrupts,
}

impl DiskFigure {
    /// Every column in the order of `iostat -x`, with its heading there.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::ReadMerges, "rrqm/s"),
        (Self::WriteMerges, "wrqm/s"),
        (Self::Reads, "r/s"),
        (Self::Writes, "w/s"),
        (Self::ReadKib, "rkB/s"),
        (Self::WrittenKib, "wkB/s"),
        (Self::RequestSectors, "avgrq-sz"),
        (Self::Queue, "avgqu-sz"),
        (Self::AwaitMs, "await"),
        (Self::ServiceMs, "svctm"),
        (Self::BusyPercent, "%util"),
        (Self::Interrupts, "intr/s"),
    ];

    /// Whether it is a mean over requests or a part of the time, and not an amount.
    #[must_use]
    pub const fn is_mean(self) -> bool {
        matches!(self, Self::RequestSectors | Self::AwaitMs | Self::ServiceMs | Self::BusyPercent)
    }

    /// The figure of a disk; `None` of a mean over no request or no time.
    #[must_use]
    pub fn of(self, stats: &DiskStats) -> Option<f64> {
        let part = |amount: f64, of: f64| (of > 0.0).then(|| amount / of);
        let ns = |span: Span| span.as_ns() as f64;
        let per_second = |count: u64| part(count as f64, ns(stats.elapsed) / 1e9);
        let ios = stats.ios();
        let requests = ios.requests as f64;
        match self {
            Self::ReadMerges => per_second(stats.reads.merged),
            Self::WriteMerges => per_second(stats.writes.merged),
            Self::Reads => per_second(stats.reads.requests),
            Self::Writes => per_second(stats.writes.requests),
            Self::ReadKib => per_second(stats.reads.sectors).map(|sectors| sectors / 2.0),
            Self::WrittenKib => per_second(stats.writes.sectors).map(|sectors| sectors / 2.0),
            Self::RequestSectors => part(ios.sectors as f64, requests),
            Self::Queue => part(ns(stats.queued), ns(stats.elapsed)),
            Self::AwaitMs => part(ns(ios.time) / 1e6, requests),
            Self::ServiceMs => part(ns(stats.busy) / 1e6, requests),
            Self::BusyPercent => part(100.0 * ns(stats.busy), ns(stats.elapsed)),
            Self::Interrupts => per_second(stats.completions()),
        }
    }
}

/// The I/Os that a figure covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ios {
    /// All I/Os.
    All,
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// The quantity of a figure.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
pub struct Quantity {
    /// The I/Os that it covers.
    pub ios: Ios,
    /// What is measured about them.
    pub measure: Measure,
}

/// The subject of published figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Everything together.
    All,
    /// Each group.
    Groups,
    /// Each named task.
    Tasks,
}

impl Subject {
    /// The key under which figures of the subject are given.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Groups => "groups",
            Self::Tasks => "tasks",
        }
    }
}

impl Ios {
    /// The prefix of the keys of figures that cover these I/Os.
    const fn prefix(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Reads => "read_",
            Self::Writes => "write_",
        }
    }

    /// The I/Os in words, to precede what is measured.
    const fn words(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Reads => "read ",
            Self::Writes => "write ",
        }
    }
}

impl Measure {
    /// Every measure but those of memory, with its key and its words.
    const NAMES: [(Self, &'static str, &'static str); 34] = [
        (Self::Ios, "ios", "I/Os"),
        (Self::Iops, "iops", "I/Os/s"),
        (Self::Mib, "mib", "MiB"),
        (Self::Sectors, "sectors", "sectors"),
        (Self::MbPerS, "mb_per_s", "MB/s"),
        (Self::MibPerS, "mib_per_s", "MiB/s"),
        (Self::KibPerS, "kib_per_s", "KiB/s"),
        (Self::BytesPercent, "bytes_percent", "bytes %"),
        (Self::Seconds, "seconds", "s"),
        (Self::SecondsMean, "seconds_mean", "mean s"),
        (Self::SecondsMin, "seconds_min", "min s"),
        (Self::TimeMs, "time_ms", "disk time ms"),
        (Self::TimePercent, "time_percent", "disk time %"),
        (Self::LatencyMeanMs, "latency_mean_ms", "mean latency ms"),
        (Self::LatencySdMs, "latency_sd_ms", "sd of latency ms"),
        (Self::LatencyMinMs, "latency_min_ms", "min latency ms"),
        (Self::LatencyP50Ms, "latency_p50_ms", "p50 latency ms"),
        (Self::LatencyP90Ms, "latency_p90_ms", "p90 latency ms"),
        (Self::LatencyP95Ms, "latency_p95_ms", "p95 latency ms"),
        (Self::LatencyP99Ms, "latency_p99_ms", "p99 latency ms"),
        (Self::LatencyP99_9Ms, "latency_p99_9_ms", "p99.9 latency ms"),
        (Self::LatencyMaxMs, "latency_max_ms", "max latency ms"),
        (Self::Disk(DiskFigure::ReadMerges), "disk_read_merges_per_s", "disk rrqm/s"),
        (Self::Disk(DiskFigure::WriteMerges), "disk_write_merges_per_s", "disk wrqm/s"),
        (Self::Disk(DiskFigure::Reads), "disk_reads_per_s", "disk r/s"),
        (Self::Disk(DiskFigure::Writes), "disk_writes_per_s", "disk w/s"),
        (Self::Disk(DiskFigure::ReadKib), "disk_read_kib_per_s", "disk rkB/s"),
        (Self::Disk(DiskFigure::WrittenKib), "disk_written_kib_per_s", "disk wkB/s"),
        (Self::Disk(DiskFigure::RequestSectors), "disk_request_sectors", "disk avgrq-sz"),
        (Self::Disk(DiskFigure::Queue), "disk_queue", "disk avgqu-sz"),
        (Self::Disk(DiskFigure::AwaitMs), "disk_await_ms", "disk await ms"),
        (Self::Disk(DiskFigure::ServiceMs), "disk_service_ms", "disk svctm ms"),
        (Self::Disk(DiskFigure::BusyPercent), "disk_busy_percent", "disk %util"),
        (Self::Disk(DiskFigure::Interrupts), "disk_interrupts_per_s", "disk interrupts/s"),
    ];

    /// Every measure.
    fn all() -> impl Iterator<Item = Self> {
        let memory = MemoryFigure::all().map(Self::Memory);
        Self::NAMES.into_iter().map(|(measure, ..)| measure).chain(memory)
    }

    fn named(self) -> (&'static str, &'static str) {
        let found = Self::NAMES.into_iter().find(|(measure, ..)| *measure == self);
        found.map_or(("", ""), |(_, key, words)| (key, words))
    }

    /// The key of the measure over all I/Os.
    #[must_use]
    pub fn key(self) -> String {
        match self {
            Self::Memory(figure) => format!("memory_{}", figure.name()),
            _ => self.named().0.to_owned(),
        }
    }

    fn words(self) -> String {
        match self {
            Self::Memory(figure) => figure.words(),
            _ => self.named().1.to_owned(),
        }
    }

    /// Whether the measure is a run time.
    #[must_use]
    pub const fn is_seconds(self) -> bool {
        matches!(self, Self::Seconds | Self::SecondsMean | Self::SecondsMin)
    }

    /// Whether the measure exists for reads and writes separately; those of a task or of the disk
    /// do not.
    const fn is_of_ios(self) -> bool {
        !self.is_seconds()
            && !matches!(
                self,
                Self::TimeMs
                    | Self::TimePercent
                    | Self::BytesPercent
                    | Self::Disk(_)
                    | Self::Memory(_)
            )
    }
}

impl Quantity {
    /// A quantity over all I/Os.
    #[must_use]
    pub const fn of_all(measure: Measure) -> Self {
        Self { ios: Ios::All, measure }
    }

    /// The key of the quantity.
    #[must_use]
    pub fn key(self) -> String {
        format!("{}{}", self.ios.prefix(), self.measure.key())
    }

    /// The words for the quantity in tables.
    #[must_use]
    pub fn words(self) -> String {
        format!("{}{}", self.ios.words(), self.measure.words())
    }

    /// Whether the quantity is a share. Distances between shares are in percentage points, others
    /// are fractions of the published figure.
    #[must_use]
    pub const fn is_percent(self) -> bool {
        use Measure::{BytesPercent, Disk, TimePercent};
        matches!(self.measure, BytesPercent | TimePercent | Disk(DiskFigure::BusyPercent))
    }

    /// Whether the quantity is in bytes per second.
    #[must_use]
    pub const fn is_byte_rate(self) -> bool {
        matches!(self.measure, Measure::MbPerS | Measure::MibPerS | Measure::KibPerS)
    }

    /// Whether the quantity grows with the length of a run.
    #[must_use]
    pub const fn is_amount(self) -> bool {
        use Measure::{Ios, Memory, Mib, Sectors, TimeMs};
        match self.measure {
            Memory(figure) => !matches!(figure, MemoryFigure::AtEnd(_)),
            measure => matches!(measure, Ios | Mib | Sectors | TimeMs),
        }
    }

    /// Whether runs measure the quantity for the subject: disk time is not recorded per task, and
    /// only several tasks of one name have a mean.
    #[must_use]
    pub const fn is_known_of(self, subject: Subject) -> bool {
        use Measure::{BytesPercent, Disk, Memory, SecondsMean, SecondsMin, TimeMs, TimePercent};
        if let Memory(figure) = self.measure {
            return matches!(subject, Subject::All) || matches!(figure, MemoryFigure::Had(_));
        }
        match subject {
            Subject::All => {
                !matches!(self.measure, BytesPercent | TimePercent | SecondsMean | SecondsMin)
            }
            Subject::Groups => !matches!(self.measure, SecondsMean | SecondsMin | Disk(_)),
            Subject::Tasks => !matches!(self.measure, TimeMs | TimePercent | Disk(_)),
        }
    }

    /// The keys of the quantities that are measured for a subject.
    pub(super) fn keys_of(subject: Subject) -> Vec<String> {
        let known = Measure::all().filter(|it| Self::of_all(*it).is_known_of(subject));
        known.map(Measure::key).collect()
    }
}

/// Keys of published figures that are not quantities of a subject.
const OWN_KEYS: [&str; 3] = ["total", "percent", "read_percent"];

impl TryFrom<String> for Quantity {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let mut each = [Ios::Reads, Ios::Writes].into_iter();
        let ios = each.find(|ios| name.starts_with(ios.prefix())).unwrap_or(Ios::All);
        let known = Measure::all().filter(|it| ios == Ios::All || it.is_of_ios());
        let keys: Vec<(Measure, String)> =
            known.map(|measure| (measure, Self { ios, measure }.key())).collect();
        let found = keys.iter().find(|(_, key)| *key == name).map(|(measure, _)| *measure);
        found.map(|measure| Self { ios, measure }).ok_or_else(|| {
            if OWN_KEYS.contains(&name.as_str()) {
                return format!("`{name}` is given by itself, beside `row`");
            }
            let keys: Vec<&str> = keys.iter().map(|(_, key)| key.as_str()).collect();
            let wrong = unknown("figure", &name, &keys);
            match ios {
                Ios::All => {
                    format!("{wrong}; `read_` or `write_` before one: of reads or writes alone")
                }
                Ios::Reads | Ios::Writes => wrong,
            }
        })
    }
}

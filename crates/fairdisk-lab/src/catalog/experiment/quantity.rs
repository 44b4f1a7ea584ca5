//! What published figures are figures of, and in which unit.

use crate::catalog::error::unknown;
use serde::Deserialize;

/// What is counted or measured, in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Finished I/Os.
    Ios,
    /// Of these, per second.
    Iops,
    /// Bytes moved, in units of 1048576.
    Mib,
    /// Bytes moved, in sectors of 512 bytes.
    Sectors,
    /// Million bytes per second.
    MbPerS,
    /// MiB/s.
    MibPerS,
    /// KiB/s.
    KibPerS,
    /// Part of all bytes, in percent.
    BytesPercent,
    /// From beginning to end, in seconds.
    Seconds,
    /// The same of each of several tasks, their mean.
    SecondsMean,
    /// Of the first of them that was done.
    SecondsMin,
    /// How long it had the disk, in milliseconds.
    TimeMs,
    /// Part of that of all, in percent.
    TimePercent,
    /// Mean latency of an I/O, in milliseconds.
    LatencyMeanMs,
    /// Its standard deviation.
    LatencySdMs,
    /// The shortest latency.
    LatencyMinMs,
    /// Half of the I/Os took no longer, in milliseconds.
    LatencyP50Ms,
    /// 90 of 100 took no longer.
    LatencyP90Ms,
    /// 95 of 100 took no longer.
    LatencyP95Ms,
    /// 99 of 100 took no longer.
    LatencyP99Ms,
    /// 999 of 1000 took no longer.
    LatencyP99_9Ms,
    /// The longest took so long.
    LatencyMaxMs,
}

/// Which I/Os a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ios {
    /// All of them.
    All,
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// What a figure is of.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
pub struct Quantity {
    /// Of which I/Os.
    pub ios: Ios,
    /// What of them.
    pub measure: Measure,
}

/// Of whom a source prints figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Everybody together.
    All,
    /// Groups.
    Groups,
    /// Named tasks.
    Tasks,
}

impl Subject {
    /// Its key.
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
    /// How keys of figures about them begin.
    const fn prefix(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Reads => "read_",
            Self::Writes => "write_",
        }
    }

    /// Them in words, to stand before what is measured.
    const fn words(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Reads => "read ",
            Self::Writes => "write ",
        }
    }
}

impl Measure {
    /// Each with its key and its words.
    const NAMES: [(Self, &'static str, &'static str); 22] = [
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
    ];

    fn named(self) -> (&'static str, &'static str) {
        let found = Self::NAMES.iter().find(|(measure, ..)| *measure == self);
        found.map_or(("", ""), |(_, key, words)| (key, words))
    }

    /// Its key, of all I/Os.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.named().0
    }

    /// Whether it is from beginning to end.
    #[must_use]
    pub const fn is_seconds(self) -> bool {
        matches!(self, Self::Seconds | Self::SecondsMean | Self::SecondsMin)
    }

    /// Whether reads and writes have it each by themselves: not what is of a task, or of the disk.
    const fn is_of_ios(self) -> bool {
        !self.is_seconds() && !matches!(self, Self::TimeMs | Self::TimePercent | Self::BytesPercent)
    }
}

impl Quantity {
    /// Of all I/Os.
    #[must_use]
    pub const fn of_all(measure: Measure) -> Self {
        Self { ios: Ios::All, measure }
    }

    /// Its key.
    #[must_use]
    pub fn key(self) -> String {
        format!("{}{}", self.ios.prefix(), self.measure.key())
    }

    /// Its words in tables.
    #[must_use]
    pub fn words(self) -> String {
        format!("{}{}", self.ios.words(), self.measure.named().1)
    }

    /// Whether it is a part of a whole: then distances are in percentage points, otherwise parts of
    /// the published figure.
    #[must_use]
    pub const fn is_percent(self) -> bool {
        matches!(self.measure, Measure::BytesPercent | Measure::TimePercent)
    }

    /// Whether it is bytes per second.
    #[must_use]
    pub const fn is_byte_rate(self) -> bool {
        matches!(self.measure, Measure::MbPerS | Measure::MibPerS | Measure::KibPerS)
    }

    /// Whether it grows with the length of a run.
    #[must_use]
    pub const fn is_amount(self) -> bool {
        use Measure::{Ios, Mib, Sectors, TimeMs};
        matches!(self.measure, Ios | Mib | Sectors | TimeMs)
    }

    /// Whether runs know it of them: nobody notes how long the disk was busy for one task, and only
    /// several tasks of a name have a mean.
    #[must_use]
    pub const fn is_known_of(self, subject: Subject) -> bool {
        use Measure::{SecondsMean, SecondsMin, TimeMs, TimePercent};
        match subject {
            Subject::All => !self.is_percent() && !matches!(self.measure, SecondsMean | SecondsMin),
            Subject::Groups => !matches!(self.measure, SecondsMean | SecondsMin),
            Subject::Tasks => !matches!(self.measure, TimeMs | TimePercent),
        }
    }

    /// The keys of those that are known.
    pub(super) fn keys_of(subject: Subject) -> Vec<&'static str> {
        let known = Measure::NAMES
            .iter()
            .filter(|(measure, ..)| Self::of_all(*measure).is_known_of(subject));
        known.map(|(_, key, _)| *key).collect()
    }
}

/// What is no figure of a subject, but a key of what is published for a row.
const OWN_KEYS: [&str; 3] = ["total", "percent", "read_percent"];

impl TryFrom<String> for Quantity {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let mut each = [Ios::Reads, Ios::Writes].into_iter();
        let ios = each.find(|ios| name.starts_with(ios.prefix())).unwrap_or(Ios::All);
        let known = Measure::NAMES.iter().filter(|(it, ..)| ios == Ios::All || it.is_of_ios());
        let keys: Vec<(Measure, String)> =
            known.map(|(measure, ..)| (*measure, Self { ios, measure: *measure }.key())).collect();
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

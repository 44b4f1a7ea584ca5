//! What published figures are figures of, and in which unit.

use crate::catalog::error::unknown;
use serde::Deserialize;

/// What a figure is of, in its unit.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
pub enum Quantity {
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
    /// How long it had the disk, in milliseconds.
    TimeMs,
    /// Part of that of all, in percent.
    TimePercent,
    /// Mean latency of an I/O, in milliseconds.
    LatencyMeanMs,
    /// Half of the I/Os took no longer, in milliseconds.
    LatencyP50Ms,
    /// 95 of 100 took no longer.
    LatencyP95Ms,
    /// 99 of 100 took no longer.
    LatencyP99Ms,
    /// The longest took so long.
    LatencyMaxMs,
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

impl Quantity {
    /// Each with its key and its words.
    const NAMES: [(Self, &'static str, &'static str); 16] = [
        (Self::Ios, "ios", "I/Os"),
        (Self::Iops, "iops", "I/Os/s"),
        (Self::Mib, "mib", "MiB"),
        (Self::Sectors, "sectors", "sectors"),
        (Self::MbPerS, "mb_per_s", "MB/s"),
        (Self::MibPerS, "mib_per_s", "MiB/s"),
        (Self::KibPerS, "kib_per_s", "KiB/s"),
        (Self::BytesPercent, "bytes_percent", "bytes %"),
        (Self::Seconds, "seconds", "s"),
        (Self::TimeMs, "time_ms", "disk time ms"),
        (Self::TimePercent, "time_percent", "disk time %"),
        (Self::LatencyMeanMs, "latency_mean_ms", "mean latency ms"),
        (Self::LatencyP50Ms, "latency_p50_ms", "p50 latency ms"),
        (Self::LatencyP95Ms, "latency_p95_ms", "p95 latency ms"),
        (Self::LatencyP99Ms, "latency_p99_ms", "p99 latency ms"),
        (Self::LatencyMaxMs, "latency_max_ms", "max latency ms"),
    ];

    fn named(self) -> (&'static str, &'static str) {
        let found = Self::NAMES.iter().find(|(quantity, ..)| *quantity == self);
        found.map_or(("", ""), |(_, key, words)| (key, words))
    }

    /// Its key.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.named().0
    }

    /// Its words in tables.
    #[must_use]
    pub fn words(self) -> &'static str {
        self.named().1
    }

    /// Whether it is a part of a whole: then distances are in percentage points, otherwise parts of
    /// the published figure.
    #[must_use]
    pub const fn is_percent(self) -> bool {
        matches!(self, Self::BytesPercent | Self::TimePercent)
    }

    /// Whether it is bytes per second.
    #[must_use]
    pub const fn is_byte_rate(self) -> bool {
        matches!(self, Self::MbPerS | Self::MibPerS | Self::KibPerS)
    }

    /// Whether it grows with the length of a run.
    #[must_use]
    pub const fn is_amount(self) -> bool {
        matches!(self, Self::Ios | Self::Mib | Self::Sectors | Self::TimeMs)
    }

    /// Whether runs know it of them: nobody notes when a group ended, or how long the disk was busy
    /// for one task.
    #[must_use]
    pub const fn is_known_of(self, subject: Subject) -> bool {
        match subject {
            Subject::All => !self.is_percent(),
            Subject::Groups => !matches!(self, Self::Seconds),
            Subject::Tasks => !matches!(self, Self::TimeMs | Self::TimePercent),
        }
    }

    /// The keys of those that are known.
    pub(super) fn keys_of(subject: Subject) -> Vec<&'static str> {
        let known = Self::NAMES.iter().filter(|(quantity, ..)| quantity.is_known_of(subject));
        known.map(|(_, key, _)| *key).collect()
    }
}

impl TryFrom<String> for Quantity {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(_, key, _)| *key == name);
        let keys = || Self::NAMES.map(|(_, key, _)| key);
        found.map(|(quantity, ..)| *quantity).ok_or_else(|| unknown("figure", &name, &keys()))
    }
}

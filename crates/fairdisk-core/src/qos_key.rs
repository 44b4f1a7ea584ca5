//! The settings of a [`Qos`], one by one: what they are called, and how their values are written.

use crate::qos::Qos;
use crate::time::Span;
use alloc::format;
use alloc::string::{String, ToString};
use core::iter;
use core::num::NonZeroU64;

/// A setting of a [`Qos`]. Experiments, job files, wishes, mounts and reports use the same names.
///
/// A value is a rate per second, or a time in nanoseconds that is written in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QosKey {
    /// The floor in I/Os per second.
    MinIops,
    /// The floor in bytes per second.
    MinBps,
    /// The ceiling in I/Os per second.
    MaxIops,
    /// The ceiling in bytes per second.
    MaxBps,
    /// How far the group may run ahead of its ceiling, as time.
    Burst,
    /// The time within which 99 of 100 requests are to complete.
    LatencyP99,
    /// The time within which 99 of 100 flushes are to be answered.
    FsyncP99,
}

/// How the values of a setting are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notation {
    /// The value that is written as 1.
    pub unit: u64,
    /// The smallest and the largest value.
    pub range: [u64; 2],
    /// The values that can be written.
    pub words: &'static str,
}

impl QosKey {
    /// All settings, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::MinIops,
        Self::MinBps,
        Self::MaxIops,
        Self::MaxBps,
        Self::Burst,
        Self::LatencyP99,
        Self::FsyncP99,
    ];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MinIops => "min_iops",
            Self::MinBps => "min_bps",
            Self::MaxIops => "max_iops",
            Self::MaxBps => "max_bps",
            Self::Burst => "burst_ms",
            Self::LatencyP99 => "latency_p99_ms",
            Self::FsyncP99 => "fsync_p99_ms",
        }
    }

    /// The setting with the given name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// How values are written.
    #[must_use]
    pub const fn notation(self) -> Notation {
        let (unit, range, words) = match self {
            Self::MinIops | Self::MinBps | Self::MaxIops | Self::MaxBps => {
                (1, [1, u64::MAX], "a number from 1 on, which may end in K, M or G")
            }
            Self::Burst => (MS, [MS, 60_000 * MS], "1 to 60000"),
            Self::LatencyP99 | Self::FsyncP99 => (MS, [MS / 1_000, 60_000 * MS], "0.001 to 60000"),
        };
        Notation { unit, range, words }
    }

    /// The value in `qos`; `None` if it is the default.
    #[must_use]
    pub fn get(self, qos: &Qos) -> Option<u64> {
        let rate = match self {
            Self::MinIops => qos.floor.iops,
            Self::MinBps => qos.floor.bytes_per_s,
            Self::MaxIops => qos.ceiling.iops,
            Self::MaxBps => qos.ceiling.bytes_per_s,
            Self::Burst => return (qos.burst != Qos::NONE.burst).then_some(qos.burst.as_ns()),
            Self::LatencyP99 => return qos.latency_p99.map(Span::as_ns),
            Self::FsyncP99 => return qos.fsync_p99.map(Span::as_ns),
        };
        rate.map(NonZeroU64::get)
    }

    /// Sets the value in `qos`; `None` is the default.
    pub fn set(self, qos: &mut Qos, value: Option<u64>) {
        let rate = value.and_then(NonZeroU64::new);
        let time = value.map(Span::from_ns);
        match self {
            Self::MinIops => qos.floor.iops = rate,
            Self::MinBps => qos.floor.bytes_per_s = rate,
            Self::MaxIops => qos.ceiling.iops = rate,
            Self::MaxBps => qos.ceiling.bytes_per_s = rate,
            Self::Burst => qos.burst = time.unwrap_or(Qos::NONE.burst),
            Self::LatencyP99 => qos.latency_p99 = time,
            Self::FsyncP99 => qos.fsync_p99 = time,
        }
    }

    /// Parses a value. A rate may end in `K`, `M` or `G`; a target may have decimals.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<u64> {
        let Notation { unit, range: [least, most], .. } = self.notation();
        let value = match self {
            Self::LatencyP99 | Self::FsyncP99 => decimal(text),
            Self::Burst => text.parse::<u64>().ok()?.checked_mul(unit),
            Self::MinIops | Self::MinBps | Self::MaxIops | Self::MaxBps => parse_number(text),
        };
        value.filter(|value| (least..=most).contains(value))
    }

    /// A value as [`parse`](Self::parse) reads it.
    #[must_use]
    pub fn written(self, value: u64) -> String {
        let unit = self.notation().unit;
        match (value / unit, value % unit) {
            (whole, 0) => whole.to_string(),
            (whole, part) => format!("{whole}.{part:06}").trim_end_matches('0').to_string(),
        }
    }
}

/// A millisecond in nanoseconds.
const MS: u64 = 1_000_000;

impl Qos {
    /// The settings that are not the default, with their values.
    pub fn settings(self) -> impl Iterator<Item = (QosKey, u64)> {
        QosKey::ALL.into_iter().filter_map(move |key| Some((key, key.get(&self)?)))
    }
}

/// Parses a number, in which `K`, `M` and `G` stand for powers of 1024.
#[must_use]
pub fn parse_number(text: &str) -> Option<u64> {
    let units = [(['K', 'k'], 10), (['M', 'm'], 20), (['G', 'g'], 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(*unit)?, *shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Parses a decimal number of milliseconds to nanoseconds; further decimals do not count.
fn decimal(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = part.bytes().all(|byte| byte.is_ascii_digit()).then_some(part.bytes());
    let digits = digits?.chain(iter::repeat(b'0')).take(6);
    let ns = digits.fold(0, |ns, digit| ns * 10 + u64::from(digit - b'0'));
    format!("0{whole}").parse::<u64>().ok()?.checked_mul(MS)?.checked_add(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_is_found_by_its_name_and_in_its_place() {
        for key in QosKey::ALL {
            assert_eq!(QosKey::named(key.name()), Some(key));
            let (mut qos, value) = (Qos::NONE, 7 * key.notation().unit);
            key.set(&mut qos, Some(value));
            assert!(qos.settings().eq([(key, value)]), "{key:?}: {qos:?}");
            key.set(&mut qos, None);
            assert_eq!(qos, Qos::NONE);
        }
        assert_eq!(QosKey::named("burst"), None);
    }

    #[test]
    fn values_are_written_as_they_are_read() {
        for (key, text, value) in [
            (QosKey::MinIops, "18446744073709551615", u64::MAX),
            (QosKey::Burst, "60000", 60_000 * MS),
            (QosKey::LatencyP99, "0.001", 1_000),
            (QosKey::LatencyP99, "2.5", 2_500_000),
            (QosKey::LatencyP99, "33.333333", 33_333_333),
            (QosKey::LatencyP99, "60000", 60_000 * MS),
        ] {
            assert_eq!(key.parse(text), Some(value), "{key:?}={text}");
            assert_eq!(key.written(value), text, "{key:?}");
        }
        assert_eq!(QosKey::MaxBps.parse("10M"), Some(10 << 20));
        assert_eq!(QosKey::LatencyP99.parse("0.0019999999"), Some(1_999));
        assert_eq!(QosKey::LatencyP99.parse(".5"), Some(MS / 2));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for (key, texts) in [
            (QosKey::MinIops, &["", "0", "K", "-1", "1.5", "20000000000G"][..]),
            (QosKey::Burst, &["0", "60001", "1.5", "1K", "18446744073709551615"]),
            (QosKey::LatencyP99, &["", ".", "0.000999", "60000.000001", "-1", "1.-5", "nan"]),
        ] {
            for text in texts {
                assert_eq!(key.parse(text), None, "{key:?}={text}");
            }
        }
        for key in [QosKey::Burst, QosKey::LatencyP99, QosKey::FsyncP99] {
            let Notation { range, words, .. } = key.notation();
            assert_eq!(range.map(|bound| key.written(bound)).join(" to "), words);
        }
    }
}

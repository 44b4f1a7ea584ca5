//! The settings of a [`Qos`], one by one: what they are called, and how their values are written.

use crate::qos::Qos;
use crate::time::Span;
use alloc::format;
use alloc::string::{String, ToString};
use core::num::NonZeroU64;

/// A setting of a [`Qos`]. Experiments, job files, wishes, mounts and reports use the same names.
///
/// A value is a rate per second, or a time in nanoseconds.
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
    /// The ceiling in reads per second.
    MaxReadIops,
    /// The ceiling in bytes read per second.
    MaxReadBps,
    /// The ceiling in writes per second.
    MaxWriteIops,
    /// The ceiling in bytes written per second.
    MaxWriteBps,
    /// How far the group may run ahead of its ceiling, as time.
    Burst,
    /// The rate of a long burst in I/Os per second.
    BurstIops,
    /// The rate of a long burst in bytes per second.
    BurstBps,
    /// How long a long burst lasts.
    BurstFor,
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
    pub const ALL: [Self; 14] = [
        Self::MinIops,
        Self::MinBps,
        Self::MaxIops,
        Self::MaxBps,
        Self::MaxReadIops,
        Self::MaxReadBps,
        Self::MaxWriteIops,
        Self::MaxWriteBps,
        Self::Burst,
        Self::BurstIops,
        Self::BurstBps,
        Self::BurstFor,
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
            Self::MaxReadIops => "max_read_iops",
            Self::MaxReadBps => "max_read_bps",
            Self::MaxWriteIops => "max_write_iops",
            Self::MaxWriteBps => "max_write_bps",
            Self::Burst => "burst_ms",
            Self::BurstIops => "burst_iops",
            Self::BurstBps => "burst_bps",
            Self::BurstFor => "burst_for",
            Self::LatencyP99 => "latency_p99_ms",
            Self::FsyncP99 => "fsync_p99_ms",
        }
    }

    /// Whether it is a ceiling of some requests alone, or about bursts at a rate of their own.
    #[must_use]
    pub const fn shapes_ceiling(self) -> bool {
        use QosKey::{BurstBps, BurstFor, BurstIops};
        use QosKey::{MaxReadBps, MaxReadIops, MaxWriteBps, MaxWriteIops};
        let apart = matches!(self, MaxReadIops | MaxReadBps | MaxWriteIops | MaxWriteBps);
        apart || matches!(self, BurstIops | BurstBps | BurstFor)
    }

    /// Whether it is a ceiling, for which `max` means that there is none.
    #[must_use]
    pub const fn is_ceiling(self) -> bool {
        use QosKey::{MaxBps, MaxIops, MaxReadBps, MaxReadIops, MaxWriteBps, MaxWriteIops};
        let apart = matches!(self, MaxReadIops | MaxReadBps | MaxWriteIops | MaxWriteBps);
        apart || matches!(self, MaxIops | MaxBps)
    }

    /// The time that the setting is, as it counts in nanoseconds; `None` for a rate.
    const fn time_unit(self) -> Option<u64> {
        match self {
            Self::Burst | Self::LatencyP99 | Self::FsyncP99 => Some(MS),
            Self::BurstFor => Some(SECOND),
            _ => None,
        }
    }

    /// Whether it is a rate in bytes.
    const fn is_of_bytes(self) -> bool {
        use QosKey::{BurstBps, MaxBps, MaxReadBps, MaxWriteBps, MinBps};
        matches!(self, MinBps | MaxBps | MaxReadBps | MaxWriteBps | BurstBps)
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
            Self::Burst => (MS, [MS, 60_000 * MS], "1 to 60000"),
            Self::BurstFor => (SECOND, [SECOND, 86_400 * SECOND], "1 to 86400"),
            Self::LatencyP99 | Self::FsyncP99 => (MS, [MS / 1_000, 60_000 * MS], "0.001 to 60000"),
            _ if self.is_of_bytes() => {
                (1, [1, u64::MAX], "a number from 1 on, which may end in K, M or G, or in KB, MB/s")
            }
            _ => (1, [1, u64::MAX], "a number from 1 on, which may end in K, M or G"),
        };
        Notation { unit, range, words }
    }

    /// The place of a rate; `None` for a time.
    const fn rate(self, qos: &mut Qos) -> Option<&mut Option<NonZeroU64>> {
        Some(match self {
            Self::MinIops => &mut qos.floor.iops,
            Self::MinBps => &mut qos.floor.bytes_per_s,
            Self::MaxIops => &mut qos.ceiling.iops,
            Self::MaxBps => &mut qos.ceiling.bytes_per_s,
            Self::MaxReadIops => &mut qos.read_ceiling.iops,
            Self::MaxReadBps => &mut qos.read_ceiling.bytes_per_s,
            Self::MaxWriteIops => &mut qos.write_ceiling.iops,
            Self::MaxWriteBps => &mut qos.write_ceiling.bytes_per_s,
            Self::BurstIops => &mut qos.peak.iops,
            Self::BurstBps => &mut qos.peak.bytes_per_s,
            Self::Burst | Self::BurstFor | Self::LatencyP99 | Self::FsyncP99 => return None,
        })
    }

    /// The value in `qos`; `None` if it is the default.
    #[must_use]
    pub fn get(self, qos: &Qos) -> Option<u64> {
        let changed = |is: Span, was: Span| (is != was).then_some(is.as_ns());
        match self {
            Self::Burst => changed(qos.burst, Qos::NONE.burst),
            Self::BurstFor => changed(qos.peak_for, Qos::NONE.peak_for),
            Self::LatencyP99 => qos.latency_p99.map(Span::as_ns),
            Self::FsyncP99 => qos.fsync_p99.map(Span::as_ns),
            _ => self.rate(&mut { *qos })?.map(NonZeroU64::get),
        }
    }

    /// Sets the value in `qos`; `None` is the default.
    pub fn set(self, qos: &mut Qos, value: Option<u64>) {
        let time = value.map(Span::from_ns);
        match self {
            Self::Burst => qos.burst = time.unwrap_or(Qos::NONE.burst),
            Self::BurstFor => qos.peak_for = time.unwrap_or(Qos::NONE.peak_for),
            Self::LatencyP99 => qos.latency_p99 = time,
            Self::FsyncP99 => qos.fsync_p99 = time,
            _ => {
                let rate = self.rate(qos).expect("all others are rates");
                *rate = value.and_then(NonZeroU64::new);
            }
        }
    }

    /// Parses a value as people write it. A rate may end in `K`, `M` or `G`, one in bytes in `KB`,
    /// `MiB` and so on, both in `/s`; a time may have a unit; a target may have decimals.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<u64> {
        let Notation { unit, range: [least, most], .. } = self.notation();
        let value = match self.time_unit() {
            Some(unit) => time(text, unit),
            None if self.is_of_bytes() => bytes(per_second(text)),
            None => parse_number(per_second(text)),
        };
        // Only targets are told apart by less than their unit.
        let is_whole = |value: &u64| {
            matches!(self, Self::LatencyP99 | Self::FsyncP99) || value.is_multiple_of(unit)
        };
        value.filter(|value| (least..=most).contains(value)).filter(is_whole)
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
/// A second in nanoseconds.
const SECOND: u64 = 1_000 * MS;

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

/// A rate without the words that say that it is one.
fn per_second(text: &str) -> &str {
    text.strip_suffix("/s").unwrap_or(text).trim_end()
}

/// Parses a number of bytes. `K` and `KiB` are 1024 of them, `KB` are 1000, and so on.
fn bytes(text: &str) -> Option<u64> {
    let Some(number) = text.strip_suffix('B') else { return parse_number(text) };
    if let Some(number) = number.strip_suffix('i') {
        return number.ends_with(char::is_alphabetic).then(|| parse_number(number))?;
    }
    let units = [('K', 1_000), ('k', 1_000), ('M', 1_000_000), ('G', 1_000_000_000)];
    let unit = units.iter().find_map(|(unit, of)| Some((number.strip_suffix(*unit)?, *of)));
    let (digits, unit) = unit.unwrap_or((number, 1));
    decimal(digits.trim_end(), unit)
}

/// Parses a time, as nanoseconds, in this unit unless it has its own.
fn time(text: &str, unit: u64) -> Option<u64> {
    let units = [("us", 1_000), ("ms", MS), ("min", 60 * SECOND), ("s", SECOND)];
    let own = units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, *ns)));
    let (number, unit) = own.unwrap_or((text, unit));
    decimal(number.trim_end(), unit)
}

/// Parses a decimal number in units of so many; what is less than one does not count.
fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && part.is_empty() || !are_digits(whole) || !are_digits(part) {
        return None;
    }
    let (mut rest, mut of) = (0, unit);
    for digit in part.bytes() {
        of /= 10;
        rest += u64::from(digit - b'0') * of;
    }
    format!("0{whole}").parse::<u64>().ok()?.checked_mul(unit)?.checked_add(rest)
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
    fn values_are_read_as_people_write_them() {
        for (key, text, value) in [
            (QosKey::MaxBps, "10MB", 10_000_000),
            (QosKey::MaxBps, "40MB/s", 40_000_000),
            (QosKey::MaxBps, "1.5 GB/s", 1_500_000_000),
            (QosKey::MaxReadBps, "10MiB", 10 << 20),
            (QosKey::MaxBps, "10M/s", 10 << 20),
            (QosKey::MaxBps, "512B", 512),
            (QosKey::MaxIops, "5000/s", 5_000),
            (QosKey::LatencyP99, "2ms", 2 * MS),
            (QosKey::FsyncP99, "500us", MS / 2),
            (QosKey::FsyncP99, "0.5s", 500 * MS),
            (QosKey::Burst, "2s", 2_000 * MS),
            (QosKey::BurstFor, "60s", 60 * SECOND),
            (QosKey::BurstFor, "5min", 300 * SECOND),
            (QosKey::BurstFor, "30", 30 * SECOND),
        ] {
            assert_eq!(key.parse(text), Some(value), "{key:?}={text}");
        }
        for (key, text) in [
            (QosKey::MaxIops, "10MB"),
            (QosKey::MaxBps, "MB"),
            (QosKey::MaxBps, "10iB"),
            (QosKey::LatencyP99, "ms"),
            (QosKey::LatencyP99, "2m"),
            (QosKey::BurstFor, "1500ms"),
        ] {
            assert_eq!(key.parse(text), None, "{key:?}={text}");
        }
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
        for key in [QosKey::Burst, QosKey::BurstFor, QosKey::LatencyP99, QosKey::FsyncP99] {
            let Notation { range, words, .. } = key.notation();
            assert_eq!(range.map(|bound| key.written(bound)).join(" to "), words);
        }
    }
}

//! Quality of service: the floor, ceiling and latency target that a group may have in addition to
//! its share.

use crate::time::Span;
use core::hash::{Hash, Hasher};
use core::num::NonZeroU64;

const SECOND: u128 = 1_000_000_000;

/// A pair of rates, in I/Os and bytes per second. If both are set, both apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rates {
    /// I/Os per second.
    pub iops: Option<NonZeroU64>,
    /// Bytes per second.
    pub bytes_per_s: Option<NonZeroU64>,
}

impl Rates {
    /// Neither rate is set.
    pub const NONE: Self = Self { iops: None, bytes_per_s: None };

    /// Whether neither rate is set.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.iops.is_none() && self.bytes_per_s.is_none()
    }

    /// How long `ios` I/Os take at the rate in I/Os, whatever their length; zero without that rate.
    #[must_use]
    pub const fn time_of_ios(&self, ios: u64) -> Span {
        match self.iops {
            // Rounded down to whole nanoseconds per I/O, so that a batch takes as long as its I/Os
            // one by one.
            Some(iops) => span(ios as u128 * (SECOND / iops.get() as u128)),
            None => Span::ZERO,
        }
    }

    /// How long `bytes` bytes take at the rate in bytes, in however many I/Os; zero without that
    /// rate.
    #[must_use]
    pub const fn time_of_bytes(&self, bytes: u64) -> Span {
        match self.bytes_per_s {
            Some(rate) => span(bytes as u128 * SECOND / rate.get() as u128),
            None => Span::ZERO,
        }
    }
}

const fn span(ns: u128) -> Span {
    Span::from_ns(if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 })
}

/// Quality of service of one group, in addition to its share. Each scheduler documents which of
/// these settings it honours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qos {
    /// The rates the group gets at least, whenever it has enough I/O to use them.
    pub floor: Rates,
    /// The rates the group gets at most, even if the disk is otherwise idle.
    pub ceiling: Rates,
    /// Ceilings of reads alone, beside that of all requests.
    pub read_ceiling: Rates,
    /// Ceilings of all requests but reads.
    pub write_ceiling: Rates,
    /// How far the group may run ahead of its ceiling: it may use the allowance of this much time
    /// at once.
    pub burst: Span,
    /// The rates of a long burst, above those of the ceiling: the group gets them for
    /// [`peak_for`](Self::peak_for), if it has saved up that much.
    pub peak: Rates,
    /// How long a group that has saved up all that it may gets its peak.
    pub peak_for: Span,
    /// Latency target: 99 of 100 requests are to complete within this time of their submission.
    pub latency_p99: Option<Span>,
    /// Target for flushes: 99 of 100 are to be answered within this time of the call, which
    /// includes waiting for the data that is to be flushed.
    pub fsync_p99: Option<Span>,
}

impl Qos {
    /// No floor, ceiling or target, and the default bursts of 100 ms and of 60 s at a peak.
    pub const NONE: Self = Self {
        floor: Rates::NONE,
        ceiling: Rates::NONE,
        read_ceiling: Rates::NONE,
        write_ceiling: Rates::NONE,
        burst: Span::from_ms(100),
        peak: Rates::NONE,
        peak_for: Span::from_s(60),
        latency_p99: None,
        fsync_p99: None,
    };

    /// Whether no ceiling is set, neither of all requests nor of some.
    #[must_use]
    pub const fn is_unlimited(&self) -> bool {
        self.ceiling.is_none() && self.read_ceiling.is_none() && self.write_ceiling.is_none()
    }

    /// The settings without ceilings of some requests alone and without peaks, for schedulers that
    /// do not honour these.
    #[must_use]
    pub const fn summed(self) -> Self {
        let none = Rates::NONE;
        Self { read_ceiling: none, write_ceiling: none, peak: none, ..self }
    }

    /// The rates that requests have to keep to. A group with a peak may be ahead of its ceiling by
    /// what the peak is above it for as long as the peak lasts, and ahead of the peak by a burst.
    #[must_use]
    pub fn limits(&self) -> [Option<Limit>; LIMITS] {
        let of = |counts, rate: Option<NonZeroU64>, burst| {
            rate.map(|rate| Limit { counts, rate, burst })
        };
        let [reads, writes] = [self.read_ceiling, self.write_ceiling];
        let ahead = |rate: Option<NonZeroU64>, peak| {
            rate.zip(peak).map_or(self.burst, |(rate, peak)| self.saved_up(rate, peak))
        };
        let (ios, bytes) = (self.ceiling.iops, self.ceiling.bytes_per_s);
        // Without a ceiling a peak is none.
        let peak_ios = ios.and(self.peak.iops);
        let peak_bytes = bytes.and(self.peak.bytes_per_s);
        [
            of(Counts::Ios, ios, ahead(ios, peak_ios)),
            of(Counts::Bytes, bytes, ahead(bytes, peak_bytes)),
            of(Counts::ReadIos, reads.iops, self.burst),
            of(Counts::ReadBytes, reads.bytes_per_s, self.burst),
            of(Counts::WriteIos, writes.iops, self.burst),
            of(Counts::WriteBytes, writes.bytes_per_s, self.burst),
            of(Counts::Ios, peak_ios, self.burst),
            of(Counts::Bytes, peak_bytes, self.burst),
        ]
    }

    /// The time at `rate` in which a group saves up what it needs beside `rate` to be served at
    /// `peak` for [`peak_for`](Self::peak_for).
    fn saved_up(&self, rate: NonZeroU64, peak: NonZeroU64) -> Span {
        let above = u128::from(peak.get().saturating_sub(rate.get()));
        span(u128::from(self.peak_for.as_ns()) * above / u128::from(rate.get())).max(self.burst)
    }
}

/// The number of rates that requests may have to keep to.
pub const LIMITS: usize = 8;

/// What a [`Limit`] counts. A read is a read; all other requests count as writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// I/Os of all kinds.
    Ios,
    /// Bytes of all kinds.
    Bytes,
    /// Reads.
    ReadIos,
    /// Bytes read.
    ReadBytes,
    /// Writes.
    WriteIos,
    /// Bytes written.
    WriteBytes,
}

/// A rate that the requests of a group have to keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is counted.
    pub counts: Counts,
    /// The rate per second.
    pub rate: NonZeroU64,
    /// How far ahead of it they may be, as time.
    pub burst: Span,
}

/// The longest piece of a request, in bytes, that a rate in I/Os counts as one: 512 KiB. A longer
/// request counts as several I/Os, so that a rate means the same whether a file system or a mount
/// cuts large requests into pieces of 512 KiB, 1 MiB or any other size.
pub const IO_BYTES_MAX: u64 = 512 << 10;

/// As how many I/Os `bios` bios of `bytes` bytes together count.
#[must_use]
pub const fn counted_ios(bios: u64, bytes: u64) -> u64 {
    let pieces = bytes.div_ceil(IO_BYTES_MAX);
    if pieces > bios { pieces } else { bios }
}

/// The encoding of earlier runs: a setting that came later counts where it is made.
impl Hash for Qos {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { floor, ceiling, burst, latency_p99, fsync_p99, .. } = self;
        let Self { read_ceiling, write_ceiling, peak, peak_for, .. } = self;
        (floor, ceiling, burst, latency_p99).hash(state);
        fsync_p99.iter().for_each(|target| target.hash(state));
        let [new, none] =
            [self, &Self::NONE].map(|it| (it.read_ceiling, it.write_ceiling, it.peak, it.peak_for));
        if new != none {
            (read_ceiling, write_ceiling, peak, peak_for).hash(state);
        }
    }
}

impl Default for Qos {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 a second for long and 5000 for a minute, as clouds sell volumes: what is above the
    /// 1000 is saved up.
    #[test]
    fn a_peak_may_last_as_long_as_it_is_sold() {
        let rate = |iops| Rates { iops: NonZeroU64::new(iops), ..Rates::NONE };
        let qos = Qos { ceiling: rate(1000), peak: rate(5000), ..Qos::NONE };
        let limits = qos.limits();
        let of = |at: usize| limits[at].map(|it| (it.counts, it.rate.get(), it.burst));
        assert_eq!(of(0), Some((Counts::Ios, 1000, Span::from_s(240))));
        assert_eq!(of(6), Some((Counts::Ios, 5000, Span::from_ms(100))));
        let alone = Qos { ceiling: Rates::NONE, ..qos };
        assert!(alone.is_unlimited() && alone.limits() == [None; LIMITS]);
    }

    #[test]
    fn a_long_request_counts_as_several_ios() {
        assert_eq!([(1, 0), (1, 4096), (1, 512 << 10)].map(|(n, b)| counted_ios(n, b)), [1; 3]);
        assert_eq!(
            [(1, 1 << 20), (2, 1 << 20), (9, 1 << 20)].map(|(n, b)| counted_ios(n, b)),
            [2, 2, 9]
        );
    }

    #[test]
    fn each_rate_says_how_long_a_request_takes() {
        let rates = Rates { iops: NonZeroU64::new(100), bytes_per_s: NonZeroU64::new(1_000_000) };
        assert_eq!([1, 3].map(|ios| rates.time_of_ios(ios)), [10, 30].map(Span::from_ms));
        assert_eq!(rates.time_of_bytes(2_000), Span::from_ms(2));
        assert_eq!(rates.time_of_bytes(1_000_000), Span::from_s(1));
        assert_eq!(Rates::NONE.time_of_ios(1), Span::ZERO);
        assert_eq!(Rates::NONE.time_of_bytes(u64::MAX), Span::ZERO);
        let slow = Rates { bytes_per_s: NonZeroU64::new(1), ..Rates::NONE };
        assert_eq!(slow.time_of_bytes(u64::MAX), Span::from_ns(u64::MAX));
    }
}

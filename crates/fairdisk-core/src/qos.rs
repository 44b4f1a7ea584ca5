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
    /// How far the group may run ahead of its ceiling: it may use the allowance of this much time
    /// at once.
    pub burst: Span,
    /// Latency target: 99 of 100 requests are to complete within this time of their submission.
    pub latency_p99: Option<Span>,
    /// Target for flushes: 99 of 100 are to be answered within this time of the call, which
    /// includes waiting for the data that is to be flushed.
    pub fsync_p99: Option<Span>,
}

impl Qos {
    /// No floor, ceiling or target, and the default burst of 100 ms.
    pub const NONE: Self = Self {
        floor: Rates::NONE,
        ceiling: Rates::NONE,
        burst: Span::from_ms(100),
        latency_p99: None,
        fsync_p99: None,
    };
}

/// The encoding of earlier runs: a setting that came later counts where it is made.
impl Hash for Qos {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { floor, ceiling, burst, latency_p99, fsync_p99 } = self;
        (floor, ceiling, burst, latency_p99).hash(state);
        fsync_p99.iter().for_each(|target| target.hash(state));
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

//! Rates as leaky buckets: what a group may do pours in, and leaks out at the rate. A full bucket
//! lets nothing pass until enough has leaked out
//! (Alberto Garcia, "The QEMU throttling infrastructure", docs/throttle.txt of QEMU, 2016).

use core::num::NonZeroU64;
use fairdisk_core::{Instant, Rates, Span};

const SECOND: u128 = 1_000_000_000;

/// A bucket, as time: how full it is says when it will be empty.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    per_second: NonZeroU64,
    empty_at: Instant,
}

impl Bucket {
    /// A bucket for `rate`, with in it what was in `old`.
    fn new(now: Instant, rate: NonZeroU64, old: Option<Self>) -> Self {
        let empty = Self { per_second: rate, empty_at: now };
        let Some(old) = old else { return empty };
        let left = u128::from((old.empty_at - now).as_ns()) * u128::from(old.per_second.get());
        Self { empty_at: now + time(left.div_ceil(u128::from(rate.get()))), ..empty }
    }

    fn pour(&mut self, from: Instant, units: u64) {
        let ns = (u128::from(units) * SECOND).div_ceil(u128::from(self.per_second.get()));
        self.empty_at = self.empty_at.max(from) + time(ns);
    }
}

fn time(ns: u128) -> Span {
    Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// Says when a group is at its ceiling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    ios: Option<Bucket>,
    bytes: Option<Bucket>,
    /// How full a bucket may be, as time, before it lets nothing pass.
    burst: Span,
    /// What is not used within a slice of this length is lost, and there is no burst.
    slice: Option<Span>,
}

impl Meter {
    /// No ceiling.
    pub(crate) const fn new(slice: Option<Span>) -> Self {
        Self { ios: None, bytes: None, burst: Span::ZERO, slice }
    }

    /// Another ceiling. What was done is not forgotten.
    pub(crate) fn set(&mut self, now: Instant, ceiling: Rates, burst: Span) {
        self.ios = ceiling.iops.map(|rate| Bucket::new(now, rate, self.ios));
        self.bytes = ceiling.bytes_per_s.map(|rate| Bucket::new(now, rate, self.bytes));
        self.burst = burst;
    }

    /// The first instant at which a request may pass.
    pub(crate) fn ready_at(&self) -> Instant {
        let buckets = [self.ios, self.bytes].into_iter().flatten();
        buckets.map(|bucket| self.ready(bucket.empty_at)).max().unwrap_or(Instant::ZERO)
    }

    fn ready(&self, empty_at: Instant) -> Instant {
        match self.slice {
            Some(slice) => start_of_slice(empty_at, slice),
            None => Instant::from_ns(empty_at.as_ns().saturating_sub(self.burst.as_ns())),
        }
    }

    /// A request of `bytes` passes.
    pub(crate) fn pass(&mut self, now: Instant, bytes: u64) {
        let from = self.slice.map_or(now, |slice| start_of_slice(now, slice));
        if let Some(ios) = &mut self.ios {
            ios.pour(from, 1);
        }
        if let Some(all) = &mut self.bytes {
            all.pour(from, bytes);
        }
    }
}

fn start_of_slice(at: Instant, slice: Span) -> Instant {
    Instant::from_ns(at.as_ns() - at.as_ns() % slice.as_ns().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    fn iops(rate: u64) -> Rates {
        Rates { iops: NonZeroU64::new(rate), ..Rates::NONE }
    }

    fn passes(meter: &mut Meter, from: u64, to: u64) -> Vec<u64> {
        let mut passed = Vec::new();
        for ms in from..to {
            while meter.ready_at() <= at(ms) {
                meter.pass(at(ms), 4096);
                passed.push(ms);
            }
        }
        passed
    }

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate() {
        let mut meter = Meter::new(None);
        assert_eq!(meter.ready_at(), Instant::ZERO);
        meter.set(at(0), iops(100), Span::from_ms(30));
        // Three fill the burst, a fourth makes it overflow; from then on one each 10 ms.
        assert_eq!(passes(&mut meter, 0, 35), [0, 0, 0, 0, 10, 20, 30]);
        // Away for a while: no more than the burst was saved.
        assert_eq!(passes(&mut meter, 500, 511), [500, 500, 500, 500, 510]);
    }

    #[test]
    fn the_stricter_rate_decides() {
        let mut meter = Meter::new(None);
        let rates = Rates { bytes_per_s: NonZeroU64::new(4096 * 50), ..iops(100) };
        meter.set(at(0), rates, Span::ZERO);
        assert_eq!(passes(&mut meter, 0, 50), [0, 20, 40]);
    }

    #[test]
    fn what_was_done_counts_at_the_new_rate() {
        let mut meter = Meter::new(None);
        meter.set(at(0), iops(1), Span::ZERO);
        meter.pass(at(0), 4096);
        assert_eq!(meter.ready_at(), at(1000));
        meter.set(at(500), iops(50), Span::ZERO);
        // Half a request was left, at 50 a second.
        assert_eq!(meter.ready_at(), at(510));
        meter.set(at(500), Rates::NONE, Span::ZERO);
        assert_eq!(meter.ready_at(), Instant::ZERO);
    }

    #[test]
    fn a_slice_saves_nothing_and_owes_what_was_too_much() {
        let mut meter = Meter::new(Some(Span::from_ms(10)));
        meter.set(at(0), iops(250), Span::from_s(1));
        // 2.5 a slice: a third begins within it, and is missing in the next.
        assert_eq!(passes(&mut meter, 0, 40), [0, 0, 0, 10, 10, 20, 20, 20, 30, 30]);
        assert_eq!(passes(&mut meter, 105, 120), [105, 105, 105, 110, 110]);
    }
}

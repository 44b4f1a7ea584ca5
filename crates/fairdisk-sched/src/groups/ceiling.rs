//! Ceilings as leaky buckets. Whatever a group does fills its buckets, which drain at the rate of
//! the ceiling. There is one bucket for I/Os and one for bytes, and both must have room. (Turner,
//! "New directions in communications", 1986; represented by the time at which a bucket will be
//! empty, this is the generic cell rate algorithm of ITU-T I.371.)
//!
//! What a ceiling promises, whoever keeps it: in any stretch of time a group gets no more than its
//! ceiling allows for that time, and one burst. A burst holds two requests, as they are submitted,
//! at least: one that has just been done and one on its way, without which the device would stand
//! idle for the group between two requests. Merging makes no request that takes more than half of
//! the burst, so two of them are no more than it holds either.

use core::num::NonZeroU64;
use fairdisk_core::{Bio, Instant, Rates, Span};

const SECOND: u128 = 1_000_000_000;

/// How soon to look again when the requests in flight leave no room: it is not known when one of
/// them will complete.
const LOOK_AGAIN_AFTER: Span = Span::from_us(100);

/// How full the buckets of a group are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceiling {
    ios: Bucket,
    bytes: Bucket,
}

/// How full one bucket is, expressed as the time at which it will be empty.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    empty_at: Instant,
}

/// An amount of I/O that goes into the buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
}

impl Amount {
    /// Nothing. There is room for it in every bucket that is not overfull.
    pub(crate) const NONE: Self = Self { ios: 0, bytes: 0 };

    /// Adds `other`.
    pub(crate) const fn add(&mut self, other: Self) {
        (self.ios, self.bytes) = (self.ios + other.ios, self.bytes + other.bytes);
    }

    /// What a bio is.
    pub(crate) const fn of(bio: &Bio) -> Self {
        Self { ios: 1, bytes: bio.sectors.bytes() }
    }

    /// This and `other` together.
    pub(crate) const fn and(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    /// Subtracts `other`.
    pub(crate) const fn take(&mut self, other: Self) {
        (self.ios, self.bytes) = (self.ios - other.ios, self.bytes - other.bytes);
    }
}

impl Ceiling {
    /// Empty buckets.
    pub(crate) const EMPTY: Self = {
        let empty = Bucket { empty_at: Instant::ZERO };
        Self { ios: empty, bytes: empty }
    };

    /// When the buckets have room for `amount`. A bucket holds what drains in `burst`; a larger
    /// amount has room once the bucket is empty.
    pub(crate) fn ready_at(&self, rates: &Rates, burst: Span, amount: Amount) -> Instant {
        let ios = rates.iops.map(|rate| self.ios.ready_at(rate, burst, amount.ios));
        let bytes = rates.bytes_per_s.map(|rate| self.bytes.ready_at(rate, burst, amount.bytes));
        ios.max(bytes).unwrap_or(Instant::ZERO)
    }

    /// When the buckets have room for `next` while `there` is still in flight, for buckets that are
    /// filled as requests complete. What is in flight cannot drain yet; if it completes later, the
    /// returned time moves back too. If there is no room now, the result is at least
    /// [`LOOK_AGAIN_AFTER`] away. A bucket holds `burst`, or two requests like `next` if these take
    /// longer.
    pub(crate) fn ready_beside(
        &self,
        now: Instant,
        (rates, burst): (&Rates, Span),
        there: Amount,
        next: Amount,
    ) -> Instant {
        let of = |bucket: &Bucket, rate: NonZeroU64, there, next| {
            let one = time_of(next, rate);
            let most = burst.max(one + one);
            let full = bucket.empty_at.max(now) + time_of(there + next, rate);
            let at = Instant::from_ns(full.as_ns().saturating_sub(most.as_ns()));
            if at > now { at.max(now + LOOK_AGAIN_AFTER) } else { at }
        };
        let ios = rates.iops.map(|rate| of(&self.ios, rate, there.ios, next.ios));
        let bytes = rates.bytes_per_s.map(|rate| of(&self.bytes, rate, there.bytes, next.bytes));
        ios.max(bytes).unwrap_or(Instant::ZERO)
    }

    /// Whether a request may become as large as `amount` by merging: two like that fit into a
    /// burst.
    pub(crate) fn may_grow_to(rates: &Rates, burst: Span, amount: Amount) -> bool {
        let fits = |rate: Option<NonZeroU64>, units: u64| {
            rate.is_none_or(|rate| time_of(2 * units, rate) <= burst)
        };
        fits(rates.iops, amount.ios) && fits(rates.bytes_per_s, amount.bytes)
    }

    /// When the last bucket will be empty.
    pub(crate) fn empty_at(&self, rates: &Rates) -> Instant {
        let ios = rates.iops.map(|_| self.ios.empty_at);
        let bytes = rates.bytes_per_s.map(|_| self.bytes.empty_at);
        ios.max(bytes).unwrap_or(Instant::ZERO)
    }

    /// Fills the buckets with `amount` at `now`.
    pub(crate) fn pass(&mut self, now: Instant, rates: &Rates, amount: Amount) {
        if let Some(rate) = rates.iops {
            self.ios.pour(now, rate, amount.ios);
        }
        if let Some(rate) = rates.bytes_per_s {
            self.bytes.pour(now, rate, amount.bytes);
        }
    }

    /// Replaces the rates; what the buckets hold is kept.
    pub(crate) fn change(&mut self, now: Instant, old: &Rates, new: &Rates) {
        self.ios.change(now, old.iops, new.iops);
        self.bytes.change(now, old.bytes_per_s, new.bytes_per_s);
    }
}

impl Bucket {
    fn ready_at(&self, rate: NonZeroU64, burst: Span, units: u64) -> Instant {
        let early = burst - time_of(units, rate);
        Instant::from_ns(self.empty_at.as_ns().saturating_sub(early.as_ns()))
    }

    fn pour(&mut self, now: Instant, rate: NonZeroU64, units: u64) {
        self.empty_at = self.empty_at.max(now) + time_of(units, rate);
    }

    fn change(&mut self, now: Instant, old: Option<NonZeroU64>, new: Option<NonZeroU64>) {
        let left = u128::from(self.empty_at.since(now).as_ns());
        self.empty_at = match (old, new) {
            (Some(old), Some(new)) => {
                now + span((left * u128::from(old.get())).div_ceil(u128::from(new.get())))
            }
            _ => now,
        };
    }
}

/// How long `units` take to drain at `rate`. Rounded up, unlike the times of [`Rates`], so that
/// nothing passes before its time.
fn time_of(units: u64, rate: NonZeroU64) -> Span {
    span((u128::from(units) * SECOND).div_ceil(u128::from(rate.get())))
}

fn span(ns: u128) -> Span {
    Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use fairdisk_core::Prng;

    const fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    fn iops(rate: u64) -> Rates {
        Rates { iops: NonZeroU64::new(rate), ..Rates::NONE }
    }

    const IO: Amount = Amount { ios: 1, bytes: 4096 };

    /// The times at which I/Os pass, in ms, if each must find room for `room`.
    fn passes(
        ceiling: &mut Ceiling,
        (rates, burst_ms): (&Rates, u64),
        room: Amount,
        (from, to): (u64, u64),
    ) -> Vec<u64> {
        let mut passed = Vec::new();
        for ms in from..to {
            while ceiling.ready_at(rates, Span::from_ms(burst_ms), room) <= at(ms) {
                ceiling.pass(at(ms), rates, IO);
                passed.push(ms);
            }
        }
        passed
    }

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate() {
        // Three I/Os fill the burst. If an I/O needs no room, a fourth one overfills it.
        for (room, fills) in [(IO, 3), (Amount::NONE, 4)] {
            let (mut ceiling, rates) = (Ceiling::EMPTY, iops(100));
            let first = passes(&mut ceiling, (&rates, 30), room, (0, 35));
            assert_eq!(first[..fills], [0, 0, 0, 0][..fills]);
            assert_eq!(first[fills..], [10, 20, 30]);
            // After a pause, no more than one burst has been saved up.
            let later = passes(&mut ceiling, (&rates, 30), room, (500, 511));
            assert_eq!(later[..fills], [500, 500, 500, 500][..fills]);
            assert_eq!(later[fills..], [510]);
        }
    }

    #[test]
    fn what_is_longer_than_the_burst_passes_when_all_before_has_leaked_out() {
        let (mut ceiling, rates) = (Ceiling::EMPTY, iops(100));
        assert_eq!(passes(&mut ceiling, (&rates, 3), IO, (0, 25)), [0, 10, 20]);
    }

    #[test]
    fn the_stricter_rate_decides() {
        let mut ceiling = Ceiling::EMPTY;
        let rates = Rates { bytes_per_s: NonZeroU64::new(4096 * 50), ..iops(100) };
        assert_eq!(passes(&mut ceiling, (&rates, 0), IO, (0, 50)), [0, 20, 40]);
    }

    #[test]
    fn each_rate_counts_what_it_limits() {
        // The small I/O takes 10 ms by I/Os and 1 ms by bytes, the large one 10 and 19: both
        // together 20.
        let rates = Rates { bytes_per_s: NonZeroU64::new(1_000_000), ..iops(100) };
        let (mut ceiling, mut now) = (Ceiling::EMPTY, Instant::ZERO);
        for round in 0..10 {
            for bytes in [1_000, 19_000] {
                let amount = Amount { ios: 1, bytes };
                now = now.max(ceiling.ready_at(&rates, Span::from_ms(20), amount));
                assert!(now <= at(20 * round), "{round}: {now}");
                ceiling.pass(now, &rates, amount);
            }
        }
    }

    #[test]
    fn what_is_done_together_is_no_further_ahead_than_a_burst() {
        let (rates, mut prng) = (iops(100), Prng::new(1));
        for burst_ms in [0, 5, 10, 25, 100] {
            let burst = Span::from_ms(burst_ms);
            let [mut let_go, mut done, mut measure] = [Ceiling::EMPTY; 3];
            let mut there: Vec<u64> = Vec::new();
            let (mut count, mut most) = (0, Span::ZERO);
            for ms in 0..20_000 {
                let now = at(ms);
                for _ in there.extract_if(.., |done_at| *done_at <= ms) {
                    done.pass(now, &rates, IO);
                    measure.pass(now, &rates, IO);
                    most = most.max(measure.ios.empty_at.since(now));
                    count += 1;
                }
                let held = Amount { ios: there.len() as u64, bytes: 0 };
                let beside = done.ready_beside(now, (&rates, burst), held, IO);
                if let_go.ready_at(&rates, burst, IO).max(beside) <= now {
                    let_go.pass(now, &rates, IO);
                    there.push(ms + 1 + prng.below(60));
                }
            }
            assert!(most <= burst.max(Span::from_ms(20)), "{burst_ms}: {most}");
            // A burst that covers a request's time at the device suffices to reach the full rate.
            assert!(count >= if burst_ms >= 100 { 1950 } else { 400 }, "{burst_ms}: {count}");
        }
    }

    #[test]
    fn merging_stops_where_two_requests_fill_the_burst() {
        let rates = Rates { bytes_per_s: NonZeroU64::new(1_000_000), ..iops(100) };
        let may =
            |ios, bytes| Ceiling::may_grow_to(&rates, Span::from_ms(80), Amount { ios, bytes });
        assert!(may(4, 40_000));
        assert!(!may(5, 40_000) && !may(4, 40_001));
        assert!(Ceiling::may_grow_to(&Rates::NONE, Span::ZERO, Amount { ios: 9, bytes: 1 << 20 }));
    }

    #[test]
    fn what_was_done_counts_at_the_new_rate() {
        let (mut ceiling, slow, fast) = (Ceiling::EMPTY, iops(1), iops(50));
        ceiling.pass(at(0), &slow, IO);
        assert_eq!(ceiling.ready_at(&slow, Span::ZERO, IO), at(1000));
        ceiling.change(at(500), &slow, &fast);
        // Half a request was left in the bucket, which now drains at 50 per second.
        assert_eq!(ceiling.ready_at(&fast, Span::ZERO, IO), at(510));
        ceiling.change(at(500), &fast, &Rates::NONE);
        assert_eq!(ceiling.ready_at(&Rates::NONE, Span::ZERO, IO), Instant::ZERO);
    }
}

//! Ceilings as leaky buckets. Whatever a group does fills its buckets, which drain at the rate of
//! the ceiling. There is one bucket for each limit, and all must have room. (Turner,
//! "New directions in communications", 1986; represented by the time at which a bucket will be
//! empty, this is the generic cell rate algorithm of ITU-T I.371.)
//!
//! What a ceiling promises, whoever keeps it: in any stretch of time a group gets no more than its
//! ceiling allows for that time, and one burst. A burst holds two requests, as they are submitted,
//! at least: one that has just been done and one on its way, without which the device would stand
//! idle for the group between two requests. Merging makes no request that takes more than half of
//! the burst, so two of them are no more than it holds either.

use core::num::NonZeroU64;
use fairdisk_core::{Bio, Counts, Instant, LIMITS, Limit, Op, Qos, Span, counted_ios};

const SECOND: u128 = 1_000_000_000;

/// How soon to look again when the requests in flight leave no room: it is not known when one of
/// them will complete.
const LOOK_AGAIN_AFTER: Span = Span::from_us(100);

/// How full the buckets of a group are: one for each of its [limits](Qos::limits).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceiling([Bucket; LIMITS]);

/// How full one bucket is, expressed as the time at which it will be empty.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    empty_at: Instant,
}

/// An amount of I/O that goes into the buckets. A long request counts as
/// [several I/Os](counted_ios).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    /// Those of the I/Os and bytes that are read.
    pub(crate) read_ios: u64,
    pub(crate) read_bytes: u64,
}

impl Amount {
    /// Nothing. There is room for it in every bucket that is not overfull.
    pub(crate) const NONE: Self = Self { ios: 0, bytes: 0, read_ios: 0, read_bytes: 0 };

    /// What `bios` bios of an operation are, which have `bytes` bytes together.
    pub(crate) const fn new(op: Op, bios: u64, bytes: u64) -> Self {
        let ios = counted_ios(bios, bytes);
        let (read_ios, read_bytes) = if matches!(op, Op::Read) { (ios, bytes) } else { (0, 0) };
        Self { ios, bytes, read_ios, read_bytes }
    }

    /// Adds `other`.
    pub(crate) const fn add(&mut self, other: Self) {
        (self.ios, self.bytes) = (self.ios + other.ios, self.bytes + other.bytes);
        self.read_ios += other.read_ios;
        self.read_bytes += other.read_bytes;
    }

    /// What a bio is.
    pub(crate) const fn of(bio: &Bio) -> Self {
        Self::new(bio.op, 1, bio.sectors.bytes())
    }

    /// This and `other` together.
    pub(crate) const fn and(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    /// Subtracts `other`.
    pub(crate) const fn take(&mut self, other: Self) {
        (self.ios, self.bytes) = (self.ios - other.ios, self.bytes - other.bytes);
        self.read_ios -= other.read_ios;
        self.read_bytes -= other.read_bytes;
    }

    /// How much of it a limit counts.
    const fn counted(&self, limit: &Limit) -> u64 {
        match limit.counts {
            Counts::Ios => self.ios,
            Counts::Bytes => self.bytes,
            Counts::ReadIos => self.read_ios,
            Counts::ReadBytes => self.read_bytes,
            Counts::WriteIos => self.ios - self.read_ios,
            Counts::WriteBytes => self.bytes - self.read_bytes,
        }
    }

    /// Whether the limit is about it at all.
    const fn concerns(&self, limit: &Limit) -> bool {
        match limit.counts {
            Counts::Ios | Counts::Bytes => true,
            Counts::ReadIos | Counts::ReadBytes => self.read_ios > 0,
            Counts::WriteIos | Counts::WriteBytes => self.ios > self.read_ios,
        }
    }
}

impl Ceiling {
    /// Empty buckets.
    pub(crate) const EMPTY: Self = Self([Bucket { empty_at: Instant::ZERO }; LIMITS]);

    /// The buckets that limits of `qos` have, with these.
    fn limited(&self, qos: &Qos) -> impl Iterator<Item = (&Bucket, Limit)> {
        self.0.iter().zip(qos.limits()).filter_map(|(bucket, limit)| Some((bucket, limit?)))
    }

    /// When the buckets have room for `amount`. A bucket holds what drains in the burst of its
    /// limit; a larger amount has room once the bucket is empty.
    pub(crate) fn ready_at(&self, qos: &Qos, amount: Amount) -> Instant {
        let limited = self.limited(qos).filter(|(_, limit)| amount.concerns(limit));
        let ready = limited.map(|(bucket, limit)| {
            bucket.ready_at(limit.rate, limit.burst, amount.counted(&limit))
        });
        ready.max().unwrap_or(Instant::ZERO)
    }

    /// When the buckets have room for `next` while `there` is still in flight, for buckets that are
    /// filled as requests complete. What is in flight cannot drain yet; if it completes later, the
    /// returned time moves back too. If there is no room now, the result is at least
    /// [`LOOK_AGAIN_AFTER`] away. A bucket holds a burst, or two requests like `next` if these take
    /// longer.
    pub(crate) fn ready_beside(
        &self,
        now: Instant,
        qos: &Qos,
        there: Amount,
        next: Amount,
    ) -> Instant {
        let of = |(bucket, limit): (&Bucket, Limit)| {
            let Limit { rate, burst, .. } = limit;
            let [there, next] = [there, next].map(|amount| amount.counted(&limit));
            let one = time_of(next, rate);
            let most = burst.max(one + one);
            let full = bucket.empty_at.max(now) + time_of(there + next, rate);
            let at = Instant::from_ns(full.as_ns().saturating_sub(most.as_ns()));
            if at > now { at.max(now + LOOK_AGAIN_AFTER) } else { at }
        };
        let limited = self.limited(qos).filter(|(_, limit)| next.concerns(limit));
        limited.map(of).max().unwrap_or(Instant::ZERO)
    }

    /// Whether a request may become as large as `amount` by merging: two like that fit into a
    /// burst.
    pub(crate) fn may_grow_to(qos: &Qos, amount: Amount) -> bool {
        qos.limits()
            .iter()
            .flatten()
            .all(|limit| time_of(2 * amount.counted(limit), limit.rate) <= limit.burst)
    }

    /// When the last bucket will be empty.
    pub(crate) fn empty_at(&self, qos: &Qos) -> Instant {
        self.limited(qos).map(|(bucket, _)| bucket.empty_at).max().unwrap_or(Instant::ZERO)
    }

    /// Fills the buckets with `amount` at `now`.
    pub(crate) fn pass(&mut self, now: Instant, qos: &Qos, amount: Amount) {
        for (bucket, limit) in self.0.iter_mut().zip(qos.limits()) {
            if let Some(limit) = limit {
                bucket.pour(now, limit.rate, amount.counted(&limit));
            }
        }
    }

    /// Replaces the limits; what the buckets hold is kept. What a peak allowed is not owed once the
    /// peak is gone or smaller.
    pub(crate) fn change(&mut self, now: Instant, old: &Qos, new: &Qos) {
        let limits = old.limits().into_iter().zip(new.limits());
        for (bucket, limits) in self.0.iter_mut().zip(limits) {
            let (Some(before), Some(after)) = limits else {
                bucket.empty_at = now;
                continue;
            };
            bucket.change(now, before.rate, after.rate);
            if !old.peak.is_none() && after.burst < before.burst {
                bucket.empty_at = bucket.empty_at.min(now + after.burst);
            }
        }
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

    fn change(&mut self, now: Instant, old: NonZeroU64, new: NonZeroU64) {
        let left = u128::from(self.empty_at.since(now).as_ns()) * u128::from(old.get());
        self.empty_at = now + span(left.div_ceil(u128::from(new.get())));
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
    use fairdisk_core::{Prng, Rates};

    const fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    fn iops(rate: u64) -> Rates {
        Rates { iops: NonZeroU64::new(rate), ..Rates::NONE }
    }

    /// A group with a ceiling of these rates, and this burst in ms.
    fn capped(ceiling: Rates, burst_ms: u64) -> Qos {
        Qos { ceiling, burst: Span::from_ms(burst_ms), ..Qos::NONE }
    }

    const fn io(ios: u64, bytes: u64) -> Amount {
        Amount { ios, bytes, ..Amount::NONE }
    }

    const IO: Amount = io(1, 4096);

    /// The times at which I/Os pass, in ms, if each must find room for `room`.
    fn passes(
        ceiling: &mut Ceiling,
        (rates, burst_ms): (Rates, u64),
        room: Amount,
        (from, to): (u64, u64),
    ) -> Vec<u64> {
        let (mut passed, qos) = (Vec::new(), capped(rates, burst_ms));
        for ms in from..to {
            while ceiling.ready_at(&qos, room) <= at(ms) {
                ceiling.pass(at(ms), &qos, IO);
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
            let first = passes(&mut ceiling, (rates, 30), room, (0, 35));
            assert_eq!(first[..fills], [0, 0, 0, 0][..fills]);
            assert_eq!(first[fills..], [10, 20, 30]);
            // After a pause, no more than one burst has been saved up.
            let later = passes(&mut ceiling, (rates, 30), room, (500, 511));
            assert_eq!(later[..fills], [500, 500, 500, 500][..fills]);
            assert_eq!(later[fills..], [510]);
        }
    }

    #[test]
    fn what_is_longer_than_the_burst_passes_when_all_before_has_leaked_out() {
        let (mut ceiling, rates) = (Ceiling::EMPTY, iops(100));
        assert_eq!(passes(&mut ceiling, (rates, 3), IO, (0, 25)), [0, 10, 20]);
    }

    #[test]
    fn the_stricter_rate_decides() {
        let mut ceiling = Ceiling::EMPTY;
        let rates = Rates { bytes_per_s: NonZeroU64::new(4096 * 50), ..iops(100) };
        assert_eq!(passes(&mut ceiling, (rates, 0), IO, (0, 50)), [0, 20, 40]);
    }

    #[test]
    fn each_rate_counts_what_it_limits() {
        // The small I/O takes 10 ms by I/Os and 1 ms by bytes, the large one 10 and 19: both
        // together 20.
        let rates = Rates { bytes_per_s: NonZeroU64::new(1_000_000), ..iops(100) };
        let (mut ceiling, mut now) = (Ceiling::EMPTY, Instant::ZERO);
        let qos = capped(rates, 20);
        for round in 0..10 {
            for bytes in [1_000, 19_000] {
                let amount = io(1, bytes);
                now = now.max(ceiling.ready_at(&qos, amount));
                assert!(now <= at(20 * round), "{round}: {now}");
                ceiling.pass(now, &qos, amount);
            }
        }
    }

    #[test]
    fn what_is_done_together_is_no_further_ahead_than_a_burst() {
        let mut prng = Prng::new(1);
        for burst_ms in [0, 5, 10, 25, 100] {
            let (qos, burst) = (capped(iops(100), burst_ms), Span::from_ms(burst_ms));
            let [mut let_go, mut done, mut measure] = [Ceiling::EMPTY; 3];
            let mut there: Vec<u64> = Vec::new();
            let (mut count, mut most) = (0, Span::ZERO);
            for ms in 0..20_000 {
                let now = at(ms);
                for _ in there.extract_if(.., |done_at| *done_at <= ms) {
                    done.pass(now, &qos, IO);
                    measure.pass(now, &qos, IO);
                    most = most.max(measure.0[0].empty_at.since(now));
                    count += 1;
                }
                let held = io(there.len() as u64, 0);
                let beside = done.ready_beside(now, &qos, held, IO);
                if let_go.ready_at(&qos, IO).max(beside) <= now {
                    let_go.pass(now, &qos, IO);
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
        let may = |ios, bytes| Ceiling::may_grow_to(&capped(rates, 80), io(ios, bytes));
        assert!(may(4, 40_000));
        assert!(!may(5, 40_000) && !may(4, 40_001));
        assert!(Ceiling::may_grow_to(&Qos::NONE, io(9, 1 << 20)));
    }

    #[test]
    fn what_was_done_counts_at_the_new_rate() {
        let [slow, fast] = [1, 50].map(|rate| capped(iops(rate), 0));
        let mut ceiling = Ceiling::EMPTY;
        ceiling.pass(at(0), &slow, IO);
        assert_eq!(ceiling.ready_at(&slow, IO), at(1000));
        ceiling.change(at(500), &slow, &fast);
        // Half a request was left in the bucket, which now drains at 50 per second.
        assert_eq!(ceiling.ready_at(&fast, IO), at(510));
        ceiling.change(at(500), &fast, &Qos::NONE);
        assert_eq!(ceiling.ready_at(&Qos::NONE, IO), Instant::ZERO);
    }

    #[test]
    fn nothing_is_owed_for_a_peak_that_is_gone() {
        let plain = capped(iops(100), 100);
        let peak = Qos { peak: iops(500), peak_for: Span::from_s(60), ..plain };
        let mut ceiling = Ceiling::EMPTY;
        (0..10_000).for_each(|_| ceiling.pass(at(0), &peak, IO));
        ceiling.change(at(0), &peak, &plain);
        assert_eq!(ceiling.ready_at(&plain, IO), at(10));
    }

    /// Writes wait for their own ceiling, and reads pass.
    #[test]
    fn reads_and_writes_may_have_ceilings_of_their_own() {
        let qos = Qos { write_ceiling: iops(10), burst: Span::ZERO, ..Qos::NONE };
        let [read, write] = [Op::Read, Op::Write].map(|op| Amount::new(op, 1, 4096));
        let mut ceiling = Ceiling::EMPTY;
        ceiling.pass(at(0), &qos, write);
        ceiling.pass(at(0), &qos, read);
        let ready = [read, write].map(|amount| ceiling.ready_at(&qos, amount));
        assert_eq!(ready, [Instant::ZERO, at(100)]);
        assert_eq!(ceiling.ready_beside(at(0), &qos, write, read), Instant::ZERO);
    }

    /// 100 a second for long, and 500 for two seconds of bursts: it takes so long to save up for
    /// another one.
    #[test]
    fn a_burst_has_a_rate_of_its_own() {
        let peak = iops(500);
        let qos = Qos { peak, peak_for: Span::from_s(2), ..capped(iops(100), 0) };
        let (mut ceiling, mut counts) = (Ceiling::EMPTY, [0; 12]);
        // It does nothing in the third and fourth second.
        for ms in (0..2_000).chain(4_000..12_000) {
            while ceiling.ready_at(&qos, IO) <= at(ms) {
                ceiling.pass(at(ms), &qos, IO);
                counts[ms as usize / 1000] += 1;
            }
        }
        // In the pause it has saved up 200, and so it is up to the 800 again after 6 s more.
        assert_eq!(counts, [500, 499, 0, 0, 300, 100, 100, 100, 100, 100, 100, 100]);
    }

    #[test]
    fn a_long_request_counts_as_several() {
        let read = |bytes| Amount::new(Op::Read, 1, bytes).ios;
        assert_eq!([4 << 10, 512 << 10, 1 << 20].map(read), [1, 1, 2]);
    }
}

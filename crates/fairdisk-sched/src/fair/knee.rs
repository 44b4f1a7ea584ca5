//! The knee: how much work keeps all of a device busy, for a device without a cost model.
//!
//! Up to the knee, more requests make a device do more; beyond it they only wait for each other. So
//! while a group is held back for another, the work at the device is limited, and the limit is
//! searched for: lowered as long as the device does about as much as in between, while nobody is
//! held back, and raised as soon as it does less. Both are means: on a busy host the throughput of
//! some milliseconds, and the time of a request, say more of who had the CPUs than of the device.

use super::mean::Mean;
use fairdisk_core::{Instant, Span};

/// A look covers at least 64 requests and 5 ms: enough for a stable mean, and short beside changes
/// of the load.
const LOOK_REQUESTS: u32 = 64;
const LOOK_TIME: Span = Span::from_ms(5);
/// In one look out of 8 no group is held back: finding the throughput takes an eighth of the time.
const OPEN_LOOK_EVERY: u32 = 8;
/// The limit is changed after as many looks with it as there are between two without.
const LOOKS_JUDGED: u8 = OPEN_LOOK_EVERY as u8 - 1;
/// An eighth less than without a limit is about as much.
const LESS_PARTS: u64 = 8;
/// The limit is lowered by an eighth at a time.
const STEP_PARTS: u64 = 8;
/// The limit is at least a thirty-second of what is there without it, so that it is soon high again
/// when others come.
const LIMIT_PARTS_MOST: u64 = 32;
/// With each look the highest throughput decays by a sixty-fourth, so that an old extreme fades
/// within some hundred looks.
const DECAY_PARTS: u64 = 64;
/// The time over which throughput is stated, about a millisecond: fine enough for any cost.
const THROUGHPUT_TIME: Span = Span::from_ns(1 << 20);

/// The search for the knee.
#[derive(Debug, Default)]
pub(super) struct Knee {
    began: Instant,
    looks: u32,
    requests: u32,
    /// The total cost of the requests completed in this look, and the most that was at the device.
    cost: Span,
    peak: Span,
    /// Whether a group was ahead of one for which it makes room, in this look.
    is_contended: bool,
    /// Whether groups were held back in this look for another reason, so that it does not show what
    /// the device can do.
    is_held_back: bool,
    /// The highest throughput, as the cost done in `THROUGHPUT_TIME`.
    most: Span,
    /// The mean throughput while nobody is held back though there is a reason, and since the limit
    /// was last changed.
    open: Mean<4>,
    limited: Mean<LOOKS_JUDGED>,
    /// How much work may be at the device before groups are held back; zero while unknown.
    limit: Span,
}

impl Knee {
    /// Accounts for a completed request of the given cost, while work of the cost `at_work` was at
    /// the device with it.
    pub(super) fn completed(&mut self, now: Instant, cost: Span, at_work: Span) {
        self.requests += 1;
        self.cost += cost;
        self.peak = self.peak.max(at_work);
        let elapsed = now.since(self.began);
        if self.requests >= LOOK_REQUESTS && elapsed >= LOOK_TIME {
            self.end_look(elapsed);
            self.began = now;
        }
    }

    fn end_look(&mut self, elapsed: Span) {
        let done = self.cost.scaled(THROUGHPUT_TIME.as_ns(), elapsed.as_ns());
        let forgotten = if self.is_held_back { Span::ZERO } else { self.most / DECAY_PARTS };
        self.most = (self.most - forgotten).max(done);
        if self.is_contended && !self.is_held_back {
            self.compare(done);
        }
        self.looks = self.looks.wrapping_add(1);
        (self.requests, self.cost, self.peak) = (0, Span::ZERO, Span::ZERO);
        (self.is_contended, self.is_held_back) = (false, false);
    }

    /// Adjusts the limit after a look in which it mattered.
    fn compare(&mut self, done: Span) {
        if self.is_open() {
            self.open.add(done);
            self.limit = match self.limit {
                Span::ZERO => self.peak,
                limit => limit.clamp(self.peak / LIMIT_PARTS_MOST, self.peak),
            };
            return;
        }
        self.limited.add(done);
        if self.limited.samples() < LOOKS_JUDGED {
            return;
        }
        let (open, limited) = (self.open.or_zero(), self.limited.or_zero());
        self.limited = Mean::default();
        if limited >= open - open / LESS_PARTS {
            self.limit = self.limit - self.limit / STEP_PARTS;
        } else if limited >= open / 2 {
            self.limit += self.limit / (STEP_PARTS - 1);
        } else {
            self.limit += self.limit;
        }
    }

    /// Whether nobody is held back, to see what the device does then.
    const fn is_open(&self) -> bool {
        self.looks.is_multiple_of(OPEN_LOOK_EVERY)
    }

    /// Notes that a group is ahead of one for which it makes room.
    pub(super) const fn contend(&mut self) {
        self.is_contended = true;
    }

    /// Notes that a group is held back for a reason other than the knee.
    pub(super) const fn hold_back(&mut self) {
        self.is_held_back = true;
    }

    /// How long the whole device takes for this cost at its highest throughput, if that is known.
    pub(super) fn time_of(&self, cost: Span) -> Option<Span> {
        let most = self.most.as_ns();
        (most > 0).then(|| cost.scaled(THROUGHPUT_TIME.as_ns(), most))
    }

    /// Whether requests of this total cost at the device have reached the knee.
    pub(super) fn is_passed(&self, at_work: Span) -> bool {
        self.limit > Span::ZERO && !self.is_open() && at_work >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;

    const COST: Span = Span::from_us(250);
    const STEPS: u64 = 400_000;

    /// Simulates a device of four units that take 1 ms each, with up to `depth` requests as far as
    /// the knee lets them through. On a busy host it does up to two thirds more or less for 20 ms
    /// at a time. Returns the mean limit in the second half, in tenths of a request. A limit above
    /// three lets four be there.
    fn settled(depth: u64, is_busy_host: bool) -> u64 {
        let (mut knee, mut prng) = (Knee::default(), Prng::new(1));
        let (mut now, mut at_device, mut percent) = (Instant::ZERO, depth, 100);
        let mut sum = 0;
        for step in 0..STEPS {
            if is_busy_host && step % 80 == 0 {
                percent = prng.between(33, 167);
            }
            now += Span::from_us(10 * percent / at_device.min(4));
            knee.contend();
            knee.completed(now, COST, Span::from_us(250 * at_device));
            at_device -= 1;
            while at_device < depth && !knee.is_passed(Span::from_us(250 * at_device)) {
                at_device += 1;
            }
            sum += if step >= STEPS / 2 { knee.limit.as_us() } else { 0 };
        }
        10 * sum / (STEPS / 2 * COST.as_us())
    }

    #[test]
    fn it_finds_how_many_keep_four_units_busy() {
        let settled = [64, 8, 2].map(|depth| settled(depth, false));
        assert!((27..50).contains(&settled[0]), "{settled:?}");
        assert!((27..50).contains(&settled[1]), "{settled:?}");
        assert!((8..=20).contains(&settled[2]), "{settled:?}");
    }

    #[test]
    fn it_finds_them_on_a_busy_host() {
        let settled = settled(64, true);
        assert!((27..80).contains(&settled), "{settled}");
    }
}

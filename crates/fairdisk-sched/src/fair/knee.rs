//! The knee: how much work keeps all of a device busy, for a device without a cost model.
//!
//! Up to the knee, more requests make a device do more, and each takes as long as alone; beyond it
//! they wait for each other. The knee is the highest throughput times the shortest time of a
//! request (Kleinrock, "Power and deterministic rules of thumb", 1979; Cardwell and others, "BBR:
//! Congestion-based congestion control", 2016). Both are measured continuously. The throughput
//! shows only while no group is held back, the shortest time only while some are, so the two take
//! turns.

use fairdisk_core::{Instant, Span};

/// A look covers at least 64 requests and 5 ms: enough for a stable mean, and short beside changes
/// of the load.
const LOOK_REQUESTS: u32 = 64;
const LOOK_TIME: Span = Span::from_ms(5);
/// In one look out of 8 no group is held back: finding the throughput takes an eighth of the time.
const OPEN_LOOK_EVERY: u32 = 8;
/// With each look the highest throughput decays, and the shortest time grows, by a sixty-fourth, so
/// that an old extreme fades within some hundred looks.
const DECAY_PARTS: u64 = 64;
/// Fixed-point scale of throughput: cost per time, in parts of 2^20, fine enough for any ratio.
const THROUGHPUT_SCALE: u64 = 1 << 20;

/// The search for the knee.
#[derive(Debug, Default)]
pub(super) struct Knee {
    began: Instant,
    looks: u32,
    requests: u32,
    /// The total cost of the requests completed in this look, and their total time at the device.
    cost: Span,
    took: Span,
    /// The highest throughput, as cost per time in parts of `THROUGHPUT_SCALE`, and the shortest
    /// mean time.
    most: u64,
    least: Option<Span>,
    /// Whether groups were held back in this look for another reason, so that it cannot lower the
    /// throughput.
    held_back: bool,
}

impl Knee {
    /// Accounts for a completed request of the given cost that was at the device for `took`.
    pub(super) fn completed(&mut self, now: Instant, cost: Span, took: Span) {
        self.requests += 1;
        self.cost += cost;
        self.took += took;
        let elapsed = now.since(self.began);
        if self.requests < LOOK_REQUESTS || elapsed < LOOK_TIME {
            return;
        }
        let done = self.cost.scaled(THROUGHPUT_SCALE, elapsed.as_ns()).as_ns();
        let mean = self.took / u64::from(self.requests);
        let forgotten = if self.held_back { 0 } else { self.most / DECAY_PARTS };
        self.most = (self.most - forgotten).max(done);
        let before = self.least.map(|least| least + least / DECAY_PARTS);
        self.least = Some(before.map_or(mean, |before| before.min(mean)));
        self.looks = self.looks.wrapping_add(1);
        (self.began, self.requests, self.cost, self.took) = (now, 0, Span::ZERO, Span::ZERO);
        self.held_back = false;
    }

    /// Notes that a group is held back for a reason other than the knee.
    pub(super) const fn hold_back(&mut self) {
        self.held_back = true;
    }

    /// How long the whole device takes for this cost at its highest throughput, if that is known.
    pub(super) fn time_of(&self, cost: Span) -> Option<Span> {
        (self.most > 0).then(|| cost.scaled(THROUGHPUT_SCALE, self.most))
    }

    /// Whether requests of this total cost at the device have reached the knee.
    pub(super) fn is_passed(&self, at_work: Span) -> bool {
        let Some(least) = self.least.filter(|_| !self.looks.is_multiple_of(OPEN_LOOK_EVERY)) else {
            return false;
        };
        let knee = u128::from(self.most) * u128::from(least.as_ns()) / u128::from(THROUGHPUT_SCALE);
        // An eighth below the knee: held back at the knee itself, a load that is too high would
        // confirm it.
        u128::from(at_work.as_ns()) * 8 >= knee * 7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a device of four units that take 1 ms each, with up to `depth` requests as far as
    /// the knee lets them through. Returns the fewest requests at the device in the second half.
    fn settled(depth: u64) -> u64 {
        let mut knee = Knee::default();
        let (mut now, mut at_device, mut fewest) = (Instant::ZERO, depth, depth);
        for step in 0..20_000 {
            // With four requests there, one completes each quarter of a millisecond.
            let busy = at_device.min(4);
            now += Span::from_us(1000 / busy);
            let took = Span::from_us(250 * at_device.max(4));
            knee.completed(now, Span::from_us(250), took);
            at_device -= 1;
            while at_device < depth && !knee.is_passed(Span::from_us(250 * at_device)) {
                at_device += 1;
            }
            if step > 10_000 {
                fewest = fewest.min(at_device);
            }
        }
        fewest
    }

    #[test]
    fn it_finds_how_many_keep_four_units_busy() {
        assert!((4..8).contains(&settled(64)), "{}", settled(64));
        assert_eq!(settled(4), 4);
        assert_eq!(settled(2), 2);
    }
}

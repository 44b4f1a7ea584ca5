//! With how much to do all of a device is at work, where nobody has said it.
//!
//! Up to some point more requests make a device do more, and each takes as long as alone; beyond it
//! they wait for each other. That point is the most that the device does, times the least that
//! requests take (Kleinrock, "Power and deterministic rules of thumb", 1979; Cardwell and others,
//! "BBR: Congestion-based congestion control", 2016). Both are looked for all the time: the one
//! shows while nobody is held back, the other while somebody is, so they take turns.

use fairdisk_core::{Instant, Span};

/// Requests and time that are looked at together.
const REQUESTS: u32 = 64;
const TIME: Span = Span::from_ms(5);
/// Nobody is held back in one of so many looks.
const LOOKS: u32 = 8;
/// What was seen last counts most: the most becomes less, and the least more, by one in so many
/// parts with each look.
const MEMORY: u64 = 64;
/// The most is counted in so many parts of what all of a device costs.
const WHOLE: u64 = 1 << 20;

/// The search for it.
#[derive(Debug, Default)]
pub(super) struct Knee {
    began: Instant,
    looks: u32,
    requests: u32,
    /// What requests cost that completed in this look, and what they took.
    cost: Span,
    took: Span,
    /// The most that completed, of `WHOLE`, and the least that requests took.
    most: u64,
    least: Option<Span>,
    /// Others were held back in this look for something else, so that the most did not show.
    held_back: bool,
}

impl Knee {
    /// A request that cost so much completed, and was at the device for so long.
    pub(super) fn completed(&mut self, now: Instant, cost: Span, took: Span) {
        self.requests += 1;
        self.cost += cost;
        self.took += took;
        let elapsed = now.since(self.began);
        if self.requests < REQUESTS || elapsed < TIME {
            return;
        }
        let done = self.cost.scaled(WHOLE, elapsed.as_ns()).as_ns();
        let mean = self.took / u64::from(self.requests);
        let forgotten = if self.held_back { 0 } else { self.most / MEMORY };
        self.most = (self.most - forgotten).max(done);
        let before = self.least.map(|least| least + least / MEMORY);
        self.least = Some(before.map_or(mean, |before| before.min(mean)));
        self.looks = self.looks.wrapping_add(1);
        (self.began, self.requests, self.cost, self.took) = (now, 0, Span::ZERO, Span::ZERO);
        self.held_back = false;
    }

    /// Somebody is held back now for something else than this.
    pub(super) const fn hold_back(&mut self) {
        self.held_back = true;
    }

    /// How long all of the device takes for such a cost, if that was seen.
    pub(super) fn time_of(&self, cost: Span) -> Option<Span> {
        (self.most > 0).then(|| cost.scaled(WHOLE, self.most))
    }

    /// Whether it has come to that with requests of such a cost at the device.
    pub(super) fn is_passed(&self, at_work: Span) -> bool {
        let Some(least) = self.least.filter(|_| !self.looks.is_multiple_of(LOOKS)) else {
            return false;
        };
        let knee = u128::from(self.most) * u128::from(least.as_ns()) / u128::from(WHOLE);
        // A little below: else what is held back would never be less than it was.
        u128::from(at_work.as_ns()) * 8 >= knee * 7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of four units that take 1 ms, with as many requests as are let through of `depth`:
    /// the fewest that were there at the end.
    fn settled(depth: u64) -> u64 {
        let mut knee = Knee::default();
        let (mut now, mut at_device, mut fewest) = (Instant::ZERO, depth, depth);
        for step in 0..20_000 {
            // One completes each quarter of a millisecond, if four are there.
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

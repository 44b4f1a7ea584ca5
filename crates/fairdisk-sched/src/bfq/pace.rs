//! The maximum budget: how many sectors the device transfers in the longest turn
//! (Documentation/block/bfq-iosched.rst, max_budget).

use fairdisk_core::Span;

/// Maximum budget in sectors until the device's rate is known.
const UNKNOWN: u64 = 16 * 1024;
/// Number of observed turns after which the device's rate is known.
const TURNS: u32 = 32;
/// Turns shorter than this say too little about the rate and are not observed.
const SHORT: Span = Span::from_ms(5);
const LEAST: u64 = 32;

/// An estimate of the highest rate the device reaches over a turn.
#[derive(Debug)]
pub(super) struct Pace {
    fixed: u64,
    timeout: Span,
    peak_per_s: u64,
    turns: u32,
}

impl Pace {
    /// With `fixed` not 0, the maximum budget is `fixed` sectors; with 0, it is what the device
    /// transfers in `timeout`.
    pub(super) const fn new(fixed: u32, timeout: Span) -> Self {
        Self { fixed: fixed as u64, timeout, peak_per_s: 0, turns: 0 }
    }

    /// Updates the estimate after a turn of length `span` that served `sectors` sectors.
    pub(super) const fn observe(&mut self, sectors: u64, span: Span) {
        if sectors == 0 || span.as_ns() < SHORT.as_ns() {
            return;
        }
        let rate = sectors.saturating_mul(1_000_000_000) / span.as_ns();
        self.turns = self.turns.saturating_add(1);
        if rate > self.peak_per_s {
            self.peak_per_s = rate;
        } else if rate > self.peak_per_s / 3 * 2 {
            self.peak_per_s = (7 * self.peak_per_s + rate) / 8;
        }
    }

    /// The maximum budget in sectors.
    pub(super) fn budget_max(&self) -> u64 {
        match self.fixed {
            0 if self.turns < TURNS => UNKNOWN,
            0 => (self.peak_per_s.saturating_mul(self.timeout.as_ms()) / 1000).max(LEAST),
            fixed => fixed,
        }
    }

    /// The minimum budget in sectors.
    pub(super) fn budget_min(&self) -> u64 {
        let most = self.budget_max();
        (most / 32).max(8).min(most)
    }

    /// The sectors that the device would transfer in `span`, or in the longest turn if that is
    /// shorter, at the highest rate seen.
    pub(super) fn worth(&self, span: Span) -> u64 {
        self.peak_per_s.saturating_mul(span.min(self.timeout).as_us()) / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_budget_is_what_the_device_does_in_the_longest_turn() {
        let mut pace = Pace::new(0, Span::from_ms(125));
        for _ in 0..TURNS {
            assert_eq!(pace.budget_max(), UNKNOWN);
            pace.observe(16_000, Span::from_ms(100));
        }
        assert_eq!(pace.budget_max(), 20_000);
        pace.observe(8_000, Span::from_ms(100));
        assert_eq!(pace.budget_max(), 20_000, "a slow task says nothing about the device");
        assert_eq!(pace.worth(Span::from_ms(50)), 8_000);
        assert_eq!(pace.worth(Span::from_s(1)), 20_000);
        assert_eq!(Pace::new(500, Span::from_ms(125)).budget_max(), 500);
    }
    #[test]
    fn the_smallest_budget_is_no_larger_than_the_largest() {
        for fixed in [1, 7, 8, 9, 1000] {
            let pace = Pace::new(fixed, Span::from_ms(125));
            assert!((1..=pace.budget_max()).contains(&pace.budget_min()), "{fixed}");
        }
    }
}

//! How fast the model of a device runs: what passes while requests of so much cost complete.
//!
//! Where some tasks are charged the time that passes and others what the model says, a device that
//! is slower or faster than its model would favour one or the other. Nobody else needs it: what all
//! are charged alike may be in any unit.

use fairdisk_core::{Instant, Span};

/// What was seen longer ago counts half, and so on; and how long it matters after a task had the
/// device to itself.
const MEMORY: Span = Span::from_s(1);
/// The model is taken for right at first: as if that had been seen for so long.
const TRUSTED: Span = Span::from_ms(100);

/// The pace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    elapsed: Span,
    cost: Span,
    matters_until: Instant,
}

impl Pace {
    pub(super) const fn new() -> Self {
        Self { elapsed: TRUSTED, cost: TRUSTED, matters_until: Instant::ZERO }
    }

    /// Somebody is charged the time that passes.
    pub(super) fn matters(&mut self, now: Instant) {
        if now >= self.matters_until {
            *self = Self::new();
        }
        self.matters_until = now + MEMORY;
    }

    /// So much passed until a request of such a cost was done.
    pub(super) fn passed(&mut self, now: Instant, elapsed: Span, cost: Span) {
        if now >= self.matters_until {
            return;
        }
        self.elapsed += elapsed;
        self.cost += cost;
        if self.elapsed >= MEMORY {
            (self.elapsed, self.cost) = (self.elapsed / 2, self.cost / 2);
        }
    }

    /// How long such a cost takes; as long as it says where that does not matter.
    pub(super) fn time_of(&self, now: Instant, cost: Span) -> Span {
        if now >= self.matters_until {
            return cost;
        }
        cost.scaled(self.elapsed.as_ns(), self.cost.as_ns().max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_take_follows_what_they_took_as_long_as_that_matters() {
        let ms = Span::from_ms;
        let (mut pace, mut now) = (Pace::new(), Instant::ZERO);
        // Costs of 4 ms complete every so often.
        let mut pass = |took: Span, matters: bool| {
            for _ in 0..2000 {
                now += took;
                if matters {
                    pace.matters(now);
                }
                pace.passed(now, took, ms(4));
            }
            pace.time_of(now, ms(8)).as_us()
        };
        assert_eq!(pass(ms(8), false), 8_000);
        assert!((15_500..=16_000).contains(&pass(ms(8), true)));
        assert!((4_000..=4_500).contains(&pass(ms(2), true)));
        assert_eq!(pass(ms(8), false), 8_000);
    }
}

//! The pace of a device: the time that passes per unit of modelled cost.
//!
//! It is needed where some tasks are charged at most the time that passes and others their modelled
//! cost: a device that is slower or faster than its model would favour one or the other. If all are
//! charged alike, the unit does not matter.

use fairdisk_core::{Instant, Span};

/// How much time is observed before it is halved, and how long the pace is kept after a task had
/// the device to itself: a few default rounds, so that several turns are averaged.
const HALVED_AFTER: Span = Span::from_s(1);
/// The weight that the model has at first, as if it had been seen to be right for so long: a tenth
/// of `HALVED_AFTER`, so that measurements soon prevail.
const TRUSTED: Span = Span::from_ms(100);

/// The pace of the device.
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

    /// Notes that a task is being charged the time that passes, so that the pace is needed.
    pub(super) fn matters(&mut self, now: Instant) {
        if now >= self.matters_until {
            *self = Self::new();
        }
        self.matters_until = now + HALVED_AFTER;
    }

    /// Adds the time `elapsed` from the completion before to that of a request of the given cost,
    /// as far as the heads worked in it.
    pub(super) fn passed(&mut self, now: Instant, elapsed: Span, cost: Span) {
        if now >= self.matters_until {
            return;
        }
        self.elapsed += elapsed;
        self.cost += cost;
        if self.elapsed >= HALVED_AFTER {
            (self.elapsed, self.cost) = (self.elapsed / 2, self.cost / 2);
        }
    }

    /// The time that a request of this cost takes at the current pace; the cost itself while the
    /// pace is not needed.
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
        // Completes requests of cost 4 ms at intervals of `took`.
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

//! Times in which a device does nothing, though it has requests.
//!
//! A solid-state disk that collects garbage, a hypervisor that runs somebody else, a CPU that is
//! not there for an interrupt: from outside they look alike. Nothing is done for a while, every so
//! often, whatever the requests are.

use fairdisk_core::{Instant, Prng, Span};
use std::collections::VecDeque;

/// How often a device pauses, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// The mean time between the end of a pause and the begin of the next. Zero: there are none.
    pub every: Span,
    /// The mean length of a pause.
    pub lasts: Span,
}

impl Pauses {
    /// A device that never pauses.
    pub const NONE: Self = Self { every: Span::ZERO, lasts: Span::ZERO };

    /// Whether there are any.
    #[must_use]
    pub fn are_there(self) -> bool {
        self.every > Span::ZERO && self.lasts > Span::ZERO
    }

    /// What is left of a time that was measured, pauses and all, without them.
    #[must_use]
    pub fn without(self, measured: Span) -> Span {
        if !self.are_there() {
            return measured;
        }
        let (every, all) = (self.every.as_ns(), (self.every + self.lasts).as_ns());
        let ns = u128::from(measured.as_ns()) * u128::from(every) / u128::from(all);
        Span::from_ns((ns as u64).max(measured.as_ns().min(1)))
    }
}

/// The pauses of a run, in order. Times between them and their lengths vary from nothing to twice
/// the mean.
#[derive(Clone, Debug)]
pub(super) struct PausesOfRun {
    pauses: Pauses,
    prng: Prng,
    /// Those that are known and not over: begin and end.
    ahead: VecDeque<(Instant, Instant)>,
    /// The end of the last one that is known.
    known_until: Instant,
}

impl PausesOfRun {
    /// The pauses of a run with this seed.
    pub(super) const fn new(pauses: Pauses, seed: u64) -> Self {
        let prng = Prng::new(seed);
        Self { pauses, prng, ahead: VecDeque::new(), known_until: Instant::ZERO }
    }

    /// When work of this length is done that begins at `at`, which no later question may precede.
    pub(super) fn end_of(&mut self, at: Instant, takes: Span) -> Instant {
        let mut end = at + takes;
        if !self.pauses.are_there() {
            return end;
        }
        while self.ahead.front().is_some_and(|(_, over)| *over <= at) {
            self.ahead.pop_front();
        }
        let mut next = 0;
        loop {
            while next == self.ahead.len() {
                let pause = self.one_more();
                if pause.1 > at {
                    self.ahead.push_back(pause);
                }
            }
            let (begin, over) = self.ahead[next];
            if begin >= end {
                return end;
            }
            end += over - begin.max(at);
            next += 1;
        }
    }

    /// The pause after all that are known: begin and end.
    fn one_more(&mut self) -> (Instant, Instant) {
        let Pauses { every, lasts } = self.pauses;
        let mut drawn = |mean: Span| Span::from_ns(self.prng.between(0, 2 * mean.as_ns()));
        let begin = self.known_until + drawn(every);
        let over = begin + drawn(lasts);
        self.known_until = over;
        (begin, over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSES: Pauses = Pauses { every: Span::from_ms(50), lasts: Span::from_ms(4) };

    #[test]
    fn work_takes_longer_by_the_pauses_in_it() {
        let mut run = PausesOfRun::new(PAUSES, 1);
        let (begin, over) = PausesOfRun::new(PAUSES, 1).one_more();
        let ms = Span::from_ms(1);
        assert_eq!(run.end_of(Instant::ZERO, begin - Instant::ZERO), begin, "it ends in time");
        assert_eq!(run.end_of(Instant::ZERO, begin - Instant::ZERO + ms), over + ms);
        let middle = begin + (over - begin) / 2;
        assert_eq!(run.end_of(middle, ms), over + ms, "nothing begins in a pause");
        assert_eq!(run.end_of(over, Span::from_us(1)), over + Span::from_us(1));
    }

    #[test]
    fn what_was_measured_is_done_in_the_mean() {
        let mut run = PausesOfRun::new(PAUSES, 2);
        let takes = PAUSES.without(Span::from_us(100));
        let (mut at, mut late) = (Instant::ZERO, 0);
        for _ in 0..1_000_000 {
            let end = run.end_of(at, takes);
            late += u32::from(end - at > Span::from_us(500));
            at = end;
        }
        let mean_ns = (at - Instant::ZERO).as_ns() / 1_000_000;
        assert!((99_000..=101_000).contains(&mean_ns), "{mean_ns}");
        // A hundred seconds have about 1850 pauses, of which some are too short to be seen.
        assert!((1_500..=1_900).contains(&late), "{late}");
    }

    #[test]
    fn without_pauses_nothing_changes() {
        let mut run = PausesOfRun::new(Pauses::NONE, 3);
        assert_eq!(run.end_of(Instant::ZERO, Span::from_us(7)), Instant::ZERO + Span::from_us(7));
        assert_eq!(Pauses::NONE.without(Span::from_us(7)), Span::from_us(7));
    }
}

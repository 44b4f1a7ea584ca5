//! Rate limits: the earliest time of the next I/O, exact to the nanosecond.
//!
//! The first I/O may go at once. Evenly spaced, every byte issued delays the next I/O by its share
//! of a second; at random, each I/O delays the next by a drawn time. A task that falls behind
//! catches up, because the average over the task's life counts.

use super::direction::{Direction, PerOp};
use super::fixed::exponential;
use fairdisk_core::{Instant, Op, Prng, Span};
use std::num::NonZeroU64;

/// The highest rates of a task in bytes per second, by operation.
pub type Rates = PerOp<Option<NonZeroU64>>;

/// When the I/Os of a task arrive that has a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly spaced.
    #[default]
    Linear,
    /// At random, as in a Poisson process; a rate in bytes is one of I/Os of the smallest size.
    Poisson,
}

#[derive(Clone, Debug)]
pub(super) struct Pace {
    rates: Rates,
    began: Instant,
    delays: Delays,
}

/// How far I/Os are apart.
#[derive(Clone, Debug)]
enum Delays {
    /// By the bytes issued so far.
    Linear { issued: PerOp<u64> },
    /// At random: the mean time between two, and how long after the start the next arrives.
    Poisson { mean: PerOp<Span>, next: PerOp<Span>, prng: Prng },
}

/// Whether an I/O may go now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Yes, with this operation.
    Now(Op),
    /// No, not before this time.
    At(Instant),
}

const NS_PER_S: u128 = 1_000_000_000;

impl Pace {
    pub(super) fn new(rates: Rates) -> Self {
        let delays = Delays::Linear { issued: PerOp::all(0) };
        Self { rates, began: Instant::ZERO, delays }
    }

    /// I/Os that arrive at random, at the rate of I/Os of these sizes in bytes.
    pub(super) fn at_random(rates: Rates, smallest: PerOp<u64>, prng: Prng) -> Self {
        let mean = |rate: Option<NonZeroU64>, bytes: u64| {
            let ns = rate.map_or(0, |rate| u128::from(bytes) * NS_PER_S / u128::from(rate.get()));
            Span::from_ns(ns.min(u128::from(u64::MAX)) as u64)
        };
        let mean = PerOp {
            read: mean(rates.read, smallest.read),
            write: mean(rates.write, smallest.write),
            trim: mean(rates.trim, smallest.trim),
        };
        let delays = Delays::Poisson { mean, next: PerOp::all(Span::ZERO), prng };
        Self { rates, began: Instant::ZERO, delays }
    }

    pub(super) const fn begin(&mut self, now: Instant) {
        self.began = now;
    }

    pub(super) const fn is_set(&self) -> bool {
        self.rates.read.is_some() || self.rates.write.is_some() || self.rates.trim.is_some()
    }

    pub(super) fn issue(&mut self, op: Op, bytes: u64) {
        match &mut self.delays {
            Delays::Linear { issued } => *issued.of_mut(op) += bytes,
            Delays::Poisson { mean, next, prng } => {
                *next.of_mut(op) += Span::from_ns(exponential(mean.of(op).as_ns(), prng));
            }
        }
    }

    /// Whether an I/O of `op` may go. In a mix, an operation whose time has not come gives way to
    /// the other.
    #[inline(never)]
    pub(super) fn turn(&self, now: Instant, direction: Direction, op: Op) -> Turn {
        let due = self.due(op);
        if due <= now {
            return Turn::Now(op);
        }
        match direction.other(op).map(|other| (other, self.due(other))) {
            Some((other, at)) if at <= now => Turn::Now(other),
            Some((_, at)) => Turn::At(due.min(at)),
            None => Turn::At(due),
        }
    }

    fn due(&self, op: Op) -> Instant {
        let Some(rate) = *self.rates.of(op) else { return self.began };
        match &self.delays {
            Delays::Linear { issued } => {
                let ns = u128::from(*issued.of(op)) * NS_PER_S / u128::from(rate.get());
                self.began + Span::from_ns(ns.min(u128::from(u64::MAX)) as u64)
            }
            Delays::Poisson { next, .. } => self.began + *next.of(op),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_k_is_due_at_k_parts_of_a_second() {
        let rate = NonZeroU64::new(3 * 4096);
        let mut pace = Pace::new(Rates { read: rate, ..Rates::default() });
        pace.begin(Instant::from_ns(100));
        for at in [100, 333_333_433, 666_666_766, 1_000_000_100] {
            let before = Instant::from_ns(at.max(101) - 1);
            if at > 100 {
                let turn = pace.turn(before, Direction::Read, Op::Read);
                assert_eq!(turn, Turn::At(Instant::from_ns(at)));
            }
            let turn = pace.turn(Instant::from_ns(at), Direction::Read, Op::Read);
            assert_eq!(turn, Turn::Now(Op::Read));
            pace.issue(Op::Read, 4096);
        }
    }

    #[test]
    fn at_random_the_times_between_have_an_exponential_distribution() {
        let rates = Rates { read: NonZeroU64::new(1000 * 4096), ..Rates::default() };
        let mut pace = Pace::at_random(rates, PerOp::all(4096), Prng::new(5));
        let mut dues = Vec::new();
        for _ in 0..100_000 {
            dues.push(pace.due(Op::Read).as_ns());
            pace.issue(Op::Read, 4096);
        }
        let gaps: Vec<f64> = dues.windows(2).map(|two| (two[1] - two[0]) as f64 / 1e6).collect();
        let part = |limit: f64| gaps.iter().filter(|gap| **gap < limit).count() as f64 / 99_999.0;
        assert_eq!(dues[0], 0);
        for ms in [0.1, 0.5, 1.0, 2.0, 4.0] {
            let expected = 1.0 - f64::exp(-ms);
            assert!((part(ms) - expected).abs() < 0.005, "{ms} ms: {} {expected}", part(ms));
        }
    }

    #[test]
    fn in_a_mix_the_operation_that_is_due_goes() {
        let rate = NonZeroU64::new(1000);
        let mut pace = Pace::new(Rates { read: rate, write: rate, trim: None });
        pace.issue(Op::Read, 10);
        let mix = Direction::Mixed(50);
        assert_eq!(pace.turn(Instant::ZERO, mix, Op::Read), Turn::Now(Op::Write));
        pace.issue(Op::Write, 20);
        let due = Instant::from_ns(10_000_000);
        assert_eq!(pace.turn(Instant::ZERO, mix, Op::Write), Turn::At(due));
    }
}

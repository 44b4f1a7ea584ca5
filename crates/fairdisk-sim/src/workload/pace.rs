//! Rate limits: the earliest time of the next I/O, exact to the nanosecond.
//!
//! The first I/O may go at once, and every byte issued delays the next I/O by its share of a
//! second. A task that falls behind catches up, because the average over the task's life counts.

use super::direction::{Direction, PerOp};
use fairdisk_core::{Instant, Op, Span};
use std::num::NonZeroU64;

/// The highest rates of a task in bytes per second, by operation.
pub type Rates = PerOp<Option<NonZeroU64>>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    rates: Rates,
    issued: PerOp<u64>,
    began: Instant,
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
        Self { rates, issued: PerOp::all(0), began: Instant::ZERO }
    }

    pub(super) const fn begin(&mut self, now: Instant) {
        self.began = now;
    }

    pub(super) const fn is_set(&self) -> bool {
        self.rates.read.is_some() || self.rates.write.is_some() || self.rates.trim.is_some()
    }

    pub(super) const fn issue(&mut self, op: Op, bytes: u64) {
        *self.issued.of_mut(op) += bytes;
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
        let ns = u128::from(*self.issued.of(op)) * NS_PER_S / u128::from(rate.get());
        self.began + Span::from_ns(ns.min(u128::from(u64::MAX)) as u64)
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

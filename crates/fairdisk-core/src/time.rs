//! Time in the core: integer nanoseconds since the start of the run, always passed as an argument.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Sub};

/// A point in time, in nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than any event; used for "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `ns` nanoseconds after the start of the run.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start of the run.
    #[must_use]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// The span from `earlier` to `self`; zero if `earlier` is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `ns` nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// A span of `us` microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// A span of `ms` milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// A span of `s` seconds.
    #[must_use]
    pub const fn from_s(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }

    /// This span times `parts / whole`, rounded down. Saturates at [`MAX`](Self::MAX).
    ///
    /// # Panics
    /// Panics if `whole` is zero.
    #[must_use]
    pub const fn scaled(self, parts: u64, whole: u64) -> Self {
        let ns = self.0 as u128 * parts as u128 / whole as u128;
        Self(if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 })
    }

    /// The span in nanoseconds.
    #[must_use]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// The span in whole microseconds, rounded down.
    #[must_use]
    pub const fn as_us(self) -> u64 {
        self.0 / 1_000
    }

    /// The span in whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000_000
    }
}

impl Add<Span> for Instant {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub for Instant {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl Div<u64> for Span {
    type Output = Self;
    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl fmt::Display for Span {
    /// Formats as milliseconds with three decimals: `12.345ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}ms", self.0 / 1_000_000, self.0 / 1_000 % 1_000)
    }
}

/// The ticks of a host's timer, which has been running since before the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    length: Span,
    phase: Span,
}

impl Ticks {
    /// A timer so fine (1 ns) that no event falls between two ticks.
    pub const EXACT: Self = Self { length: Span(1), phase: Span::ZERO };

    /// A timer with `hz` ticks per second. When the run starts, `phase` has passed since the last
    /// tick.
    #[must_use]
    pub const fn new(hz: u32, phase: Span) -> Self {
        let length = 1_000_000_000 / hz as u64;
        Self { length: Span(length), phase: Span(phase.0 % length) }
    }

    /// The number of ticks during the run up to `now`.
    #[must_use]
    pub const fn count(self, now: Instant) -> u64 {
        now.0.saturating_add(self.phase.0) / self.length.0
    }

    /// The instant of tick number `count`; the start of the run for a tick before it.
    #[must_use]
    pub const fn at(self, count: u64) -> Instant {
        Instant(count.saturating_mul(self.length.0).saturating_sub(self.phase.0))
    }

    /// The number of whole ticks in `span`.
    #[must_use]
    pub const fn whole(self, span: Span) -> u64 {
        span.0 / self.length.0
    }

    /// The instant `ticks` ticks after the last tick at or before `now`.
    #[must_use]
    pub const fn after(self, now: Instant, ticks: u64) -> Instant {
        self.at(self.count(now).saturating_add(ticks))
    }

    /// The last tick at or before `now`; the start of the run if there was none.
    #[must_use]
    pub const fn last(self, now: Instant) -> Instant {
        self.after(now, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_counted_in_ticks() {
        let ticks = Ticks::new(250, Span::from_ms(1));
        let at = |us: u64| Instant::from_ns(1000 * us);
        let after = |us, ms| ticks.after(at(us), ticks.whole(Span::from_ms(ms))).as_ns() / 1000;
        assert_eq!([after(0, 4), after(2_999, 4), after(3_000, 4)], [3_000, 3_000, 7_000]);
        assert_eq!([after(3_100, 20), after(6_900, 23)], [23_000, 23_000]);
        assert_eq!([ticks.last(at(0)), ticks.last(at(9_000))], [Instant::ZERO, at(7_000)]);
        let exact = Ticks::EXACT.after(at(7), Ticks::EXACT.whole(Span::from_ms(20)));
        assert_eq!(exact, at(20_007));
        assert_eq!(ticks.after(at(5_000), u64::MAX), ticks.at(u64::MAX));
    }

    #[test]
    fn a_part_of_a_span_is_rounded_down_and_never_more_than_the_longest() {
        assert_eq!(Span::from_ns(10).scaled(2, 3), Span::from_ns(6));
        assert_eq!(Span::MAX.scaled(3, 3), Span::MAX);
        assert_eq!(Span::MAX.scaled(3, 2), Span::MAX);
    }
}

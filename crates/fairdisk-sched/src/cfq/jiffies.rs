//! Jiffies: CFQ measures time in whole ticks of the host's timer, whose phase is independent of the
//! run's start.

use fairdisk_core::{Instant, Span, Ticks};

/// A number of timer ticks. Signed, so that differences may be negative.
pub(crate) type Jiffies = i64;

/// The host's timer, with a cached tick count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticker {
    ticks: Ticks,
    start: Jiffies,
    /// The current tick and the instant at which it ends. Time advances in steps much smaller than
    /// a tick, so the cache usually saves the division.
    current: Jiffies,
    current_ends: Instant,
}

/// How long the host has been up when the run begins, in seconds. One hour, so that no key of the
/// historical unsigned comparison (quirk Q2) falls below zero.
const UPTIME_S: Jiffies = 3600;

impl Ticker {
    /// A timer with `hz` ticks per second; the first tick of the run comes `phase` early.
    #[must_use]
    pub(crate) const fn new(hz: u32, phase: Span) -> Self {
        Self {
            ticks: Ticks::new(hz, phase),
            start: UPTIME_S * hz as Jiffies,
            current: 0,
            current_ends: Instant::ZERO,
        }
    }

    /// The tick count at `now`, which must not be earlier than in the previous call.
    #[inline]
    pub(crate) fn now(&mut self, now: Instant) -> Jiffies {
        if now >= self.current_ends {
            self.go_on(now);
        }
        self.current
    }

    #[inline(never)]
    fn go_on(&mut self, now: Instant) {
        self.current = self.jiffies(now);
        self.current_ends = self.instant(self.current + 1);
    }

    /// The tick count at `now`.
    #[must_use]
    pub(crate) const fn jiffies(&self, now: Instant) -> i64 {
        self.start + self.ticks.count(now) as Jiffies
    }

    /// The instant at which the tick count becomes `jiffies`.
    #[must_use]
    pub(crate) const fn instant(&self, jiffies: i64) -> Instant {
        self.ticks.at(jiffies.saturating_sub(self.start) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_begins_where_the_count_changes() {
        let mut ticker = Ticker::new(250, Span::from_ms(1));
        let at = ticker.instant(ticker.jiffies(Instant::ZERO) + 3);
        assert_eq!(at, Instant::from_ns(11_000_000));
        assert_eq!(ticker.jiffies(at) - ticker.jiffies(Instant::ZERO), 3);
        let just_before = Instant::from_ns(at.as_ns() - 1);
        assert_eq!(ticker.jiffies(just_before) - ticker.jiffies(Instant::ZERO), 2);
        for ns in (0..20_000_000).step_by(333_333) {
            let now = Instant::from_ns(ns);
            assert_eq!(ticker.now(now), ticker.jiffies(now), "{now}");
        }
    }
}

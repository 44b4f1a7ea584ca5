//! CFQ reckons in jiffies: whole ticks of the host's timer, with a phase of their own.

use fairdisk_core::{Instant, Span, Ticks};

/// A count of timer ticks. Signed, so that differences need no care.
pub(crate) type Jiffies = i64;

/// The host's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticker {
    ticks: Ticks,
    start: Jiffies,
    /// The tick that is now, and when it ends. Time goes on in steps much smaller than a tick, so
    /// most often there is nothing to divide.
    current: Jiffies,
    current_ends: Instant,
}

/// Ticks the machine has been up when the run begins: an hour's worth, so that no key of the
/// historical unsigned comparison (quirk Q2) falls below zero.
const UPTIME_S: Jiffies = 3600;

impl Ticker {
    /// A timer that ticks `hz` times a second; the first tick of the run comes `phase` early.
    #[must_use]
    pub(crate) const fn new(hz: u32, phase: Span) -> Self {
        Self {
            ticks: Ticks::new(hz, phase),
            start: UPTIME_S * hz as Jiffies,
            current: 0,
            current_ends: Instant::ZERO,
        }
    }

    /// The tick count at `now`, which is never earlier than it was at the call before.
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

    /// When the tick count becomes `jiffies`.
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

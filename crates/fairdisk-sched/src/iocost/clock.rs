//! Virtual time, which passes as fast as the device is believed to get its work done.

use fairdisk_core::Instant;

/// The rate at which virtual time passes like real time, in parts per million.
pub(super) const AS_TIME: u64 = 1_000_000;

/// A clock of virtual nanoseconds with an adjustable pace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    since: Instant,
    began: u64,
    /// Virtual nanoseconds per million nanoseconds of real time.
    rate: u64,
}

impl Clock {
    pub(super) const fn new() -> Self {
        Self { since: Instant::ZERO, began: 0, rate: AS_TIME }
    }

    pub(super) const fn rate(&self) -> u64 {
        self.rate
    }

    /// The virtual time at `now`.
    pub(super) const fn at(&self, now: Instant) -> u64 {
        let passed = now.since(self.since).as_ns() as u128 * self.rate as u128 / AS_TIME as u128;
        self.began.saturating_add(passed as u64)
    }

    /// When virtual time reaches `vtime` if the pace does not change.
    pub(super) const fn when(&self, vtime: u64) -> Instant {
        let left = vtime.saturating_sub(self.began) as u128 * AS_TIME as u128;
        let ns = left.div_ceil(self.rate as u128);
        let ns = if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 };
        Instant::from_ns(self.since.as_ns().saturating_add(ns))
    }

    /// Continues at another pace from `now` on.
    pub(super) const fn set_rate(&mut self, now: Instant, rate: u64) {
        self.began = self.at(now);
        self.since = now;
        self.rate = rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_faster_and_slower_and_never_back() {
        let mut clock = Clock::new();
        let at = Instant::from_ns;
        assert_eq!(clock.at(at(1000)), 1000);
        clock.set_rate(at(1000), AS_TIME / 2);
        assert_eq!(clock.at(at(1003)), 1001);
        clock.set_rate(at(1003), AS_TIME * 3 / 2);
        assert_eq!(clock.at(at(1005)), 1004);
        for vtime in 1002..1010 {
            let when = clock.when(vtime);
            assert!(clock.at(when) >= vtime && clock.at(at(when.as_ns() - 1)) < vtime);
        }
    }
}

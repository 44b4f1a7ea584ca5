//! The requests at the device and the device time each is charged. The charges add up to the
//! device's busy time.
//!
//! A device that serves one request at a time was busy with the completed request since the
//! previous completion. On a device known to serve several at once, the outstanding requests share
//! the time equally. To do this in constant time per event, a clock advances by the share of one
//! request, and each request remembers the clock's value from when it was issued.

use crate::time::{Instant, Span};

/// Clock units per nanosecond; the fraction keeps rounding small when many requests share the time.
const SCALE: u64 = 1 << 10;

/// The value of the clock when a request was issued.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp(u64);

/// The requests at the device.
#[derive(Debug, Default)]
pub(super) struct AtDevice {
    count: u32,
    /// Whether the device serves its outstanding requests at once.
    pub(super) together: bool,
    /// In units of 1/[`SCALE`] ns. Wraps around; only differences are used.
    clock: u64,
    last_event: Instant,
    /// Busy time not yet charged to any request.
    rest: Span,
}

impl AtDevice {
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    fn pass(&mut self, now: Instant) {
        if self.count > 0 {
            let passed = now - self.last_event;
            self.rest += passed;
            let parts = passed.as_ns().saturating_mul(SCALE);
            let each = if self.count == 1 { parts } else { parts / u64::from(self.count) };
            self.clock = self.clock.wrapping_add(each);
        }
        self.last_event = now;
    }

    /// Counts a request that is issued to the device.
    pub(super) fn issued(&mut self, now: Instant) -> Stamp {
        self.pass(now);
        self.count += 1;
        Stamp(self.clock)
    }

    /// Counts a completed request and returns the device time it is charged. The last outstanding
    /// request also gets what rounding has left over.
    pub(super) fn completed(&mut self, now: Instant, issued: Stamp) -> Span {
        self.pass(now);
        self.count -= 1;
        let own = if self.together && self.count > 0 {
            Span::from_ns(self.clock.wrapping_sub(issued.0) / SCALE).min(self.rest)
        } else {
            self.rest
        };
        self.rest = self.rest - own;
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(us: u64) -> Instant {
        Instant::from_ns(1000 * us)
    }

    #[test]
    fn one_after_the_other_each_has_the_time_since_the_one_before() {
        let mut device = AtDevice::default();
        let (one, two) = (device.issued(at(100)), device.issued(at(200)));
        assert_eq!(device.completed(at(400), two), Span::from_us(300));
        assert_eq!(device.completed(at(450), one), Span::from_us(50));
    }

    #[test]
    fn requests_that_are_served_together_share_the_time() {
        let mut device = AtDevice { together: true, ..AtDevice::default() };
        let (one, two) = (device.issued(at(100)), device.issued(at(200)));
        assert_eq!(device.count(), 2);
        assert_eq!(device.completed(at(400), two), Span::from_us(100));
        assert_eq!(device.completed(at(450), one), Span::from_us(250), "all the rest");
        let three = device.issued(at(900));
        assert_eq!(device.completed(at(905), three), Span::from_us(5), "it was idle before");
    }

    #[test]
    fn what_each_got_adds_up_to_the_time_the_device_was_busy() {
        let mut device = AtDevice { together: true, ..AtDevice::default() };
        let stamps: [Stamp; 7] = core::array::from_fn(|_| device.issued(Instant::ZERO));
        let each = stamps.map(|stamp| device.completed(Instant::from_ns(1000), stamp).as_ns());
        assert_eq!(each, [142, 142, 142, 142, 142, 142, 148]);
    }
}

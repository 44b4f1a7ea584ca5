//! Until when the service that a group has received pays for its floor.

use crate::groups::Amount;
use fairdisk_core::{Instant, Rates, Span};

/// The tenth of a second that is left to the other groups, and for error in the costs.
pub(super) const REST: Span = Span::from_ms(100);
/// The second over which a floor is kept.
const WINDOW: Span = Span::from_s(1);
/// How much of its floor a group may catch up on after it was kept below it: a tenth of that
/// second.
pub(super) const CATCH_UP: Span = Span::from_ms(100);
/// Floors are served faster than promised by at least one part in 32 of the time, so that every
/// second gets the promised number despite the time a request waits for the device. 3 % costs
/// others little.
pub(super) const EARLY_PARTS: u64 = 32;
/// Floors are served faster by at most one part in 12, however much there is at the device. Chosen:
/// of 27,360 seconds of loads with floors of 5 to 120 I/Os a second on disks that take several
/// commands, 73 were below with 32 parts, 4 with 16, and none with 12.
const EARLY_PARTS_MOST: u64 = 12;

/// How many requests of a group are at the device, and how many may be at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct There {
    pub(super) at_device: u32,
    pub(super) most: u32,
}

impl There {
    /// The only request of its group.
    pub(super) const ONE: Self = Self { at_device: 1, most: 1 };
}

/// Until when the service a group has received pays for its floor: for the rate in I/Os, and for
/// that in bytes. The group is below its floor if it is below either.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::fair) struct PaidUntil {
    ios: Instant,
    bytes: Instant,
}

impl PaidUntil {
    /// When a rate of the floor is due; `None` without a floor.
    pub(super) fn due(&self, floor: &Rates) -> Option<Instant> {
        let due = [floor.iops.map(|_| self.ios), floor.bytes_per_s.map(|_| self.bytes)];
        due.into_iter().flatten().min()
    }

    /// What a request pays for that takes so long at the rate of the floor.
    ///
    /// A second gets fewer than are dispatched in it if more are at the device at its end than at
    /// its beginning. That number varies by about its square root, and hardly by three times as
    /// much. One request is no loss, as a second may begin just after one.
    pub(super) fn paid_by(time: Span, there: There) -> Span {
        let root = (9 * u64::from(there.at_device)).isqrt();
        let varies_by = root.min(there.most.into()).saturating_sub(1);
        let early = time.scaled(time.as_ns().saturating_mul(varies_by), WINDOW.as_ns());
        time - early.clamp(time / EARLY_PARTS, time / EARLY_PARTS_MOST)
    }

    /// Counts `amount`, served at `now`. Service beyond the floor counts no further than now: it
    /// does not excuse a later second without service.
    pub(super) fn pay(&mut self, now: Instant, floor: &Rates, amount: Amount, there: There) {
        let least = Instant::from_ns(now.as_ns().saturating_sub(CATCH_UP.as_ns()));
        let paid =
            |until: Instant, time: Span| until.clamp(least, now) + Self::paid_by(time, there);
        self.ios = paid(self.ios, floor.time_of_ios(amount.ios));
        self.bytes = paid(self.bytes, floor.time_of_bytes(amount.bytes));
    }

    /// Notes that the group wants something again, after it was `done` with all it had. If it had
    /// its floor until then, nothing is owed to it for the time since.
    pub(super) fn resume(&mut self, now: Instant, done: Option<Instant>) {
        let from = |until: Instant| match done {
            Some(done) if done > until => until,
            _ => until.max(now),
        };
        (self.ios, self.bytes) = (from(self.ios), from(self.bytes));
    }

    /// Drops what was paid beyond `now`.
    pub(super) fn settle(&mut self, now: Instant) {
        (self.ios, self.bytes) = (self.ios.min(now), self.bytes.min(now));
    }

    /// When a rate of the floor is due once so many requests like `one` have been served as well.
    pub(super) fn due_after(
        &self,
        floor: &Rates,
        requests: u32,
        one: Amount,
        there: There,
    ) -> Instant {
        let after = |until: Instant, time: Span| {
            let paid = Self::paid_by(time, there);
            until + Span::from_ns(paid.as_ns().saturating_mul(requests.into()))
        };
        let ios = floor.iops.map(|_| after(self.ios, floor.time_of_ios(one.ios)));
        let bytes = floor.bytes_per_s.map(|_| after(self.bytes, floor.time_of_bytes(one.bytes)));
        [ios, bytes].into_iter().flatten().min().unwrap_or(Instant::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_served_faster_the_more_the_number_at_the_device_may_vary() {
        let paid_by = |us, at_device, most| {
            PaidUntil::paid_by(Span::from_us(us), There { at_device, most }).as_us()
        };
        // A request of 100 a second, with one, four and five more of them a second, and as many as
        // one part in 12.
        let of_100 = [(1, 1), (4, 16), (4, 5), (100, 200)];
        let of_100 = of_100.map(|(at_device, most)| paid_by(10_000, at_device, most));
        assert_eq!(of_100, [9_687, 9_500, 9_600, 9_166]);
        assert_eq!(paid_by(1_000_000, 1, 16), 916_666, "one a second");
        assert_eq!(paid_by(250, 64, 128), 242, "4,000 a second are little affected");
    }

    #[test]
    fn a_group_that_had_its_floor_is_owed_nothing_for_a_pause() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let resumed = |until, done| {
            let mut paid = PaidUntil { ios: at(until), bytes: at(until) };
            paid.resume(at(1000), Some(at(done)));
            paid.ios.as_ns() / 1_000_000
        };
        assert_eq!(resumed(800, 790), 1000);
        assert_eq!(resumed(800, 810), 800, "it was late already");
        assert_eq!(resumed(1010, 790), 1010);
    }
}

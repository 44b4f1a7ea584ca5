//! How much room others leave a group with a latency target.

use super::trouble::Trouble;
use fairdisk_core::Span;

/// The room that a group with a target leaves: how much device time of others' requests may be at a
/// device that serves several at once. It starts at a quarter of the target, falls with each late
/// request and rises a little with each other one, and so settles where one request in
/// `ALLOWED_ONE_IN` is late. If many are late although others have next to nothing there, the
/// others are not the cause, and get the initial room for a while.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::fair) struct Room {
    pub(super) most: Span,
    trouble: Trouble,
}

/// One request in 200 may be late: half of what the 99th percentile leaves.
const ALLOWED_ONE_IN: u64 = 200;
/// Each request in time raises the room by one part in `RISE_PARTS`: `ALLOWED_ONE_IN` of them make
/// up for a loss of a quarter, as ln(4/3) is 1/3.5.
pub(super) const RISE_PARTS: u64 = ALLOWED_ONE_IN * 7 / 2;
/// Others have next to nothing with a 256th of the target at the device: of 8 ms, 31 us, less than
/// one read of a solid-state disk.
const NEXT_TO_NOTHING_PARTS: u64 = 256;

impl Room {
    pub(super) fn new(target: Span) -> Self {
        Self { most: Self::at_first(target), ..Self::default() }
    }

    /// The room before any request has shown whether it is right.
    pub(super) fn at_first(target: Span) -> Span {
        target / 4
    }

    /// Adjusts the room after a completed request of the group.
    pub(super) fn completed(&mut self, latency: Span, target: Span) {
        if self.trouble.rests() {
            return;
        }
        if latency <= target {
            self.most = (self.most + (self.most / RISE_PARTS).max(Span::from_ns(1))).min(target);
            return;
        }
        self.most = self.most - self.most / 4;
        if self.most >= target / NEXT_TO_NOTHING_PARTS {
            return;
        }
        self.most = target / NEXT_TO_NOTHING_PARTS;
        if self.trouble.is_late() {
            self.most = Self::at_first(target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;

    #[test]
    fn a_room_grows_again_whatever_was_late_before() {
        let (target, mut prng) = (Span::from_ms(8), Prng::new(1));
        let mut room = Room::new(target);
        // Some requests are late for another reason, so by chance the room shrinks time and again.
        for _ in 0..2_000_000 {
            room.completed(if prng.chance(1, 100) { target + target } else { target }, target);
        }
        assert!(room.most >= target / NEXT_TO_NOTHING_PARTS, "{}", room.most);
        for _ in 0..30_000 {
            room.completed(target, target);
        }
        assert_eq!(room.most, target);
    }

    #[test]
    fn a_room_stays_where_one_in_two_hundred_is_late() {
        let (target, mut prng) = (Span::from_ms(8), Prng::new(1));
        let mut room = Room::new(target);
        let (mut late, mut requests) = (0, 0);
        for step in 0..200_000 {
            // Twice the room makes twice as many requests late.
            let is_late = prng.below(target.as_ns()) < room.most.as_ns();
            room.completed(if is_late { target + target } else { target }, target);
            if step >= 20_000 {
                (late, requests) = (late + u32::from(is_late), requests + 1);
            }
        }
        let one_in = requests / late;
        assert!((160..=240).contains(&one_in), "one in {one_in}");
    }

    #[test]
    fn a_room_that_is_next_to_nothing_grows_again() {
        let target = Span::from_us(100);
        let mut room = Room::new(target);
        (0..15).for_each(|_| room.completed(target + target, target));
        let least = room.most;
        assert!(least < target / 200, "{least}");
        (0..1000).for_each(|_| room.completed(target, target));
        assert!(room.most > least + least, "{}", room.most);
    }

    #[test]
    fn others_that_are_not_the_cause_have_what_they_had_again() {
        let target = Span::from_ms(8);
        let mut room = Room::new(target);
        let mut held_back = 0;
        for _ in 0..10_000 {
            room.completed(target + target, target);
            held_back += u32::from(room.most < target / 4);
        }
        assert!((40..=80).contains(&held_back), "{held_back}");
    }
}

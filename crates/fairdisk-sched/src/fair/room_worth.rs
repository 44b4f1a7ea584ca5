//! Whether the room that others make for a group on a device without a head (see `expected`) is
//! worth what it costs them.
//!
//! A group that waits for each of its requests, or for flushes, may be able to use only a little
//! more of the device however much room others make. They may have to leave most of it idle for
//! that. So it is tried: for a while they make room for the group, for as long they do not, and so
//! on.
//!
//! Room is for shares. A group lacks what it may have of all that is done, or could do alone if
//! that is less, and does not do. Room is worth it if what the group lacks is a smaller part of all
//! that is done with room than without. For a group that can use less than it may have, that is so
//! if it gains a larger part of what it can use than all together lose.

use super::Fair;
use super::hierarchy::WHOLE_DISK;
use super::pairs::{Pairs, Way};
use fairdisk_core::{Instant, Span};

/// How long a look takes at least: as long as one of turns of directions, and many times as long as
/// what is at the device from before.
const LOOK_TIME: Span = Span::from_ms(50);
/// Room is worth it if the group lacks a sixteenth more without: more than two looks differ by
/// chance.
const LACK_PARTS: u64 = 16;
/// It has to in half of the last eight pairs.
const LACKING_QUARTERS: u32 = 2;
const LACKING_PAIRS: u32 = 8;
/// Looks from one pair to the next: one look without room in 130 leaves the 99th percentile of
/// latencies as it is.
const LOOKS_BETWEEN: u32 = 128;
/// For how long one group's look keeps others from beginning a pair: what a look of a group with
/// few requests takes.
const OTHERS_WAIT: Span = Span::from_s(1);
/// A group that has three quarters of what it may have or use with room keeps it, and it is not
/// tried: it could lack far more without.
const ENOUGH_QUARTERS: u64 = 3;

/// What is known of what room for a group is worth, and the current look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoomWorth {
    /// Looks with room, and without.
    pairs: Pairs<LACK_PARTS>,
    since: Instant,
    /// When the look may end.
    until: Instant,
    before: Totals,
    /// What the group could use in the last look that was not without room for the sake of a pair,
    /// with one request at a time, in parts of 2^32 of the device.
    usable: u64,
    /// The most requests that the group was seen to wait for at a time.
    requests: u32,
}

/// What a group may have of the device and can use of it, in parts of 2^32.
#[derive(Clone, Copy, Debug)]
struct Claim {
    part: u64,
    /// With one request at a time.
    usable: u64,
}

/// What there was up to some instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// The cost of the group's requests, and of those of all.
    pub(super) own: Span,
    pub(super) all: Span,
    /// How often others were held back.
    pub(super) held_back: u64,
}

impl RoomWorth {
    /// Whether others make room for the group.
    pub(super) const fn has_room(&self) -> bool {
        match self.pairs.tried() {
            Some(Way::First) => true,
            Some(Way::Second) => false,
            None => self.is_worth_it(),
        }
    }

    /// Whether room is worth it, as far as is known.
    const fn is_worth_it(&self) -> bool {
        !self.pairs.is_known() || self.pairs.is_slower_in(LACKING_QUARTERS, LACKING_PAIRS)
    }

    /// Whether it is being tried what room is worth.
    pub(super) const fn is_tried(&self) -> bool {
        self.pairs.tried().is_some()
    }

    /// Breaks the current look off.
    pub(super) const fn break_off(&mut self) {
        self.pairs.break_off();
        (self.until, self.requests) = (Instant::ZERO, 0);
    }

    /// Ends the current look and begins the next. Where something else is tried at the same time
    /// there is nothing to learn.
    fn end_look(&mut self, now: Instant, totals: Totals, claim: Claim, is_only: bool) {
        let (own, all) = (totals.own - self.before.own, totals.all - self.before.all);
        let was_held_back = totals.held_back > self.before.held_back;
        let took = now.since(self.since);
        // Without room its flushes take longer, which does not make it able to use less.
        if self.pairs.tried() != Some(Way::Second) {
            self.usable = claim.usable;
        }
        let usable = took.scaled(self.usable.saturating_mul(self.requests.into()), WHOLE_DISK);
        let most = all.scaled(claim.part, WHOLE_DISK).min(usable);
        let has_enough = own >= most.scaled(ENOUGH_QUARTERS, 4);
        // If nobody was held back, or it has enough with room, there is no reason to try without.
        let may_go_without = was_held_back && !has_enough;
        let is_tried = match self.pairs.tried() {
            Some(Way::First) => may_go_without || was_held_back && !self.is_worth_it(),
            Some(Way::Second) => true,
            None => may_go_without || !self.is_worth_it(),
        };
        let lacks = match self.pairs.tried() {
            Some(Way::First) if has_enough => Span::ZERO,
            _ => most - own,
        };
        let tells = is_tried && is_only && self.until > Instant::ZERO;
        self.pairs.end_look(tells.then_some((lacks, all)), LOOKS_BETWEEN);
        (self.since, self.until, self.before) = (now, now + LOOK_TIME, totals);
    }
}

impl Fair {
    /// Whether others make room for the group, which has nothing queued, by what that is worth.
    #[inline]
    pub(super) fn is_worth_room(&mut self, now: Instant, group: u32) -> bool {
        if !self.device.is_flash() || !self.params.rules.room_worth {
            return true;
        }
        if self.groups[group as usize].past.trial.worth.until <= now {
            self.end_look_of_room(now, group);
        }
        self.groups[group as usize].past.trial.worth.has_room()
    }

    #[cold]
    #[inline(never)]
    fn end_look_of_room(&mut self, now: Instant, group: u32) {
        let (all, held_back) = (self.directions.done(), self.expected.held_back);
        let other = self.expected.tries_room.filter(|(one, until)| *one != group && *until > now);
        let is_only = other.is_none() && !self.directions.are_tried() && self.targets.is_empty();
        let part = self.tree.part_beside_all(group);
        let entry = &mut self.groups[group as usize];
        let pause = entry.past.think.get().unwrap_or(Span::ZERO) + entry.flushing();
        let claim = Claim { part, usable: self.device.part_alone(entry.last.bytes, pause) };
        let trial = &mut entry.past.trial;
        trial.worth.requests = trial.worth.requests.max(entry.in_flight).max(1);
        let totals = Totals { own: trial.spent, all, held_back };
        trial.worth.end_look(now, totals, claim, is_only);
        if other.is_none() {
            let own = (group, now + OTHERS_WAIT);
            self.expected.tries_room = trial.worth.is_tried().then_some(own);
        }
        trial.begin_anew();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;

    /// A group that may have half of the device, with parts of a hundred of the device that it and
    /// all get without room and with it, give or take an eighth.
    struct Bed {
        worth: RoomWorth,
        now: Instant,
        prng: Prng,
        totals: Totals,
        is_only: bool,
    }

    impl Bed {
        fn new() -> Self {
            let (worth, totals) = (RoomWorth::default(), Totals::default());
            Self { worth, now: Instant::ZERO, prng: Prng::new(1), totals, is_only: true }
        }

        /// In how many of so many looks the group has room, if with one request at a time it can
        /// use so many parts of a hundred.
        fn looks(&mut self, looks: u32, without: [u64; 2], with: [u64; 2], usable: u64) -> u32 {
            let claim = Claim { part: WHOLE_DISK / 2, usable: usable * WHOLE_DISK / 100 };
            self.worth.requests = 1;
            let look = |_| {
                let has_room = self.worth.has_room();
                let [own, all] = if has_room { with } else { without };
                let mut of =
                    |parts: u64| Span::from_us(parts * 500 * (88 + self.prng.below(25)) / 100);
                self.totals.own += of(own);
                self.totals.all += of(all);
                self.totals.held_back += u64::from(has_room);
                self.now += LOOK_TIME;
                self.worth.end_look(self.now, self.totals, claim, self.is_only);
                u32::from(has_room)
            };
            (0..looks).map(look).sum()
        }
    }

    #[test]
    fn room_that_costs_more_than_it_gains_is_made_no_more() {
        let mut bed = Bed::new();
        assert_eq!(bed.looks(18, [1, 100], [5, 50], 20), 10, "eight looks without");
        assert_eq!(bed.looks(1300, [1, 100], [5, 50], 20), 10, "one look in 130 is with room");
    }

    #[test]
    fn room_that_gains_enough_is_made() {
        let mut bed = Bed::new();
        assert_eq!(bed.looks(18, [1, 100], [11, 50], 40), 10);
        assert_eq!(bed.looks(1300, [1, 100], [11, 50], 40), 1290);
    }

    #[test]
    fn room_is_made_at_little_cost_if_it_gains_a_little() {
        let gains = |with| Bed::new().looks(1300, [1, 100], with, 10) > 1000;
        assert_eq!([[3, 90], [3, 95], [5, 80], [5, 50]].map(gains), [true, true, true, false]);
    }

    #[test]
    fn who_has_its_part_or_what_it_can_use_has_room_at_any_cost() {
        assert_eq!(Bed::new().looks(1000, [10, 100], [10, 20], 90), 1000);
        assert_eq!(Bed::new().looks(1000, [1, 100], [5, 50], 5), 1000);
    }

    #[test]
    fn room_that_has_become_worth_it_is_made_again() {
        let mut bed = Bed::new();
        bed.looks(18, [1, 100], [5, 50], 20);
        assert!(bed.looks(10 * 130, [1, 100], [15, 50], 40) > 300);
        assert_eq!(bed.looks(130, [1, 100], [15, 50], 40), 129);
    }

    #[test]
    fn while_something_else_is_tried_nothing_is_learned() {
        let mut bed = Bed::new();
        bed.is_only = false;
        assert_eq!(bed.looks(1000, [1, 100], [5, 50], 20), 1000);
    }
}

//! How much room a group needs on a device without a head (see `expected`).
//!
//! What just keeps the device busy leaves some of its units idle by chance. With more there it does
//! more, and each request takes longer. That makes a group slower whose tasks wait for the device;
//! one that something else limits, such as a task that asks for as much as its CPU can, is as fast
//! as before. So it is tried: while a number of the group's requests are dispatched the others have
//! no more than keeps the device busy, while as many more are they have a little more, and so on.
//! Whether the group was faster with all of its room decides until the next trial.

use super::Fair;
use super::answer::{Made, Notes};
use super::looks::RATE_TIME;
use super::ways::{ONE, Ways, logarithm};
use fairdisk_core::{Instant, Span};

/// What others may have more, as a part of what keeps the device busy: if it does all but a tenth
/// of what it can, as much as it lacks and as much again.
const MORE_PARTS: u64 = 4;
/// Requests per look: enough for a stable mean, and many more than are at the device from before.
const LOOK_REQUESTS: u32 = 256;
/// A group is slower with less room if it takes a thirty-second longer: at half of the device that
/// is 1.5 points, and about as much as two looks differ by chance.
const SLOWER: i64 = ONE / 32;

/// What is known of a group's need for room, and the current look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trial {
    /// All room, and less.
    ways: Ways<true>,
    began: Instant,
    requests: u32,
    /// The cost of the group's requests in this look.
    cost: Span,
    /// How often others had made room when this look began.
    made: Made,
}

impl Trial {
    /// Whether the group gets all of its room now.
    pub(super) const fn has_all_room(&self) -> bool {
        !self.ways.is_second()
    }

    /// Breaks the current look off, as the group was away.
    pub(super) fn break_off(&mut self) {
        self.ways.break_off();
        self.requests = 0;
    }

    /// Accounts for a dispatched request of the group. `made` is how often others have made room so
    /// far.
    fn dispatched(&mut self, now: Instant, cost: Span, made: Made) {
        if self.requests == 0 {
            (self.began, self.cost, self.made) = (now, Span::ZERO, made);
        } else {
            self.cost += cost;
        }
        self.requests += 1;
        if self.requests > LOOK_REQUESTS {
            self.requests = 0;
            self.end_look(now, made);
        }
    }

    #[cold]
    fn end_look(&mut self, now: Instant, made: Made) {
        // Where others did not make the room that is tried, nothing is learned.
        let (made_all, made_less) = (made.all > self.made.all, made.less > self.made.less);
        let tells = if self.has_all_room() { made_all } else { made_less };
        let rate = self.cost.scaled(RATE_TIME.as_ns(), now.since(self.began).as_ns().max(1));
        let rate = logarithm(rate.as_ns().max(1));
        let less = self.ways.compare(rate);
        self.ways.end_look(tells.then_some(less + SLOWER), tells);
    }
}

impl Fair {
    /// Accounts for a dispatched request of the group in the trial of its room.
    #[inline]
    pub(super) fn try_room(&mut self, now: Instant, group: u32, cost: Span) {
        if self.device.is_flash() && self.params.rules.less_room {
            let made = self.expected.made;
            self.groups[group as usize].past.trial.dispatched(now, cost, made);
        }
    }

    /// Whether others may have more at the device than what keeps it busy, as no expected group
    /// needs all of its room. Of the work there, `beside` does not keep the device busy.
    pub(super) fn may_have_more(&self, beside: Span, notes: &mut Notes) -> bool {
        if !self.device.is_flash() || self.expected.need_all() || !self.params.rules.less_room {
            notes.made.all += 1;
            return false;
        }
        notes.made.less += 1;
        // Whether this is less than five quarters of what keeps the device busy.
        !self.device.is_saturated(self.load.at_work - self.load.at_work / (MORE_PARTS + 1) - beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::{FairParams, NIL};
    use crate::samples::request;
    use fairdisk_core::{Change, Cost, CostModel, Decision, Elevator, Op, Prng};

    /// A group whose requests come after `all` us each, or after `less` us while it has less room,
    /// give or take a half.
    struct Asks {
        trial: Trial,
        now: Instant,
        prng: Prng,
        made: Made,
    }

    impl Asks {
        fn new() -> Self {
            Self {
                trial: Trial::default(),
                now: Instant::ZERO,
                prng: Prng::new(1),
                made: Made::default(),
            }
        }

        /// How many of as many requests as are in `looks` looks were dispatched with all room.
        fn looks(&mut self, looks: u32, [all, less]: [u64; 2]) -> u32 {
            let step = |_| {
                let had_all = self.trial.has_all_room();
                let usual = if had_all { all } else { less };
                self.now += Span::from_ns(usual * 500 + self.prng.below(usual * 1000));
                let made = if had_all { &mut self.made.all } else { &mut self.made.less };
                *made += 1;
                self.trial.dispatched(self.now, Span::from_us(3), self.made);
                u32::from(had_all)
            };
            (0..looks * (LOOK_REQUESTS + 1)).map(step).sum::<u32>() / (LOOK_REQUESTS + 1)
        }
    }

    #[test]
    fn who_is_as_fast_with_less_has_less() {
        let mut asks = Asks::new();
        asks.looks(400, [100, 100]);
        assert!(asks.looks(1000, [100, 100]) < 40, "a pair begins in each 128 looks");
    }

    #[test]
    fn who_is_slower_with_less_has_all() {
        let mut asks = Asks::new();
        asks.looks(400, [100, 110]);
        assert!(asks.looks(1000, [100, 110]) > 960);
    }

    #[test]
    fn a_group_that_has_come_to_need_it_has_all_again() {
        let mut asks = Asks::new();
        asks.looks(400, [100, 100]);
        asks.looks(2000, [100, 150]);
        assert!(asks.looks(1000, [100, 150]) > 960);
    }

    #[test]
    fn what_else_changes_now_and_then_does_not_matter() {
        let mut asks = Asks::new();
        asks.looks(400, [100, 110]);
        for _ in 0..10 {
            assert!(asks.looks(384, [100, 110]) > 360);
            // Nobody is in the way in this pair, or somebody else all the time.
            assert!(asks.looks(128, [300, 100]) > 110);
        }
    }

    #[test]
    fn where_nobody_is_in_the_way_nothing_is_tried() {
        let mut asks = Asks::new();
        for at in 0..100_000 {
            asks.trial.dispatched(Instant::from_ns(at * 1000), Span::from_us(3), Made::default());
            assert!(asks.trial.has_all_room());
        }
    }

    /// How many of 12 reads of group 2 are at a device that eight keep busy, where group 1 is
    /// behind and has one there.
    fn there(trial: Trial) -> u32 {
        let (mut fair, now) = (Fair::new(&FairParams::default()), Instant::ZERO);
        let (time, saturation) = (Span::from_us(100), Span::from_us(800));
        let cost = Cost { sequential: time, random: time, byte_ps: 0, random_byte_ps: 0 };
        let costs = CostModel { depth: 32, saturation, alone: time, read: cost, write: cost };
        fair.configure(now, &Change::Rotational { rotational: false });
        fair.configure(now, &Change::Costs(costs));
        let admit = |fair: &mut Fair, slot, group| {
            fair.admit(now, &request(slot, group, Op::Read, now));
        };
        let dispatch = |fair: &mut Fair| matches!(fair.decide(now), Decision::Dispatch(..));
        (1..=2).for_each(|slot| admit(&mut fair, slot, slot));
        assert!(dispatch(&mut fair) && dispatch(&mut fair));
        fair.groups[1].past.trial = trial;
        fair.expect(now, 1, NIL);
        (3..=14).for_each(|slot| admit(&mut fair, slot, 2));
        while dispatch(&mut fair) {}
        assert!(!dispatch(&mut fair), "and it stays so");
        fair.groups[2].in_flight
    }

    #[test]
    fn others_have_a_quarter_more_beside_who_does_not_need_all_room() {
        let needs_less = Trial { ways: Ways::known(1), ..Trial::default() };
        let needs_all = Trial { ways: Ways::known(-1), ..Trial::default() };
        assert_eq!([Trial::default(), needs_all, needs_less].map(there), [7, 7, 9]);
    }
}

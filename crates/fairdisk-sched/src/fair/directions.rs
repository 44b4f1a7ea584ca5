//! Reads and writes in turns on a device without a head (Park, Shen, "FIOS: a fair, efficient flash
//! I/O scheduler", 2012, measures what a read loses to writes beside it).
//!
//! A flash unit that programs a page serves no read meanwhile. If groups that mostly read and groups
//! that mostly write both keep the device busy, it may do more while only one of the two *directions*
//! is there. So a direction keeps the device until the other has been first in line for a while.
//! What they get is settled by the order of groups, as everywhere; only the grain is coarser.
//!
//! Requests wait longer for that, so it has to be worth it: looks with turns are compared with looks
//! without (`pairs`).

use super::hierarchy::WHOLE_DISK;
use super::pairs::Pairs;
use super::{Fair, Step};
use alloc::vec::Vec;
use fairdisk_core::{Instant, Span, Why};

/// The recent requests of a group that tell its direction, and how many of them may be of the other.
const RECENT: u32 = u64::BITS;
const OTHERS_MOST: u32 = RECENT / 16;
/// How long a look takes at least. A turn of the one and one of the other take no longer than the
/// credit, 20 ms, so there are several of them.
const LOOK_TIME: Span = Span::from_ms(50);
/// A look that takes this many times as long has a pause in it.
const LOOK_FACTOR: u64 = 4;
/// Turns have to gain a sixteenth, in three of four pairs.
const GAIN_PARTS: u64 = 16;
const GAIN_QUARTERS: u32 = 3;
/// Looks from one pair to the next while turns are worth it, and while they are not: then a pair has
/// one look with turns, and one in 256 leaves the 99th percentile of latencies as it is.
const LOOKS_WITH_TURNS: u32 = 64;
const LOOKS_WITHOUT: u32 = 256;
/// The work for which the time is noted: large enough that nanoseconds are fine enough.
const WORK_UNIT: u64 = 1 << 16;

/// Whether a group reads or writes: a bit for each recent request, set for a write.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Direction(u64);

impl Direction {
    pub(super) const fn add(&mut self, is_write: bool) {
        self.0 = self.0 << 1 | is_write as u64;
    }

    /// Whether the group mostly writes; `None` if it does both.
    const fn writes(self) -> Option<bool> {
        match self.0.count_ones() {
            0..=OTHERS_MOST => Some(false),
            writes if writes >= RECENT - OTHERS_MOST => Some(true),
            _ => None,
        }
    }
}

/// Which direction has its turn, and what turns are worth.
#[derive(Debug, Default)]
pub(super) struct Directions {
    /// Whether it is the turn of writes, and since when.
    writes: bool,
    since: Instant,
    /// When the turn of the other direction comes, once that is first in line.
    until: Option<Instant>,
    /// The groups that are barred until then.
    waiting: Vec<u32>,
    /// Looks with turns, and without.
    pairs: Pairs<GAIN_PARTS>,
    began: Instant,
    /// What was dispatched in this look.
    work: Span,
}

impl Directions {
    /// Accounts for a dispatched request of this cost.
    pub(super) fn dispatched(&mut self, cost: Span) {
        self.work += cost;
    }

    /// Whether directions take turns now.
    const fn take_turns(&self) -> bool {
        self.pairs.is_first(self.are_worth_it())
    }

    const fn are_worth_it(&self) -> bool {
        self.pairs.is_known() && self.pairs.is_slower_in(GAIN_QUARTERS)
    }

    /// When the bars of this turn end.
    pub(super) const fn bars_until(&self) -> Option<Instant> {
        self.until
    }

    /// Begins the turn of the other direction. Looks end with those of writes.
    fn switch(&mut self, now: Instant) {
        (self.writes, self.since, self.until) = (!self.writes, now, None);
        let took = now.since(self.began);
        if !self.writes && took >= LOOK_TIME {
            let time = took.scaled(WORK_UNIT, self.work.as_ns().max(1));
            let is_whole = took.as_ns() <= LOOK_FACTOR * LOOK_TIME.as_ns();
            let between = if self.are_worth_it() { LOOKS_WITH_TURNS } else { LOOKS_WITHOUT };
            self.pairs.end_look(is_whole.then_some(time), between);
            (self.began, self.work) = (now, Span::ZERO);
        }
    }
}

impl Fair {
    /// Whether the group, which is first in line with this request, has to wait for the turn of its
    /// direction. Begins that turn if it is time.
    #[inline]
    pub(super) fn is_out_of_turn(&mut self, now: Instant, group: u32, at: u32) -> bool {
        let writes = self.groups[group as usize].direction.writes();
        let is_other = writes.is_some_and(|writes| writes != self.directions.writes);
        is_other && self.has_direction(group) && !self.may_begin_turn(now, group, at)
    }

    /// Whether turns of directions concern the group.
    fn has_direction(&self, group: u32) -> bool {
        self.params.direction > Span::ZERO
            && self.device.is_flash()
            && self.targets.is_empty()
            && self.may_wait_alone(group)
    }

    #[inline(never)]
    fn may_begin_turn(&mut self, now: Instant, group: u32, at: u32) -> bool {
        let entry = &self.groups[group as usize];
        let requests = u64::from(entry.waiting + entry.in_flight);
        let all = Span::from_ns(self.cost_of(at).as_ns().saturating_mul(requests));
        if !self.device.is_saturated(all) {
            // It would not keep the device busy, and is served beside the others.
            return true;
        }
        let waits = self.directions.take_turns() && self.other_direction_goes_on(now, group);
        if !waits {
            self.switch_direction(now);
        }
        !waits
    }

    /// Whether the direction whose turn it is, which is not that of the group, keeps it.
    fn other_direction_goes_on(&mut self, now: Instant, group: u32) -> bool {
        let is_alone = self.in_flight == self.groups[group as usize].in_flight
            && !self.tree.others_want(group);
        if is_alone {
            return false;
        }
        if !self.is_half_busy() {
            if self.tree.has_passed_expected(group) {
                // Whoever is behind cannot use a turn.
                self.directions.pairs.lose();
            }
            return false;
        }
        self.turn_comes(now, group) > now
    }

    /// When the turn of the group's direction comes. While those whose turn it is are behind, it
    /// goes on for as long as members of a line may be away and keep their place; once the group is
    /// first, for a while.
    fn turn_comes(&self, now: Instant, group: u32) -> Instant {
        match self.directions.until {
            _ if self.tree.has_passed_expected(group) => self.directions.since + self.params.credit,
            Some(until) => until,
            None => now + self.stays_first(group),
        }
    }

    /// How long the group is first in line before the turn of its direction comes. By then it is
    /// behind by that, and will be ahead by as much: both directions have their turns within the
    /// credit.
    fn stays_first(&self, group: u32) -> Span {
        let part = self.tree.part_beside_expected(group);
        let least = part.min(WHOLE_DISK - part);
        self.params.direction.min(self.params.credit.scaled(least, WHOLE_DISK))
    }

    /// Whether at least half of the device is busy: just after a turn has begun, with what the other
    /// direction still has there.
    fn is_half_busy(&self) -> bool {
        self.device.is_saturated(self.at_work + self.at_work)
    }

    /// Lets the group, which is out of turn, wait. Returns how, if everybody behind it in line has to
    /// wait with it.
    pub(super) fn wait_for_turn(&mut self, now: Instant, group: u32) -> Option<Step> {
        let at = self.turn_comes(now, group);
        if self.tree.has_passed_expected(group) {
            return Some(Step::WaitUntil(at, Why::OtherDirection));
        }
        self.directions.until = Some(at);
        self.directions.waiting.push(group);
        self.barred.bar_until(group, at, &mut self.tree);
        None
    }

    /// Lets the group have no more at the device than twice what keeps it busy if it is the turn of
    /// its direction and others wait for theirs: all of it is done before those have the device to
    /// themselves.
    pub(super) fn leave_turn(&self, now: Instant, group: u32) -> Option<Step> {
        let waits = self.others_wait(now)
            && self.groups[group as usize].direction.writes() == Some(self.directions.writes)
            && self.device.is_saturated(self.at_work / 2);
        waits.then_some(Step::WaitCompletion(Why::OtherDirection))
    }

    /// Whether groups are barred until the turn of their direction.
    fn others_wait(&self, now: Instant) -> bool {
        self.directions.until.is_some_and(|until| until > now)
    }

    fn switch_direction(&mut self, now: Instant) {
        while let Some(group) = self.directions.waiting.pop() {
            if self.barred.until(core::iter::once(group)) == self.directions.until {
                self.release_barred(group);
            }
        }
        self.directions.switch(now);
    }

    /// Ends the turn of a direction if only others are left to be served and the device is not kept
    /// busy. Returns whether it did.
    pub(super) fn end_direction(&mut self, now: Instant) -> bool {
        let ends = self.others_wait(now) && !self.is_half_busy();
        if ends {
            self.switch_direction(now);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use crate::samples::request;
    use core::num::NonZeroU64;
    use fairdisk_core::{
        Change, Completion, Cost, CostModel, Decision, Elevator, GroupId, Op, Qos, Rates,
        RequestId, Share, Weight,
    };

    /// A device of eight units. A request takes a unit for 100 us, and for longer if others of the
    /// other direction are at the device when it comes.
    struct Flash {
        mixed: Span,
        /// When each unit is free.
        units: [Instant; 8],
        /// The requests there, and when each ends.
        there: Vec<(Instant, u32)>,
    }

    /// The slots of writes; those below are of reads.
    const WRITES: u32 = 100;

    fn op(slot: u32) -> Op {
        if slot < WRITES { Op::Read } else { Op::Write }
    }

    impl Flash {
        fn start(&mut self, now: Instant, slot: u32) {
            let is_mixed = self.there.iter().any(|(_, other)| op(*other) != op(slot));
            let unit = self.units.iter_mut().min().expect("there are units");
            let takes = if is_mixed { self.mixed } else { Span::from_us(100) };
            *unit = (*unit).max(now) + takes;
            self.there.push((*unit, slot));
        }
    }

    /// A load of two groups, of which group 1 reads and group 2 writes. Each of their tasks asks again
    /// as soon as it was served; reads need a CPU first, for this long.
    #[derive(Clone, Copy)]
    struct Load {
        mixed_us: u64,
        readers: u32,
        writers: u32,
        cpu_us: u64,
        weight: u32,
    }

    const DEEP: Load = Load { mixed_us: 150, readers: 16, writers: 16, cpu_us: 0, weight: 100 };

    /// What came of it in two seconds: the number of reads and writes, and the longest wait of a read
    /// in the last second, in us.
    #[derive(Debug, PartialEq, Eq)]
    struct Outcome {
        reads: u32,
        writes: u32,
        longest: u64,
    }

    impl Load {
        fn run(self, setup: impl FnOnce(&mut Fair)) -> Outcome {
            let mut fair = Fair::new(&FairParams::default());
            let time = Span::from_us(100);
            let cost =
                Cost { sequential: time / 8, random: time / 8, byte_ps: 0, random_byte_ps: 0 };
            let costs =
                CostModel { depth: 1024, saturation: time, alone: time, read: cost, write: cost };
            let share = Share::Weight(Weight::new(self.weight).expect("a weight"));
            let mut tell = |change| fair.configure(Instant::ZERO, &change);
            tell(Change::Rotational { rotational: false });
            tell(Change::Costs(costs));
            tell(Change::GroupShare { group: GroupId(1), share });
            setup(&mut fair);
            let mixed = Span::from_us(self.mixed_us);
            let mut flash = Flash { mixed, units: [Instant::ZERO; 8], there: Vec::new() };
            let slots = (0..self.readers).chain(WRITES..WRITES + self.writers);
            let mut asks: Vec<(Instant, u32)> = slots.map(|slot| (Instant::ZERO, slot)).collect();
            let mut came = [Instant::ZERO; 1024];
            let (mut now, mut cpu) = (Instant::ZERO, Instant::ZERO);
            let (mut done, mut longest) = ([0, 0], Span::ZERO);
            let at = |ms| Instant::ZERO + Span::from_ms(ms);
            while now < at(2000) {
                while let Some(next) = asks.iter().position(|(when, _)| *when <= now) {
                    let (_, slot) = asks.swap_remove(next);
                    came[slot as usize] = now;
                    let group = 1 + u32::from(slot >= WRITES);
                    fair.admit(now, &request(slot, group, op(slot), now));
                }
                let again = loop {
                    match fair.decide(now) {
                        Decision::Dispatch(RequestId(slot), _) => flash.start(now, slot),
                        Decision::WaitUntil(at, _) => break at,
                        _ => break Instant::MAX,
                    }
                };
                let ends = flash.there.iter().chain(&asks).map(|(at, _)| *at);
                now = ends.chain([again]).min().expect("there is always something to come");
                while let Some(end) = flash.there.iter().position(|(end, _)| *end <= now) {
                    let (_, slot) = flash.there.swap_remove(end);
                    let (request, device_time) = (RequestId(slot), Span::ZERO);
                    fair.complete(now, &Completion { request, device_time, ok: true });
                    if slot >= WRITES {
                        done[1] += 1;
                        asks.push((now, slot));
                        continue;
                    }
                    done[0] += 1;
                    if now > at(1000) {
                        longest = longest.max(now.since(came[slot as usize]));
                    }
                    cpu = cpu.max(now) + Span::from_us(self.cpu_us);
                    asks.push((cpu, slot));
                }
            }
            Outcome { reads: done[0], writes: done[1], longest: longest.as_us() }
        }
    }

    impl Outcome {
        /// Asserts that reads got so many times as much as writes, but for a hundredth.
        #[track_caller]
        fn assert_share(&self, times: u32) {
            let (reads, writes) = (self.reads, self.writes * times);
            assert!(reads.abs_diff(writes) <= reads / 100, "{self:?}");
        }
    }

    fn without_turns(fair: &mut Fair) {
        fair.params.direction = Span::ZERO;
    }

    #[test]
    fn they_take_turns_where_that_gains() {
        let (outcome, mixed) = (DEEP.run(|_| {}), DEEP.run(without_turns));
        outcome.assert_share(1);
        assert!(outcome.reads > mixed.reads + mixed.reads / 3, "{outcome:?} {mixed:?}");
        // A turn takes twice the time that the others are first in line: by then they have caught
        // up with what these had in the last turn.
        assert!((3_500..=4_500).contains(&outcome.longest), "{outcome:?}");
    }

    #[test]
    fn by_weight_too() {
        let load = Load { weight: 400, ..DEEP };
        let (outcome, mixed) = (load.run(|_| {}), load.run(without_turns));
        outcome.assert_share(4);
        assert!(outcome.reads > mixed.reads + mixed.reads / 3, "{outcome:?} {mixed:?}");
    }

    #[test]
    fn both_have_their_turns_within_the_credit() {
        let outcome = Load { weight: 2000, ..DEEP }.run(|_| {});
        outcome.assert_share(20);
        let outcome = Load { weight: 5, ..DEEP }.run(|_| {});
        assert!((20 * outcome.reads).abs_diff(outcome.writes) <= outcome.writes / 100);
        assert!(outcome.longest < 22_000, "{outcome:?}");
    }

    #[test]
    fn what_has_to_be_done_first_in_the_next_turn_is_bounded() {
        let outcome = Load { writers: 900, ..DEEP }.run(|_| {});
        outcome.assert_share(1);
        assert!(outcome.longest < 4_000, "{outcome:?}");
    }

    #[test]
    fn where_little_is_gained_nobody_waits_for_turns() {
        let outcome = Load { mixed_us: 103, ..DEEP }.run(|_| {});
        outcome.assert_share(1);
        assert!(outcome.longest < 1_000, "{outcome:?}");
    }

    #[test]
    fn few_requests_are_served_beside_the_others() {
        let load = Load { readers: 4, ..DEEP };
        let (outcome, mixed) = (load.run(|_| {}), load.run(without_turns));
        assert_eq!(outcome, mixed);
        assert_eq!(outcome.longest, 150);
    }

    /// A turn in which a CPU lets too few reads come would go on, as these are behind.
    #[test]
    fn who_cannot_use_a_turn_has_its_share_without() {
        let load = Load { mixed_us: 200, readers: 64, cpu_us: 30, weight: 400, ..DEEP };
        load.run(|_| {}).assert_share(4);
    }

    #[test]
    fn nobody_waits_for_a_turn_beside_a_latency_target() {
        let target = |fair: &mut Fair| {
            let qos = Qos { latency_p99: Some(Span::from_ms(50)), ..Qos::NONE };
            fair.configure(Instant::ZERO, &Change::GroupQos { group: GroupId(3), qos });
        };
        assert_eq!(DEEP.run(target), DEEP.run(without_turns));
    }

    #[test]
    fn a_floor_is_not_kept_waiting() {
        let floor = Rates { iops: NonZeroU64::new(1), ..Rates::NONE };
        let promise = |fair: &mut Fair| {
            let qos = Qos { floor, ..Qos::NONE };
            fair.configure(Instant::ZERO, &Change::GroupQos { group: GroupId(1), qos });
        };
        assert!(DEEP.run(promise).longest < 1_500);
    }

    #[test]
    fn who_does_both_has_no_direction() {
        let direction = |writes: u32| {
            let mut direction = Direction::default();
            (0..RECENT).for_each(|at| direction.add(at < writes));
            direction.writes()
        };
        assert_eq!([0, 4, 5, 59, 60, 64].map(direction), {
            [Some(false), Some(false), None, None, Some(true), Some(true)]
        });
    }
}

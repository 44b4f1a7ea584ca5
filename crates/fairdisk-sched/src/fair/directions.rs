//! Reads and writes in turns on a device without a head (Park, Shen, "FIOS: a fair, efficient flash
//! I/O scheduler", 2012, measures what a read loses to writes beside it).
//!
//! A flash unit that programs a page serves no read meanwhile. If groups that mostly read and
//! groups that mostly write both keep the device busy, it may do more while only one of the two
//! *directions* is there. So a direction keeps the device until the other has been first in line
//! for a while. What they get is settled by the order of groups, as everywhere; only the grain is
//! coarser.
//!
//! Requests wait longer for that, so it has to be `worth` it.

mod worth;

use super::direction::Direction;
use super::hierarchy::WHOLE_DISK;
use super::queueing::Verdict;
use super::{Fair, Step};
use alloc::vec::Vec;
use fairdisk_core::{Instant, Span, Why};
use worth::Worth;

/// How many groups wait for the turn of their direction at most; more are served beside the others.
/// What a decision does is bounded by this.
const WAITING_MOST: usize = 64;
/// How long a group waits at least: a wait that ends at once would be none.
const STAY_LEAST: Span = Span::from_us(1);

/// The current turn, and what turns are worth.
#[derive(Debug, Default)]
pub(super) struct Directions {
    turn: Direction,
    since: Instant,
    /// The cost of what was completed before this turn.
    done_before: Span,
    /// Groups of the other direction that were barred in this turn, and their part of the disk, in
    /// parts of 2^32.
    waiting: Vec<u32>,
    part: u64,
    /// Since when they are first in line.
    first: Option<Instant>,
    /// When their bars end.
    until: Instant,
    worth: Worth,
}

impl Directions {
    /// Accounts for a completed request that was charged this when it was dispatched.
    pub(super) fn completed(&mut self, charged: Span) {
        self.worth.completed(charged);
    }

    /// Whether it is being tried what turns are worth.
    pub(super) const fn are_tried(&self) -> bool {
        self.worth.pairs.tried().is_some()
    }

    /// The cost of all that was completed.
    pub(super) const fn done(&self) -> Span {
        self.worth.done
    }

    /// When the groups that wait are no longer barred.
    pub(super) fn waits_until(&self, now: Instant) -> Option<Instant> {
        (!self.waiting.is_empty() && self.until > now).then_some(self.until)
    }

    /// Begins the turn of the other direction. Looks end with those of writes.
    fn switch(&mut self, now: Instant, credit: Span) {
        self.turn = match self.turn {
            Direction::Reads => Direction::Writes,
            Direction::Writes => Direction::Reads,
        };
        (self.since, self.done_before) = (now, self.done());
        if self.turn == Direction::Reads {
            self.worth.end_look(now, credit);
        }
    }
}

impl Fair {
    /// What turns of directions mean for the group, which is first in line with this request.
    /// Begins the turn of its direction if it is time.
    #[inline]
    pub(super) fn heed_direction(&mut self, now: Instant, group: u32, at: u32) -> Verdict {
        let take_turns = self.params.rules.directions && self.params.direction > Span::ZERO;
        if !take_turns || !self.device.is_flash() {
            return Verdict::Serve;
        }
        let Some(direction) = self.groups[group as usize].past.recent.direction() else {
            return Verdict::Serve;
        };
        let has_turn = direction == self.directions.turn;
        let may_go_on = has_turn && self.turn_lasts_until(now).is_none();
        if may_go_on || !self.has_turns(group) || !self.keeps_device_busy(group, at) {
            return Verdict::Serve;
        }
        if has_turn { self.use_turn(now) } else { self.wait_for_turn(now, group) }
    }

    /// Whether turns concern the group. Exempt are groups to which something else than weight says
    /// when they are served, and everybody beside a latency target.
    fn has_turns(&self, group: u32) -> bool {
        self.targets.is_empty()
            && self.may_wait_alone(group)
            && !(self.barred.has_ceilings() && self.has_ceiling(group))
    }

    /// Serves a group whose turn it is, but lets it have no more at the device than twice what
    /// keeps it busy: all of that is done before the next turn gains anything.
    fn use_turn(&mut self, now: Instant) -> Verdict {
        let is_behind = |group: &u32| self.tree.behind_by(*group).is_some();
        if self.directions.first.is_none() && self.directions.waiting.iter().any(is_behind) {
            self.others_are_first(now);
        }
        match self.in_flight > 0 && self.device.is_saturated(self.at_work / 2) {
            true => Verdict::Wait(Step::WaitCompletion(Why::OtherDirection)),
            false => Verdict::Serve,
        }
    }

    /// How long a turn lasts at most, if directions take turns and it is not over. If nobody has
    /// taken over by then, nobody else is there.
    fn turn_lasts_until(&self, now: Instant) -> Option<Instant> {
        let end = self.directions.since + self.params.credit;
        (self.directions.worth.take_turns() && end > now).then_some(end)
    }

    /// Lets a group wait whose direction does not have the turn, or begins its turn if it is time
    /// or none are taken.
    fn wait_for_turn(&mut self, now: Instant, group: u32) -> Verdict {
        if !self.directions.worth.take_turns() {
            return self.begin_turn_of_direction(now);
        }
        if !self.groups[group as usize].waits_for_turn {
            if self.directions.waiting.len() == WAITING_MOST {
                return Verdict::Serve;
            }
            self.note_waiting(now, group);
        }
        if self.directions.until <= now {
            return self.begin_turn_of_direction(now);
        }
        self.barred.bar_until(group, self.directions.until, &mut self.tree);
        Verdict::Barred
    }

    /// Begins the turn of the other direction, for a group of it. A look may end with that, so
    /// whether turns are taken may change.
    fn begin_turn_of_direction(&mut self, now: Instant) -> Verdict {
        self.change_direction(now);
        match self.turn_lasts_until(now) {
            Some(_) => self.use_turn(now),
            None => Verdict::Serve,
        }
    }

    /// Whether the group has enough queued and at the device also when one of its requests is done,
    /// if all cost as much as this one, and no pauses, or has had none for long. Any other is
    /// better served beside the others: a task with one request at a time would lose each turn as
    /// soon as it waits for nothing.
    fn keeps_device_busy(&self, group: u32, at: u32) -> bool {
        let entry = &self.groups[group as usize];
        let others = u64::from(entry.waiting + entry.in_flight - 1);
        if self.requests[at].is_durable() && self.device.programs_first() {
            return false;
        }
        let rest = Span::from_ns(self.cost_of(at).as_ns().saturating_mul(others));
        let pauses = self.device.is_saturated(entry.past.think.or_zero());
        self.device.is_saturated(rest) && (!pauses || entry.past.burst >= self.params.credit)
    }

    /// Notes that the group waits for the turn of its direction.
    fn note_waiting(&mut self, now: Instant, group: u32) {
        if self.directions.waiting.is_empty() {
            self.directions.until = self.directions.since + self.params.credit;
            self.directions.worth.note_turns();
        }
        self.directions.waiting.push(group);
        // Those that wait are not in line, so this is its part of what they leave.
        let part = Span::from_ns(self.tree.part_beside_expected(group));
        let rest = WHOLE_DISK - self.directions.part;
        self.directions.part += part.scaled(rest, WHOLE_DISK).as_ns();
        self.groups[group as usize].waits_for_turn = true;
        if self.directions.first.is_some() || !self.tree.has_passed_expected(group) {
            self.others_are_first(now);
        }
    }

    /// Notes that groups of the other direction are first in line. By the time their turn comes
    /// they are behind by what was done since, and at its end ahead by as much: both directions
    /// have their turns within the credit.
    fn others_are_first(&mut self, now: Instant) {
        let directions = &mut self.directions;
        let since = *directions.first.get_or_insert(now);
        let least = directions.part.min(WHOLE_DISK - directions.part);
        let stay = self.params.direction.min(self.params.credit.scaled(least, WHOLE_DISK));
        let stay = stay.max(STAY_LEAST);
        directions.until = (since + stay).min(directions.since + self.params.credit);
        for group in &directions.waiting {
            if self.barred.contains(*group) {
                self.barred.bar_until(*group, directions.until, &mut self.tree);
            }
        }
    }

    /// Ends the turn of a direction if only others are left to be served and the device is not kept
    /// busy. Returns whether it did.
    pub(super) fn end_turn_of_direction(&mut self, now: Instant) -> bool {
        let ends = self.directions.waits_until(now).is_some() && !self.is_turn_used(now);
        if ends {
            self.change_direction(now);
        }
        ends
    }

    /// Whether the device has enough to do in this turn: half of what keeps it busy, or it was busy
    /// for half of the turn so far, as requests may end together.
    fn is_turn_used(&self, now: Instant) -> bool {
        self.in_flight > 0
            && (self.half_busy_until() > now
                || self.device.is_saturated(self.at_work + self.at_work))
    }

    /// Until when the device was busy for half of the turn, if nothing more is dispatched.
    fn half_busy_until(&self) -> Instant {
        let done = self.directions.done() - self.directions.done_before + self.at_work;
        self.directions.since + done + done
    }

    /// When time alone may change what turns mean.
    pub(super) fn turns_change_at(&self, now: Instant) -> Option<Instant> {
        let ends = self.directions.waits_until(now).map(|at| at.min(self.half_busy_until()));
        let ends = ends.filter(|at| *at > now);
        ends.into_iter().chain(self.turn_lasts_until(now)).min()
    }

    /// Begins the turn of the other direction.
    fn change_direction(&mut self, now: Instant) {
        self.let_all_out_of_turn();
        self.directions.switch(now, self.params.credit);
    }

    /// Lets all groups be served that wait for their turn.
    pub(super) fn let_all_out_of_turn(&mut self) {
        (self.directions.first, self.directions.part) = (None, 0);
        while let Some(group) = self.directions.waiting.pop() {
            self.let_out_of_turn(group);
            self.groups[group as usize].waits_for_turn = false;
        }
    }

    /// Lifts the bar of a group that waits for its turn.
    pub(super) fn let_out_of_turn(&mut self, group: u32) {
        if self.groups[group as usize].waits_for_turn {
            self.release_barred(group);
        }
    }

    /// Forgets what turns are worth, as it was found out on another device.
    pub(super) fn forget_directions(&mut self) {
        self.let_all_out_of_turn();
        *self.directions = Directions::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use crate::fair::direction::Recent;
    use crate::fair::pairs::Pairs;
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

    /// A load of two groups, of which group 1 reads and group 2 writes. Each of their tasks asks
    /// again as soon as it was served; reads need a CPU first, for this long.
    #[derive(Clone, Copy)]
    struct Load {
        mixed_us: u64,
        readers: u32,
        writers: u32,
        cpu_us: u64,
        /// How long the CPU does something else after every 4,000 reads.
        pause_us: u64,
        weight: u32,
        /// How many groups write, each with that part of the writers.
        writing: u32,
    }

    const DEEP: Load = Load {
        mixed_us: 150,
        readers: 16,
        writers: 16,
        cpu_us: 0,
        pause_us: 0,
        weight: 100,
        writing: 1,
    };

    /// What came of it in two seconds: the number of reads and writes, and the longest wait of a
    /// read in the last second, in us.
    #[derive(Debug, PartialEq, Eq)]
    struct Outcome {
        reads: u32,
        writes: u32,
        longest: u64,
    }

    /// `fair` on that device.
    fn fair_on_flash() -> Fair {
        let mut fair = Fair::new(&FairParams::default());
        let time = Span::from_us(100);
        let cost = Cost { sequential: time / 8, random: time / 8, byte_ps: 0, random_byte_ps: 0 };
        let costs =
            CostModel { depth: 1024, saturation: time, alone: time, read: cost, write: cost };
        fair.configure(Instant::ZERO, &Change::Rotational { rotational: false });
        fair.configure(Instant::ZERO, &Change::Costs(costs));
        fair
    }

    impl Load {
        fn run(self, setup: impl FnOnce(&mut Fair)) -> Outcome {
            let mut fair = fair_on_flash();
            let share = Share::Weight(Weight::new(self.weight).expect("a weight"));
            fair.configure(Instant::ZERO, &Change::GroupShare { group: GroupId(1), share });
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
                    let group = slot.checked_sub(WRITES).map_or(1, |at| 2 + at % self.writing);
                    fair.admit(now, &request(slot, group, op(slot), now));
                }
                let again = loop {
                    match fair.decide(now) {
                        Decision::Dispatch(RequestId(slot), _) => flash.start(now, slot),
                        Decision::WaitUntil(at, _) => break at,
                        _ => break Instant::MAX,
                    }
                };
                assert!(fair.queued == 0 || !flash.there.is_empty(), "the device is idle");
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
                    let pause_us = if done[0] % 4_000 == 0 { self.pause_us } else { 0 };
                    cpu = cpu.max(now) + Span::from_us(self.cpu_us + pause_us);
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

    /// Asserts that neither reads nor writes have less with turns than without.
    #[track_caller]
    fn assert_nobody_loses(load: Load) {
        let (outcome, mixed) = (load.run(|_| {}), load.run(without_turns));
        assert!(outcome.reads >= mixed.reads, "{outcome:?} {mixed:?}");
        assert!(outcome.writes >= mixed.writes, "{outcome:?} {mixed:?}");
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
    fn however_many_groups_wait() {
        let load = Load { writers: 64, weight: 300, writing: 3, ..DEEP };
        let (outcome, mixed) = (load.run(|_| {}), load.run(without_turns));
        outcome.assert_share(1);
        assert!(outcome.reads > mixed.reads + mixed.reads / 4, "{outcome:?} {mixed:?}");
        assert!((3_500..=4_500).contains(&outcome.longest), "{outcome:?}");
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
        assert!(outcome.longest < 4_500, "{outcome:?}");
        // What has to be caught up with is four times as long as the wait.
        let outcome = Load { writers: 900, weight: 25, ..DEEP }.run(|_| {});
        assert!(outcome.writes.abs_diff(4 * outcome.reads) <= outcome.writes / 50, "{outcome:?}");
        assert!(outcome.longest < 12_000, "{outcome:?}");
    }

    #[test]
    fn the_device_is_not_kept_for_who_pauses() {
        assert_nobody_loses(Load { pause_us: 3_000, ..DEEP });
    }

    #[test]
    fn who_waits_is_served_as_soon_as_nothing_else_is_left() {
        let mut fair = fair_on_flash();
        let at = |us| Instant::ZERO + Span::from_us(us);
        for (group, slots) in [(1, 0..8), (2, WRITES..WRITES + 16)] {
            for slot in slots {
                fair.admit(at(0), &request(slot, group, op(slot), at(0)));
            }
        }
        fair.groups[1].past.recent = Recent::READS;
        fair.groups[2].past.recent = Recent::WRITES;
        fair.directions.worth.pairs = Pairs::known(true);
        let mut next = |now, done: Option<u32>| {
            if let Some(slot) = done {
                let (request, device_time) = (RequestId(slot), Span::ZERO);
                fair.complete(now, &Completion { request, device_time, ok: true });
            }
            fair.decide(now)
        };
        for slot in 0..8 {
            assert_eq!(next(at(0), None), Decision::Dispatch(RequestId(slot), Why::LeastServed));
        }
        let waits = Decision::WaitUntil(at(200), Why::OtherDirection);
        assert_eq!(next(at(0), None), waits, "writes wait for their turn");
        for slot in 0..7 {
            assert_eq!(next(at(50), Some(slot)), waits, "while reads are there");
        }
        let write = Decision::Dispatch(RequestId(WRITES), Why::LeastServed);
        assert_eq!(next(at(50), Some(7)), write, "and no longer");
    }

    #[test]
    fn a_look_with_turns_has_them_from_its_beginning() {
        let mut fair = fair_on_flash();
        let admit = |fair: &mut Fair, group, slots: core::ops::Range<u32>| {
            for slot in slots {
                fair.admit(Instant::ZERO, &request(slot, group, op(slot), Instant::ZERO));
            }
        };
        admit(&mut fair, 2, WRITES..WRITES + 20);
        fair.groups[2].past.recent = Recent::WRITES;
        fair.directions.turn = Direction::Writes;
        while let Decision::Dispatch(..) = fair.decide(Instant::ZERO) {}
        admit(&mut fair, 1, 0..9);
        fair.groups[1].past.recent = Recent::READS;
        let now = Instant::ZERO + Span::from_ms(70);
        // The first look had none. Their turn begins the next one, and the writes that are there
        // have to be done first.
        let decisions = [fair.decide(now), fair.decide(now)];
        let waits = matches!(decisions[0], Decision::WaitUntil(_, Why::OtherDirection));
        assert!(waits && decisions[0] == decisions[1], "{decisions:?}");
    }

    #[test]
    fn where_little_is_gained_nobody_waits_for_turns() {
        let outcome = Load { mixed_us: 103, ..DEEP }.run(|_| {});
        outcome.assert_share(1);
        assert!(outcome.longest < 1_000, "{outcome:?}");
    }

    /// Eight keep the device busy, but seven do not, and each task has one.
    #[test]
    fn few_requests_are_served_beside_the_others() {
        for (readers, longest) in [(4, 150), (8, 300)] {
            let load = Load { readers, ..DEEP };
            let (outcome, mixed) = (load.run(|_| {}), load.run(without_turns));
            assert_eq!(outcome, mixed);
            assert_eq!(outcome.longest, longest);
        }
    }

    /// A CPU lets fewer reads come than half of what the device does: in a turn of their own they
    /// would be slower than the others.
    #[test]
    fn who_cannot_use_a_turn_has_no_less_without() {
        for (mixed_us, cpu_us) in [(200, 30), (300, 40)] {
            assert_nobody_loses(Load { mixed_us, readers: 64, cpu_us, weight: 400, ..DEEP });
        }
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
}

//! Shorter rounds for latency targets, on a disk with a head that serves one request at a time.
//!
//! A group that wants more than its share waits for the turns of others, whatever its target. If
//! that makes its requests late, the others have the disk for a shorter time between two of its
//! turns, its *interval*, and its own turns are as much shorter: it gets the same in smaller
//! portions.
//!
//! A shorter round costs seeks, and a task that does many requests in a turn meets its target with
//! a long one: only the first request of each turn is late. So the interval is bounded only once
//! more than one request in a hundred was late for it. Then it is learned as the room at a device
//! that serves several at once is (`room`).

use super::room::RISE_PARTS;
use super::trouble::Trouble;
use crate::fair::Fair;
use crate::fair::hierarchy::WHOLE_DISK;
use crate::fair::requests::Rq;
use crate::groups::Order;
use fairdisk_core::{Instant, Span};

/// How often the present groups are determined: a small part of `PRESENT`, and rare beside
/// requests.
pub(super) const PRESENCE_CHECK: Span = Span::from_ms(50);

/// Half of the target, or less if two requests that take `service` take longer than the other half.
pub(super) fn half_of(target: Span, service: Span) -> Span {
    (target / 2).min(target - (service + service))
}

/// The bounded intervals of groups with targets that may be present.
#[derive(Debug)]
pub(in crate::fair) struct Intervals {
    there: Order<Span>,
    /// Until when the smallest of them is taken to be in force.
    until: Instant,
}

impl Intervals {
    pub(in crate::fair) const fn new() -> Self {
        Self { there: Order::new(), until: Instant::MAX }
    }

    /// When to determine again which are in force.
    pub(in crate::fair) fn presence_check_at(&self) -> Option<Instant> {
        Some(self.until).filter(|until| *until < Instant::MAX)
    }

    /// Notes the interval of a group with a target that is present.
    pub(in crate::fair) fn note(&mut self, group: u32, interval: &Interval) {
        let most = interval.most();
        if self.there.key(group) != most {
            self.there.place(group, most);
            self.until = Instant::ZERO;
        }
    }

    /// Forgets the interval of a group.
    pub(in crate::fair) fn forget(&mut self, group: u32) {
        self.there.place(group, None);
        self.until = Instant::ZERO;
    }
}

/// How long others may have the disk between two turns of a group with a target.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::fair) struct Interval {
    /// Zero if it is not bounded.
    most: Span,
    /// How many requests in time there were for late ones to come, while it is not bounded.
    spare: u32,
    trouble: Trouble,
}

/// Of the 99th percentile one request in 100 may be late.
const PER_LATE: u32 = 100;
/// Requests in time count for two late ones to come, as two turns may end soon after another.
const SPARE_MOST: u32 = 2 * PER_LATE;

impl Interval {
    /// The longest interval, if it is bounded.
    pub(in crate::fair) const fn most(&self) -> Option<Span> {
        if self.most.as_ns() > 0 { Some(self.most) } else { None }
    }

    /// Accounts for a request that was in time, or was late after waiting in line. The interval is
    /// `first` at first, at least one request of the disk, `least`, and not bounded from `round`
    /// on.
    fn completed(&mut self, is_late: bool, (first, least, round): (Span, Span, Span)) {
        if self.trouble.rests() {
            return;
        }
        match (self.most(), is_late) {
            (None, false) => self.spare = (self.spare + 1).min(SPARE_MOST),
            (None, true) if self.spare >= PER_LATE => self.spare -= PER_LATE,
            (None, true) => (self.most, self.spare) = (first.max(least), 0),
            (Some(most), false) => {
                let more = most + (most / RISE_PARTS).max(Span::from_ns(1));
                self.most = if more < round { more } else { Span::ZERO };
            }
            (Some(most), true) => self.most = (most - most / 4).max(least),
        }
        if is_late && self.most() == Some(least) && self.trouble.is_late() {
            self.most = Span::ZERO;
        }
    }
}

impl Fair {
    /// Adjusts the interval of the group after one of its requests. One that is late though it
    /// waited in line for no longer than a request takes was delayed by the disk, which shorter
    /// turns do not change.
    pub(in crate::fair) fn adjust_interval(
        &mut self,
        now: Instant,
        group: u32,
        (rq, device_time): (&Rq, Span),
        target: Span,
    ) {
        if !self.has_portions() || !self.params.rules.target_rounds {
            return;
        }
        let latency = now.since(rq.arrived);
        let is_late = latency > target;
        let least = self.device.times.service.or_zero().max(Span::from_ns(1));
        if is_late && latency - device_time <= least {
            return;
        }
        let first = half_of(target, least);
        let interval = &mut self.groups[group as usize].target.interval;
        let before = interval.most();
        interval.completed(is_late, (first, least, self.params.round));
        if interval.most() != before {
            self.promises.targets.intervals.note(group, interval);
            self.fit_round(now);
        }
    }

    /// Whether turns on the device are short for targets. One that takes several requests has room
    /// for them instead.
    fn has_portions(&self) -> bool {
        self.device.rotational && self.device.is_serial()
    }

    /// Determines the length of rounds for the smallest interval of the groups that are present.
    #[cold]
    #[inline(never)]
    pub(in crate::fair) fn fit_round(&mut self, now: Instant) {
        let has_portions = self.has_portions();
        let intervals = &mut self.promises.targets.intervals;
        let first = loop {
            let first = intervals.there.first().filter(|_| has_portions);
            let Some((group, most)) = first else { break None };
            if self.groups[group as usize].is_present(now) {
                break Some((group, most));
            }
            intervals.there.place(group, None);
        };
        intervals.until = first.map_or(Instant::MAX, |_| now + PRESENCE_CHECK);
        let most = first.map_or(Span::MAX, |(_, most)| most);
        let others = first.map_or(WHOLE_DISK, |(group, _)| WHOLE_DISK - self.tree.part(group));
        self.turns.rounds.fit(most.scaled(WHOLE_DISK, others.max(1)), most);
    }

    /// Determines it again when it is time.
    #[inline]
    pub(in crate::fair) fn fit_round_if_due(&mut self, now: Instant) {
        if now >= self.promises.targets.intervals.until
            && self.promises.targets.intervals.until < Instant::MAX
        {
            self.fit_round(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use crate::samples::request;
    use alloc::vec::Vec;
    use fairdisk_core::{
        Change, Completion, Decision, Elevator, GroupId, Op, Prng, Qos, RequestId, Share, Weight,
    };

    const TARGET: Span = Span::from_ms(50);
    const ROUND: Span = Span::from_ms(200);
    const SERVICE: Span = Span::from_ms(8);

    fn note(interval: &mut Interval, is_late: bool) -> Option<u64> {
        interval.completed(is_late, (half_of(TARGET, SERVICE), SERVICE, ROUND));
        interval.most().map(Span::as_ms)
    }

    #[test]
    fn an_interval_is_bounded_once_more_than_one_in_a_hundred_was_late() {
        let mut interval = Interval::default();
        // 150 requests in each turn, of which the first is late.
        for at in 0..3000 {
            assert_eq!(note(&mut interval, at % 150 == 149), None, "{at}");
        }
        (0..50).for_each(|_| assert_eq!(note(&mut interval, false), None));
        // Ten requests in each turn.
        let turn = |interval: &mut Interval| {
            (0..9).for_each(|_| _ = note(interval, false));
            note(interval, true)
        };
        let bounds: Vec<_> = (0..4).map(|_| turn(&mut interval)).collect();
        assert_eq!(bounds, [None, Some(25), Some(18), Some(14)]);
        // All are in time from now on.
        let until_free = (0..).find(|_| note(&mut interval, false).is_none());
        assert!((1800..=1900).contains(&until_free.unwrap()), "{until_free:?}");
    }

    #[test]
    fn an_interval_stays_where_one_in_two_hundred_is_late() {
        let (mut interval, mut prng) = (Interval::default(), Prng::new(1));
        note(&mut interval, true);
        let (mut late, mut requests) = (0, 0);
        for step in 0..200_000 {
            // Twice the interval makes twice as many requests late: of 50 ms one in 200.
            let most = interval.most().unwrap_or(ROUND);
            let is_late = prng.below(200 * TARGET.as_ns()) < most.as_ns();
            note(&mut interval, is_late);
            if step >= 20_000 {
                (late, requests) = (late + u32::from(is_late), requests + 1);
            }
        }
        let one_in = requests / late;
        assert!((160..=240).contains(&one_in), "one in {one_in}");
    }

    #[test]
    fn others_have_whole_turns_again_if_shorter_ones_were_of_no_use() {
        let mut interval = Interval::default();
        let bounded = (0..4000).filter(|_| note(&mut interval, true).is_some()).count();
        assert!(bounded <= 16, "{bounded}");
    }

    /// Groups 1, which has a target, and 2, each with a read at all times, at a disk that takes
    /// longer for the first of a turn.
    struct Disk {
        fair: Fair,
        now: Instant,
        served: u32,
        since: [Instant; 2],
        done: [u64; 2],
    }

    impl Disk {
        fn new(weights: [u32; 2]) -> Self {
            let mut fair = Fair::new(&FairParams::default());
            let now = Instant::ZERO;
            for (group, weight) in (1..).map(GroupId).zip(weights) {
                let share = Share::Weight(Weight::new(weight).unwrap());
                fair.configure(now, &Change::GroupAdded { group, share });
            }
            let qos = Qos { latency_p99: Some(TARGET), ..Qos::NONE };
            fair.configure(now, &Change::GroupQos { group: GroupId(1), qos });
            (0..2).for_each(|slot| {
                fair.admit(now, &request(slot, 1 + slot, Op::Read, now));
            });
            Self { fair, now, served: 0, since: [now; 2], done: [0; 2] }
        }

        /// The longest that a read of group 1 takes within the time.
        fn longest(&mut self, time: Span) -> Span {
            let (end, mut longest) = (self.now + time, Span::ZERO);
            while self.now < end {
                let request_id = match self.fair.decide(self.now) {
                    Decision::Dispatch(request, _) => request,
                    Decision::WaitUntil(at, _) => {
                        self.now = at;
                        continue;
                    }
                    other => panic!("{other:?}"),
                };
                let slot = request_id.0;
                let is_first = core::mem::replace(&mut self.served, slot) != slot;
                let device_time = if is_first { SERVICE + SERVICE } else { SERVICE };
                self.now += device_time;
                let completion = Completion { request: request_id, device_time, ok: true };
                self.fair.complete(self.now, &completion);
                self.done[slot as usize] += device_time.as_ms();
                if slot == 0 {
                    longest = longest.max(self.now.since(self.since[0]));
                }
                self.since[slot as usize] = self.now;
                self.fair.admit(self.now, &request(slot, 1 + slot, Op::Read, self.now));
            }
            longest
        }
    }

    #[test]
    fn who_wants_more_than_its_share_has_it_in_portions_that_are_in_time() {
        let mut disk = Disk::new([100, 100]);
        assert!(disk.longest(Span::from_s(1)) > TARGET + TARGET, "it had whole turns at first");
        for _ in 0..3 {
            assert!(disk.longest(Span::from_s(1)) <= TARGET);
        }
        let [own, others] = disk.done;
        assert!(own.abs_diff(others) <= 200, "{own} {others}");
    }

    #[test]
    fn who_cannot_be_in_time_has_whole_turns() {
        // Beside turns of 182 ms of the others.
        let mut disk = Disk::new([100, 1000]);
        disk.longest(Span::from_s(5));
        assert_eq!(disk.fair.turns.rounds.length, ROUND);
        assert_eq!(disk.fair.groups[1].target.interval.most(), None);
    }

    #[test]
    fn rounds_are_as_long_as_before_once_the_group_is_away() {
        let mut disk = Disk::new([100, 100]);
        disk.longest(Span::from_s(2));
        let length = |disk: &Disk| (disk.fair.turns.rounds.length, disk.fair.shortest_turn());
        let (round, turn) = length(&disk);
        assert!(round < Span::from_ms(60) && turn < Span::from_ms(4), "{round} {turn}");
        disk.fair.withdraw(disk.now, RequestId(0));
        disk.longest(Span::from_ms(900));
        assert_eq!(length(&disk).0, round);
        disk.longest(Span::from_ms(200));
        assert_eq!(length(&disk), (ROUND, ROUND / 8));
        // What was learned holds when it is back.
        disk.fair.admit(disk.now, &request(0, 1, Op::Read, disk.now));
        disk.since[0] = disk.now;
        assert!(disk.longest(Span::from_s(1)) <= TARGET);
        let qos = Qos::NONE;
        disk.fair.configure(disk.now, &Change::GroupQos { group: GroupId(1), qos });
        assert_eq!(length(&disk), (ROUND, ROUND / 8));
    }
}

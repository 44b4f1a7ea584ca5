//! How long a round is, the time in which all groups have a turn.
//!
//! To go from one group to the next costs a disk with a head time: seeks, and where it picks the
//! next of several, the last requests of a turn, which are few to pick from. The longer a round,
//! the smaller a part of it that is, and the longer all wait. So a round is longer than was asked
//! for where more than a small part of it is lost.
//!
//! Where each request is measured, what is lost is what they all take beyond what as many take in
//! the midst of turns. Then a round is longer only as long as nobody came and nobody is promised
//! anything: whoever comes and goes would wait, and has nothing of it. On an array it is what the
//! device is said to take to move the heads for a task that has it to itself, and back.

use super::mean::Mean;
use super::{Fair, NIL};
use fairdisk_core::{Instant, Span};

/// So small a part of a round may be lost, as long as that makes it no longer than so many times
/// the one that was asked for.
const LOST: u64 = 20;
const LONGER: u64 = 4;
/// For what is measured a round is no longer than so small a part of the time since anybody came:
/// who comes again after as long waits for no longer than that part of it.
const STEADY: u64 = 10;

/// How long a round is, and what is lost in each.
#[derive(Debug)]
pub(super) struct Rounds {
    /// How long one is.
    pub(super) length: Span,
    /// How long it is if nothing was measured to be lost.
    shortest: Span,
    /// When a group last came that had been away, or something was set.
    came: Instant,
    /// When the last round was over.
    since: Instant,
    /// What requests took since then, and what as many take in the midst of turns.
    took: Span,
    usual: Span,
    /// The same of each round.
    took_each: Mean<16>,
    usual_each: Mean<16>,
    /// Whose request was done last, if nobody else had any at the device then, or `NIL`.
    alone: u32,
}

impl Rounds {
    pub(super) const fn new(length: Span) -> Self {
        Self {
            length,
            shortest: length,
            came: Instant::ZERO,
            since: Instant::ZERO,
            took: Span::ZERO,
            usual: Span::ZERO,
            took_each: Mean::NONE,
            usual_each: Mean::NONE,
            alone: NIL,
        }
    }

    /// A group came that had been away, or something was set.
    pub(super) const fn came(&mut self, now: Instant) {
        (self.came, self.length) = (now, self.shortest);
    }

    /// A request took so long, and others of its group take so long in the midst of turns.
    fn add(&mut self, took: Span, usual: Span) {
        self.took += took;
        self.usual += usual;
    }

    /// A round is over. What is lost in each.
    fn end(&mut self, now: Instant) -> Span {
        self.since = now;
        self.took_each.add(core::mem::take(&mut self.took));
        self.usual_each.add(core::mem::take(&mut self.usual));
        self.took_each.or_zero() - self.usual_each.or_zero()
    }
}

impl Fair {
    /// The device is another, or is known.
    pub(super) fn set_round(&mut self, now: Instant) {
        let alone = self.device.alone();
        let moves = if self.device.is_paced() { alone + alone } else { Span::ZERO };
        self.rounds.shortest = self.worth_round(moves);
        self.rounds.came(now);
    }

    /// How long a round is of which so much is lost.
    fn worth_round(&self, lost: Span) -> Span {
        let (round, lost) = (self.params.round.as_ns(), lost.as_ns());
        let most = round.saturating_mul(LONGER);
        Span::from_ns(lost.saturating_mul(LOST).clamp(round, most))
    }

    /// A request of the group was measured: what it took, and its own part of that.
    pub(super) fn note_round(&mut self, now: Instant, group: u32, (service, own): (Span, Span)) {
        let entry = &self.groups[group as usize];
        let alone = if entry.in_flight == self.in_flight { group } else { NIL };
        let before = core::mem::replace(&mut self.rounds.alone, alone);
        let is_midst = before == group && alone == group && self.is_in_midst(group);
        let entry = &mut self.groups[group as usize];
        if is_midst {
            entry.settled.add(own);
        }
        self.rounds.add(service, entry.settled.get().unwrap_or(service));
        if now.since(self.rounds.since) >= self.rounds.length {
            let lost = self.rounds.end(now);
            let steady = match self.has_promises() {
                true => Span::ZERO,
                false => now.since(self.rounds.came) / STEADY,
            };
            self.rounds.length = self.worth_round(lost).min(steady).max(self.rounds.shortest);
        }
    }

    /// Whether anybody has a floor, a ceiling or a latency target.
    fn has_promises(&self) -> bool {
        !(self.floors.is_empty() && self.targets.is_empty() && self.barred.is_unused())
    }

    /// Whether half of the group's turn is over. What it wrote before that may be acknowledged and
    /// not done.
    fn is_in_midst(&self, group: u32) -> bool {
        let turn = self.turn.filter(|turn| turn.group == group);
        turn.is_some_and(|turn| self.is_past(turn.used + turn.used, group))
    }
}

#[cfg(test)]
mod tests {
    use crate::fair::{Fair, FairParams};
    use crate::samples::request;
    use alloc::vec::Vec;
    use core::num::NonZeroU64;
    use fairdisk_core::{
        Change, Completion, Decision, Elevator, GroupId, Instant, Op, Qos, Rates, RequestId, Span,
    };

    const GROUPS: u32 = 2;
    const TASKS: u32 = 3;
    const REQUEST: Span = Span::from_ms(4);

    /// Groups that always want a disk whose requests take longer after another group's.
    struct Disk {
        fair: Fair,
        now: Instant,
        change: Span,
        served: Option<(u32, Instant)>,
    }

    impl Disk {
        fn new(change: Span) -> Self {
            let mut fair = Fair::new(&FairParams::default());
            fair.configure(Instant::ZERO, &Change::Rotational { rotational: true });
            let mut disk = Self { fair, now: Instant::ZERO, change, served: None };
            (0..GROUPS * TASKS).for_each(|slot| disk.submit(slot));
            disk
        }

        fn submit(&mut self, slot: u32) {
            let group = 1 + slot / TASKS;
            self.fair.admit(self.now, &request(slot, group, Op::Read, self.now));
        }

        /// The longest of the turns that end within the time.
        fn longest(&mut self, time: Span) -> Span {
            let (end, mut longest) = (self.now + time, Span::ZERO);
            while self.now < end {
                let request = match self.fair.decide(self.now) {
                    Decision::Dispatch(request, _) => request,
                    Decision::WaitUntil(at, _) => {
                        self.now = at;
                        continue;
                    }
                    other => panic!("{other:?}"),
                };
                let group = request.0 / TASKS;
                let (last, since) = self.served.unwrap_or((group, self.now));
                let mut device_time = REQUEST;
                if last != group {
                    longest = longest.max(self.now.since(since));
                    device_time += self.change;
                }
                self.served = Some((group, if last == group { since } else { self.now }));
                self.now += device_time;
                self.fair.complete(self.now, &Completion { request, device_time, ok: true });
                self.submit(request.0);
            }
            longest
        }
    }

    /// The longest turn of each of ten seconds, in ms.
    fn longest_of(disk: &mut Disk) -> Vec<u64> {
        (0..10).map(|_| disk.longest(Span::from_s(1)).as_ms()).collect()
    }

    /// 30 ms are lost in a round, one in 20 parts of 600.
    const CHANGE: Span = Span::from_ms(15);

    #[test]
    fn a_round_is_longer_where_much_is_lost_and_nobody_comes() {
        let mut disk = Disk::new(CHANGE);
        let longest = longest_of(&mut disk);
        assert!(longest[0] <= 120 && longest[1] <= 120, "{longest:?}");
        // No longer than a tenth of the time since they came.
        assert!((220..=270).contains(&longest[4]), "{longest:?}");
        assert!((280..=330).contains(&longest[8]), "{longest:?}");
    }

    #[test]
    fn a_round_is_as_long_as_was_asked_for_where_little_is_lost() {
        let longest = longest_of(&mut Disk::new(Span::from_ms(2)));
        assert!(longest.iter().all(|turn| *turn <= 110), "{longest:?}");
    }

    #[test]
    fn a_round_is_as_long_as_was_asked_for_when_somebody_comes() {
        let mut disk = Disk::new(CHANGE);
        longest_of(&mut disk);
        disk.fair.admit(disk.now, &request(GROUPS * TASKS, 3, Op::Read, disk.now));
        disk.fair.withdraw(disk.now, RequestId(GROUPS * TASKS));
        // The turn that is going on is cut short.
        disk.longest(Span::from_ms(200));
        assert!(disk.longest(Span::from_s(1)).as_ms() <= 120);
    }

    #[test]
    fn a_round_is_as_long_as_was_asked_for_where_anybody_is_promised_anything() {
        let mut disk = Disk::new(CHANGE);
        let ceiling = Rates { iops: NonZeroU64::new(1000), ..Rates::NONE };
        let qos = Qos { ceiling, ..Qos::NONE };
        disk.fair.configure(disk.now, &Change::GroupQos { group: GroupId(1), qos });
        let longest = longest_of(&mut disk);
        assert!(longest.iter().all(|turn| *turn <= 120), "{longest:?}");
    }
}

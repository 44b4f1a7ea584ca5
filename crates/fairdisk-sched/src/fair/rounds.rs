//! The length of a round, the time in which all groups have a turn.
//!
//! On a disk with a head, going from one group to the next costs time: a seek, or more on a disk
//! that picks the next of several commands, as the last requests of a turn are few to pick from. In
//! a longer round a smaller part is lost, but everybody waits longer. So a round exceeds `round_ms`
//! only where more than a small part of it is lost.
//!
//! - Where each request is measured and the disk picks among several, the loss is what all requests
//!   take, less what as many take in the midst of turns. A round is then longer only while no group
//!   comes from a pause and no group has a promise: those who come and go would wait without
//!   gaining. A disk that takes one command at a time may empty its cache between reads, which
//!   looks like a loss, and longer rounds only give writers more of it.
//! - A round is shorter for a latency target: `target::intervals`.
//! - On an array the loss is the stated time to move the heads for a task that has it to itself,
//!   and back.

use super::mean::Mean;
use super::{Fair, NIL};
use fairdisk_core::{Instant, Span};

/// A twentieth of a round may be lost: so little is not worth a longer wait.
const LOST_PARTS: u64 = 20;
/// A round is at most 4 times as long as set, which bounds how much longer others wait.
const ROUND_FACTOR_MOST: u64 = 4;
/// A measured round is at most a tenth of the time since a group last came from a pause, so that a
/// group that comes again after as long waits for at most that part of it. Chosen: with a fourth, a
/// load with bursts lost 2 % (docs/isolation.md).
const STEADY_PARTS: u64 = 10;

/// No turn is shorter than an eighth of a round: 25 ms of a default one, about two random requests
/// of a disk with a head.
const SHORTEST_PARTS: u64 = 8;

/// The length of a round, and the time lost per round.
#[derive(Debug)]
pub(super) struct Rounds {
    /// The current length.
    pub(super) length: Span,
    /// The length of the shortest turn.
    pub(super) shortest_turn: Span,
    /// The length if nothing is measured to be lost, and that if no target needs a shorter one.
    shortest: Span,
    stated: Span,
    /// The shortest turn if no target needs a shorter one.
    stated_turn: Span,
    /// When a group last came from a pause, or a setting changed.
    came: Instant,
    /// When the last round ended.
    since: Instant,
    /// Since then: the total time of requests, and of as many in the midst of turns.
    took: Span,
    usual: Span,
    /// Means of the same totals per round.
    took_each: Mean<16>,
    usual_each: Mean<16>,
    /// The group of the last completed request, if no other group had any at the device, or `NIL`.
    alone: u32,
}

impl Rounds {
    pub(super) fn new(length: Span) -> Self {
        let shortest_turn = length / SHORTEST_PARTS;
        Self {
            length,
            shortest_turn,
            shortest: length,
            stated: length,
            stated_turn: shortest_turn,
            came: Instant::ZERO,
            since: Instant::ZERO,
            took: Span::ZERO,
            usual: Span::ZERO,
            took_each: Mean::default(),
            usual_each: Mean::default(),
            alone: NIL,
        }
    }

    /// Resets the length, as a group came from a pause or a setting changed.
    pub(super) const fn came(&mut self, now: Instant) {
        (self.came, self.length) = (now, self.shortest);
    }

    /// Makes rounds no longer than `most`, and the shortest turn no longer than an eighth of
    /// `interval`, for a target.
    pub(super) fn fit(&mut self, most: Span, interval: Span) {
        self.shortest = self.stated.min(most);
        self.shortest_turn = self.stated_turn.min(interval / SHORTEST_PARTS);
        self.length = self.shortest;
    }

    /// Counts a request that took `took`, where requests of its group take `usual` in the midst of
    /// turns.
    fn add(&mut self, took: Span, usual: Span) {
        self.took += took;
        self.usual += usual;
    }

    /// Ends a round. Returns the mean time lost per round.
    fn end(&mut self, now: Instant) -> Span {
        self.since = now;
        self.took_each.add(core::mem::take(&mut self.took));
        self.usual_each.add(core::mem::take(&mut self.usual));
        self.took_each.or_zero() - self.usual_each.or_zero()
    }
}

impl Fair {
    /// Resets the length after the device or its costs changed.
    pub(super) fn set_round(&mut self, now: Instant) {
        let alone = self.device.elsewhere();
        let moves = if self.device.is_paced() { alone + alone } else { Span::ZERO };
        (self.rounds.stated, self.rounds.stated_turn) = match self.device.works_beside_flushes() {
            // Nothing is lost between turns, and those who wait do so for a device that is fast.
            true => (self.params.credit, self.params.credit / SHORTEST_PARTS),
            false => (self.worth_round(moves), self.params.round / SHORTEST_PARTS),
        };
        self.tree.set_lag(self.params.lag(self.device.rotational || self.device.is_serial()));
        self.fit_round(now);
        self.rounds.came(now);
    }

    /// The length that a round needs for `lost` to be a twentieth of it, within limits.
    fn worth_round(&self, lost: Span) -> Span {
        let (round, lost) = (self.params.round.as_ns(), lost.as_ns());
        let most = round.saturating_mul(ROUND_FACTOR_MOST);
        Span::from_ns(lost.saturating_mul(LOST_PARTS).clamp(round, most))
    }

    /// Accounts for a measured request of the group: its time, and the part of that which is its
    /// own.
    pub(super) fn note_round(&mut self, now: Instant, group: u32, (service, own): (Span, Span)) {
        let entry = &self.groups[group as usize];
        let alone = if entry.in_flight == self.in_flight { group } else { NIL };
        let before = core::mem::replace(&mut self.rounds.alone, alone);
        let is_midst = before == group && alone == group && self.is_in_midst(group);
        let entry = &mut self.groups[group as usize];
        if is_midst {
            entry.past.settled.add(own);
        }
        self.rounds.add(service, entry.past.settled.get().unwrap_or(service));
        if now.since(self.rounds.since) >= self.rounds.length {
            let lost = self.rounds.end(now);
            let steady = match self.has_promises() {
                true => Span::ZERO,
                false => now.since(self.rounds.came) / STEADY_PARTS,
            };
            self.rounds.length = self.worth_round(lost).min(steady).max(self.rounds.shortest);
        }
    }

    /// Whether any group has a floor, a ceiling or a latency target.
    pub(super) fn has_promises(&self) -> bool {
        !self.floors.is_empty() || !self.targets.is_empty() || self.barred.has_ceilings()
    }

    /// Whether half of the group's turn is over. Earlier, the device may still work on writes it
    /// acknowledged before.
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

    /// Groups that always want a disk whose requests take longer after those of another group.
    struct Disk {
        fair: Fair,
        now: Instant,
        change: Span,
        served: Option<(u32, Instant)>,
    }

    impl Disk {
        fn new(change: Span) -> Self {
            Self::taking(4, change)
        }

        /// A disk that takes `depth` commands, though it is given one after the other.
        fn taking(depth: u32, change: Span) -> Self {
            let mut fair = Fair::new(&FairParams::default());
            fair.configure(Instant::ZERO, &Change::Rotational { rotational: true });
            fair.configure(Instant::ZERO, &Change::Depth { depth });
            let mut disk = Self { fair, now: Instant::ZERO, change, served: None };
            (0..GROUPS * TASKS).for_each(|slot| disk.submit(slot));
            disk
        }

        fn submit(&mut self, slot: u32) {
            let group = 1 + slot / TASKS;
            self.fair.admit(self.now, &request(slot, group, Op::Read, self.now));
        }

        /// The longest of the turns that end within `time`.
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

    /// Loses 30 ms per round of two turns, a twentieth of 600 ms.
    const CHANGE: Span = Span::from_ms(15);

    #[test]
    fn a_round_is_longer_where_much_is_lost_and_nobody_comes() {
        let mut disk = Disk::new(CHANGE);
        let longest = longest_of(&mut disk);
        assert!(longest[0] <= 120 && longest[1] <= 120, "{longest:?}");
        // A round is no longer than a tenth of the time since the groups came.
        assert!((220..=270).contains(&longest[4]), "{longest:?}");
        assert!((280..=330).contains(&longest[8]), "{longest:?}");
    }

    #[test]
    fn a_round_is_as_long_as_was_asked_for_where_little_is_lost() {
        let longest = longest_of(&mut Disk::new(Span::from_ms(2)));
        assert!(longest.iter().all(|turn| *turn <= 110), "{longest:?}");
    }

    #[test]
    fn a_round_is_as_long_as_was_asked_for_where_the_disk_takes_one_command() {
        let longest = longest_of(&mut Disk::taking(1, CHANGE));
        assert!(longest.iter().all(|turn| *turn <= 120), "{longest:?}");
    }

    #[test]
    fn a_round_is_as_long_as_was_asked_for_when_somebody_comes() {
        let mut disk = Disk::new(CHANGE);
        longest_of(&mut disk);
        disk.fair.admit(disk.now, &request(GROUPS * TASKS, 3, Op::Read, disk.now));
        disk.fair.withdraw(disk.now, RequestId(GROUPS * TASKS));
        // The current turn is cut short.
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

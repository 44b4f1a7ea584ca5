//! Latency targets: a group whose request would otherwise be late goes first, whoever has the disk.
//!
//! The group is charged for this as for any service, and a group that is ahead of its share by
//! [`DEBT_MOST`] waits until it is less, or for its turn (`ahead`): a target brings service
//! forward, it does not add to it. Others do not lose their claim to it while they are not in line
//! for a moment (`hierarchy::brought`), and leave no room for it while it waits.

use super::floor::DEBT_MOST;
use super::group::Group;
use super::turn::Turn;
use super::{Fair, Step};
use crate::groups::{Nested, Order};
use fairdisk_core::{Instant, Qos, Span, Why};

/// The groups with targets, and what they let others have.
#[derive(Debug)]
pub(super) struct Targets {
    due: Order<Instant>,
    /// The number of groups with a target.
    groups: u32,
    /// The groups with targets that may be present, by how much device time they let others have.
    there: Order<Span>,
    /// The present group with a target that lets others have the least device time, with that time,
    /// and until when this is taken to hold.
    room: Option<(u32, Span)>,
    room_until: Instant,
    /// Until when others may not write, by the write pace.
    written_until: Instant,
}

/// A group with a target is present for 1 s after its last request, so that short pauses do not
/// give up its room.
const PRESENT: Span = Span::from_s(1);
/// How often the present groups are determined: a small part of `PRESENT`, and rare beside
/// requests.
const PRESENCE_CHECK: Span = Span::from_ms(50);

/// The room that a group with a target leaves: how much device time of others' requests may be at a
/// device that serves several at once. It starts at a quarter of the target, falls with each late
/// request and rises a little with each other one, and so settles where one request in
/// `ALLOWED_ONE_IN` is late. If many are late although others have next to nothing there, the
/// others are not the cause, and get the initial room for a while.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    most: Span,
    /// Since a request was late with others having next to nothing there: all requests, and the
    /// late ones.
    requests: u32,
    late: u32,
    /// Requests yet to be ignored, after a small room was of no use.
    rest: u32,
}

/// One request in 200 may be late: half of what the 99th percentile leaves.
const ALLOWED_ONE_IN: u64 = 200;
/// Each request in time raises the room by one part in `RISE_PARTS`: `ALLOWED_ONE_IN` of them make
/// up for a loss of a quarter, as ln(4/3) is 1/3.5.
const RISE_PARTS: u64 = ALLOWED_ONE_IN * 7 / 2;
/// Others are not the cause if 8 requests are late, at more than one in 50. That is twice what the
/// 99th percentile allows, and 8 seldom come by chance. Chosen, as the next two: nine variants were
/// compared on one row of the matrix (docs/isolation.md).
const LATE_JUDGED: u32 = 8;
const LATE_ONE_IN: u32 = 50;
/// Requests ignored after that: 20 times `ALLOWED_ONE_IN`, so that a small room of no use is seldom
/// tried again.
const REST_REQUESTS: u32 = 4000;
/// Others have next to nothing with a 256th of the target at the device: of 8 ms, 31 us, less than
/// one read of a solid-state disk.
const NEXT_TO_NOTHING_PARTS: u64 = 256;

impl Room {
    fn new(target: Span) -> Self {
        Self { most: Self::at_first(target), ..Self::default() }
    }

    fn at_first(target: Span) -> Span {
        target / 4
    }

    /// Adjusts the room after a completed request of the group.
    pub(super) fn completed(&mut self, latency: Span, target: Span) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        self.requests = self.requests.saturating_add(1);
        if latency <= target {
            self.most = (self.most + (self.most / RISE_PARTS).max(Span::from_ns(1))).min(target);
            return;
        }
        self.most = self.most - self.most / 4;
        if self.most >= target / NEXT_TO_NOTHING_PARTS {
            return;
        }
        self.most = target / NEXT_TO_NOTHING_PARTS;
        if self.late == 0 || self.requests > LATE_JUDGED * LATE_ONE_IN {
            (self.requests, self.late) = (0, 0);
        }
        self.late += 1;
        if self.late == LATE_JUDGED {
            *self = Self { rest: REST_REQUESTS, ..Self::new(target) };
        }
    }
}

impl Targets {
    pub(super) const fn new() -> Self {
        Self {
            due: Order::new(),
            groups: 0,
            there: Order::new(),
            room: None,
            room_until: Instant::ZERO,
            written_until: Instant::ZERO,
        }
    }

    /// Whether no group has a target.
    pub(super) const fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// The device time of others' requests that may be at a device that serves several at once;
    /// `None` if no group with a target is present.
    pub(super) fn leave_room(&mut self, now: Instant, groups: &[Group]) -> Option<Span> {
        if self.groups > 0 && now >= self.room_until {
            let is_recent = |since| now.since(since) < PRESENT;
            let is_there =
                |group: &Group| !group.is_quiet() || group.quiet_since.is_some_and(is_recent);
            self.room = loop {
                let Some((group, most)) = self.there.first() else { break None };
                if is_there(&groups[group as usize]) {
                    break Some((group, most));
                }
                self.there.place(group, None);
            };
            self.room_until = now + PRESENCE_CHECK;
        }
        self.room.map(|(_, most)| most)
    }

    /// Notes that the group `at` is present, and the room it leaves: none while it is too far ahead
    /// to be served for its target.
    pub(super) fn note_room(&mut self, at: u32, group: &Group) {
        let most = group.room.most;
        if self.there.key(at) != Some(most) && !group.is_looked_at {
            self.there.place(at, Some(most));
            if self.room.is_none() {
                // No group was present when this was last determined, so do it at once.
                self.room_until = Instant::ZERO;
            }
        }
    }

    /// Notes that others need not leave room for the group for now.
    pub(super) fn needs_no_room(&mut self, group: u32) {
        self.there.place(group, None);
        (self.room, self.room_until) = (None, Instant::ZERO);
    }

    /// When to determine the present groups again.
    pub(super) fn look(&self) -> Option<Instant> {
        self.room.map(|_| self.room_until)
    }

    /// The reason for a bar that ends at `at`. As no write may go before the write pace allows it,
    /// that time stays where it is until then, and all bars of the pace end there.
    pub(super) fn why_barred(&self, at: Instant) -> Why {
        if at == self.written_until { Why::WritePaced } else { Why::AtCeiling }
    }

    /// When the first group with a target is due.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.due.first().map(|(_, at)| at)
    }
}

impl Fair {
    /// Counts a write of a group towards the write pace. A device without a head may acknowledge it
    /// at once and work on it, or on collecting garbage for it, long afterwards, which others'
    /// requests at the device do not show. So while others have only a fraction of the initial
    /// room, they write at that fraction of the device's stated rate.
    pub(super) fn use_write_pace(&mut self, now: Instant, group: u32, cost: Span) {
        let Some((whose, _)) = self.targets.room.filter(|_| self.is_write_paced(group)) else {
            return;
        };
        let Group { room: Room { most, .. }, qos, .. } = &self.groups[whose as usize];
        let at_first = qos.latency_p99.map_or(Span::ZERO, Room::at_first);
        if *most >= at_first {
            return;
        }
        let time = self.device.time_of(cost).scaled(at_first.as_ns(), most.as_ns().max(1));
        let until = &mut self.targets.written_until;
        *until = (*until).max(now) + time;
    }

    /// Bars the group if its next request is a write and the write pace does not allow it yet.
    /// Whatever else the group has queued waits with it, other groups do not. Returns whether it is
    /// barred.
    pub(super) fn bar_early_write(&mut self, now: Instant, group: u32, at: u32) -> bool {
        let until = self.targets.written_until;
        let is_too_soon =
            until > now && self.requests[at].op.is_write() && self.is_write_paced(group);
        if is_too_soon {
            self.device.knee.hold_back();
            self.barred.pace_until(group, until, &mut self.tree);
        }
        is_too_soon
    }

    /// Whether the group's writes have to keep the pace for a target of another group.
    fn is_write_paced(&self, group: u32) -> bool {
        self.targets.room.is_some() && !self.device.rotational && self.may_wait_alone(group)
    }

    /// Applies a new latency target of the group, or none, in place of the one in `before`.
    pub(super) fn set_target(&mut self, now: Instant, group: u32, before: &Qos) {
        let (targets, entry) = (&mut self.targets, &mut self.groups[group as usize]);
        if entry.qos.latency_p99 == before.latency_p99 {
            // What was learned of the target still holds, but other settings may let the group go
            // on.
            return self.target_wants(now, group);
        }
        targets.groups -= u32::from(before.latency_p99.is_some());
        targets.there.place(group, None);
        if let Some(target) = entry.qos.latency_p99 {
            targets.groups += 1;
            entry.room = Room::new(target);
            targets.note_room(group, entry);
        }
        (targets.room, targets.room_until) = (None, Instant::ZERO);
        targets.due.place(group, None);
        if self.targets.is_empty() && self.device.is_serial() {
            // Without targets it does not matter there who is expected.
            self.expected.release_due(Instant::MAX, &mut self.tree, &mut self.groups);
        }
        self.target_wants(now, group);
    }

    /// Whether the next in line has to wait because all the room at the device that targets leave
    /// is taken, by whomever. If so, tells the knee that it is held back. The group that leaves the
    /// room does not wait for it, unless another has a turn.
    pub(super) fn hold_back_for_room(&mut self, now: Instant) -> bool {
        let most = self.targets.leave_room(now, &self.groups);
        let is_full = most
            .is_some_and(|most| self.device.time_of(self.at_work + self.device.programs) > most);
        let has_turns = |turn: Turn| turn.alone || self.device.is_measured();
        let leaves_it = |(group, _)| {
            self.tree.first() == Some(group)
                && self.turn.is_none_or(|turn| turn.group == group || !has_turns(turn))
        };
        let waits = is_full && !self.targets.room.is_some_and(leaves_it);
        if waits {
            self.device.knee.hold_back();
        }
        waits
    }

    /// Notes that a group with a target is present, as the disk did something for it.
    pub(super) fn note_target_present(&mut self, group: u32) {
        let entry = &self.groups[group as usize];
        if entry.qos.latency_p99.is_some() {
            self.targets.note_room(group, entry);
        }
    }

    /// Adjusts the room that a group with a target leaves, after one of its requests. A group that
    /// is too far ahead waits for its share, not for others' requests.
    pub(super) fn adjust_room(&mut self, group: u32, latency: Span, target: Span) {
        let entry = &mut self.groups[group as usize];
        if !entry.is_looked_at {
            entry.room.completed(latency, target);
            self.targets.note_room(group, entry);
        }
    }

    /// Accounts for a dispatched request, where a group has a target.
    #[inline(never)]
    pub(super) fn dispatched_beside_targets(&mut self, now: Instant, at: u32) {
        let rq = &self.requests[at];
        let (group, cost) = (self.queues[rq.queue].group, rq.charged);
        if rq.op.is_write() {
            self.use_write_pace(now, group, cost);
        }
        self.update_target_due(now, group);
    }

    /// Advances virtual time for a request of the group, where a group has a target.
    #[inline(never)]
    pub(super) fn reach_beside_targets(&mut self, group: u32, why: Why) {
        let is_brought = |turn: Turn| turn.group == group && turn.is_brought;
        let out_of_turn = matches!(why, Why::NearTarget | Why::Awaited);
        let out_of_turn = out_of_turn || self.turn.is_some_and(is_brought);
        self.tree.reach_beside(group, out_of_turn, DEBT_MOST);
    }

    /// Updates when the group is due, after its queued requests have changed. If nothing of it is
    /// at the device and it is not ahead, it is due at once; else after half of the target, or
    /// sooner if two requests, the one at the device by then and its own, take longer than the
    /// other half.
    #[inline]
    pub(super) fn target_wants(&mut self, now: Instant, group: u32) {
        if !self.targets.is_empty() {
            self.update_target_due(now, group);
        }
    }

    #[inline(never)]
    fn update_target_due(&mut self, now: Instant, group: u32) {
        self.targets.due.place(group, None);
        let entry = &self.groups[group as usize];
        let Some(target) = entry.qos.latency_p99.filter(|_| entry.waiting > 0) else { return };
        self.targets.note_room(group, entry);
        let queue = self.queues.first_of(now, group);
        let (_, arrived) = self.requests.oldest(&self.queues[queue]);
        let service = self.device.service.or_zero();
        let half = target / 2;
        let first_of_burst = entry.in_flight == 0 && !self.tree.is_ahead(group, Span::ZERO);
        let due = match first_of_burst {
            true => arrived,
            false => arrived + half.min(target - (service + service)),
        };
        self.targets.due.place(group, Some(due));
    }

    /// A group that is about to miss its target and not too far ahead. A group at a ceiling is due
    /// when it may go on.
    fn near_target(&mut self, now: Instant) -> Option<u32> {
        loop {
            let (group, _) = self.targets.due.first().filter(|(_, at)| *at <= now)?;
            if self.groups[group as usize].waiting == 0 {
                self.targets.due.place(group, None);
                continue;
            }
            if self.tree.is_ahead(group, DEBT_MOST) {
                self.targets.due.place(group, None);
                self.note_ahead(group);
                continue;
            }
            let until = self.barred.until(self.tree.path(group));
            if until.is_none() {
                return Some(group);
            }
            self.targets.due.place(group, until);
        }
    }

    /// Whether the group has a target and something queued.
    pub(super) fn wants_target(&self, group: u32) -> bool {
        let entry = &self.groups[group as usize];
        entry.waiting > 0 && entry.qos.latency_p99.is_some()
    }

    /// Serves a group that would otherwise miss its target.
    #[inline]
    pub(super) fn serve_target(&mut self, now: Instant) -> Option<Step> {
        if self.targets.is_empty() { None } else { self.serve_near_target(now) }
    }

    /// Serves a group that would otherwise miss its target, where some group has a target.
    #[inline(never)]
    fn serve_near_target(&mut self, now: Instant) -> Option<Step> {
        self.look_at_ahead(now);
        if self.device.is_serial() {
            self.expected.release_due(now, &mut self.tree, &mut self.groups);
        }
        loop {
            let group = self.near_target(now)?;
            let queue = self.queues.first_of(now, group);
            let (at, _) = self.requests.oldest(&self.queues[queue]);
            if self.bar_at_ceiling(now, at) {
                continue;
            }
            if self.turn.is_none_or(|turn| turn.group != group) {
                self.give_turn(now, group, queue);
                self.turn = self.turn.map(|turn| Turn { is_brought: true, ..turn });
            }
            return Some(self.dispatch(now, at, Why::NearTarget));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use crate::samples::request;
    use fairdisk_core::{
        Change, Cost, CostModel, Decision, Elevator, GroupId, Op, Prng, RequestId,
    };

    #[test]
    fn what_else_a_group_asks_for_leaves_what_was_learned_of_its_target() {
        let mut fair = Fair::new(&FairParams::default());
        let mut ask = |target_ms, burst_ms| {
            let (target, burst) = (Span::from_ms(target_ms), Span::from_ms(burst_ms));
            let qos = Qos { latency_p99: Some(target), burst, ..Qos::NONE };
            fair.configure(Instant::ZERO, &Change::GroupQos { group: GroupId(1), qos });
            core::mem::replace(&mut fair.groups[1].room.most, Span::from_us(300)).as_us()
        };
        assert_eq!([ask(8, 1), ask(8, 2), ask(4, 2)], [2000, 300, 1000]);
    }

    #[test]
    fn who_comes_where_nobody_was_is_looked_at_at_once() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let (mut targets, mut groups) = (Targets::new(), [Group::new()]);
        targets.groups = 1;
        assert_eq!(targets.leave_room(at(10), &groups), None);
        groups[0].waiting = 1;
        groups[0].room = Room::new(Span::from_ms(8));
        targets.note_room(0, &groups[0]);
        assert_eq!(targets.leave_room(at(20), &groups), Some(Span::from_ms(2)));
        assert_eq!(targets.look(), Some(at(70)));
    }

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

    /// Whether a write of group 2, another write of it, and a read of group 3 are dispatched.
    fn let_go(most: Span, rotational: bool) -> [bool; 3] {
        let mut fair = Fair::new(&FairParams::default());
        let mut tell = |change| fair.configure(Instant::ZERO, &change);
        tell(Change::Rotational { rotational });
        tell(Change::Depth { depth: 8 });
        tell(Change::Costs(costs()));
        let qos = Qos { latency_p99: Some(Span::from_ms(8)), ..Qos::NONE };
        tell(Change::GroupQos { group: GroupId(1), qos });
        fair.groups[1].room.most = most;
        fair.note_target_present(1);
        let now = Instant::ZERO + Span::from_ms(1);
        fair.groups[1].quiet_since = Some(now);
        for (slot, group, op) in [(0, 2, Op::Write), (1, 2, Op::Write), (2, 3, Op::Read)] {
            fair.admit(now, &request(slot, group, op, now));
        }
        let mut went = [false; 3];
        while let Decision::Dispatch(id, _) = fair.decide(now) {
            went[id.0 as usize] = true;
        }
        if !went[1] {
            let later = now + Span::from_us(4 * 100);
            assert_eq!(fair.decide(now), Decision::WaitUntil(later, Why::WritePaced));
            assert_eq!(fair.decide(later), Decision::Dispatch(RequestId(1), Why::LeastServed));
        }
        went
    }

    #[test]
    fn others_write_at_a_part_of_the_rate_where_they_have_that_part_of_the_room() {
        assert_eq!(let_go(Span::from_ms(2), false), [true, true, true]);
        assert_eq!(let_go(Span::from_us(500), false), [true, false, true]);
        assert_eq!(let_go(Span::from_us(500), true), [true, true, true]);
    }

    #[test]
    fn the_rate_a_pace_is_part_of_is_not_forgotten_while_writes_wait_for_it() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let mut fair = Fair::new(&FairParams::default());
        fair.configure(at(0), &Change::Rotational { rotational: false });
        fair.configure(at(0), &Change::Depth { depth: 8 });
        let qos = Qos { latency_p99: Some(Span::from_ms(8)), ..Qos::NONE };
        fair.configure(at(0), &Change::GroupQos { group: GroupId(1), qos });
        fair.groups[1].quiet_since = Some(at(1));
        fair.targets.leave_room(at(1), &fair.groups);
        fair.admit(at(1), &request(0, 2, Op::Write, at(1)));
        fair.targets.written_until = at(1000);
        // A look at the device in which requests of this total cost complete within 10 ms.
        let look = |fair: &mut Fair, ms, cost| {
            (0..64).for_each(|_| fair.device.knee.completed(at(ms), cost, Span::from_ms(1)));
            fair.device.knee.time_of(Span::from_ms(1)).expect("it was seen")
        };
        let seen = look(&mut fair, 10, Span::from_ms(1));
        assert!(fair.bar_early_write(at(10), 2, 0));
        assert_eq!(look(&mut fair, 20, Span::from_us(1)), seen);
        assert!(look(&mut fair, 30, Span::from_us(1)) > seen, "nobody waited");
    }

    /// A write takes 100 us, a read 10 us.
    fn costs() -> CostModel {
        let of = |us| {
            let time = Span::from_us(us);
            Cost { sequential: time / 10, random: time, byte_ps: 0, random_byte_ps: 0 }
        };
        let (saturation, alone) = (Span::from_ms(1), Span::from_us(100));
        CostModel { depth: 8, saturation, alone, read: of(10), write: of(100) }
    }
}

//! Latency targets: a group whose request would otherwise be late goes first, whoever has the disk.
//!
//! The group is charged for this as for any service, and a group that is ahead of its share by
//! [`DEBT_MOST`] waits until it is less, or for its turn (`ahead`): a target brings service
//! forward, it does not add to it. Others do not lose their claim to it while they are not in line
//! for a moment (`hierarchy::brought`), and leave no room for it while it waits.

mod ahead;
mod intervals;
mod room;
mod trouble;

pub(super) use ahead::Ahead;
pub(super) use intervals::Interval;
pub(super) use room::Room;

use intervals::{Intervals, PRESENCE_CHECK, half_of};

use super::Fair;
use super::answer::{After, Answer, Notes};
use super::hierarchy::DEBT_MOST;
use super::requests::Rq;
use super::turn::Turn;
use crate::groups::{Nested, Order};
use alloc::boxed::Box;
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
    pub(super) intervals: Box<Intervals>,
    /// Groups that are too far ahead for their targets.
    pub(super) ahead: Ahead,
}

/// A group with a target is present for 1 s after its last request, so that short pauses do not
/// give up its room.
pub(super) const PRESENT: Span = Span::from_s(1);

impl Targets {
    pub(super) fn new() -> Self {
        Self {
            due: Order::new(),
            groups: 0,
            there: Order::new(),
            room: None,
            room_until: Instant::ZERO,
            intervals: Box::new(Intervals::new()),
            ahead: Ahead::new(),
        }
    }

    /// Whether no group has a target.
    pub(super) const fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// Notes that others need not leave room for the group for now.
    pub(super) fn needs_no_room(&mut self, group: u32) {
        self.there.place(group, None);
        (self.room, self.room_until) = (None, Instant::ZERO);
    }

    /// When to determine the present groups again.
    pub(super) fn presence_check_at(&self) -> Option<Instant> {
        self.room.map(|_| self.room_until)
    }

    /// When the first group with a target is due.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.due.first().map(|(_, at)| at)
    }
}

impl Fair {
    /// Determines the group that leaves others the least room at a device that serves several
    /// requests at once.
    fn settle_room_of_targets(&mut self, now: Instant) {
        let targets = &mut self.promises.targets;
        if now < targets.room_until {
            return;
        }
        targets.room = loop {
            let Some((group, most)) = targets.there.first() else { break None };
            if self.groups[group as usize].is_present(now) {
                break Some((group, most));
            }
            targets.there.place(group, None);
        };
        targets.room_until = now + PRESENCE_CHECK;
    }

    /// Notes that the group, which has a target, is present, and the room it leaves: none while it
    /// is too far ahead to be served for its target.
    fn note_room(&mut self, group: u32) {
        let (targets, own) = (&mut self.promises.targets, &self.groups[group as usize].target);
        targets.intervals.note(group, &own.interval);
        let most = own.room.most;
        if targets.there.key(group) != Some(most) && !own.is_too_far_ahead {
            targets.there.place(group, Some(most));
            if targets.room.is_none() {
                // No group was present when this was last determined, so do it at once.
                targets.room_until = Instant::ZERO;
            }
        }
    }

    /// Applies a new latency target of the group, or none, in place of the one in `before`.
    pub(super) fn set_target(&mut self, now: Instant, group: u32, before: &Qos) {
        let (targets, entry) = (&mut self.promises.targets, &mut self.groups[group as usize]);
        if entry.qos.latency_p99 == before.latency_p99 {
            // What was learned of the target still holds, but other settings may let the group go
            // on.
            return self.target_wants(now, group);
        }
        targets.groups -= u32::from(before.latency_p99.is_some());
        targets.there.place(group, None);
        targets.intervals.forget(group);
        entry.target.interval = Interval::default();
        if let Some(target) = entry.qos.latency_p99 {
            targets.groups += 1;
            entry.target.room = Room::new(target);
            self.note_room(group);
        }
        let targets = &mut self.promises.targets;
        (targets.room, targets.room_until) = (None, Instant::ZERO);
        targets.due.place(group, None);
        self.fit_round(now);
        if self.promises.targets.is_empty() && self.device.is_serial() {
            // Without targets it does not matter there who is expected.
            self.settle_expected(Instant::MAX);
        }
        self.target_wants(now, group);
    }

    /// Lets the next in line wait if all the room at the device that targets leave is taken, by
    /// whomever. The group that leaves the room does not wait for it, unless another has a turn.
    #[inline]
    pub(super) fn leave_room_for_target(&self, notes: &mut Notes) -> Option<Answer> {
        let (group, most) = self.promises.targets.room.filter(|_| self.params.rules.target_room)?;
        let there = self.device.time_of(self.load.at_work + self.device.programs);
        let first = self.tree.first();
        let has_turns = |turn: Turn| turn.alone || self.device.is_measured();
        let leaves_it = first == Some(group)
            && self.turn.is_none_or(|turn| turn.group == group || !has_turns(turn));
        if there <= most || leaves_it {
            return None;
        }
        notes.is_for_promise = true;
        // No room is needed for those who are barred.
        let bar = self.promises.barred.first().filter(|_| first.is_none());
        let why = bar.map_or(Why::TargetRoomUsed, |_| self.why_barred());
        Some(Answer::Wait(Instant::MAX, why))
    }

    /// Notes that a group with a target is present, as the disk did something for it.
    pub(super) fn note_target_present(&mut self, group: u32) {
        let entry = &self.groups[group as usize];
        if entry.qos.latency_p99.is_some() {
            self.note_room(group);
        }
    }

    /// Adjusts what others may have beside a group with a target, after one of its requests. If it
    /// is too far ahead, it waits for its share, not for others' requests at the device.
    #[inline(never)]
    pub(super) fn adjust_room(
        &mut self,
        now: Instant,
        group: u32,
        (rq, device_time): (&Rq, Span),
        target: Span,
    ) {
        self.adjust_interval(now, group, (rq, device_time), target);
        let (latency, entry) = (now.since(rq.arrived), &mut self.groups[group as usize]);
        if !entry.target.is_too_far_ahead {
            entry.target.room.completed(latency, target);
            self.note_room(group);
        }
    }

    /// Accounts for a dispatched request, where a group has a target.
    #[inline(never)]
    pub(super) fn dispatched_beside_targets(&mut self, now: Instant, at: u32) {
        self.update_target_due(now, self.queues[self.requests[at].queue].group);
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
    /// other half, or if that was seen to be late.
    #[inline]
    pub(super) fn target_wants(&mut self, now: Instant, group: u32) {
        if !self.promises.targets.is_empty() {
            self.update_target_due(now, group);
        }
    }

    #[inline(never)]
    fn update_target_due(&mut self, now: Instant, group: u32) {
        self.promises.targets.due.place(group, None);
        let entry = &self.groups[group as usize];
        let Some(target) = entry.qos.latency_p99.filter(|_| entry.waiting > 0) else { return };
        self.note_room(group);
        let entry = &self.groups[group as usize];
        if !self.params.rules.target_first {
            return;
        }
        let queue = self.queues.first_of(now, group);
        let (_, arrived) = self.requests.oldest(&self.queues[queue]);
        let service = self.device.times.service.or_zero();
        let half = half_of(target, service);
        let first_of_burst = entry.in_flight == 0 && !self.tree.is_ahead(group, Span::ZERO);
        let due = match first_of_burst {
            true => arrived,
            false => arrived + entry.target.interval.most().map_or(half, |most| half.min(most)),
        };
        self.promises.targets.due.place(group, Some(due));
    }

    /// Lets the first group that is due be one that wants something and is not too far ahead, and
    /// determines which of them leaves the least room. A group at a ceiling is due when it may go
    /// on.
    #[inline(never)]
    pub(super) fn settle_targets(&mut self, now: Instant) {
        self.look_at_ahead(now);
        self.fit_round_if_due(now);
        self.settle_due_targets(now);
        if !self.device.is_serial() {
            self.settle_room_of_targets(now);
        }
    }

    fn settle_due_targets(&mut self, now: Instant) {
        while let Some((group, _)) = self.promises.targets.due.first().filter(|(_, at)| *at <= now)
        {
            let until = if self.groups[group as usize].waiting == 0 {
                None
            } else if self.tree.is_ahead(group, DEBT_MOST) {
                self.note_ahead(group);
                None
            } else {
                match self.promises.barred.until(self.tree.path(group)) {
                    None => return,
                    until => until,
                }
            };
            self.promises.targets.due.place(group, until);
        }
    }

    /// Whether the group has a target and something queued.
    pub(super) fn wants_target(&self, group: u32) -> bool {
        let entry = &self.groups[group as usize];
        entry.waiting > 0 && entry.qos.latency_p99.is_some()
    }

    /// A group that would otherwise miss its target is next.
    #[inline]
    pub(super) fn near_target(&self, now: Instant) -> Option<Answer> {
        let (group, _) = self.promises.targets.due.first().filter(|(_, at)| *at <= now)?;
        let (at, _) = self.requests.oldest(&self.queues[self.queues.first_of(now, group)]);
        let turn = match self.turn {
            Some(turn) if turn.group == group => After::Same,
            _ => After::New { is_brought: true },
        };
        Some(self.dispatch_or_bar(now, at, Why::NearTarget, turn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use fairdisk_core::{Change, Elevator, GroupId};

    #[test]
    fn what_else_a_group_asks_for_leaves_what_was_learned_of_its_target() {
        let mut fair = Fair::new(&FairParams::default());
        let mut ask = |target_ms, burst_ms| {
            let (target, burst) = (Span::from_ms(target_ms), Span::from_ms(burst_ms));
            let qos = Qos { latency_p99: Some(target), burst, ..Qos::NONE };
            fair.configure(Instant::ZERO, &Change::GroupQos { group: GroupId(1), qos });
            core::mem::replace(&mut fair.groups[1].target.room.most, Span::from_us(300)).as_us()
        };
        assert_eq!([ask(8, 1), ask(8, 2), ask(4, 2)], [2000, 300, 1000]);
    }

    #[test]
    fn who_comes_where_nobody_was_is_looked_at_at_once() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let mut fair = Fair::new(&FairParams::default());
        fair.promises.targets.groups = 1;
        fair.settle_room_of_targets(at(10));
        assert_eq!(fair.promises.targets.room, None);
        fair.groups[0].waiting = 1;
        fair.groups[0].target.room = Room::new(Span::from_ms(8));
        fair.note_room(0);
        fair.settle_room_of_targets(at(20));
        assert_eq!(fair.promises.targets.room, Some((0, Span::from_ms(2))));
        assert_eq!(fair.promises.targets.presence_check_at(), Some(at(70)));
    }
}

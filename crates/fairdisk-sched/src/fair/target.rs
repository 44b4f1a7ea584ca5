//! Latency targets: a group whose request would be late otherwise goes first, whoever has the disk.
//!
//! What it gets that way is charged like everything else, and who is ahead of its share by
//! [`DEBT_MOST`] waits for its turn: a target brings a group's service forward, it does not add to
//! it.

use super::floor::DEBT_MOST;
use super::group::Group;
use super::{Fair, Step};
use crate::groups::{Nested, Order};
use fairdisk_core::{Instant, Qos, Span, Why};

/// Groups with targets that have something queued, by when that should go.
#[derive(Debug)]
pub(super) struct Targets {
    due: Order<Instant>,
    /// How many have a target.
    groups: u32,
    /// Those that may be there, by how much they let others have.
    there: Order<Span>,
    /// How much those with targets, as far as they are there, let others have at the device; and
    /// until when that is true.
    room: Option<Span>,
    room_until: Instant,
}

/// A group with a target is there for so long after its last request.
const THERE: Span = Span::from_s(1);
/// How often is looked who is there.
const LOOK: Span = Span::from_ms(50);

/// How much others may have at a device that serves several requests at once, so that a group's
/// target is kept. It begins with a quarter of the target and becomes less when requests are late,
/// as long as that makes fewer of them late: others are not the cause of all that is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    most: Span,
    /// Requests since it was changed, and how many of them were late.
    requests: u32,
    late: u32,
    /// In how many requests two were late before it became less, if that was the last change.
    before: Option<u32>,
    /// Requests that are not looked at, after becoming less was of no use.
    rest: u32,
}

/// Two late ones in so many requests are too many for 99 of 100, by half; none is room for more.
const JUDGED: u32 = 400;
/// Requests of the rest after a change that was of no use.
const REST: u32 = 10 * JUDGED;
/// Others that have one in so many parts of the target at the device are not what makes it late.
const LEAST: u64 = 64;

impl Room {
    fn new(target: Span) -> Self {
        Self { most: target / 4, ..Self::default() }
    }

    /// A request of the group is done.
    pub(super) fn completed(&mut self, latency: Span, target: Span) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        self.requests += 1;
        self.late += u32::from(latency > target);
        let most = self.most.as_ns();
        let least = target / LEAST;
        let changed =
            |most| Self { most: Span::from_ns(most).clamp(least, target), ..Self::default() };
        if self.late == 2 {
            *self = match self.before {
                Some(before) if self.requests <= before + before / 4 => {
                    Self { rest: REST, ..changed(most / 3 * 4) }
                }
                _ => Self { before: Some(self.requests), ..changed(most / 4 * 3) },
            };
        } else if self.requests == JUDGED {
            *self = changed(most + if self.late == 0 { most / 8 } else { 0 });
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
        }
    }

    /// Whether nobody has one.
    pub(super) const fn is_empty(&self) -> bool {
        self.groups == 0
    }

    /// How much others may have at the device, where it serves several at once, so that the targets
    /// can be met.
    pub(super) fn leave_room(&mut self, now: Instant, groups: &[Group]) -> Option<Span> {
        if self.groups > 0 && now >= self.room_until {
            let is_recent = |since| now.since(since) < THERE;
            let is_there =
                |group: &Group| !group.is_quiet() || group.quiet_since.is_some_and(is_recent);
            self.room = loop {
                let Some((group, most)) = self.there.first() else { break None };
                if is_there(&groups[group as usize]) {
                    break Some(most);
                }
                self.there.place(group, None);
            };
            self.room_until = now + LOOK;
        }
        self.room
    }

    /// The group is there, and lets others have so much.
    pub(super) fn note_room(&mut self, group: u32, room: &Room) {
        if self.there.key(group) != Some(room.most) {
            self.there.place(group, Some(room.most));
            if self.room.is_none() {
                // Nobody was there when it was looked last.
                self.room_until = Instant::ZERO;
            }
        }
    }

    /// When to look again who is there.
    pub(super) fn look(&self) -> Option<Instant> {
        self.room.map(|_| self.room_until)
    }

    /// When the first of them should go.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.due.first().map(|(_, at)| at)
    }
}

impl Fair {
    /// The group has another target from now on than it had before, or none.
    pub(super) fn set_target(&mut self, now: Instant, group: u32, before: &Qos) {
        let (targets, entry) = (&mut self.targets, &mut self.groups[group as usize]);
        if entry.qos.latency_p99 == before.latency_p99 {
            // What was learned of it holds, but what else it asks for may let it go on.
            return self.target_wants(now, group);
        }
        targets.groups -= u32::from(before.latency_p99.is_some());
        targets.there.place(group, None);
        if let Some(target) = entry.qos.latency_p99 {
            targets.groups += 1;
            entry.room = Room::new(target);
            targets.note_room(group, &entry.room);
        }
        (targets.room, targets.room_until) = (None, Instant::ZERO);
        targets.due.place(group, None);
        self.target_wants(now, group);
    }

    /// Whether others have as much at the device, which serves several at once, as targets let
    /// them.
    pub(super) fn is_room_full(&mut self, now: Instant) -> bool {
        let most = self.targets.leave_room(now, &self.groups);
        let is_full = most.is_some_and(|most| self.device.time_of(self.at_work) > most);
        if is_full {
            self.device.knee.hold_back();
        }
        is_full
    }

    /// The disk did something for the group: if it has a target, that is there.
    pub(super) fn target_is_there(&mut self, group: u32) {
        let entry = &self.groups[group as usize];
        if entry.qos.latency_p99.is_some() {
            self.targets.note_room(group, &entry.room);
        }
    }

    /// What the group has queued has changed. If nothing of it is at the device, and it has no more
    /// than its share, its next request should go at once; else after half of the target, or sooner
    /// where two requests take longer than the other half: the one at the device by then and its
    /// own.
    #[inline]
    pub(super) fn target_wants(&mut self, now: Instant, group: u32) {
        if self.targets.groups == 0 {
            return;
        }
        self.targets.due.place(group, None);
        let entry = &self.groups[group as usize];
        let Some(target) = entry.qos.latency_p99.filter(|_| entry.waiting > 0) else { return };
        self.targets.note_room(group, &entry.room);
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

    /// A group that would miss its target, and does not ask for too much. One that is at a ceiling
    /// is due once it may go on.
    fn near_target(&mut self, now: Instant) -> Option<u32> {
        loop {
            let (group, _) = self.targets.due.first().filter(|(_, at)| *at <= now)?;
            let waits = self.groups[group as usize].waiting > 0;
            if !waits || self.tree.is_ahead(group, DEBT_MOST) {
                self.targets.due.place(group, None);
                continue;
            }
            let until = self.barred.until(self.tree.path(group));
            if until.is_none() {
                return Some(group);
            }
            self.targets.due.place(group, until);
        }
    }

    /// Serves a group that would miss its target otherwise.
    pub(super) fn serve_target(&mut self, now: Instant) -> Option<Step> {
        loop {
            let group = self.near_target(now)?;
            let queue = self.queues.first_of(now, group);
            let (at, _) = self.requests.oldest(&self.queues[queue]);
            if self.is_at_ceiling(now, at) {
                continue;
            }
            if self.turn.is_none_or(|turn| turn.group != group) {
                self.give_turn(now, group, queue);
            }
            return Some(self.dispatch(now, at, Why::NearTarget));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use fairdisk_core::{Change, Elevator, GroupId, Prng};

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
        targets.note_room(0, &Room::new(Span::from_ms(8)));
        assert_eq!(targets.leave_room(at(20), &groups), Some(Span::from_ms(2)));
        assert_eq!(targets.look(), Some(at(70)));
    }

    #[test]
    fn a_room_grows_again_whatever_was_late_before() {
        let (target, mut prng) = (Span::from_ms(8), Prng::new(1));
        let mut room = Room::new(target);
        // Some are late for another reason, and chance speaks for less room time and again.
        for _ in 0..2_000_000 {
            room.completed(if prng.chance(1, 100) { target + target } else { target }, target);
        }
        assert!(room.most >= Span::from_us(125), "{}", room.most);
        for _ in 0..30_000 {
            room.completed(target, target);
        }
        assert_eq!(room.most, target);
    }
}

//! Room for floors on a device that serves several requests at once.
//!
//! A request that is dispatched for a floor is at the device with those of others, and may take
//! longer there than the floor allows: tasks that wait for `n` requests keep a rate only if each
//! takes no longer than `n` requests at that rate. So while a group may otherwise be late with its
//! next request, the others get nothing more to the device.
//!
//! What is at the device takes the time that the model states only if it is done in order. So it is
//! learned how much of it there may be.

use super::super::Fair;
use super::super::answer::{Answer, FloorRoom, Notes};
use super::paid::{CATCH_UP, EARLY_PARTS, REST, There};
use crate::groups::Nested;
use fairdisk_core::{Instant, Span, Why};

/// How late a group may be: half of what `EARLY_PARTS` gains in a second. The other half is for
/// requests that take longer than expected.
const LATE_MOST: Span = Span::from_ms(1000 / (2 * EARLY_PARTS));
/// For how long a group has to lose some of its floor, with nothing of others at the device, until
/// nobody leaves room for it. Twice as long as a disk takes to write back a full cache.
const FUTILE_TIME: Span = Span::from_s(2);
/// Nobody leaves room for such a group for so many times as long: a tenth of the time is spent on
/// trying.
const FUTILE_FACTOR: u64 = 9;

/// How much work may be at the device, as a multiple of what would be done in time by the model. It
/// rises a little while groups are in time, and is halved when one is late: so it settles where
/// groups are rarely late.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ease {
    parts: u64,
    next_rise: Instant,
    next_fall: Instant,
}

impl Ease {
    /// As much as is done in time.
    const ONE: u64 = 1 << 10;
    /// A request that is picked at random from others takes half of their time in the mean. If one
    /// is late all the same, what is there is done in as much again.
    const MOST: u64 = 2 * Self::ONE;
    /// Each rise is one part in 32: there are 22 of them for each time that a group is late.
    const RISE_PARTS: u64 = 32;
    /// A change shows in what is dispatched about two `LATE_MOST` later.
    const PACE: Span = Span::from_ms(2 * LATE_MOST.as_ms());

    pub(super) const fn new() -> Self {
        Self { parts: Self::ONE, next_rise: Instant::ZERO, next_fall: Instant::ZERO }
    }

    /// Learns from a request of a group with a floor that is dispatched `now` and was `due`.
    pub(super) fn learn(&mut self, now: Instant, due: Instant) {
        if due + LATE_MOST / 2 >= now {
            if now >= self.next_rise {
                self.parts = (self.parts + self.parts / Self::RISE_PARTS).min(Self::MOST);
                self.next_rise = now + Self::PACE;
            }
        } else if due + LATE_MOST < now && now >= self.next_fall {
            self.parts = (self.parts / 2).max(Self::ONE);
            (self.next_rise, self.next_fall) = (now + Self::PACE, now + Self::PACE);
        }
    }

    /// How long to take work at the device to last that is stated to last `time`.
    fn applied(self, time: Span) -> Span {
        time.scaled(Self::ONE, self.parts)
    }
}

/// Whether it is of any use to leave room for a group.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::fair) struct Use {
    /// Since when it has lost some of its floor whenever it was served. It had the device to itself
    /// then.
    futile_since: Option<Instant>,
    /// Until when nobody leaves room for it.
    rests_until: Instant,
}

impl Use {
    /// Notes that the group is served, whether it had lost some of its floor by then, and whether
    /// nothing of others was at the device. Beside others it may have lost it to them.
    pub(super) fn served(&mut self, now: Instant, has_lost: bool, is_alone: bool) {
        if !has_lost {
            self.futile_since = None;
        } else if is_alone {
            let since = *self.futile_since.get_or_insert(now);
            let time = now.since(since);
            if time >= FUTILE_TIME {
                let rest = Span::from_ns(time.as_ns().saturating_mul(FUTILE_FACTOR));
                (self.futile_since, self.rests_until) = (None, now + rest);
            }
        }
    }
}

impl Fair {
    /// Lets others leave room for the group if it has a floor and that needs it, which is found out
    /// once it matters.
    pub(super) fn room_wants(&mut self, group: u32) {
        let may_need_it = self.has_floor(group) && !self.device.is_serial();
        if may_need_it && self.promises.floors.room.key(group).is_none() {
            self.promises.floors.room.place(group, Some(Instant::ZERO));
        }
    }

    /// What is learned from a request of a group with a floor that is being dispatched, before it
    /// pays for the floor.
    pub(super) fn learn_room(&mut self, now: Instant, group: u32) {
        let entry = &mut self.groups[group as usize];
        let Some(due) = entry.floor.paid.due(&entry.qos.floor) else { return };
        self.promises.floors.ease.learn(now, due);
        let is_alone = self.load.in_flight == entry.in_flight;
        entry.floor.room_use.served(now, due + CATCH_UP < now, is_alone);
    }

    /// Lets the next request in line, and all behind it, wait if it leaves a floor too little room;
    /// `None` if it does not.
    #[inline]
    pub(in crate::fair) fn leave_room_for_floors(
        &self,
        now: Instant,
        notes: &mut Notes,
    ) -> Option<Answer> {
        if !self.params.rules.floor_room || self.promises.floors.is_empty() {
            return None;
        }
        let room = self.room_for_first(now);
        notes.floor_room = Some(room);
        notes.is_for_promise |= room.is_made;
        room.is_made.then_some(Answer::Wait(room.until, Why::FloorRoomUsed))
    }

    #[cold]
    #[inline(never)]
    fn room_for_first(&self, now: Instant) -> FloorRoom {
        let first = self.promises.floors.room.first().filter(|_| self.promises.floors.owed <= REST);
        let (Some(at), Some((floored, by))) = (self.next_in_line(now), first) else {
            return FloorRoom::NONE;
        };
        let work = self.device.time_of(self.load.at_work + self.cost_of(at));
        let work = self.promises.floors.ease.applied(work);
        let back_by = self.thinks_until(now, floored);
        // If it is not back by then, others with floors may have more time.
        let back_by = back_by.unwrap_or(Instant::MAX);
        let once_past = |at: Instant| (at + Span::from_ns(1)).min(back_by);
        let may_need = |until| FloorRoom { is_made: false, until };
        if by >= now + work {
            return may_need(once_past(now + by.since(now + work)));
        }
        if self.tree.lies_in(self.queues[self.requests[at].queue].group, floored) {
            return FloorRoom::NONE;
        }
        match self.in_time_until(now, floored) {
            Some(due) => may_need(once_past(due)),
            None => FloorRoom { is_made: true, until: back_by },
        }
    }

    /// The request that would be dispatched next by share or in the turn.
    fn next_in_line(&self, now: Instant) -> Option<u32> {
        let goes_on = |group: &u32| {
            let has_turns = self.device.is_measured() || self.turn.is_some_and(|turn| turn.alone);
            has_turns && self.groups[*group as usize].waiting > 0
        };
        let in_turn = self.turn.map(|turn| turn.group).filter(goes_on);
        let group = in_turn.or_else(|| self.tree.first())?;
        Some(self.next_of(now, self.queues.first_of(now, group)))
    }

    /// Determines which group with a floor needs the device to have done first, and by when.
    pub(super) fn settle_room(&mut self, now: Instant) {
        while let Some((group, by)) = self.promises.floors.room.first() {
            let exact = self.room_until(now, group);
            if exact == Some(by) {
                return;
            }
            self.promises.floors.room.place(group, exact);
            if exact.is_none() {
                // It may wait for a ceiling.
                self.promises.floors.due.place(group, None);
                self.floor_wants(group);
            }
        }
    }

    /// Until when the group is not below its floor, if it is not and others have nothing at the
    /// device. They may have one request then: it may take longer than a group may be late.
    fn in_time_until(&self, now: Instant, group: u32) -> Option<Instant> {
        let entry = &self.groups[group as usize];
        let has_none = self.load.in_flight == entry.in_flight || self.tree.has_inner(group);
        entry.floor.paid.due(&entry.qos.floor).filter(|due| has_none && *due >= now)
    }

    /// When others may have to leave room for a floor though nothing happens.
    pub(in crate::fair) fn room_at(&self, now: Instant) -> Option<Instant> {
        let FloorRoom { is_made, until } = self.promises.floors.room_needed;
        (!is_made && until > now && until < Instant::MAX).then_some(until)
    }

    /// Until when the device has to have done what is there so that the group is not too late;
    /// `None` if it does not matter: the group wants nothing or has more queued in groups inside,
    /// or room is of no use.
    fn room_until(&self, now: Instant, group: u32) -> Option<Instant> {
        let entry = &self.groups[group as usize];
        let is_there = self.tree.is_there(group) || self.thinks_until(now, group).is_some();
        if !is_there || now < entry.floor.room_use.rests_until {
            return None;
        }
        let requests = match self.tree.has_inner(group) {
            true if self.tree.first_inside(group).is_some() => return None,
            true => 0,
            // It is about to come back with one.
            false if entry.is_quiet() => 1,
            false => entry.waiting,
        };
        // Each as if the first of them had just been dispatched.
        let there = self.there(group);
        let there = There { at_device: there.at_device + 1, ..there };
        let due = entry.floor.paid.due_after(&entry.qos.floor, requests, entry.last, there);
        let is_last = entry.waiting + entry.in_flight <= 1;
        let think = if is_last { entry.past.absence.think.or_zero() } else { Span::ZERO };
        let before = self.device.alone() + think;
        Some(Instant::from_ns((due + LATE_MOST).as_ns().saturating_sub(before.as_ns())))
    }

    /// Until when the group, which has nothing queued and nothing at the device, may be back with
    /// its next request, if it thinks for so short a time that it can use its floor.
    fn thinks_until(&self, now: Instant, group: u32) -> Option<Instant> {
        let entry = &self.groups[group as usize];
        let (since, think) = (entry.past.absence.quiet_since?, entry.past.absence.think.get()?);
        let due_in = entry.floor.paid.due_after(&entry.qos.floor, 1, entry.last, There::ONE);
        let period = due_in.since(entry.floor.paid.due(&entry.qos.floor)?);
        // A pause is sometimes twice as long as usual.
        let until = since + think + think;
        let is_usable = self.device.alone() + think <= period;
        (entry.is_quiet() && is_usable && until > now).then_some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn there_may_be_more_while_groups_are_in_time_and_less_once_one_is_late() {
        let (mut ease, time) = (Ease::new(), Span::from_ms(40));
        let mut applied = |ms, due| {
            ease.learn(at(ms), at(due));
            ease.applied(time).as_us()
        };
        assert_eq!(applied(1000, 1000), 38_787, "a little more");
        assert_eq!(applied(1010, 1010), 38_787, "it does not show yet");
        for step in 0..30 {
            applied(1100 + 30 * step, 1100 + 30 * step);
        }
        assert_eq!(applied(2000, 2000), 20_000, "twice as much");
        assert_eq!(applied(2100, 2088), 20_000, "this is as expected");
        assert_eq!(applied(2100, 2084), 40_000);
        assert_eq!(applied(2200, 2000), 40_000, "no less than is done in time");
    }

    #[test]
    fn nobody_leaves_room_for_long_where_it_is_of_no_use() {
        let mut room = Use::default();
        (0..20).for_each(|step| room.served(at(100 * step), true, step % 2 == 0));
        assert_eq!(room.rests_until, Instant::ZERO);
        room.served(at(2000), true, true);
        assert_eq!(room.rests_until, at(20_000));
        // It had its floor in between.
        let mut room = Use::default();
        (0..100).for_each(|step| room.served(at(100 * step), step % 20 > 0, true));
        assert_eq!(room.rests_until, Instant::ZERO);
    }
}

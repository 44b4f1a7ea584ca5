//! Whether the room that others make for a group on a device without a head (see `expected`) is
//! worth what it costs them.
//!
//! A group that waits for each of its requests, or for flushes, may be able to use only a little
//! more of the device however much room others make. They may have to leave most of it idle for
//! that. So both are [tried](super::ways): others make room for the group, or they do not.
//!
//! Room is for shares. A group lacks what it may have of all that is done, or could do alone if
//! that is less, and does not do. Room is worth it if the group lacks a sixteenth more of all that
//! is done without.

use super::Fair;
use super::hierarchy::WHOLE_DISK;
use super::ways::{ONE, Ways, logarithm};
use fairdisk_core::{Instant, Span};

/// How long a look takes at least: many times as long as what is at the device from before.
const LOOK_TIME: Span = Span::from_ms(50);
/// A sixteenth is more than two looks differ by chance.
const LACKS_MORE: i64 = ONE / 16;
/// For how long one group's look keeps others from beginning a pair: what a look of a group with
/// few requests takes.
const OTHERS_WAIT: Span = Span::from_s(1);
/// A group that has three quarters of what it may have or use with room keeps it, and it is not
/// tried: it could lack far more without.
const ENOUGH_QUARTERS: u64 = 3;
/// The unit of what a group lacks, as a part of all that is done.
const WHOLE: u64 = 1 << 20;

/// What is known of what room for a group is worth, and the current look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoomWorth {
    /// With room, and without.
    ways: Ways<true>,
    since: Instant,
    /// When the look may end.
    until: Instant,
    before: Totals,
    /// What the group could use in the last look with room, with one request at a time, in parts
    /// of 2^32 of the device.
    usable: u64,
    /// The most requests that the group was seen to wait for at a time.
    requests: u32,
}

/// What a group may have of the device and can use of it, in parts of 2^32.
#[derive(Clone, Copy, Debug)]
struct Demand {
    part: u64,
    /// With one request at a time.
    usable: u64,
}

/// What there was up to some instant.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    /// The cost of the group's requests, and of those of all.
    own: Span,
    all: Span,
    /// How often others were held back.
    held_back: u64,
}

impl RoomWorth {
    /// Whether others make room for the group.
    const fn has_room(&self) -> bool {
        !self.ways.is_second()
    }

    /// The most requests that the group was seen to wait for at a time.
    pub(super) const fn requests(&self) -> u32 {
        self.requests
    }

    /// Breaks the current look off.
    pub(super) fn break_off(&mut self) {
        self.ways.break_off();
        (self.until, self.requests) = (Instant::ZERO, 0);
    }

    /// Ends the current look and begins the next. Where something else is tried at the same time
    /// there is nothing to learn.
    fn end_look(&mut self, now: Instant, totals: Totals, demand: Demand, is_only: bool) {
        let (own, all) = (totals.own - self.before.own, totals.all - self.before.all);
        let was_held_back = totals.held_back > self.before.held_back;
        let took = now.since(self.since);
        // Without room its flushes take longer, which does not make it able to use less.
        if self.has_room() {
            self.usable = demand.usable;
        }
        let usable = took.scaled(self.usable.saturating_mul(self.requests.into()), WHOLE_DISK);
        let most = all.scaled(demand.part, WHOLE_DISK).min(usable);
        let has_enough = self.has_room() && own >= most.scaled(ENOUGH_QUARTERS, 4);
        let lacks = if has_enough { Span::ZERO } else { most - own };
        let lacks = logarithm(lacks.scaled(WHOLE, all.as_ns().max(1)).as_ns().max(1));
        let without = self.ways.compare(-lacks);
        let is_known = is_only && self.until > Instant::ZERO;
        // If nobody was held back, or it has enough with room, there is no reason to try without.
        let may_try = is_known && (!self.has_room() || was_held_back && !has_enough);
        let tells = may_try || is_known && self.ways.prefers_second();
        self.ways.end_look(tells.then_some(without + LACKS_MORE), may_try);
        (self.since, self.until, self.before) = (now, now + LOOK_TIME, totals);
    }
}

impl Fair {
    /// Whether others make room for the group, which has nothing queued, by what that is worth.
    #[inline]
    pub(super) fn is_worth_room(&mut self, now: Instant, group: u32) -> bool {
        if !self.device.is_flash() || !self.params.rules.room_worth {
            return true;
        }
        if self.groups[group as usize].past.worth.until <= now {
            self.end_look_of_room(now, group);
        }
        self.groups[group as usize].past.worth.has_room()
    }

    #[cold]
    #[inline(never)]
    fn end_look_of_room(&mut self, now: Instant, group: u32) {
        let Self { expected, tree, device, .. } = self;
        let other = expected.tries_room.filter(|(one, until)| *one != group && *until > now);
        let is_only = other.is_none() && self.promises.targets.is_empty();
        let part = tree.part_beside_all(group);
        let entry = &mut self.groups[group as usize];
        let demand = Demand { part, usable: entry.usable_alone(device) };
        let worth = &mut entry.past.worth;
        worth.requests = worth.requests.max(entry.in_flight).max(1);
        let totals =
            Totals { own: entry.past.spent, all: expected.done, held_back: expected.held_back };
        worth.end_look(now, totals, demand, is_only);
        if other.is_none() {
            expected.tries_room = worth.ways.is_tried().then_some((group, now + OTHERS_WAIT));
        }
    }
}

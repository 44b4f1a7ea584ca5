//! The state of a group, apart from its place in the hierarchy.

use super::absence::{Absence, Away};
use super::backlog::Held;
use super::ceiling::Ceiling;
use super::commits::Commits;
use super::device::Device;
use super::floor::{PaidUntil, Use};
use super::looks;
use super::queue::Queue;
use super::room_worth::RoomWorth;
use super::sharing;
use super::target::{Interval, PRESENT, Room};
use super::{Fair, NIL};
use crate::groups::Amount;
use fairdisk_core::list::List;
use fairdisk_core::tree::Tree;
use fairdisk_core::{Instant, Qos, Span};

/// A group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) qos: Qos,
    /// How long the disk is kept free for the group at most, if `idle=` sets it.
    pub(super) idle: Option<Span>,
    pub(super) used: Used,
    pub(super) floor: Floored,
    pub(super) target: Targeted,
    /// The amount of the group's last dispatched request.
    pub(super) last: Amount,
    /// The synchronous ones of the queued requests by where they begin, on a disk with a head that
    /// serves one at a time.
    pub(super) by_place: Tree,
    /// Requests of the group's own tasks: queued, and at the device.
    pub(super) waiting: u32,
    pub(super) in_flight: u32,
    /// The group's flushes at the device or on their way there.
    pub(super) flushes: u32,
    pub(super) beside: Beside,
    /// What is remembered of it.
    pub(super) past: Past,
}

/// What a group has used of its ceiling.
#[derive(Clone, Debug)]
pub(super) struct Used {
    /// By requests that were dispatched.
    pub(super) ceiling: Ceiling,
    /// On a device that serves several requests at once: by completed requests, and what requests
    /// of the group and the groups in it at the device amount to.
    pub(super) done: Ceiling,
    pub(super) there: Amount,
}

/// What is known of a group's floor.
#[derive(Clone, Debug)]
pub(super) struct Floored {
    pub(super) paid: PaidUntil,
    /// Whether it is of any use that others leave room for it.
    pub(super) room_use: Use,
    /// The group at a ceiling for which the floor waits, the group itself or one around it; or
    /// `NIL`.
    pub(super) barred_by: u32,
    /// Floors that wait for this group's ceiling.
    pub(super) waiting: List,
}

/// What is known of a group's latency target.
#[derive(Clone, Debug, Default)]
pub(super) struct Targeted {
    /// How much others may have at the device so that it is kept.
    pub(super) room: Room,
    /// How long they may have the disk between two of the group's turns for that.
    pub(super) interval: Interval,
    /// Whether the group is among those that are too far ahead for it.
    pub(super) is_too_far_ahead: bool,
}

/// What others leave to a group at the device, or it to others.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    /// The cost of the request for which there is a place at an array.
    pub(super) reserved: Span,
    /// Its write that is held for another group's flush.
    pub(super) held: Held,
}

/// What is remembered of a group, by which it is judged. A new group with its number has none of
/// it.
#[derive(Clone, Debug)]
pub(super) struct Past {
    pub(super) absence: Absence,
    /// What it had done in the looks at the depth limit and at sharing.
    pub(super) done_in_look: [looks::Done; 2],
    /// What it does together with others, and in turns.
    pub(super) rates: sharing::Rates,
    /// What the group has been charged at dispatch since it last had nothing queued and nothing at
    /// the device.
    pub(super) burst: Span,
    /// The cost of all its requests, and whether room for it is worth that others make it.
    pub(super) spent: Span,
    pub(super) worth: RoomWorth,
    /// What it was charged for writes that the device did after it had acknowledged them.
    pub(super) deferred: Span,
    /// How it has writes flushed.
    pub(super) commits: Commits,
}

impl Past {
    fn new() -> Self {
        Self {
            absence: Absence::new(),
            done_in_look: Default::default(),
            rates: sharing::Rates::default(),
            burst: Span::ZERO,
            spent: Span::ZERO,
            worth: RoomWorth::default(),
            deferred: Span::ZERO,
            commits: Commits::new(),
        }
    }
}

impl Group {
    pub(super) fn new() -> Self {
        Self {
            qos: Qos::NONE,
            idle: None,
            used: Used { ceiling: Ceiling::EMPTY, done: Ceiling::EMPTY, there: Amount::NONE },
            floor: Floored {
                paid: PaidUntil::default(),
                room_use: Use::default(),
                barred_by: NIL,
                waiting: List::new(),
            },
            target: Targeted::default(),
            last: Amount::NONE,
            by_place: Tree::new(),
            waiting: 0,
            in_flight: 0,
            flushes: 0,
            beside: Beside::default(),
            past: Past::new(),
        }
    }

    /// Forgets what a new group with this number has no part in.
    pub(super) fn forget(&mut self) {
        (self.idle, self.past) = (None, Past::new());
    }

    /// What part of the device the group can use with one request at a time, if nothing else is
    /// there, in parts of 2^32.
    pub(super) fn usable_alone(&self, device: &Device) -> u64 {
        device.part_alone(self.last.bytes, self.past.absence.pause())
    }

    /// When the group may have `amount` more within its ceiling: both by what was dispatched and by
    /// what was done, if everything at the device completed now.
    pub(super) fn ready_at(&self, now: Instant, amount: Amount) -> Instant {
        let let_go = self.used.ceiling.ready_at(&self.qos, amount);
        let_go.max(self.used.done.ready_beside(now, &self.qos, self.used.there, amount))
    }

    /// When the group will have saved up all that its ceiling allows.
    pub(super) fn full_at(&self) -> Instant {
        self.used.ceiling.empty_at(&self.qos)
    }

    /// Whether the group has had nothing to do for longer than `longest`, or left its turn early.
    pub(super) fn was_away(&self, now: Instant, longest: Span) -> bool {
        self.past.absence.left_early()
            || self.past.absence.quiet_since.is_none_or(|since| now.since(since) > longest)
    }

    /// Whether the group, which has a target, is present: its last request was not long ago.
    pub(super) fn is_present(&self, now: Instant) -> bool {
        !self.is_quiet()
            || self.past.absence.quiet_since.is_some_and(|since| now.since(since) < PRESENT)
    }

    pub(super) const fn is_quiet(&self) -> bool {
        self.waiting == 0 && self.in_flight == 0 && self.flushes == 0
    }
}

impl Fair {
    /// Notes that the group may have nothing more to be served.
    #[inline]
    pub(super) fn rest(&mut self, now: Instant, group: u32) {
        let entry = &mut self.groups[group as usize];
        if entry.is_quiet() {
            entry.past.commits.rests(now);
        }
    }

    /// Whether what the group has queued or at the device, if anything, is asynchronous: nobody
    /// waits for it, so the next synchronous request comes after a think time.
    #[inline]
    pub(super) fn has_nothing_synchronous(&self, group: u32) -> bool {
        let entry = &self.groups[group as usize];
        entry.is_quiet() || entry.flushes == 0 && self.has_only_asynchronous(group)
    }

    fn has_only_asynchronous(&self, group: u32) -> bool {
        let entry = &self.groups[group as usize];
        let queue = self.asynchronous_of(group);
        queue.is_some_and(|it| it.waiting + it.in_flight == entry.waiting + entry.in_flight)
    }

    /// Whether anything that the group has queued is synchronous.
    pub(super) fn has_synchronous_queued(&self, group: u32) -> bool {
        let asynchronous = self.asynchronous_of(group).map_or(0, |queue| queue.waiting);
        self.groups[group as usize].waiting > asynchronous
    }

    fn asynchronous_of(&self, group: u32) -> Option<&Queue> {
        self.queues.find_asynchronous(group).and_then(|at| self.queues.get(at))
    }

    /// Notes the think time of a group that ends with a synchronous request or a flush. Returns
    /// whether it is known.
    pub(super) fn note_thought(&mut self, now: Instant, group: u32) -> bool {
        let done = self.asynchronous_of(group).and_then(|queue| queue.quiet_since);
        let entry = &mut self.groups[group as usize];
        // If something asynchronous was done last, it is not known when the tasks began to think.
        let is_known = entry.is_quiet() || done != entry.past.absence.quiet_since;
        if is_known {
            let most = entry.idle.unwrap_or(Span::ZERO).max(self.params.idle_max);
            entry.past.absence.think.add(self.device.thought(
                now,
                entry.past.absence.quiet_since,
                most,
            ));
        }
        is_known
    }

    /// Notes that a group thinks no more, as it has a synchronous request, and that it is back if
    /// it left its turn early.
    pub(super) fn note_back(&mut self, now: Instant, group: u32, queue: u32) {
        let is_known = self.note_thought(now, group);
        if self.groups[group as usize].past.absence.away != Away::No {
            self.came_back(now, (group, queue), is_known);
        }
    }

    /// Notes that a group is back that was away for longer than usual, or left its turn early.
    #[cold]
    fn came_back(&mut self, now: Instant, (group, queue): (u32, u32), is_known: bool) {
        let entry = &mut self.groups[group as usize];
        if entry.past.absence.ends_pause(now, is_known) {
            self.set_back(group, true);
            // Where the disk takes several commands, the group is due as a whole.
            let due = if self.device.is_serial() { queue } else { self.thinker(group) };
            self.returning.note_return(group, due);
        }
    }

    /// The queue after whose last request the group was away, or `NIL` if that is gone.
    pub(super) fn thinker(&self, group: u32) -> u32 {
        let thinker = self.groups[group as usize].past.absence.thinker;
        let is_there = self.queues.get(thinker).is_some_and(|queue| queue.group == group);
        if is_there { thinker } else { NIL }
    }

    /// Notes that a group thinks no more, as it has a flush. That is served at once in any case.
    pub(super) fn note_flush(&mut self, now: Instant, group: u32) {
        let is_known = self.note_thought(now, group);
        self.groups[group as usize].past.absence.ends_pause(now, is_known);
    }
}

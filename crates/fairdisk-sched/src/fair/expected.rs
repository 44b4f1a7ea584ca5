//! Which groups make room for which on a device that serves several requests at once.
//!
//! A device full of others' requests makes everybody's slow, and a group with few requests in
//! flight then gets less than its share, however soon each is dispatched. So a group with nothing
//! queued is *expected* while it has requests or flushes at the device, and for its usual think
//! time after that. Once the device is fully busy, a group gets no further request there while a
//! group that is further behind is expected. A device that is not fully busy takes reads from
//! anybody.

use super::Fair;
use super::answer::Held;
use super::patience::wait_for;
use super::reserved::Reserved;
use crate::groups::Order;
use fairdisk_core::{Instant, Span};

/// A group is not expected if its think time exceeds 64 times its burst, the device time it uses
/// between pauses: it could use little more than a sixty-fourth of the device anyway.
const THINK_BURSTS_MOST: u64 = 64;

/// Expected groups with nothing queued and nothing at the device, by when they stop being expected.
#[derive(Debug)]
pub(super) struct Expected {
    until: Order<Instant>,
    /// How often anything was held back on a device without a head, and the cost of all that was
    /// done.
    pub(super) held_back: u64,
    pub(super) done: Span,
    pub(super) held: Option<Held>,
    /// The group of which it is tried what room is worth, and until when no other is.
    pub(super) tries_room: Option<(u32, Instant)>,
    /// What of the work at an array is reserved.
    pub(super) reserved: Reserved,
}

impl Expected {
    pub(super) fn new() -> Self {
        Self {
            until: Order::new(),
            held_back: 0,
            done: Span::ZERO,
            held: None,
            tries_room: None,
            reserved: Reserved::new(),
        }
    }

    /// When the first of these groups stops being expected.
    pub(super) fn first_until(&self) -> Option<Instant> {
        self.until.first().map(|(_, until)| until)
    }

    /// Whether the group, with nothing queued and nothing at the device, is expected.
    pub(super) fn contains(&self, group: u32) -> bool {
        self.until.key(group).is_some()
    }

    /// Notes what was held back in a decision.
    #[inline]
    pub(super) fn note(&mut self, held: Option<Held>) {
        if held.is_some() {
            (self.held, self.held_back) = (held, self.held_back + 1);
        }
    }

    /// Notes that the request is no longer queued.
    #[inline]
    pub(super) fn let_go(&mut self, at: u32) {
        self.held = self.held.filter(|held| held.request != at);
    }
}

impl Fair {
    /// Notes that the group has something queued again.
    #[inline]
    pub(super) fn expect_no_more(&mut self, group: u32) {
        self.expected.until.place(group, None);
    }

    /// Stops expecting the groups that should have come back by `now`.
    #[inline]
    pub(super) fn settle_expected(&mut self, now: Instant) {
        while let Some((group, _)) = self.expected.until.first().filter(|(_, until)| *until <= now)
        {
            self.expect_no_more(group);
            self.tree.set_expected(group, false);
        }
    }

    /// Updates whether the group is expected, after it has run out of queued requests or one of its
    /// requests, of this queue, has completed.
    #[inline]
    pub(super) fn expect(&mut self, now: Instant, group: u32, queue: u32) {
        if self.groups[group as usize].waiting == 0 {
            self.expect_back(now, group, queue);
        }
    }

    /// Updates whether the group, which has nothing queued, is expected.
    #[inline(never)]
    pub(super) fn expect_back(&mut self, now: Instant, group: u32, queue: u32) {
        let is_worth_it = self.is_worth_room(now, group);
        let entry = &self.groups[group as usize];
        // Nobody makes room at a device that serves one at a time, but who is served out of turn
        // for a target gets ahead of those that are expected.
        let makes_room = self.params.rules.room && is_worth_it && !self.device.is_serial()
            || !self.promises.targets.is_empty();
        let until =
            if makes_room && entry.is_quiet() { self.back_by(now, group, queue) } else { None };
        let expected = makes_room && !entry.is_quiet() || until.is_some();
        self.expected.until.place(group, until);
        if self.device.is_paced() && self.params.rules.reserved {
            self.reserve(now, group, queue);
        }
        self.tree.set_expected(group, expected);
    }

    /// Until when a group whose last request, of this queue, has just completed is expected; `None`
    /// if it thinks for too long.
    ///
    /// The group's own think time ends with the first of its tasks that is back. Some of them began
    /// to think before, so it is short in the mean, and often longer than twice that. It is never
    /// longer than the task that was served last thinks. To expect it for so long costs little
    /// where others may keep the device busy meanwhile, unlike on a disk with heads.
    fn back_by(&self, now: Instant, group: u32, queue: u32) -> Option<Instant> {
        let entry = &self.groups[group as usize];
        let most = entry.idle.unwrap_or(self.params.idle_max);
        let worth = match self.device.is_serial() {
            true => most,
            false => Span::from_ns(entry.past.burst.as_ns().saturating_mul(THINK_BURSTS_MOST)),
        };
        let is_worth = |think: &Span| *think <= most && *think <= worth;
        let think = entry.past.absence.think.get().filter(is_worth)?;
        let own = || self.queues.get(queue)?.times.think.get().filter(is_worth);
        let think = match self.device.is_flash() {
            true => own().map_or(think, |own| own.max(think)),
            false => think,
        };
        Some(now + wait_for(think, Span::ZERO, most))
    }
}

//! Thinkers: groups that left their turn early because their think time was too long to wait for.
//! While behind, such a group is served as soon as it is back, and the disk stays idle shortly
//! before.

use super::allowance::Allowance;
use super::group::{Away, Group};
use super::patience::worth_waiting;
use super::turn::Turn;
use super::{Fair, Step};
use crate::groups::{Nested, Order};
use fairdisk_core::{Instant, Span, Why};

/// Groups that left their turn early and think, by when they are due back, on a device whose
/// requests can be measured.
#[derive(Debug)]
pub(super) struct Returning {
    order: Order<Instant>,
    /// How many groups are back.
    back: u32,
    /// Since when the disk stays idle for a group that is due back; outdated once anything has been
    /// at the disk since.
    held_since: Instant,
    pub(super) allowance: Allowance,
}

impl Returning {
    pub(super) const fn new() -> Self {
        Self {
            order: Order::new(),
            back: 0,
            held_since: Instant::ZERO,
            allowance: Allowance::new(),
        }
    }

    /// Whether no group is due back.
    pub(super) fn is_empty(&self) -> bool {
        self.order.first().is_none()
    }

    /// Sets whether the group is back: it left its turn early, and has something queued again.
    #[inline]
    pub(super) const fn set_back(&mut self, group: &mut Group, is_back: bool) {
        let was_back = core::mem::replace(&mut group.is_back, is_back);
        self.back = self.back - was_back as u32 + is_back as u32;
    }

    /// Notes that the group has come back.
    pub(super) fn note_return(&mut self, group: u32) {
        if self.order.key(group).is_some() {
            self.order.place(group, None);
            self.allowance.note_return(group);
        }
    }

    /// Forgets that the group has come back, and stops waiting for it.
    pub(super) fn forget(&mut self, at: u32, group: &mut Group) {
        self.set_back(group, false);
        self.order.place(at, None);
    }
}

impl Fair {
    /// Serves a request of a thinker that has come back and is first in line. The turn stays with
    /// its group: in a turn of its own, the thinker would be served only once per turn of the
    /// others. A thinker that usually goes on at once after a pause is given a turn instead: the
    /// error is why that of the others ends.
    #[inline]
    pub(super) fn serve_returned(&mut self, now: Instant, turn: Turn) -> Option<Result<Step, Why>> {
        if self.returning.back == 0 { None } else { self.serve_first_returned(now, turn) }
    }

    #[cold]
    fn serve_first_returned(&mut self, now: Instant, turn: Turn) -> Option<Result<Step, Why>> {
        let group = self.tree.first().filter(|group| *group != turn.group)?;
        if !self.groups[group as usize].is_back {
            return None;
        }
        let at = self.next_of(now, self.queues.first_of(now, group));
        if self.bar_at_ceiling(now, at) {
            return None;
        }
        match self.groups[group as usize].away {
            Away::Outlasted => Some(Err(Why::Preempted)),
            _ => Some(Ok(self.dispatch(now, at, Why::Preempted))),
        }
    }

    /// Notes that a synchronous request of a group that is back was dispatched. The group still is
    /// if another of its tasks waits.
    #[cold]
    #[inline(never)]
    pub(super) fn note_served_back(&mut self, group: u32) {
        let has_more = self.has_synchronous_queued(group);
        self.returning.set_back(&mut self.groups[group as usize], has_more);
    }

    /// Notes when a group that left its turn early is due back, if it has nothing queued and
    /// nothing at the disk, or that it is back if another of its tasks has something queued. One
    /// that is away for longer than a round is not waited for: others would wait for it longer than
    /// in line.
    #[cold]
    pub(super) fn will_return(&mut self, now: Instant, group: u32) {
        if self.has_synchronous_queued(group) {
            return self.returning.set_back(&mut self.groups[group as usize], true);
        }
        let entry = &self.groups[group as usize];
        let since = entry.quiet_since.filter(|_| entry.is_quiet() && self.device.is_measured());
        let thinks = since.and_then(|since| {
            let is_usual = now.since(since) < entry.waited;
            if is_usual { entry.think.get() } else { entry.think.pause() }
        });
        let thinks = thinks.filter(|thinks| *thinks <= self.params.round);
        let back = since.zip(thinks).map(|(since, thinks)| since + thinks);
        self.returning.order.place(group, back);
    }

    /// Until when the disk stays idle for a thinker that is behind and due back soon: it would wait
    /// for another's request longer than the disk waits for it.
    #[inline]
    pub(super) fn about_to_return(&mut self, now: Instant) -> Option<Instant> {
        if self.returning.is_empty() { None } else { self.due_back(now) }
    }

    /// Until when the disk stays idle, on a disk with at least one group that left its turn early.
    #[cold]
    #[inline(never)]
    fn due_back(&mut self, now: Instant) -> Option<Instant> {
        let (group, until) = self.next_back(now)?;
        let back = self.returning.order.key(group)?;
        let most = self.held_most(group);
        // Several late groups in a row keep the disk idle for no longer than one.
        let held = Some(self.returning.held_since).filter(|since| *since >= self.busy_since);
        let since = held.unwrap_or(now);
        let is_near = back.since(since) <= most && most > Span::ZERO;
        let is_held = is_near && self.tree.behind_by(group).is_some();
        if is_held {
            self.returning.held_since = since;
        }
        is_held.then_some(until)
    }

    /// How long before the thinker is due back the disk stays idle at most.
    fn held_most(&self, group: u32) -> Span {
        let service = self.device.service.or_zero();
        (service / 2).min(self.idle_most(&self.groups[group as usize]))
    }

    /// When the disk may next be kept idle for the first thinker due back, or no longer be.
    #[inline]
    pub(super) fn next_return(&mut self, now: Instant) -> Option<Instant> {
        if self.returning.is_empty() { None } else { self.next_hold(now) }
    }

    #[cold]
    #[inline(never)]
    fn next_hold(&mut self, now: Instant) -> Option<Instant> {
        let (group, until) = self.next_back(now)?;
        let back = self.returning.order.key(group)?;
        let begins = Instant::from_ns(back.as_ns().saturating_sub(self.held_most(group).as_ns()));
        Some(if begins > now { begins } else { until })
    }

    /// The first thinker due back that no ceiling keeps from going on then, and until when the disk
    /// waits for it at most. Drops those that are late or need no longer be waited for.
    pub(super) fn next_back(&mut self, now: Instant) -> Option<(u32, Instant)> {
        let later = worth_waiting(self.device.service.or_zero());
        loop {
            let (group, back) = self.returning.order.first()?;
            let entry = &self.groups[group as usize];
            let thinks = entry.left_early() && entry.is_quiet();
            if thinks && back + later > now && self.may_go_on(back.max(now), group) {
                return Some((group, back + later));
            }
            self.returning.order.place(group, None);
        }
    }

    /// Whether no ceiling bars the group's next request at `then`, if it is like the last.
    fn may_go_on(&self, then: Instant, group: u32) -> bool {
        let last = self.groups[group as usize].last;
        let around = self.tree.path(group).map(|one| &self.groups[one as usize]);
        around.map(|one| one.ready_at(then, last)).max() <= Some(then)
    }
}

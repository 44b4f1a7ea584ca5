//! What a group may have below its ceiling and has not had yet, it saves up: as much as its burst
//! holds. A group that waits for its turn any longer loses the rest, and gets less than its ceiling
//! and its share. So the turn of another group ends for it before that.
//!
//! This concerns groups that were at their ceiling and are not ahead of their share. In return for
//! the seek they have what they have saved up at once, and no turn is cut below the shortest one:
//! a burst that is shorter than that may be lost.

use super::turn::Turn;
use super::{Fair, Step};
use crate::groups::Nested;
use fairdisk_core::{Instant, Why};

/// What the ceilings say to a turn on a device that serves several requests at once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Heeded {
    /// It goes on.
    TurnGoesOn,
    /// It has ended, and no other has begun.
    TurnEnded,
    /// Another has begun, with this step.
    Next(Step),
}

impl Fair {
    /// What the ceilings say to `at`, the next request in the turn: nothing, or that it ends
    /// because the group is at a ceiling, or what is served in its place for another group.
    #[cold]
    #[inline(never)]
    pub(super) fn heed_ceilings(&mut self, now: Instant, at: u32) -> Option<Result<Step, Why>> {
        if self.bar_at_ceiling(now, at) {
            return Some(Err(Why::GroupCeilingReached));
        }
        loop {
            let group = self.saver(now)?;
            let queue = self.queues.first_of(now, group);
            let at = self.next_of(now, queue);
            if self.bar_at_ceiling(now, at) {
                continue;
            }
            if self.write_waits(now, at).is_some() {
                return None;
            }
            self.give_turn(now, group, queue);
            return Some(Ok(self.dispatch(now, at, Why::Preempted)));
        }
    }

    /// What the ceilings say to `at`, the next request in the turn, on a device that serves several
    /// requests at once.
    #[cold]
    #[inline(never)]
    pub(super) fn heed_ceilings_at_depth(&mut self, now: Instant, at: u32) -> Heeded {
        if self.bar_at_ceiling(now, at) {
            self.end_turn(now);
            return Heeded::TurnEnded;
        }
        let Some(group) = self.saver(now) else { return Heeded::TurnGoesOn };
        let queue = self.queues.first_of(now, group);
        self.give_turn(now, group, queue);
        self.go_on_at_depth(now).map_or(Heeded::TurnEnded, Heeded::Next)
    }

    /// The group whose own tasks are served before the turn goes on, because a ceiling would lose
    /// them something otherwise. Forgets groups that want nothing: they lose nothing.
    pub(super) fn saver(&mut self, now: Instant) -> Option<u32> {
        let Turn { group: served, used, .. } = self.turn.filter(|_| self.params.rules.saving)?;
        // Before the next request of the turn is done.
        let soon = self.device.service.or_zero();
        loop {
            let (saver, _) = self.barred.first_full().filter(|(_, full)| *full <= now + soon)?;
            if self.tree.lies_in(served, saver) {
                return None;
            }
            if let Some(until) = self.barred.until(self.tree.path(saver)) {
                self.barred.saves_until(saver, Some(until + soon));
                continue;
            }
            let Some(group) = self.tree.first_inside(saver) else {
                self.barred.saves_until(saver, None);
                continue;
            };
            if self.tree.may_go_before(saver, served) {
                return (used >= self.shortest_turn()).then_some(group);
            }
            // It may be ahead no longer by the next turn. Looked at is one in each decision.
            self.barred.saves_until(saver, Some(now + soon + self.shortest_turn()));
            return None;
        }
    }

    /// When a group may have to be served before the turn goes on.
    pub(super) fn next_saver(&self, now: Instant) -> Option<Instant> {
        let matters = self.turn.is_some() && self.params.rules.saving;
        let (_, full) = self.barred.first_full().filter(|_| matters)?;
        let soon = self.device.service.or_zero();
        let at = Instant::from_ns(full.as_ns().saturating_sub(soon.as_ns()));
        (at > now).then_some(at)
    }
}

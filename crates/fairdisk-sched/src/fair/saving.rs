//! What a group may have below its ceiling and has not had yet, it saves up: as much as its burst
//! holds. A group that waits for its turn any longer loses the rest, and gets less than its ceiling
//! and its share. So the turn of another group ends for it before that.
//!
//! This concerns groups that were at their ceiling and are not ahead of their share. In return for
//! the seek they have what they have saved up at once, and no turn is cut below the shortest one:
//! a burst that is shorter than that may be lost.

use super::Fair;
use super::turn::Turn;
use crate::groups::Nested;
use fairdisk_core::{Instant, Span};

impl Fair {
    /// Lets the first group that saves up be one of which another turn may end. Forgets groups that
    /// want nothing: they lose nothing.
    pub(super) fn settle_savers(&mut self, now: Instant) {
        let Some(Turn { group: served, used, .. }) = self.turn else { return };
        let goes_on = self.groups[served as usize].waiting > 0;
        if !goes_on || used < self.shortest_turn() || !self.params.rules.saving {
            return;
        }
        let soon = self.soon();
        while let Some((saver, _)) =
            self.promises.barred.first_full().filter(|(_, at)| *at <= now + soon)
        {
            let barred = self.promises.barred.until(self.tree.path(saver));
            let until = if self.tree.lies_in(served, saver) {
                return;
            } else if let Some(until) = barred {
                Some(until + soon)
            } else if self.tree.first_inside(saver).is_none() {
                None
            } else if self.tree.may_go_before(saver, served) {
                return;
            } else {
                // It may be ahead no longer by the next turn.
                Some(now + soon + self.shortest_turn())
            };
            self.promises.barred.saves_until(saver, until);
        }
    }

    /// The group whose own tasks are served before the turn goes on, because a ceiling would lose
    /// them something otherwise.
    pub(super) fn saver(&self, now: Instant) -> Option<u32> {
        let Turn { group: served, used, .. } = self.turn.filter(|_| self.params.rules.saving)?;
        let (saver, _) =
            self.promises.barred.first_full().filter(|(_, at)| *at <= now + self.soon())?;
        let goes_first = used >= self.shortest_turn() && !self.tree.lies_in(served, saver);
        self.tree.first_inside(saver).filter(|_| goes_first)
    }

    /// How long the next request of the turn takes.
    fn soon(&self) -> Span {
        self.device.times.service.or_zero()
    }

    /// When a group may have to be served before the turn goes on.
    pub(super) fn next_saver(&self, now: Instant) -> Option<Instant> {
        let matters = self.turn.is_some() && self.params.rules.saving;
        let (_, full) = self.promises.barred.first_full().filter(|_| matters)?;
        let soon = self.soon();
        let at = Instant::from_ns(full.as_ns().saturating_sub(soon.as_ns()));
        (at > now).then_some(at)
    }
}

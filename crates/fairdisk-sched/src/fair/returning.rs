//! Groups that left their turn early, to think for longer than was worth waiting for: they are
//! served as soon as they are back, and shortly before that nobody else is begun with.

use super::turn::{Turn, part};
use super::{Fair, Step};
use fairdisk_core::{Instant, Span, Why};

impl Fair {
    /// Serves a request of a group that has had the least and left its turn early, to think for
    /// longer than was worth waiting for. The turn stays whose it is: with one of its own the group
    /// would have one request in each turn of the others.
    pub(super) fn serve_returned(&mut self, now: Instant, turn: Turn) -> Option<Step> {
        let group = self.tree.first().filter(|group| *group != turn.group)?;
        if !self.groups[group as usize].is_back {
            return None;
        }
        let at = self.next_of(now, self.queues.first_of(now, group));
        (!self.is_at_ceiling(now, at)).then(|| self.dispatch(now, at, Why::Preempted))
    }

    /// Notes when a group that left its turn early, if it has nothing queued and nothing at the
    /// disk now, is back.
    #[cold]
    pub(super) fn will_return(&mut self, group: u32) {
        let entry = &self.groups[group as usize];
        let since = entry.quiet_since.filter(|_| entry.is_quiet() && self.device.is_serial());
        let back = since.zip(entry.pause.get()).map(|(since, pause)| since + pause);
        self.returning.place(group, back);
    }

    /// Until when nobody else is served, as somebody who has had less is about to be back: it would
    /// wait for longer for another's request than the disk for it.
    #[inline]
    pub(super) fn about_to_return(&mut self, now: Instant) -> Option<Instant> {
        self.returning.first()?;
        self.due_back(now)
    }

    /// The same where somebody left a turn early.
    #[cold]
    #[inline(never)]
    fn due_back(&mut self, now: Instant) -> Option<Instant> {
        let service = self.device.service.or_zero();
        let (group, back) = loop {
            let (group, back) = self.returning.first()?;
            let entry = &self.groups[group as usize];
            if entry.left_early && entry.is_quiet() && back + part(service) > now {
                break (group, back);
            }
            self.returning.place(group, None);
        };
        let most =
            Span::from_ns(service.as_ns() / 2).min(self.idle_most(&self.groups[group as usize]));
        let is_near = back.since(now) <= most && most > Span::ZERO;
        (is_near && self.tree.behind_by(group).is_some()).then(|| back + part(service))
    }
}

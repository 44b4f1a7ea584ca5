//! Thinkers: groups that left their turn early because their think time was too long to wait for.
//! While behind, such a group is served as soon as it is back, and the disk stays idle shortly
//! before.

use super::absence::Away;
use super::allowance::Allowance;
use super::answer::{After, Answer, Ask, Notes};
use super::mean::Mean;
use super::patience::worth_waiting;
use super::requests::Rq;
use super::think::Done;
use super::turn::Turn;
use super::{Fair, NIL};
use crate::groups::{Nested, Order};
use alloc::vec::Vec;
use fairdisk_core::{Instant, Span, TaskId, Why, dense};

/// Tasks that think after their group left its turn early, by when they are due back, on a device
/// whose requests can be measured.
#[derive(Debug)]
pub(super) struct Returning {
    /// By queue. Those that are back, or gone, are dropped once they are first.
    order: Order<Instant>,
    /// How long tasks think, by queue. Not all tasks are like this, so it is not part of the queue.
    pauses: Vec<Pause>,
    /// How many groups are back.
    back: u32,
    /// Since when the disk stays idle for a group that is due back; outdated once anything has been
    /// at the disk since.
    held_since: Instant,
    pub(super) allowance: Allowance,
}

impl Returning {
    pub(super) fn new() -> Self {
        Self {
            order: Order::new(),
            pauses: Vec::new(),
            back: 0,
            held_since: Instant::ZERO,
            allowance: Allowance::new(),
        }
    }

    /// Whether nobody is due back.
    pub(super) fn is_empty(&self) -> bool {
        self.order.first().is_none()
    }

    /// How many groups are back.
    pub(super) const fn back(&self) -> u32 {
        self.back
    }

    /// Notes since when the disk stays idle for a group that is due back.
    pub(super) const fn hold_since(&mut self, since: Instant) {
        self.held_since = since;
    }

    /// Notes that the group has come back.
    pub(super) fn note_return(&mut self, group: u32, queue: u32) {
        if self.order.key(queue).is_some() {
            self.order.place(queue, None);
            self.allowance.note_return(group);
        }
    }
}

/// The mean think time of a task after requests for which its group was back, without a cap.
#[derive(Clone, Copy, Debug, Default)]
struct Pause {
    /// The task and its group: the queue's number may be used again.
    of: Option<(TaskId, u32)>,
    mean: Mean,
}

/// A task that thinks after its group left its turn early.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) queue: u32,
    pub(super) group: u32,
    /// When it is due back.
    back: Instant,
    /// How long the disk waits for it at most.
    pub(super) until: Instant,
    /// Whether another task of its group has something to do, so that the disk does not wait.
    pub(super) is_later: bool,
}

impl Fair {
    /// Sets whether the group is back: it left its turn early, and has something queued again.
    #[inline]
    pub(super) fn set_back(&mut self, group: u32, is_back: bool) {
        let was_back = &mut self.groups[group as usize].past.absence.is_back;
        let was_back = core::mem::replace(was_back, is_back);
        self.returning.back = self.returning.back - u32::from(was_back) + u32::from(is_back);
    }

    /// A request of a thinker is next that has come back and is first in line. The turn stays with
    /// its group: in a turn of its own, the thinker would be served only once per turn of the
    /// others. A thinker that usually goes on at once after a pause is given a turn instead: the
    /// error is why that of the others ends.
    #[inline]
    pub(super) fn first_returned(&self, now: Instant, turn: Turn) -> Option<Result<Answer, Why>> {
        if self.returning.back == 0 { None } else { self.first_of_returned(now, turn) }
    }

    #[cold]
    fn first_of_returned(&self, now: Instant, turn: Turn) -> Option<Result<Answer, Why>> {
        let group = self.tree.first().filter(|group| *group != turn.group)?;
        let entry = &self.groups[group as usize];
        if !entry.past.absence.is_back {
            return None;
        }
        let at = self.next_of(now, self.queues.first_of(now, group));
        let (why, turn) = (Why::Preempted, After::Same);
        match (self.ceiling_bar(now, at), entry.past.absence.away) {
            (Some(bar), _) => Some(Ok(Answer::Bar(bar, Ask::Turn))),
            (None, Away::Outlasted) => Some(Err(why)),
            (None, _) => Some(Ok(Answer::Dispatch { at, why, turn })),
        }
    }

    /// Notes that a synchronous request of a group that is back is dispatched. The group still is
    /// back if another of its tasks waits.
    #[cold]
    #[inline(never)]
    pub(super) fn note_served_back(&mut self, at: u32) {
        let Rq { queue, arrived, .. } = self.requests[at];
        let q = &self.queues[queue];
        let group = q.group;
        // Not one that was queued behind others of the task, nor one after a flush.
        let since = q.quiet_since.filter(|since| *since <= arrived && q.in_flight == 1);
        let last = self.groups[group as usize].past.absence.think.last();
        if let Some(since) = since.filter(|_| last == Done::Request) {
            let of = q.task.map(|task| (task, group));
            let pause = dense::entry(&mut self.returning.pauses, queue, Pause::default);
            if pause.of != of {
                *pause = Pause { of, ..Pause::default() };
            }
            pause.mean.add(arrived.since(since));
        }
        let has_more = self.has_synchronous_queued(group);
        self.set_back(group, has_more);
    }

    /// Notes when a task is due back whose group left its turn early, and whether the group is back
    /// because another of its tasks has something queued.
    #[cold]
    #[inline(never)]
    pub(super) fn will_return(&mut self, now: Instant, group: u32, queue: u32) {
        if !self.params.rules.returning {
            return;
        }
        if self.has_synchronous_queued(group) {
            self.set_back(group, true);
        }
        self.groups[group as usize].past.absence.thinker = queue;
        if queue != NIL {
            let back = self.pause_of(now, queue).map(|(since, pause)| since + pause);
            self.returning.order.place(queue, back);
        }
    }

    /// Since when the task thinks, and for how long; `None` if that is not known, or for longer
    /// than a round: others would wait for it longer than in line. Where the disk takes several
    /// commands, it is how long the group thinks: nobody idles for it there, only what others may
    /// write depends on it, and a group of several tasks is seldom away for long enough to finish
    /// writes.
    pub(super) fn pause_of(&self, now: Instant, queue: u32) -> Option<(Instant, Span)> {
        let q = self.queues.get(queue).filter(|q| q.group != NIL && q.is_quiet())?;
        let entry = self.groups.get(q.group as usize).filter(|_| self.device.is_measured())?;
        let is_apart = self.device.is_serial()
            && entry.past.absence.away == Away::TooLong
            && entry.past.absence.think.last() == Done::Request;
        let of = q.task.map(|task| (task, q.group));
        let pause = self.returning.pauses.get(queue as usize).filter(|pause| pause.of == of);
        let own = pause.filter(|_| is_apart).and_then(|pause| pause.mean.get());
        let (since, thinks) = match own {
            Some(pause) => (q.quiet_since?, pause),
            None => {
                let since = entry.past.absence.quiet_since.filter(|_| entry.is_quiet())?;
                let is_usual = entry.past.absence.pauses_from().is_some_and(|from| now < from);
                (
                    since,
                    if is_usual {
                        entry.past.absence.think.get()?
                    } else {
                        entry.past.absence.think.pause()?
                    },
                )
            }
        };
        (thinks <= self.params.round).then_some((since, thinks))
    }

    /// The disk stays idle for a thinker that is behind and due back soon: it would wait for
    /// another's request longer than the disk waits for it.
    #[inline]
    pub(super) fn about_to_return(&self, now: Instant, notes: &mut Notes) -> Option<Answer> {
        if self.returning.is_empty() { None } else { self.waits_for_thinker(now, notes) }
    }

    #[cold]
    #[inline(never)]
    fn waits_for_thinker(&self, now: Instant, notes: &mut Notes) -> Option<Answer> {
        let due = self.first_due_back().filter(|due| !due.is_later)?;
        let most = self.held_most(due.group);
        // Several late groups in a row keep the disk idle for no longer than one.
        let held = Some(self.returning.held_since).filter(|since| *since >= self.load.busy_since);
        let since = held.unwrap_or(now);
        let is_near = due.back.since(since) <= most && most > Span::ZERO;
        if !is_near || self.tree.behind_by(due.group).is_none() {
            return None;
        }
        notes.held_since = Some(since);
        Some(Answer::Wait(due.until, Why::HeldForThinker))
    }

    /// How long before the thinker is due back the disk stays idle at most.
    fn held_most(&self, group: u32) -> Span {
        let service = self.device.times.service.or_zero();
        (service / 2).min(self.idle_most(group))
    }

    /// When the disk may next be kept idle for the first thinker due back, or no longer be, or what
    /// others may write until it is back may change.
    #[inline]
    pub(super) fn next_return(&self, now: Instant) -> Option<Instant> {
        if self.returning.is_empty() { None } else { self.next_hold(now) }
    }

    #[cold]
    #[inline(never)]
    fn next_hold(&self, now: Instant) -> Option<Instant> {
        let Due { group, back, until, is_later, .. } = self.first_due_back()?;
        let begins = Instant::from_ns(back.as_ns().saturating_sub(self.held_most(group).as_ns()));
        let hold = if begins > now && !is_later { begins } else { until };
        let pauses_from =
            self.groups[group as usize].past.absence.pauses_from().filter(|at| *at > now);
        Some(pauses_from.map_or(hold, |at| at.min(hold)))
    }

    /// The first task due back, once those are [settled](Self::settle_returning).
    pub(super) fn first_due_back(&self) -> Option<Due> {
        let (queue, back) = self.returning.order.first()?;
        let group = self.queues[queue].group;
        let until = back + worth_waiting(self.device.times.service.or_zero());
        let is_later = !self.groups[group as usize].is_quiet();
        Some(Due { queue, group, back, until, is_later })
    }

    /// Lets the first task due back be one that no ceiling keeps from going on then. Drops those
    /// that are back, or late, or need no longer be waited for.
    #[cold]
    #[inline(never)]
    pub(super) fn settle_returning(&mut self, now: Instant) {
        let later = worth_waiting(self.device.times.service.or_zero());
        while let Some((queue, back)) = self.returning.order.first() {
            let q = self.queues.get(queue).filter(|q| q.group != NIL && back + later > now);
            let group = q.map(|q| (q.group, q.is_quiet()));
            match group.filter(|(group, _)| self.groups[*group as usize].past.absence.left_early())
            {
                Some((group, true)) if self.may_go_on(back.max(now), group) => return,
                Some((group, false)) => self.returning.note_return(group, queue),
                _ => self.returning.order.place(queue, None),
            }
        }
    }

    /// Whether no ceiling bars the group's next request at `then`, if it is like the last.
    fn may_go_on(&self, then: Instant, group: u32) -> bool {
        let last = self.groups[group as usize].last;
        let around = self.tree.path(group).map(|one| &self.groups[one as usize]);
        around.map(|one| one.ready_at(then, last)).max() <= Some(then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use crate::samples::request;
    use fairdisk_core::{Completion, Elevator, Op, RequestId};

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    /// For that long its usual think time says whether others may write, and then its pauses do.
    #[test]
    fn it_is_decided_again_once_a_thinker_is_away_for_longer_than_is_usual() {
        let mut fair = Fair::new(&FairParams::default());
        fair.admit(at(0), &request(0, 1, Op::Read, at(0)));
        fair.decide(at(0));
        let completion =
            Completion { request: RequestId(0), device_time: Span::from_ms(8), ok: true };
        fair.complete(at(8), &completion);
        let group = fair.groups.iter().position(|one| one.past.absence.quiet_since == Some(at(8)));
        let past = &mut fair.groups[group.expect("it was served")].past;
        (past.absence.away, past.absence.waited) = (Away::Outlasted, Span::from_ms(5));
        fair.returning.order.place(0, Some(at(28)));
        assert_eq!(fair.next_return(at(9)), Some(at(13)));
        let begins = fair.next_return(at(13)).expect("the disk is kept idle for it later");
        assert!(begins > at(20), "{begins}");
    }
}

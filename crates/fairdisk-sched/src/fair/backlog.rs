//! The backlog: writes that the device has acknowledged and not yet done.
//!
//! A flush waits for all of them, whoever wrote them. A group that *commits*, which has each write
//! or every few of them flushed, then waits for the writes of others, however soon its own requests
//! are dispatched. So while a committing group is behind, others may add to the backlog only as
//! much as the device does in a part of the time until the group is to flush next; `commits` learns
//! that part. A write that does not fit is held, but no longer than it takes until its own group
//! has its share.
//!
//! How fast the device works its backlog off is learned from flushes: what had been sent when one
//! began is done when it ends.

use super::Fair;
use super::answer::{Bar, Cause, Delayed, Notes};
use super::commits::{Flush, WHOLE};
use crate::groups::Order;
use alloc::vec::Vec;
use fairdisk_core::{Instant, Span, Submitter};

/// A flush that takes twice its usual time found the device at work all the time.
const BUSY_FACTOR: u64 = 2;
/// The pace is the mean over about so much time: many flushes of any device.
const PACE_LASTS: Span = Span::from_s(1);
/// For how long a stated pace counts as seen.
const TRUSTED: Span = Span::from_ms(100);
/// So many committing groups are looked at for one that is behind. A limit on work.
const LOOKED_AT: usize = 4;

/// The backlog, and which groups wait for it.
#[derive(Debug)]
pub(super) struct Backlog {
    /// The stated cost of all writes sent to the device, and of those known to be done.
    sent: Span,
    done: Span,
    /// When the flush began and ended that showed this.
    found: [Instant; 2],
    /// The cost of what the device had left to do at `since`, by its pace.
    left: Span,
    since: Instant,
    pace: Pace,
    /// Whether a pace is stated.
    is_told: bool,
    /// The groups that commit, by when each is to flush next.
    due: Order<Instant>,
    /// The groups of which a write is held.
    held: Vec<u32>,
}

/// A write of a group that was held for another's flush.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// The request, and until when it is held at most.
    write: Option<(u32, Instant)>,
    /// When the bar on the group ends, while it is among those that are let go by the next flush.
    bar: Option<Instant>,
}

impl Held {
    /// Notes that the request is no longer queued.
    pub(super) fn let_go(&mut self, at: u32) {
        self.write = self.write.filter(|(request, _)| *request != at);
    }
}

/// The time in which the device does its backlog, and the cost that it does in it. Both are zero
/// while that is not known.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    time: Span,
    cost: Span,
}

impl Pace {
    const fn is_known(self) -> bool {
        self.cost.as_ns() > 0
    }

    fn time_of(self, cost: Span) -> Span {
        cost.scaled(self.time.as_ns(), self.cost.as_ns().max(1))
    }

    fn done_in(self, time: Span) -> Span {
        time.scaled(self.cost.as_ns(), self.time.as_ns().max(1))
    }

    fn add(&mut self, time: Span, cost: Span) {
        self.time += time;
        self.cost += cost;
        while self.time > PACE_LASTS {
            (self.time, self.cost) = (self.time / 2, self.cost / 2);
        }
    }
}

impl Backlog {
    pub(super) const fn new() -> Self {
        Self {
            sent: Span::ZERO,
            done: Span::ZERO,
            found: [Instant::ZERO; 2],
            left: Span::ZERO,
            since: Instant::ZERO,
            pace: Pace { time: Span::ZERO, cost: Span::ZERO },
            is_told: false,
            due: Order::new(),
            held: Vec::new(),
        }
    }

    /// Whether no group commits.
    pub(super) const fn is_unawaited(&self) -> bool {
        self.due.len() == 0
    }

    /// Whether no group commits but this one, which nobody holds back for its own flushes.
    pub(super) fn is_awaited_by_none_but(&self, group: u32) -> bool {
        match self.due.len() {
            0 => true,
            1 => self.due.first().is_some_and(|(one, _)| one == group),
            _ => false,
        }
    }

    /// Begins with the pace that is stated, if any, and without groups that commit, on a device
    /// that works differently.
    pub(super) fn device_changed(&mut self, is_told: bool) {
        let time = if is_told { TRUSTED } else { Span::ZERO };
        (self.pace, self.is_told) = (Pace { time, cost: time }, is_told);
        self.due = Order::new();
    }

    /// What the device has left to do now.
    fn left(&self, now: Instant) -> Span {
        self.left - self.pace.done_in(now.since(self.since))
    }

    /// Notes that a write of this cost is sent to the device.
    #[inline]
    fn send(&mut self, now: Instant, cost: Span) {
        self.left = self.left(now) + cost;
        self.since = now;
        self.sent += cost;
    }

    /// Accounts for the end of a flush. `is_long` says whether the device was at work all the time
    /// since the one before, as far as it had that much to do. What it has done in a time is the
    /// least that it can do; a stated pace is one that it keeps for long.
    fn flushed(&mut self, now: Instant, flush: &Flush, is_long: bool) {
        let Some(cost) = flush.sent.as_ns().checked_sub(self.done.as_ns()).filter(|ns| *ns > 0)
        else {
            return;
        };
        let (cost, [began, ended]) = (Span::from_ns(cost), self.found);
        let at_most = Pace { time: now.since(began), cost };
        if self.done == Span::ZERO {
            // What was sent before the first flush, and when, is not known.
        } else if !self.pace.is_known() || self.pace.time_of(cost) > at_most.time {
            self.pace = Pace::default();
            self.pace.add(at_most.time, cost);
        } else if is_long && !self.is_told && self.pace.time_of(cost) > now.since(ended) / 2 {
            self.pace.add(now.since(ended), cost);
        }
        self.left = self.left(now).min(self.sent - flush.sent);
        (self.since, self.done, self.found) = (now, flush.sent, [flush.began, now]);
    }
}

impl Fair {
    /// Notes that a flush begins, which waits for the backlog.
    pub(super) fn begin_commit(&mut self, now: Instant, by: Submitter) {
        let group = by.group.0;
        let entry = &mut self.groups[group as usize];
        // Flushes of several tasks may overlap for ever: one at a time is looked at.
        if entry.past.commits.is_flushing()
            || !self.device.works_beside_flushes()
            || !self.params.rules.commits
        {
            return;
        }
        let sent = self.device.backlog.sent;
        let due = entry.past.commits.begin(Flush { by: by.task, began: now, sent });
        self.device.backlog.due.place(group, Some(due));
        self.let_writes_go();
    }

    /// Accounts for a flush that is done.
    pub(super) fn end_commit(&mut self, now: Instant, by: Submitter, ok: bool) {
        let commits = &mut self.groups[by.group.0 as usize].past.commits;
        commits.count();
        let Some((flush, due)) = commits.end(now, by.task, ok) else { return };
        let usual = commits.usual().map(|usual| usual.as_ns().saturating_mul(BUSY_FACTOR));
        self.device.backlog.due.place(by.group.0, Some(due));
        if ok {
            let is_long = usual.is_some_and(|usual| now.since(flush.began).as_ns() > usual);
            self.device.backlog.flushed(now, &flush, is_long);
        }
        self.let_writes_go();
    }

    /// The bar for which the request, the group's next, has to wait if it is a write that would
    /// delay the next flush of a group that is behind.
    #[inline]
    pub(super) fn flush_bar(
        &self,
        now: Instant,
        group: u32,
        at: u32,
        notes: &mut Notes,
    ) -> Option<Bar> {
        if self.device.backlog.is_unawaited() {
            None
        } else {
            self.write_bar(now, group, at, notes)
        }
    }

    #[cold]
    #[inline(never)]
    fn write_bar(&self, now: Instant, group: u32, at: u32, notes: &mut Notes) -> Option<Bar> {
        let (rq, backlog) = (&self.requests[at], &self.device.backlog);
        if !rq.may_be_cached || !backlog.pace.is_known() || !self.may_wait_alone(group) {
            return None;
        }
        let cost = self.device.cost_of_next(rq);
        let (whose, due) = self.first_committing(now, group)?;
        let left = backlog.left(now);
        let takes = backlog.pace.time_of(left + cost);
        let commits = &self.groups[whose as usize].past.commits;
        let fits = commits.lets_write(due.since(now), takes);
        let mut delayed = Delayed { whose, by: group, write: at, until: None };
        let until = fits.err().map(|fits| {
            // The pace may have become known better since.
            let before =
                self.groups[group as usize].beside.held.write.filter(|(one, _)| *one == at);
            let weights = self.tree.weights_beside(group, whose);
            let share = self.device.time_of(cost).scaled(weights.1, weights.0);
            let most = before.map_or(Instant::MAX, |(_, until)| until).min(now + takes + share);
            delayed.until = Some(most);
            let fits = fits.filter(|wait| *wait <= backlog.pace.time_of(left));
            fits.map_or(most, |wait| most.min(now + wait)).min(commits.gone())
        });
        notes.delayed = Some(delayed);
        let until = until.filter(|until| *until > now)?;
        Some(Bar { group, until, cause: Cause::Flush })
    }

    /// Notes that a write was looked at that may delay a flush.
    pub(super) fn note_delayed(&mut self, Delayed { whose, by, write, until }: Delayed) {
        let others = self.tree.weight_of_others(whose, WHOLE);
        self.groups[whose as usize].past.commits.looked_at(others, until.is_some());
        if let Some(until) = until {
            self.groups[by as usize].beside.held.write = Some((write, until));
        }
    }

    /// Notes that the bar on a group is for the flush of another.
    pub(super) fn hold_for_flush(&mut self, bar: Bar) {
        if self.groups[bar.group as usize].beside.held.bar.replace(bar.until).is_none() {
            self.device.backlog.held.push(bar.group);
        }
    }

    /// The committing group but this one that is to flush first of those that are behind, and when.
    fn first_committing(&self, now: Instant, but: u32) -> Option<(u32, Instant)> {
        self.device.backlog.due.iter().take(LOOKED_AT).find(|(group, _)| {
            *group != but
                && self.groups[*group as usize].past.commits.gone() > now
                && self.tree.behind_by(*group).is_some()
        })
    }

    /// Drops the first of the groups that commit no more.
    pub(super) fn settle_commits(&mut self, now: Instant) {
        while let Some((group, _)) = self.device.backlog.due.first() {
            if self.groups[group as usize].past.commits.gone() > now {
                return;
            }
            self.device.backlog.due.place(group, None);
        }
    }

    /// Forgets that a group commits.
    pub(super) fn forget_commits(&mut self, group: u32) {
        self.device.backlog.due.place(group, None);
        self.let_writes_go();
    }

    /// Lets the groups go on of which a write is held.
    pub(super) fn let_writes_go(&mut self) {
        while let Some(group) = self.device.backlog.held.pop() {
            let bar = self.groups[group as usize].beside.held.bar.take();
            // Another bar may have taken the place of this one since.
            if self.promises.barred.until([group].into_iter()) == bar {
                self.release_barred(group);
            }
        }
    }

    /// Accounts for a write that is sent to the device.
    #[inline]
    pub(super) fn add_to_backlog(&mut self, now: Instant, at: u32, group: u32) {
        let cost = self.device.cost_of_next(&self.requests[at]);
        self.device.backlog.send(now, cost);
        self.groups[group as usize].past.commits.send(cost);
    }

    /// Whether a bar on the group that ends at `at` is for the flush of another.
    pub(super) fn is_held_for_flush(&self, group: u32, at: Instant) -> bool {
        self.groups[group as usize].beside.held.bar == Some(at)
    }
}

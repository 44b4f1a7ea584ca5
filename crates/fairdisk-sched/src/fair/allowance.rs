//! The write allowance: how much others may write while a thinker is away that left its turn early
//! and is behind.
//!
//! A disk with a write cache acknowledges writes before it has done them, and a thinker that comes
//! back waits for all of them. So while it is away, others write only as much as the disk can
//! finish before its return. How much that is, is learned from the first read after each absence:
//! the allowance shrinks if these reads take longer than after absences in which nobody wrote, and
//! grows if they do not.

use super::answer::{Asked, Notes};
use super::mean::Mean;
use super::requests::Rq;
use super::service::Service;
use super::{Fair, NIL};
use fairdisk_core::{Instant, Span};

/// First reads averaged for one adjustment. The mean of 8 random reads seldom exceeds its
/// expectation by the quarter that counts as late.
const READS_JUDGED: u32 = 8;
/// In one absence out of 8 nobody may write, as a comparison: more would cost writers much, fewer
/// would be slow to notice a change.
const PROBE_EVERY: u32 = 8;
/// Nobody may write in the first 4 absences either, so that there is something to compare with.
const PROBES_FIRST: u32 = 4;
/// The allowance changes by a quarter of itself at a time, as much as a read may be late.
const STEP_PARTS: u64 = 4;

/// The write allowance and what it is learned from.
#[derive(Debug)]
pub(super) struct Allowance {
    /// The allowance, as the stated time of the writes at most; zero until a first absence sets it.
    most: Span,
    used: Span,
    /// Whether the disk has acknowledged a write before it was done.
    hides: bool,
    /// Whether a write had to wait since the last adjustment because the allowance was used up.
    is_short: bool,
    /// Whether a write was checked against the allowance in the current absence.
    is_asked: bool,
    /// The group that has come back and whose first request is to be judged, or `NIL`.
    back: u32,
    /// The total time of the first reads since the last adjustment.
    took: Span,
    judged: u32,
    /// The usual time of a first read after an absence in which nobody wrote.
    quiet: Mean<32>,
    /// The absences so far in which somebody wanted to write.
    absences: u32,
}

impl Allowance {
    pub(super) fn new() -> Self {
        Self {
            most: Span::ZERO,
            used: Span::ZERO,
            hides: false,
            is_short: false,
            is_asked: false,
            back: NIL,
            took: Span::ZERO,
            judged: 0,
            quiet: Mean::default(),
            absences: 0,
        }
    }

    /// Notes that the group has come back, so that its first request is judged.
    pub(super) const fn note_return(&mut self, group: u32) {
        self.back = group;
    }

    /// Whether the group's next completed request is its first since it came back.
    pub(super) const fn looks_at(&self, group: u32) -> bool {
        self.back == group
    }

    /// Counts a dispatched write, by its stated time at most.
    fn add(&mut self, cost: Span) {
        self.used += cost;
    }

    /// Accounts for a completed write. A fast one is only acknowledged and stays counted; a slow
    /// one has been done, so its time is taken off.
    fn settle(&mut self, served: &Service) {
        if served.is_fast() {
            self.hides = true;
        } else {
            self.used = self.used - served.done_in;
        }
    }

    /// Resets what is counted as written: a flush has finished all of it.
    pub(super) const fn flushed(&mut self) {
        self.used = Span::ZERO;
    }

    /// Checks a write of stated time `cost` against the allowance while a thinker is away for
    /// `pause`. One write is always let through, except in an absence in which nobody may write.
    fn ask(&self, cost: Span, pause: Span) -> Option<Asked> {
        let most = if self.most == Span::ZERO { pause } else { self.most };
        let is_short = self.used + cost > most;
        let waits = self.is_probed() || self.used > Span::ZERO && is_short;
        self.hides.then_some(Asked { most, is_short, waits })
    }

    /// Notes that a write was checked.
    pub(super) const fn note(&mut self, asked: Asked) {
        (self.most, self.is_asked) = (asked.most, true);
        self.is_short |= asked.is_short;
    }

    const fn is_probed(&self) -> bool {
        self.absences < PROBES_FIRST || self.absences.is_multiple_of(PROBE_EVERY)
    }

    /// Ends an absence, and adjusts the allowance after enough of them. `took` is the time of the
    /// returning group's first request, if that is a read that was delayed by nothing but writes.
    /// The allowance is never below `least`.
    fn judge(&mut self, took: Option<Span>, least: Span) {
        let (was_probed, was_asked) = (self.is_probed(), self.is_asked);
        (self.back, self.used, self.is_asked) = (NIL, Span::ZERO, false);
        self.absences = self.absences.wrapping_add(u32::from(was_asked));
        let Some(took) = took.filter(|_| was_asked) else { return };
        if was_probed {
            return self.quiet.add(took);
        }
        let Some(quiet) = self.quiet.get() else { return };
        self.took += took;
        self.judged += 1;
        if self.judged < READS_JUDGED {
            return;
        }
        let mean = self.took / u64::from(READS_JUDGED);
        let step = self.most / STEP_PARTS;
        if mean > quiet + quiet / STEP_PARTS {
            self.most = (self.most - step).max(least);
        } else if self.is_short {
            self.most += step;
        }
        (self.took, self.judged, self.is_short) = (Span::ZERO, 0, false);
    }
}

impl Fair {
    /// Counts a write of this size that is about to be dispatched.
    #[inline]
    pub(super) fn use_allowance(&mut self, bytes: u64) {
        if !self.returning.is_empty() {
            self.returning.allowance.add(self.device.cost_of_any(bytes));
        }
    }

    /// Accounts for a write that the device has completed or acknowledged.
    #[inline]
    pub(super) fn settle_allowance(&mut self, rq: &Rq, served: &Service) {
        if rq.may_be_cached {
            self.returning.allowance.settle(served);
        }
    }

    /// Until when the request has to wait if it stays the next; `None` unless it is a write for
    /// which the allowance is used up.
    #[inline]
    pub(super) fn write_waits(&self, now: Instant, at: u32, notes: &mut Notes) -> Option<Instant> {
        let may_wait = !self.returning.is_empty()
            && self.requests[at].may_be_cached
            && self.params.rules.write_allowance;
        if may_wait { self.write_waits_for_thinker(now, at, notes) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn write_waits_for_thinker(&self, now: Instant, at: u32, notes: &mut Notes) -> Option<Instant> {
        let due = self.first_due_back().filter(|due| !due.is_later)?;
        if !self.empties_cache() || self.tree.behind_by(due.group).is_none() {
            return None;
        }
        let cost = self.device.cost_of_any(self.requests[at].bytes());
        let pause = match self.device.is_serial() {
            true => self.pause_of(now, due.queue).map(|(_, pause)| pause),
            false => self.groups[due.group as usize].past.absence.think.pause(),
        };
        let pause = pause.unwrap_or(Span::ZERO);
        // A shorter think time is bridged by keeping the disk free.
        let is_away = pause > self.params.idle_max;
        let asked = self.returning.allowance.ask(cost, pause).filter(|_| is_away)?;
        let is_short = asked.is_short || notes.allowance.is_some_and(|one| one.is_short);
        notes.allowance = Some(Asked { is_short, ..asked });
        asked.waits.then_some(due.until)
    }

    /// Judges the first request of a group that has come back. A read that shared the device with
    /// other reads may have waited for those and tells nothing.
    #[cold]
    #[inline(never)]
    pub(super) fn judge_allowance(&mut self, now: Instant, rq: &Rq, service: Span) {
        let is_serial = self.device.is_serial();
        let took = if is_serial { service } else { now.since(rq.dispatched.at) };
        let tells = !rq.may_be_cached && (is_serial || self.device.cache.reads == 1);
        self.returning.allowance.judge(tells.then_some(took), self.device.cost_of_any(0));
    }
}

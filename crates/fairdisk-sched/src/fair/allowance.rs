//! What may be written while somebody thinks who left its turn early and has had less.
//!
//! A disk with a write cache acknowledges writes before it has done them, and whoever comes back
//! waits for all of them. So the others write no more meanwhile than the disk gets done until then,
//! as far as the first reads of those who were back show: less when they took longer than where
//! nothing was written meanwhile, more when they did not.

use super::cache::Service;
use super::mean::Mean;
use super::requests::Rq;
use super::turn::part;
use super::{Fair, NIL};
use fairdisk_core::{Instant, Span};

/// So many reads are looked at together: the mean of so many at random places is seldom off by as
/// much as makes them late.
const JUDGED: u32 = 8;
/// In one absence of so many nobody writes, to see what reads take then; and in as many as it takes
/// to know that at all.
const PROBED: u32 = 8;
const KNOWN: u32 = 4;
/// It becomes less, or more, by one in so many parts.
const STEP: u64 = 4;

/// How much that is.
#[derive(Debug)]
pub(super) struct Allowance {
    /// By what the device is said to take for it at most; nothing before anybody was away.
    most: Span,
    used: Span,
    /// Writes were acknowledged here before they were done.
    hides: bool,
    /// Somebody could not write as it was used up.
    is_short: bool,
    /// Somebody asked for it since the last one was back.
    is_asked: bool,
    /// Who came back, and whose first request is looked at.
    back: u32,
    /// What those that were looked at took.
    took: Span,
    judged: u32,
    /// What they take where nobody wrote.
    quiet: Mean<32>,
    /// How many there were.
    absences: u32,
}

impl Allowance {
    pub(super) const fn new() -> Self {
        Self {
            most: Span::ZERO,
            used: Span::ZERO,
            hides: false,
            is_short: false,
            is_asked: false,
            back: NIL,
            took: Span::ZERO,
            judged: 0,
            quiet: Mean::NONE,
            absences: 0,
        }
    }

    /// The group is back.
    pub(super) const fn is_back(&mut self, group: u32) {
        self.back = group;
    }

    /// Whether the group's first request since it is back is looked at.
    pub(super) const fn looks_at(&self, group: u32) -> bool {
        self.back == group
    }

    /// So much is written next.
    fn add(&mut self, cost: Span) {
        self.used += cost;
    }

    /// A write of so much is acknowledged; whether it may be done only later.
    fn is_acknowledged(&mut self, cost: Span, is_fast: bool) {
        if is_fast {
            self.hides = true;
        } else {
            self.used = self.used - cost;
        }
    }

    /// All that was written is done.
    pub(super) const fn flushed(&mut self) {
        self.used = Span::ZERO;
    }

    /// Whether so much more would be too much, while somebody is away for so long. One goes in any
    /// case, but for where it is to be seen what reads take without.
    fn is_used_up_with(&mut self, cost: Span, pause: Span) -> bool {
        if !self.hides {
            return false;
        }
        if self.most == Span::ZERO {
            self.most = pause;
        }
        self.is_asked = true;
        let is_short = self.used + cost > self.most;
        self.is_short |= is_short;
        self.is_probed() || self.used > Span::ZERO && is_short
    }

    const fn is_probed(&self) -> bool {
        self.absences < KNOWN || self.absences.is_multiple_of(PROBED)
    }

    /// The first request of who came back is done: what it took, if it is a read that tells
    /// anything. There is no use in an allowance of less than `least`.
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
        if self.judged < JUDGED {
            return;
        }
        let mean = self.took / u64::from(JUDGED);
        let step = self.most / STEP;
        if mean > quiet + part(quiet) {
            self.most = (self.most - step).max(least);
        } else if self.is_short {
            self.most += step;
        }
        (self.took, self.judged, self.is_short) = (Span::ZERO, 0, false);
    }
}

impl Fair {
    /// The request is on its way to the device.
    #[inline]
    pub(super) fn use_allowance(&mut self, rq: &Rq) {
        if rq.op.is_write() && !self.returning.is_empty() {
            self.returning.allowance.add(self.device.cost_of_any(rq.bytes()));
        }
    }

    /// The request is done, or acknowledged. A write that took as long as others is done.
    #[inline]
    pub(super) fn settle_allowance(&mut self, rq: &Rq, served: &Service) {
        if rq.op.is_write() {
            self.returning.allowance.is_acknowledged(served.done_in, served.is_fast());
        }
    }

    /// Until when the request, which is next, waits: it is a write, and somebody who thinks would
    /// wait for it.
    #[inline]
    pub(super) fn write_waits(&mut self, now: Instant, at: u32) -> Option<Instant> {
        let may_wait = !self.returning.is_empty() && self.requests[at].op.is_write();
        if may_wait { self.write_waits_for_thinker(now, at) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn write_waits_for_thinker(&mut self, now: Instant, at: u32) -> Option<Instant> {
        let (group, until) = self.next_back(now)?;
        if !self.empties_cache() || self.tree.behind_by(group).is_none() {
            return None;
        }
        let cost = self.device.cost_of_any(self.requests[at].bytes());
        let pause = self.groups[group as usize].pause.or_zero();
        // Who thinks for less than that is waited for.
        let is_away = pause > self.params.idle_max;
        let waits = is_away && self.returning.allowance.is_used_up_with(cost, pause);
        waits.then(|| {
            self.another_is_next(now, self.requests[at].queue).map_or(until, |at| at.min(until))
        })
    }

    /// When another request than one of the queue's, which is next, may be next of the group, as it
    /// has waited for so long.
    fn another_is_next(&self, now: Instant, queue: u32) -> Option<Instant> {
        let (_, arrived) = self.requests.oldest(&self.queues[queue]);
        let expires = Some(arrived + self.params.expire).filter(|at| *at > now);
        let passed_over = self.queues.passed_over_at(now, self.queues[queue].group);
        expires.into_iter().chain(passed_over).min()
    }

    /// The first request of a group that is back is done. A read tells nothing that may have waited
    /// for others at the device.
    #[cold]
    #[inline(never)]
    pub(super) fn judge_allowance(&mut self, now: Instant, rq: &Rq, service: Span) {
        let is_serial = self.device.is_serial();
        let took = if is_serial { service } else { now.since(rq.dispatched) };
        let tells = !rq.op.is_write() && (is_serial || self.cache.reads == 1);
        self.returning.allowance.judge(tells.then_some(took), self.device.cost_of_any(0));
    }
}

//! Writes that the device acknowledges before it has done them, and who pays for the time they take
//! afterwards.
//!
//! That time shows only as a delay of whatever is measured next. So for a while after a group's
//! write (`traces`), reads of other groups are compared with their usual time (`comparison`). The
//! excess of all these reads together is charged to the writer, up to the part of its writes'
//! stated time that the device has not yet been seen to spend. If several groups wrote, the one
//! with the most left to be done pays. Whenever the device is idle it works off what is left.
//!
//! - A write that is durable when it completes is done by then, and waits for the head as a read
//!   does. So it counts as a read here.
//! - Some devices finish all writes before they read; there nothing is left after a read
//!   (`writes_first`).
//! - A write that waits for room in a full cache is charged to those who filled it (`full`).

mod comparison;
mod full;
mod of_group;
mod traces;

pub(super) use traces::Late;

use super::queue::Queue;
use super::requests::Rq;
use super::service::Service;
use super::untold;
use super::writes_first::WritesFirst;
use super::{NIL, Rules};
use alloc::vec::Vec;
use comparison::{Comparison, Read};
use fairdisk_core::{Instant, Span};
use of_group::OfGroup;
use traces::{LASTS_MOST, TRACES_LAST, Traces, When};

/// Of so many groups that have written it is known how much a flush did for each.
const WRITERS: usize = 8;

/// The writes that the device has acknowledged, and what else is known of its cache.
#[derive(Debug)]
pub(super) struct Cache {
    rules: Rules,
    /// By group number.
    groups: Vec<OfGroup>,
    comparison: Comparison,
    writes_first: WritesFirst,
    /// Counts how often all acknowledged writes were found to be done.
    epoch: u32,
    /// Groups that have written since then, or `NIL`.
    writers: [u32; WRITERS],
    /// Reads that begin later are not delayed by any write.
    until: Instant,
    /// Flushes of all groups that are at the device or on their way there.
    pub(super) flushes: u32,
    /// What was charged for writes since the last flush, on an array. It is for all of their work,
    /// also what the disks do of it after they have acknowledged them.
    pub(super) paid: Span,
    /// Reads at the device, on a device that takes several requests.
    pub(super) reads: u32,
    /// When a write was last taken in while the head was at work for reads.
    pub(super) taken_in: Instant,
}

impl Cache {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            groups: Vec::new(),
            comparison: Comparison::NONE,
            writes_first: WritesFirst::default(),
            epoch: 0,
            writers: [NIL; WRITERS],
            until: Instant::ZERO,
            flushes: 0,
            paid: Span::ZERO,
            reads: 0,
            taken_in: Instant::ZERO,
        }
    }

    /// Adds the next group.
    pub(super) fn make_group(&mut self) {
        self.groups.push(OfGroup::default());
    }

    /// Accounts for a completed request of `queue`. Returns what a writer is to be charged for the
    /// delay the request shows, if any.
    pub(super) fn whose(
        &mut self,
        now: Instant,
        (rq, queue): (&Rq, &Queue),
        served: Service,
    ) -> Option<Late> {
        let when = self.when(now, &served, false);
        let has_traces = self.comparison.find_traces(when, &served, &mut self.groups);
        if rq.may_be_cached || rq.op.is_write() && served.is_taken_in() {
            let late = self.waited(when, queue.group, &served);
            self.written(now, (rq, queue.group), (served, has_traces));
            return late;
        }
        let buffered = self.comparison.follow(queue.group, &served, &mut self.groups);
        let late = if has_traces {
            let read = Read { group: queue.group, among: self.among(), buffered };
            self.comparison.delayed(when, read, served, &mut self.groups)
        } else {
            if !self.comparison.is_blank() {
                self.comparison.end(&mut self.groups);
            }
            self.undelayed(when, queue.group);
            None
        };
        // A read that continues the previous one may come from a buffer, even if it takes long to
        // get there.
        if served.was_alone && !rq.dispatched.continues_queue && !rq.op.is_write() {
            let may_wait = now < self.until + served.took;
            let usual = || self.groups[queue.group as usize].usual.get(self.among());
            let usual = may_wait.then(usual).flatten();
            if self.writes_first.read(now, served, usual) && self.rules.writes_first {
                self.nothing_is_left();
            }
        }
        late
    }

    /// The number of reads at the device, by which their usual time is kept.
    const fn among(&self) -> u32 {
        if self.rules.usual_by_depth { self.reads } else { 1 }
    }

    /// When the request was served; `lasts` says whether writes leave traces for longer.
    const fn when(&self, now: Instant, served: &Service, lasts: bool) -> When {
        let longer = if lasts { LASTS_MOST } else { Span::ZERO };
        When { now, took: served.took, epoch: self.epoch, longer }
    }

    /// Accounts for a completed write: what remains of its stated time is left to be done.
    fn written(
        &mut self,
        now: Instant,
        (rq, group): (&Rq, u32),
        (served, has_traces): (Service, bool),
    ) {
        let is_over = !has_traces || self.comparison.group == group;
        if is_over {
            self.comparison.end(&mut self.groups);
        }
        let more = if served.is_fast() { served.done_in - served.took } else { Span::ZERO };
        // A device that picks the next takes writes in while others' reads are served.
        let when = self.when(now, &served, served.is_picked);
        let own = &mut self.groups[group as usize].traces;
        let hidden = (own.left(when) + more).min(LASTS_MOST);
        let before = if own.epoch == self.epoch { own.untold } else { Span::ZERO };
        let untold = before + untold::cost_of(rq.bytes());
        self.until = now + TRACES_LAST;
        *own = Traces { hidden, untold, until: self.until, epoch: self.epoch };
        self.writes_first.wrote(now);
        self.comparison.buffered = Span::ZERO;
        self.note_writer(group);
        if is_over || hidden > self.comparison.hidden(&self.groups) {
            self.comparison.begin((rq.queue, group), &mut self.groups);
        }
    }

    /// What another group is to be charged for a completed write that waited for its writes.
    fn waited(&mut self, when: When, group: u32, served: &Service) -> Option<Late> {
        let excess = self.groups[group as usize].writes.waited(served);
        if excess == Span::ZERO || !self.rules.full_cache {
            return None;
        }
        let others = self.writers.into_iter().filter(|other| *other != group && *other != NIL);
        let left = |other: &u32| self.groups[*other as usize].traces.left(when);
        let other = others.max_by_key(left)?;
        let is_compared = other == self.comparison.group;
        if is_compared {
            self.comparison.end(&mut self.groups);
        }
        let writer = if is_compared { self.comparison.writer } else { NIL };
        let other_group = &mut self.groups[other as usize];
        let after = other_group.traces.left(when).min(excess);
        if after == Span::ZERO {
            return None;
        }
        // The device is still at work on them.
        other_group.traces.until = when.now + TRACES_LAST;
        other_group.traces.hidden = other_group.traces.hidden - after;
        other_group.writes.done(after);
        let (before, earlier) = (Span::ZERO, Span::ZERO);
        Some(Late { writer, group: other, before, after, earlier })
    }

    /// Accounts for a read that nothing delayed.
    #[inline]
    fn undelayed(&mut self, When { now, took, .. }: When, reader: u32) {
        if now >= self.until + took {
            let among = self.among();
            self.groups[reader as usize].usual.add(among, took);
        }
    }

    /// Accounts for an idle period of the device, from `since` to `now`. Returns what a writer is
    /// to be charged for it.
    pub(super) fn rested(&mut self, since: Instant, now: Instant) -> Option<Late> {
        self.comparison.rested(since, now, &mut self.groups)
    }

    /// Notes that the group has written, if there is room.
    fn note_writer(&mut self, group: u32) {
        if self.writers.contains(&group) {
            return;
        }
        if let Some(place) = self.writers.iter_mut().find(|place| **place == NIL) {
            *place = group;
        }
    }

    /// The groups whose acknowledged writes a flush that took `took` has finished, with the part of
    /// the time that each group's took: in proportion to what was left to be done, and no more. If
    /// costs are not told, in proportion to what was written since the last flush.
    pub(super) fn parts_of_flush(&self, took: Span, is_told: bool) -> [(u32, Span); WRITERS] {
        let left = |group: u32| match self.groups.get(group as usize).map(|group| group.traces) {
            Some(traces) if traces.epoch != self.epoch => Span::ZERO,
            Some(traces) if !is_told => traces.untold,
            Some(traces) if group == self.comparison.group => {
                traces.hidden - self.comparison.late(&self.groups)
            }
            Some(traces) => traces.hidden,
            None => Span::ZERO,
        };
        let left = self.writers.map(|group| (group, left(group)));
        let all = left.iter().fold(0, |sum, (_, left)| left.as_ns().saturating_add(sum));
        let whole = if is_told { all.max(took.as_ns()) } else { all };
        left.map(|(group, left)| (group, took.scaled(left.as_ns(), whole.max(1))))
    }

    /// Forgets all acknowledged writes: a flush has finished them.
    pub(super) fn flushed(&mut self) {
        self.nothing_is_left();
        self.paid = Span::ZERO;
        self.until = Instant::ZERO;
        self.writes_first.flushed();
    }

    fn nothing_is_left(&mut self) {
        self.comparison.nothing_is_left(&mut self.groups);
        self.epoch = self.epoch.wrapping_add(1);
        for writer in core::mem::replace(&mut self.writers, [NIL; WRITERS]) {
            if let Some(group) = self.groups.get_mut(writer as usize) {
                group.writes.done(LASTS_MOST);
            }
        }
    }

    /// The queue that is charged for acknowledged writes, or `NIL`.
    pub(super) const fn writer(&self) -> u32 {
        self.comparison.writer
    }

    /// Drops the reference to a writer's queue that is gone.
    pub(super) const fn forget_writer(&mut self) {
        self.comparison.writer = NIL;
    }

    /// Drops a removed group as the writer: nobody is charged for its writes any more.
    pub(super) fn forget_group(&mut self, group: u32) {
        self.groups[group as usize] = OfGroup::default();
        self.writers.iter_mut().filter(|one| **one == group).for_each(|one| *one = NIL);
        if self.comparison.group == group {
            self.comparison = Comparison::NONE;
        }
    }
}

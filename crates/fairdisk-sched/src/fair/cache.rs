//! Writes that the device acknowledges before it has done them, and who pays for the time they take
//! afterwards.
//!
//! That time shows only as a delay of whatever is measured next. So for a while after a group's
//! write, reads of other groups are compared with their usual time. The excess of all these reads
//! together is charged to the writer, up to the part of its writes' stated time that the device has
//! not yet been seen to spend. If several groups wrote, the one with the most left to be done pays.
//! Whenever the device is idle it works off what is left.
//!
//! - A write that is durable when it completes is done by then, and waits for the head as a read
//!   does. So it counts as a read here.
//! - Where one request is served at a time, a group that has never read undisturbed is presumed to
//!   have reads that take at most their stated time.
//! - A reader that has written itself pays for its own part of the excess. If it is the group with
//!   the most left to be done, it pays for all of it.
//! - Some devices finish all writes before they read; there nothing is left after a read
//!   (`writes_first`).
//! - A read that takes much longer than stated shows that the device still works on writes, however
//!   long ago they were. So do several reads that together took longer than stated.
//! - If the cache was emptied (`emptying`), reads are compared with what they took then, and for
//!   longer.
//! - A stream that is interrupted has to find its place again, which it pays itself.
//! - What reads lack of their usual time is set off against what later ones take more. Reads
//!   differ, and otherwise only those that take longer would count.
//! - A read that was too fast for a head to have moved came from a buffer while the device worked
//!   on writes. If a read that takes much longer than stated follows, the writer is charged the
//!   time of both.

mod full;

pub(super) use full::Writes;

use super::NIL;
use super::device::Device;
use super::emptying::Emptying;
use super::group::Group;
use super::queue::Queue;
use super::requests::Rq;
use super::writes_first::{BUFFERED_PARTS, WritesFirst};
use fairdisk_core::{Instant, Span};

/// How long after a write reads are checked for its delay: long enough for a few random requests of
/// a disk with a head.
const TRACES_LAST: Span = Span::from_ms(50);
/// The longest that a device takes for its cache. Chosen: `hdd-ncq` takes half a second to a second
/// for a cache full of writes of 4 KiB or of a stream, beside a reader.
const LASTS_MOST: Span = Span::from_ms(2000);
/// Of so many groups that have written it is known how much a flush did for each.
const WRITERS: usize = 8;
/// A write is only acknowledged if it took less than half of its stated time: seldom does a head
/// that has to move take so little.
const FAST_PARTS: u64 = 2;

/// The measured time of a completed request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    pub(super) took: Span,
    /// What is stated for it where it lies, or `done_in` without a cost model.
    pub(super) stated: Span,
    /// The stated time at most, wherever the request lies and whether it reads or writes.
    pub(super) done_in: Span,
    /// The time to find a place again after a request elsewhere; zero if unknown.
    pub(super) back: Span,
    /// Whether it is a read that took `OVERLONG_FACTOR` times its stated time or more.
    pub(super) is_overlong_read: bool,
    /// Whether nothing else was at the device.
    pub(super) was_alone: bool,
    /// Whether the device picks the next of several requests.
    pub(super) is_picked: bool,
    /// Whether `done_in` comes from the cost model, rather than from a mean of measured requests.
    pub(super) is_told: bool,
}

impl Service {
    /// Whether a write that was to be durable was nevertheless only taken into a cache, as by a
    /// device whose cache outlasts a power failure.
    fn is_taken_in(&self) -> bool {
        self.was_alone && self.took < self.done_in / BUFFERED_PARTS
    }

    /// Whether the request took too short a time for a head to have moved for it.
    pub(super) fn is_fast(&self) -> bool {
        self.took.as_ns() < self.done_in.as_ns() / FAST_PARTS
    }
}

#[cfg(test)]
impl Service {
    /// A request that was alone at a device which serves one at a time and has a cost model.
    pub(super) fn alone(took: Span, stated: Span, done_in: Span) -> Self {
        let (back, is_overlong_read) = (Span::ZERO, false);
        let (was_alone, is_picked, is_told) = (true, false, true);
        Self { took, stated, done_in, back, is_overlong_read, was_alone, is_picked, is_told }
    }
}

/// A charge to a writer for time the device spent on its writes after they were acknowledged. The
/// charge replaces `before`, the total so far, by `after`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    /// The writer's queue, or `NIL` if that is gone.
    pub(super) writer: u32,
    pub(super) group: u32,
    pub(super) before: Span,
    pub(super) after: Span,
    /// The part of `after - before` that earlier reads have already been charged and get back.
    pub(super) earlier: Span,
}

/// The writes of a group that the device has acknowledged and not yet done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traces {
    /// The time the device still needs for them, at most.
    hidden: Span,
    /// What all writes of this `epoch` cost beside those of others, where no costs are told.
    untold: Span,
    /// When the writes are taken to be done: reads that begin later are not delayed by them.
    until: Instant,
    /// The value of `Cache::epoch` at the last of these writes; they are done if it has changed
    /// since.
    epoch: u32,
}

/// When a request was served.
#[derive(Clone, Copy, Debug)]
struct Served {
    now: Instant,
    /// How long it took until now.
    took: Span,
    /// The value of `Cache::epoch`.
    epoch: u32,
    /// How much longer than `until` writes may leave traces.
    longer: Span,
}

impl Traces {
    /// Whether the request began while such writes may have been left.
    fn were_there(&self, served: Served) -> bool {
        let Served { now, took, epoch, longer } = served;
        self.epoch == epoch && now < self.until + took + longer
    }

    /// The time still needed at most for the writes that were left when the request began.
    fn left(&self, served: Served) -> Span {
        if self.were_there(served) { self.hidden } else { Span::ZERO }
    }
}

/// A completed read.
#[derive(Clone, Copy, Debug)]
struct Read {
    group: u32,
    /// What such reads take after the cache was emptied, if that is known.
    undisturbed: Option<Span>,
    /// The time to find its place again, if it continues a stream.
    back: Span,
    /// The time of the group's reads just before that came from a buffer.
    buffered: Span,
}

/// The group with the most acknowledged writes left to be done, and how long reads have taken
/// since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cache {
    /// The writer's queue, or `NIL` if that is gone.
    writer: u32,
    group: u32,
    /// The total time of the reads after the write.
    took: Span,
    /// The total time these reads would usually have taken, and what earlier ones took less.
    usual: Span,
    /// The group whose reads these are.
    reader: u32,
    /// The measured and the stated total time of recent reads of groups that have no writes of
    /// their own left to be done.
    recent: (Span, Span),
    /// The time of the reader's latest reads if each was so fast that it came from a buffer.
    buffered: Span,
    writes_first: WritesFirst,
    /// Counts how often all acknowledged writes were found to be done.
    epoch: u32,
    /// Groups that have written since then, or `NIL`.
    writers: [u32; WRITERS],
    /// Reads that begin later are not delayed by any write.
    until: Instant,
    /// Flushes of all groups that are at the device or on their way there.
    pub(super) flushes: u32,
    /// Reads at the device, on a device that takes several requests.
    pub(super) reads: u32,
    pub(super) emptying: Emptying,
    /// When a write was last taken in while the head was at work for reads.
    pub(super) taken_in: Instant,
}

impl Cache {
    pub(super) fn new() -> Self {
        Self {
            writer: NIL,
            group: NIL,
            took: Span::ZERO,
            usual: Span::ZERO,
            reader: NIL,
            recent: (Span::ZERO, Span::ZERO),
            buffered: Span::ZERO,
            writes_first: WritesFirst::default(),
            epoch: 0,
            writers: [NIL; WRITERS],
            until: Instant::ZERO,
            flushes: 0,
            reads: 0,
            emptying: Emptying::default(),
            taken_in: Instant::ZERO,
        }
    }

    /// Accounts for a completed request of `queue`. Returns what a writer is to be charged for the
    /// delay the request shows, if any.
    pub(super) fn whose(
        &mut self,
        now: Instant,
        (rq, queue): (&Rq, &Queue),
        served: Service,
        groups: &mut [Group],
    ) -> Option<Late> {
        let is_known = !rq.may_be_cached && self.emptying.is_known(now);
        let is_known = is_known && self.group != queue.group;
        let known = || groups[queue.group as usize].undisturbed.known(self.reads);
        let undisturbed = is_known.then(known).flatten();
        let when = self.when(now, &served, undisturbed.is_some());
        let has_traces = self.find_traces(when, &served, groups);
        if rq.may_be_cached || rq.op.is_write() && served.is_taken_in() {
            let late = self.waited(when, queue.group, &served, groups);
            self.written(now, (rq, queue.group), (served, has_traces), groups);
            return late;
        }
        let buffered = self.follow(queue.group, &served, groups);
        let late = if has_traces {
            let back = if rq.continues_queue { served.back } else { Span::ZERO };
            let read = Read { group: queue.group, undisturbed, back, buffered };
            self.delayed(when, read, served, groups)
        } else {
            self.end(groups);
            self.undelayed(when, &mut groups[queue.group as usize]);
            None
        };
        // A read that continues the previous one may come from a buffer, even if it takes long to
        // get there.
        if served.was_alone && !rq.continues_queue && !rq.op.is_write() {
            let may_wait = now < self.until + served.took;
            let usual = || groups[queue.group as usize].usual.get(self.reads);
            let usual = may_wait.then(usual).flatten();
            if self.writes_first.read(now, served, usual) {
                self.nothing_is_left(groups);
            }
        }
        late
    }

    /// When the request was served; `lasts` says whether writes leave traces for longer.
    const fn when(&self, now: Instant, served: &Service, lasts: bool) -> Served {
        let longer = if lasts { LASTS_MOST } else { Span::ZERO };
        Served { now, took: served.took, epoch: self.epoch, longer }
    }

    /// Accounts for a completed write: what remains of its stated time is left to be done.
    fn written(
        &mut self,
        now: Instant,
        (rq, group): (&Rq, u32),
        (served, has_traces): (Service, bool),
        groups: &mut [Group],
    ) {
        if !has_traces || self.group == group {
            self.end(groups);
        }
        let more = if served.is_fast() { served.done_in - served.took } else { Span::ZERO };
        // A device that picks the next takes writes in while others' reads are served.
        let lasts = served.is_picked || self.emptying.is_known(now);
        let when = self.when(now, &served, lasts);
        let own = &mut groups[group as usize].traces;
        let hidden = (own.left(when) + more).min(LASTS_MOST);
        let before = if own.epoch == self.epoch { own.untold } else { Span::ZERO };
        let untold = before + Device::untold_cost(rq.bytes());
        self.until = now + TRACES_LAST;
        *own = Traces { hidden, untold, until: self.until, epoch: self.epoch };
        self.writes_first.wrote(now);
        self.buffered = Span::ZERO;
        self.note_writer(group);
        if !has_traces || self.group == group || hidden > self.hidden(groups) {
            self.end(groups);
            (self.writer, self.group) = (rq.queue, group);
        }
    }

    /// Notes which group read. Returns the time of its reads just before that came from a buffer.
    #[inline]
    fn follow(&mut self, group: u32, served: &Service, groups: &mut [Group]) -> Span {
        let mut buffered = core::mem::replace(&mut self.buffered, Span::ZERO);
        if self.group != group {
            if self.reader != group {
                self.end(groups);
                (self.reader, self.usual, buffered) = (group, Span::ZERO, Span::ZERO);
            }
            if served.is_fast() && served.was_alone {
                self.buffered = buffered + served.took;
            }
        }
        buffered
    }

    /// Accounts for a read that nothing delayed.
    #[inline]
    fn undelayed(&self, Served { now, took, .. }: Served, reader: &mut Group) {
        if self.emptying.is_empty || now >= self.until + took + LASTS_MOST {
            reader.undisturbed.add(self.reads, took);
        }
        if now >= self.until + took {
            reader.usual.add(self.reads, took);
        }
    }

    /// Accounts for a read that writes may have delayed, and returns what the writer is to be
    /// charged for it.
    #[inline(never)]
    fn delayed(
        &mut self,
        when: Served,
        Read { group, undisturbed, back, buffered }: Read,
        served: Service,
        groups: &mut [Group],
    ) -> Option<Late> {
        if self.group == group {
            return None;
        }
        let Service { took: service, done_in, .. } = served;
        let before = self.late(groups);
        let others = self.hidden(groups) - before;
        let reader = &mut groups[group as usize];
        let is_bounded = served.is_told && served.was_alone;
        let usual = undisturbed.or(reader.usual.get(self.reads));
        if is_bounded && usual.is_none() {
            reader.presumed.add(service.min(done_in));
        }
        let mut usual = usual.or(reader.presumed.get())?;
        if is_bounded {
            usual = usual.min(done_in);
            if !reader.traces.were_there(when) {
                self.recent = (self.recent.0 + service, self.recent.1 + done_in);
            }
        }
        if undisturbed.is_some() {
            usual = usual.max(back.min(service));
        }
        let excess = self.took - self.usual;
        self.took += if served.is_overlong_read { service + buffered } else { service };
        self.usual += usual;
        let more = (self.took - self.usual) - excess;
        let own = own_part(more, reader.traces.left(when), others);
        reader.traces.hidden = reader.traces.hidden - own;
        self.usual += own;
        let after = self.late(groups);
        let earlier = (after - before) - (service - usual - own);
        let late = Late { writer: self.writer, group: self.group, before, after, earlier };
        (before != after).then_some(late)
    }

    /// Accounts for an idle period of the device, from `since` to `now`, in which it worked off
    /// acknowledged writes. Returns what the writer is to be charged for it; the charge stops where
    /// reads would no longer be checked for delays.
    pub(super) fn rested(
        &mut self,
        since: Instant,
        now: Instant,
        groups: &mut [Group],
    ) -> Option<Late> {
        let (before, earlier, late) = (Span::ZERO, Span::ZERO, self.late(groups));
        let traces = &mut groups.get_mut(self.group as usize)?.traces;
        let left = traces.hidden - late;
        traces.hidden = traces.hidden - left.min(now.since(since));
        let after = left.min(now.min(traces.until).since(since));
        let late = Late { writer: self.writer, group: self.group, before, after, earlier };
        (after > before).then_some(late)
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
    pub(super) fn parts_of_flush(
        &self,
        took: Span,
        is_told: bool,
        groups: &[Group],
    ) -> [(u32, Span); WRITERS] {
        let left = |group: u32| match groups.get(group as usize).map(|group| group.traces) {
            Some(traces) if traces.epoch != self.epoch => Span::ZERO,
            Some(traces) if !is_told => traces.untold,
            Some(traces) if group == self.group => traces.hidden - self.late(groups),
            Some(traces) => traces.hidden,
            None => Span::ZERO,
        };
        let left = self.writers.map(|group| (group, left(group)));
        let all = left.iter().fold(0, |sum, (_, left)| left.as_ns().saturating_add(sum));
        let whole = if is_told { all.max(took.as_ns()) } else { all };
        left.map(|(group, left)| (group, took.scaled(left.as_ns(), whole.max(1))))
    }

    /// Forgets all acknowledged writes: a flush has finished them.
    pub(super) fn flushed(&mut self, groups: &mut [Group]) {
        self.nothing_is_left(groups);
        self.until = Instant::ZERO;
        self.writes_first.flushed();
    }

    fn nothing_is_left(&mut self, groups: &mut [Group]) {
        self.end(groups);
        self.usual = Span::ZERO;
        self.epoch = self.epoch.wrapping_add(1);
        (self.writer, self.group) = (NIL, NIL);
        for writer in core::mem::replace(&mut self.writers, [NIL; WRITERS]) {
            if let Some(group) = groups.get_mut(writer as usize) {
                group.writes.done(LASTS_MOST);
            }
        }
    }

    /// The queue that is charged for acknowledged writes, or `NIL`.
    pub(super) const fn writer(&self) -> u32 {
        self.writer
    }

    /// The group with the most acknowledged writes left to be done, if that is not `reader`.
    pub(super) fn writer_beside(&self, reader: u32, groups: &[Group]) -> Option<u32> {
        let traces = groups.get(self.group as usize)?.traces;
        let is_left = traces.epoch == self.epoch && traces.hidden > Span::ZERO;
        (is_left && self.group != reader).then_some(self.group)
    }

    /// Drops the reference to a writer's queue that is gone.
    pub(super) const fn forget_writer(&mut self) {
        self.writer = NIL;
    }

    /// Drops a removed group as the writer: nobody is charged for its writes any more.
    pub(super) fn forget_group(&mut self, group: u32) {
        self.emptying.forget_group(group);
        self.writers.iter_mut().filter(|one| **one == group).for_each(|one| *one = NIL);
        if self.group == group {
            let Self { writes_first, epoch, writers, until, flushes, reads, .. } = *self;
            let Self { emptying, taken_in, .. } = *self;
            let kept = Self { writes_first, epoch, writers, until, flushes, reads, ..Self::new() };
            *self = Self { emptying, taken_in, ..kept };
        }
    }

    /// Whether a completed request began while writes of the current writer may have been left. Its
    /// beginning counts, as it may have waited for just these writes. Prolongs the writer's traces
    /// if overlong reads show that the device still works on them.
    fn find_traces(&mut self, when: Served, served: &Service, groups: &mut [Group]) -> bool {
        let late = self.late(groups);
        let Some(writer) = groups.get_mut(self.group as usize) else { return false };
        let traces = &mut writer.traces;
        if traces.were_there(when) {
            return true;
        }
        let is_shown = served.is_overlong_read || self.recent.0 > self.recent.1;
        let last = is_shown && traces.hidden > late;
        if last {
            traces.until = when.now + TRACES_LAST;
            self.recent = (Span::ZERO, Span::ZERO);
        }
        last
    }

    /// The time the device still needs at most for the current writer's writes.
    fn hidden(&self, groups: &[Group]) -> Span {
        groups.get(self.group as usize).map_or(Span::ZERO, |writer| writer.traces.hidden)
    }

    /// The part of the reads' total time that is charged to the writer.
    fn late(&self, groups: &[Group]) -> Span {
        (self.took - self.usual).min(self.hidden(groups))
    }

    /// Ends the current comparison: what was charged to the writer is taken off its writes left to
    /// be done, and what reads lack is kept for the next comparison with this reader.
    fn end(&mut self, groups: &mut [Group]) {
        let late = self.late(groups);
        if let Some(writer) = groups.get_mut(self.group as usize) {
            writer.traces.hidden = writer.traces.hidden - late;
        }
        let lacking = self.usual - self.took;
        (self.took, self.usual) = (Span::ZERO, lacking.min(TRACES_LAST));
        self.recent = (Span::ZERO, Span::ZERO);
    }
}

/// The part of `excess` that falls to `own`, where `own` and `others` are left to be done.
fn own_part(excess: Span, own: Span, others: Span) -> Span {
    excess.scaled(own.as_ns(), (own + others).as_ns().max(1)).min(own)
}

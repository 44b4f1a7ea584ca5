//! Writes that the device acknowledged before it did them.
//!
//! The time they take shows in whatever is measured next. So for a while after a group's write the
//! reads of another group are compared with what its reads take otherwise. What they took in
//! excess of that, all of them together, is the writer's, as far as its writes were too fast to be
//! done. Of several groups that wrote it is the one that has most to be done. While the device has
//! nothing else to do it does what is left.
//!
//! Of a group that never read but after such writes it is presumed that none of its reads would
//! have taken longer than any is said to take, where one is served at a time.
//!
//! A read of another group that wrote itself waits for that, too: it pays for its part. Where the
//! group that has most to be done reads, it pays for all. Some devices do all that was written
//! before they read; there nothing is left after a read (`writes_first`).
//!
//! A read that takes much longer than any is said to take shows that the device is not done yet,
//! however long ago that was, and so do several that together took longer than they are said to.
//! What was read just before the one so fast that no head moved for it came from a buffer, while
//! the device worked for the writer: the writer is charged that time, too.

use super::NIL;
use super::group::Group;
use super::queue::Queue;
use super::requests::Rq;
use super::writes_first::WritesFirst;
use fairdisk_core::{Instant, Span};

/// In reads that begin so long after a write its traces are looked for.
const TRACES: Span = Span::from_ms(50);
/// A write that took less than one in so many parts of that is not done yet.
const FAST: u64 = 2;

/// What a request took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    pub(super) took: Span,
    /// What it takes at most, if it is done by then.
    pub(super) done_in: Span,
    /// It is a read that took much longer than any is said to take.
    pub(super) is_overlong_read: bool,
    /// Nothing else was at the device.
    pub(super) was_alone: bool,
    /// `done_in` is what the device is said to take.
    pub(super) is_told: bool,
}

impl Service {
    /// Whether it took too short for a head to have moved for it.
    pub(super) fn is_fast(&self) -> bool {
        self.took.as_ns() < self.done_in.as_ns() / FAST
    }
}

/// What a writer is charged for what the device did after its write, together: before the last of
/// that, and with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Late {
    /// The queue, or `NIL` if that is gone.
    pub(super) writer: u32,
    pub(super) group: u32,
    pub(super) before: Span,
    pub(super) after: Span,
    /// How much of what the last of it adds is time that reads before it were charged.
    pub(super) earlier: Span,
}

/// What a group wrote so that the device has yet to do it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traces {
    /// How long the device takes for it at most.
    hidden: Span,
    /// Reads that begin later do not wait for it.
    until: Instant,
    /// How often nothing was left of any write before the last of it.
    epoch: u32,
}

impl Traces {
    /// Whether something that took `service` began before they were gone.
    fn were_there(&self, now: Instant, service: Span, epoch: u32) -> bool {
        self.epoch == epoch && now < self.until + service
    }

    /// How long the device takes at most for what was left for something that took `service`.
    fn left(&self, now: Instant, service: Span, epoch: u32) -> Span {
        if self.were_there(now, service, epoch) { self.hidden } else { Span::ZERO }
    }
}

/// Who has most to be done of what was written, and what reads took since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cache {
    /// The queue, or `NIL` if that is gone.
    writer: u32,
    group: u32,
    /// What reads after the write took in all.
    took: Span,
    /// What they would have taken otherwise.
    usual: Span,
    /// The group that read.
    reader: u32,
    /// What reads took of late, and what they are said to take at most.
    recent: (Span, Span),
    /// What its last reads took, each so fast that it was read from a buffer.
    buffered: Span,
    writes_first: WritesFirst,
    /// How often nothing was left of any write.
    epoch: u32,
    /// Reads that begin later do not wait for any write.
    until: Instant,
    /// Flushes on their way to the device or there, of all groups.
    pub(super) flushes: u32,
    /// Reads at the device, where that takes several requests.
    pub(super) reads: u32,
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
            until: Instant::ZERO,
            flushes: 0,
            reads: 0,
        }
    }

    /// A request of `queue` was served: what of that time is a writer's, if there was one.
    pub(super) fn whose(
        &mut self,
        now: Instant,
        (rq, queue): (&Rq, &Queue),
        served: Service,
        groups: &mut [Group],
    ) -> Option<Late> {
        let has_traces = self.has_traces(now, served, groups);
        if rq.op.is_write() {
            self.written(now, (rq.queue, queue.group), (served, has_traces), groups);
            return None;
        }
        let late = self.read(now, queue.group, (served, has_traces), groups);
        // What goes on where a read ended may come from a buffer, however long it takes to be
        // there.
        if served.was_alone && !rq.continues_queue {
            let may_wait = now < self.until + served.took;
            let usual = || groups[queue.group as usize].usual.get(self.reads);
            let usual = may_wait.then(usual).flatten();
            if self.writes_first.read(now, served, usual) {
                self.nothing_is_left(groups);
            }
        }
        late
    }

    /// A write was served.
    fn written(
        &mut self,
        now: Instant,
        (queue, group): (u32, u32),
        (served, has_traces): (Service, bool),
        groups: &mut [Group],
    ) {
        if !has_traces || self.group == group {
            self.end(groups);
        }
        let more = if served.is_fast() { served.done_in - served.took } else { Span::ZERO };
        let own = &mut groups[group as usize].traces;
        let hidden = own.left(now, served.took, self.epoch) + more;
        self.until = now + TRACES;
        *own = Traces { hidden, until: self.until, epoch: self.epoch };
        self.writes_first.wrote(now);
        self.buffered = Span::ZERO;
        if !has_traces || self.group == group || hidden > self.hidden(groups) {
            self.end(groups);
            (self.writer, self.group) = (queue, group);
        }
    }

    /// A read was served.
    fn read(
        &mut self,
        now: Instant,
        group: u32,
        (served, has_traces): (Service, bool),
        groups: &mut [Group],
    ) -> Option<Late> {
        let Service { took: service, done_in, .. } = served;
        let mut buffered = core::mem::replace(&mut self.buffered, Span::ZERO);
        if self.group != group {
            if self.reader != group {
                self.end(groups);
                (self.reader, buffered) = (group, Span::ZERO);
            }
            if served.is_fast() && served.was_alone {
                self.buffered = buffered + service;
            }
        }
        if !has_traces {
            self.end(groups);
            if now >= self.until + service {
                groups[group as usize].usual.add(self.reads, service);
            }
            return None;
        }
        if self.group == group {
            return None;
        }
        let before = self.late(groups);
        let others = self.hidden(groups) - before;
        let reader = &mut groups[group as usize];
        let is_bounded = served.is_told && served.was_alone;
        let usual = reader.usual.get(self.reads);
        if is_bounded && usual.is_none() {
            reader.presumed.add(service.min(done_in));
        }
        let mut usual = usual.or(reader.presumed.get())?;
        if is_bounded {
            usual = usual.min(done_in);
            if !reader.traces.were_there(now, service, self.epoch) {
                self.recent = (self.recent.0 + service, self.recent.1 + done_in);
            }
        }
        let excess = self.took - self.usual;
        self.took += if served.is_overlong_read { service + buffered } else { service };
        self.usual += usual;
        let more = (self.took - self.usual) - excess;
        let own = part(more, reader.traces.left(now, service, self.epoch), others);
        reader.traces.hidden = reader.traces.hidden - own;
        self.usual += own;
        let after = self.late(groups);
        let earlier = (after - before) - (service - usual - own);
        let late = Late { writer: self.writer, group: self.group, before, after, earlier };
        (before != after).then_some(late)
    }

    /// Nothing was at the device since then: it did what it had acknowledged, as long as there may
    /// have been some. What is the writer's of that ends with the traces of its writes.
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

    /// All that was written is done.
    pub(super) fn flushed(&mut self, groups: &mut [Group]) {
        self.nothing_is_left(groups);
        self.until = Instant::ZERO;
        self.writes_first.flushed();
    }

    fn nothing_is_left(&mut self, groups: &mut [Group]) {
        self.end(groups);
        self.epoch = self.epoch.wrapping_add(1);
        (self.writer, self.group) = (NIL, NIL);
    }

    /// The queue that pays, or `NIL`.
    pub(super) const fn writer(&self) -> u32 {
        self.writer
    }

    /// The queue that pays is gone.
    pub(super) const fn forget_writer(&mut self) {
        self.writer = NIL;
    }

    /// Nobody pays any more for what the group wrote, which is gone.
    pub(super) fn forget_group(&mut self, group: u32) {
        if self.group == group {
            let Self { writes_first, epoch, until, flushes, reads, .. } = *self;
            *self = Self { writes_first, epoch, until, flushes, reads, ..Self::new() };
        }
    }

    /// Whether what was served began with traces of a write. It counts when it began: what it
    /// waited for may be the traces themselves.
    fn has_traces(&mut self, now: Instant, served: Service, groups: &mut [Group]) -> bool {
        let late = self.late(groups);
        let Some(writer) = groups.get_mut(self.group as usize) else { return false };
        let traces = &mut writer.traces;
        if traces.were_there(now, served.took, self.epoch) {
            return true;
        }
        let is_shown = served.is_overlong_read || self.recent.0 > self.recent.1;
        let last = is_shown && traces.hidden > late;
        if last {
            traces.until = now + TRACES;
            self.recent = (Span::ZERO, Span::ZERO);
        }
        last
    }

    /// What the writer has to be done.
    fn hidden(&self, groups: &[Group]) -> Span {
        groups.get(self.group as usize).map_or(Span::ZERO, |writer| writer.traces.hidden)
    }

    /// What of the time that reads took is the writer's.
    fn late(&self, groups: &[Group]) -> Span {
        (self.took - self.usual).min(self.hidden(groups))
    }

    /// The traces of the write are gone.
    fn end(&mut self, groups: &mut [Group]) {
        let late = self.late(groups);
        if let Some(writer) = groups.get_mut(self.group as usize) {
            writer.traces.hidden = writer.traces.hidden - late;
        }
        (self.took, self.usual) = (Span::ZERO, Span::ZERO);
        self.recent = (Span::ZERO, Span::ZERO);
    }
}

/// The part of `excess` that is due to what is left of `own`, where `others` is left besides.
fn part(excess: Span, own: Span, others: Span) -> Span {
    excess.scaled(own.as_ns(), (own + others).as_ns().max(1)).min(own)
}

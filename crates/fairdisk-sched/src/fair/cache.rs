//! Writes that the device acknowledged before it did them.
//!
//! The time they take shows in whatever is measured next. So for a while after a group's write the
//! reads of another group are compared with what its reads take otherwise. What they took in excess
//! of that, all of them together, is the writer's, as far as its writes were too fast to be done.

use super::NIL;
use super::group::Group;
use super::queue::Queue;
use super::requests::Rq;
use fairdisk_core::{Instant, Span};

/// So long after a write its traces are looked for.
const TRACES: Span = Span::from_ms(50);
/// A write that took less than one in so many parts of that is not done yet.
const FAST: u64 = 2;

/// What is charged for a request beside, or instead of, its own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// Nothing.
    Nothing,
    /// Of its time this much is the writer's.
    OfWriter(u32, Span),
    /// So much of what the writer was charged for others before was the reader's own.
    OfReader(u32, Span),
}

/// Who wrote last, and what reads took since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cache {
    writer: u32,
    group: u32,
    until: Instant,
    /// What it has written so that the device has yet to do it, at most.
    hidden: Span,
    /// Reads after the write, and what they took in all.
    reads: u32,
    took: Span,
    /// What they would have taken otherwise.
    usual: Span,
    /// The group that read.
    reader: u32,
}

impl Cache {
    pub(super) const EMPTY: Self = Self {
        writer: NIL,
        group: NIL,
        until: Instant::ZERO,
        hidden: Span::ZERO,
        reads: 0,
        took: Span::ZERO,
        usual: Span::ZERO,
        reader: NIL,
    };

    /// A request of `queue` took `service`, which takes `done_in` at most if it is done by then:
    /// whose time that is.
    pub(super) fn whose(
        &mut self,
        now: Instant,
        (rq, queue): (&Rq, &Queue),
        (service, done_in): (Span, Span),
        groups: &mut [Group],
    ) -> Late {
        let group = queue.group;
        let has_traces = now < self.until;
        if rq.op.is_write() {
            self.end(groups);
            let hidden = if has_traces && self.group == group { self.hidden } else { Span::ZERO };
            let is_done = service.as_ns() >= done_in.as_ns() / FAST;
            let more = if is_done { Span::ZERO } else { done_in - service };
            let (writer, until) = (rq.queue, now + TRACES);
            *self = Self { writer, group, until, hidden: hidden + more, ..Self::EMPTY };
            return Late::Nothing;
        }
        if !has_traces {
            self.end(groups);
            groups[group as usize].usual.add(service);
            return Late::Nothing;
        }
        let Some(usual) = groups[group as usize].usual.get().filter(|_| self.group != group) else {
            return Late::Nothing;
        };
        if self.reader != group {
            self.end(groups);
        }
        let before = self.late();
        self.reader = group;
        self.reads += 1;
        self.took += service;
        self.usual += usual;
        let after = self.late();
        match after >= before {
            true => Late::OfWriter(self.writer, after - before),
            false => Late::OfReader(self.writer, before - after),
        }
    }

    /// What of the time that reads took is the writer's.
    fn late(&self) -> Span {
        (self.took - self.usual).min(self.hidden)
    }

    /// The traces of the write are gone. Reads that took no longer than usual say what is usual.
    fn end(&mut self, groups: &mut [Group]) {
        if self.reads > 0 && self.took <= self.usual {
            let each = Span::from_ns(self.took.as_ns() / u64::from(self.reads));
            groups[self.reader as usize].usual.add(each);
        }
        self.hidden = self.hidden - self.late();
        (self.reads, self.took, self.usual) = (0, Span::ZERO, Span::ZERO);
    }
}

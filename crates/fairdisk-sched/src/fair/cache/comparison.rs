//! Reads beside the acknowledged writes of one group: how much longer they take than usual.
//!
//! - A group that has never read undisturbed is presumed to have reads that take at most their
//!   stated time, where one request is served at a time.
//! - A reader that has written itself pays for its own part of the excess. If it is the group with
//!   the most left to be done, it pays for all of it.
//! - A read that takes much longer than stated shows that the device still works on writes, however
//!   long ago they were. So do several reads that together took longer than stated.
//! - What reads lack of their usual time is set off against what later ones take more. Reads
//!   differ, and otherwise only those that take longer would count.
//! - A read that was too fast for a head to have moved came from a buffer while the device worked
//!   on writes. If a read that takes much longer than stated follows, the writer is charged the
//!   time of both.

use super::of_group::OfGroup;
use super::traces::{Late, TRACES_LAST, When};
use crate::fair::NIL;
use crate::fair::service::Service;
use fairdisk_core::{Instant, Span};

/// The group with the most acknowledged writes left to be done, and how long reads have taken
/// since.
#[derive(Debug)]
pub(super) struct Comparison {
    /// The writer's queue, or `NIL` if that is gone.
    pub(super) writer: u32,
    /// The writer's group, or `NIL` if nothing is left of any write.
    pub(super) group: u32,
    /// The total time of the reads after the write.
    took: Span,
    /// The total time these reads would usually have taken, and what earlier ones took less.
    usual: Span,
    /// The group whose reads these are.
    reader: u32,
    /// The measured and the stated total time of recent reads of groups that have no writes of
    /// their own left to be done.
    recent_took: Span,
    recent_stated: Span,
    /// The time of the reader's latest reads if each was so fast that it came from a buffer.
    pub(super) buffered: Span,
}

/// A completed read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) group: u32,
    /// The number of reads at the device.
    pub(super) among: u32,
    /// The time of the group's reads just before that came from a buffer.
    pub(super) buffered: Span,
}

impl Read {
    /// How long the read usually takes; `None` if that is unknown.
    fn usual(&self, served: &Service, reader: &mut OfGroup) -> Option<Span> {
        let Service { took, done_in, .. } = *served;
        let is_bounded = served.is_bounded();
        let seen = reader.usual.get(self.among);
        if is_bounded && seen.is_none() {
            reader.presumed.add(took.min(done_in));
        }
        let usual = seen.or(reader.presumed.get())?;
        Some(if is_bounded { usual.min(done_in) } else { usual })
    }
}

impl Comparison {
    pub(super) const NONE: Self = Self {
        writer: NIL,
        group: NIL,
        took: Span::ZERO,
        usual: Span::ZERO,
        reader: NIL,
        recent_took: Span::ZERO,
        recent_stated: Span::ZERO,
        buffered: Span::ZERO,
    };

    /// Begins a comparison with the writer of this queue and group.
    pub(super) fn begin(&mut self, (writer, group): (u32, u32), groups: &mut [OfGroup]) {
        self.end(groups);
        (self.writer, self.group) = (writer, group);
    }

    /// Ends the current comparison: what was charged to the writer is taken off its writes left to
    /// be done, and what reads lack is kept for the next comparison with this reader.
    pub(super) fn end(&mut self, groups: &mut [OfGroup]) {
        let late = self.late(groups);
        if let Some(writer) = groups.get_mut(self.group as usize) {
            writer.traces.hidden = writer.traces.hidden - late;
        }
        let lacking = self.usual - self.took;
        (self.took, self.usual) = (Span::ZERO, lacking.min(TRACES_LAST));
        self.forget_recent();
    }

    /// Whether nothing has been compared, as while nobody writes.
    pub(super) fn is_blank(&self) -> bool {
        let spans = [self.took, self.usual, self.recent_took, self.recent_stated];
        spans.iter().fold(0, |all, span| all | span.as_ns()) == 0
    }

    /// Ends the current comparison, as nothing is left of any write.
    pub(super) fn nothing_is_left(&mut self, groups: &mut [OfGroup]) {
        self.end(groups);
        self.usual = Span::ZERO;
        (self.writer, self.group) = (NIL, NIL);
    }

    const fn forget_recent(&mut self) {
        (self.recent_took, self.recent_stated) = (Span::ZERO, Span::ZERO);
    }

    /// The time the device still needs at most for the writer's writes.
    pub(super) fn hidden(&self, groups: &[OfGroup]) -> Span {
        groups.get(self.group as usize).map_or(Span::ZERO, |writer| writer.traces.hidden)
    }

    /// The part of the reads' total time that is charged to the writer.
    pub(super) fn late(&self, groups: &[OfGroup]) -> Span {
        (self.took - self.usual).min(self.hidden(groups))
    }

    /// Whether a completed request began while writes of the writer may have been left. Its
    /// beginning counts, as it may have waited for just these writes. Prolongs the writer's traces
    /// if overlong reads show that the device still works on them.
    pub(super) fn find_traces(
        &mut self,
        when: When,
        served: &Service,
        groups: &mut [OfGroup],
    ) -> bool {
        let late = self.late(groups);
        let Some(writer) = groups.get_mut(self.group as usize) else { return false };
        let traces = &mut writer.traces;
        if traces.were_there(when) {
            return true;
        }
        let is_shown = served.is_overlong_read || self.recent_took > self.recent_stated;
        let last = is_shown && traces.hidden > late;
        if last {
            traces.until = when.now + TRACES_LAST;
            self.forget_recent();
        }
        last
    }

    /// Notes which group read. Returns the time of its reads just before that came from a buffer.
    #[inline]
    pub(super) fn follow(&mut self, group: u32, served: &Service, groups: &mut [OfGroup]) -> Span {
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

    /// Accounts for a read that writes may have delayed, and returns what the writer is to be
    /// charged for it.
    #[inline(never)]
    pub(super) fn delayed(
        &mut self,
        when: When,
        read: Read,
        served: Service,
        groups: &mut [OfGroup],
    ) -> Option<Late> {
        if self.group == read.group {
            return None;
        }
        let before = self.late(groups);
        let others = self.hidden(groups) - before;
        let reader = &mut groups[read.group as usize];
        let usual = read.usual(&served, reader)?;
        if served.is_bounded() && !reader.traces.were_there(when) {
            self.recent_took += served.took;
            self.recent_stated += served.done_in;
        }
        let excess = self.took - self.usual;
        self.took += served.took;
        if served.is_overlong_read {
            self.took += read.buffered;
        }
        self.usual += usual;
        let more = (self.took - self.usual) - excess;
        let own = own_part(more, reader.traces.left(when), others);
        reader.traces.hidden = reader.traces.hidden - own;
        self.usual += own;
        let after = self.late(groups);
        let earlier = (after - before) - (served.took - usual - own);
        let late = Late { writer: self.writer, group: self.group, before, after, earlier };
        (before != after).then_some(late)
    }

    /// Accounts for an idle period of the device, from `since` to `now`, in which it worked off
    /// acknowledged writes. Returns what the writer is to be charged for it; the charge stops where
    /// reads would no longer be checked for delays.
    pub(super) fn rested(
        &self,
        since: Instant,
        now: Instant,
        groups: &mut [OfGroup],
    ) -> Option<Late> {
        let (before, earlier, late) = (Span::ZERO, Span::ZERO, self.late(groups));
        let traces = &mut groups.get_mut(self.group as usize)?.traces;
        let left = traces.hidden - late;
        traces.hidden = traces.hidden - left.min(now.since(since));
        let after = left.min(now.min(traces.until).since(since));
        let late = Late { writer: self.writer, group: self.group, before, after, earlier };
        (after > before).then_some(late)
    }
}

/// The part of `excess` that falls to `own`, where `own` and `others` are left to be done.
fn own_part(excess: Span, own: Span, others: Span) -> Span {
    excess.scaled(own.as_ns(), (own + others).as_ns().max(1)).min(own)
}

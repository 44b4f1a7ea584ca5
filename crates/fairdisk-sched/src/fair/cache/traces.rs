//! What writes leave behind: how long the device may still work on them after it acknowledged them.

use fairdisk_core::{Instant, Span};

/// How long after a write reads are checked for its delay: long enough for a few random requests of
/// a disk with a head.
pub(super) const TRACES_LAST: Span = Span::from_ms(50);
/// The longest that a device takes for its cache. Chosen: `hdd-ncq` takes half a second to a second
/// for a cache full of writes of 4 KiB or of a stream, beside a reader.
pub(super) const LASTS_MOST: Span = Span::from_ms(2000);

/// The writes of a group that the device has acknowledged and not yet done.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::fair) struct Traces {
    /// The time the device still needs for them, at most.
    pub(super) hidden: Span,
    /// What all writes of this `epoch` cost beside those of others, where no costs are told.
    pub(super) untold: Span,
    /// When the writes are taken to be done: reads that begin later are not delayed by them.
    pub(super) until: Instant,
    /// The value of `Cache::epoch` at the last of these writes; they are done if it has changed
    /// since.
    pub(super) epoch: u32,
}

/// When a request was served.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    pub(super) now: Instant,
    /// How long it took until now.
    pub(super) took: Span,
    /// The value of `Cache::epoch`.
    pub(super) epoch: u32,
    /// How much longer than `until` writes may leave traces.
    pub(super) longer: Span,
}

impl Traces {
    /// Whether the request began while such writes may have been left.
    pub(super) fn were_there(&self, when: When) -> bool {
        let When { now, took, epoch, longer } = when;
        self.epoch == epoch && now < self.until + took + longer
    }

    /// The time still needed at most for the writes that were left when the request began.
    pub(super) fn left(&self, when: When) -> Span {
        if self.were_there(when) { self.hidden } else { Span::ZERO }
    }
}

/// A charge to a writer for time the device spent on its writes after they were acknowledged. The
/// charge replaces `before`, the total so far, by `after`.
#[derive(Clone, Copy, Debug)]
pub(in crate::fair) struct Late {
    /// The writer's queue, or `NIL` if that is gone.
    pub(in crate::fair) writer: u32,
    pub(in crate::fair) group: u32,
    pub(in crate::fair) before: Span,
    pub(in crate::fair) after: Span,
    /// The part of `after - before` that earlier reads have already been charged and get back.
    pub(in crate::fair) earlier: Span,
}

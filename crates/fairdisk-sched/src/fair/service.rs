//! What is known of a completed request whose time was measured.

use fairdisk_core::Span;

/// A write is only acknowledged if it took less than half of its stated time: seldom does a head
/// that has to move take so little.
const FAST_PARTS: u64 = 2;
/// What took less than an eighth of its stated time at most may have come from a buffer, or gone to
/// one: next to no request that moves a head is as fast.
const BUFFERED_PARTS: u64 = 8;

/// Whether a request that is stated to take `done_in` at most may have needed only a buffer.
pub(super) fn is_buffered(took: Span, done_in: Span) -> bool {
    took < done_in / BUFFERED_PARTS
}

/// The measured time of a completed request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    pub(super) took: Span,
    /// What is stated for it where it lies, or `done_in` without a cost model.
    pub(super) stated: Span,
    /// The stated time at most, wherever the request lies and whether it reads or writes.
    pub(super) done_in: Span,
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
    pub(super) fn is_taken_in(&self) -> bool {
        self.was_alone && self.is_buffered()
    }

    /// Whether the request may have needed only a buffer.
    pub(super) fn is_buffered(&self) -> bool {
        is_buffered(self.took, self.done_in)
    }

    /// Whether the request takes no longer than stated by itself: what it took beyond that, it
    /// waited.
    pub(super) fn is_bounded(&self) -> bool {
        self.is_told && self.was_alone
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
        let (was_alone, is_told) = (true, true);
        let (is_overlong_read, is_picked) = (false, false);
        Self { took, stated, done_in, is_overlong_read, was_alone, is_picked, is_told }
    }
}

//! How long a group thinks.

use super::mean::Mean;
use fairdisk_core::Span;

/// Mean think times of a group after a request and after a flush. A task that has each write
/// flushed often thinks after only one of the two, and its mean over both would fit neither.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Think {
    after_request: Mean,
    after_flush: Mean,
    /// Whether a flush was done last.
    flushed: bool,
}

impl Think {
    /// Notes that a request or a flush of the group is done.
    #[inline]
    pub(super) const fn begins(&mut self, flushed: bool) {
        self.flushed = flushed;
    }

    /// Notes that the group has thought for this long.
    pub(super) const fn add(&mut self, thought: Span) {
        match self.flushed {
            true => self.after_flush.add(thought),
            false => self.after_request.add(thought),
        }
    }

    /// How long the group thinks after what was done last; `None` if it never has.
    pub(super) const fn get(&self) -> Option<Span> {
        if self.flushed { self.after_flush.get() } else { self.after_request.get() }
    }

    /// How long the group thinks after what was done last, or zero.
    pub(super) const fn or_zero(&self) -> Span {
        if self.flushed { self.after_flush.or_zero() } else { self.after_request.or_zero() }
    }
}

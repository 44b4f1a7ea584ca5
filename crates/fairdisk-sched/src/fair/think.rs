//! How long a group thinks.

use super::mean::Mean;
use fairdisk_core::Span;

/// Mean think times of a group after a request and after a flush. A task that has each write
/// flushed often thinks after only one of the two, and its mean over both would fit neither.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Think {
    after_request: Kind,
    after_flush: Kind,
    /// What was done last.
    last: Done,
}

/// What a group may think after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Done {
    #[default]
    Request,
    Flush,
}

/// Mean think times after one of the two. A task that does several requests and then pauses has
/// two kinds of think times, and their mean fits neither.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    /// Of all.
    usual: Mean,
    /// Of those after the group left a turn early, and of those that outlasted the usual wait;
    /// without a cap.
    pause: Mean,
}

impl Think {
    /// Notes what is done, so that the group thinks after that.
    #[inline]
    pub(super) const fn begins_after(&mut self, done: Done) {
        self.last = done;
    }

    /// What was done last.
    pub(super) const fn last(&self) -> Done {
        self.last
    }

    const fn kind(&self) -> &Kind {
        match self.last {
            Done::Request => &self.after_request,
            Done::Flush => &self.after_flush,
        }
    }

    const fn kind_mut(&mut self) -> &mut Kind {
        match self.last {
            Done::Request => &mut self.after_request,
            Done::Flush => &mut self.after_flush,
        }
    }

    /// Notes that the group has thought for this long.
    pub(super) const fn add(&mut self, thought: Span) {
        self.kind_mut().usual.add(thought);
    }

    /// Notes that this was a pause.
    pub(super) const fn add_pause(&mut self, pause: Span) {
        self.kind_mut().pause.add(pause);
    }

    /// How long the group thinks after what was done last; `None` if it never has.
    pub(super) const fn get(&self) -> Option<Span> {
        self.kind().usual.get()
    }

    /// How long its pauses are after what was done last; `None` if it never had one.
    pub(super) const fn pause(&self) -> Option<Span> {
        self.kind().pause.get()
    }

    /// How long the group thinks after what was done last, or zero.
    pub(super) const fn or_zero(&self) -> Span {
        self.kind().usual.or_zero()
    }
}

//! Merging: what a queued request may take in, and that it has.

use crate::request::{Bio, Request, RequestId};
use crate::time::Instant;

/// How queued requests grow. By default a request takes in what adjoins it of its group, if both
/// are synchronous or neither is.
pub trait Merging {
    /// Whether `bio` may be merged into the queued `request` it adjoins.
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        request.sync == bio.sync && request.group == bio.group
    }

    /// Whether the queued `request` may absorb `next`, which is queued and begins where it ends.
    /// Asked after [`may_merge`](Self::may_merge) with all of `next` as one bio.
    fn may_absorb(&self, _request: &Request, _next: &Request) -> bool {
        true
    }

    /// Reports that a queued request has grown by a merge; `request` is its new state.
    fn merged(&mut self, _now: Instant, _request: &Request, _how: Merge) {}

    /// Asked after a front merge has moved the queued request `moved`: the request queued earlier
    /// at the same position, if it must go straight to the dispatch list as in
    /// [`Admission::Displaces`](super::Admission::Displaces).
    fn displaced(&mut self, _now: Instant, _moved: RequestId) -> Option<RequestId> {
        None
    }
}

/// How a queued request has grown: the argument of [`Merging::merged`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// A bio was appended.
    Back,
    /// A bio was prepended, so the request's start position changed.
    Front,
    /// The bios of `absorbed` were appended; that request has been withdrawn.
    Absorbed {
        /// The withdrawn request.
        absorbed: RequestId,
        /// When the withdrawn request arrived.
        arrived: Instant,
    },
}

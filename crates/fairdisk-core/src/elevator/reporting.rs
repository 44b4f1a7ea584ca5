//! What reports tell of an elevator. Nothing here decides anything.

use crate::request::GroupId;
use crate::time::{Instant, Span};
use crate::why::Why;

/// What an elevator knows beyond the engine's accounts. By default nothing.
pub trait Reporting {
    /// The total length of the turns of `group`, idle waits for its tasks included: the value of
    /// `blkio.time`. `None` if the elevator does not charge groups by time.
    fn charged(&self, _group: GroupId) -> Option<Span> {
        None
    }

    /// How long the device has worked on writes of `group` after it had acknowledged them, while it
    /// served others or was kept free, as far as the elevator has found that out and charged it.
    /// That time is part of no request of the group. `None` if the elevator does not look.
    fn deferred(&self, _group: GroupId) -> Option<Span> {
        None
    }

    /// Why nothing that `group` has queued may be dispatched at the moment, although the device may
    /// serve other groups: the group is at its ceiling, say. `None` if nothing but its place in
    /// line keeps it back. Asked only to explain a run.
    fn held_back(&self, _now: Instant, _group: GroupId) -> Option<Why> {
        None
    }

    /// Checks that every account is the sum of what it counts. It may look at everything, so only
    /// an [`Auditor`](crate::Auditor) asks.
    ///
    /// # Panics
    /// If an account is wrong.
    fn check_accounts(&self) {}
}

//! The time, for what nobody else tells it to.

use fairdisk_core::Instant;
use fairdisk_plane::{Clock as _, MonotonicClock};
use std::sync::LazyLock;

static CLOCK: LazyLock<MonotonicClock> = LazyLock::new(MonotonicClock::start);

/// The time since this was asked first.
pub(crate) fn now() -> Instant {
    CLOCK.now()
}

//! A monotonic clock for code that is not given the time.

use fairdisk_core::Instant;
use fairdisk_plane::{Clock as _, MonotonicClock};
use std::sync::LazyLock;

static CLOCK: LazyLock<MonotonicClock> = LazyLock::new(MonotonicClock::start);

/// The time since the first call.
pub(crate) fn now() -> Instant {
    CLOCK.now()
}

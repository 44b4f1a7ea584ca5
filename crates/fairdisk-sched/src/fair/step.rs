//! The next step, which is a decision while at least one request is queued.

use fairdisk_core::{Instant, RequestId, Why};

/// A decision while at least one request is queued.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Dispatch(RequestId, Why),
    WaitUntil(Instant, Why),
    WaitCompletion(Why),
}

impl Step {
    /// A wait until then, or for a completion if that is no instant.
    pub(super) fn wait_until(until: Instant, why: Why) -> Self {
        match until {
            Instant::MAX => Self::WaitCompletion(why),
            _ => Self::WaitUntil(until, why),
        }
    }
}

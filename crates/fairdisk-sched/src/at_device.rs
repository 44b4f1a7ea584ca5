//! How many requests are at the device, for elevators that hold nothing back.

use fairdisk_core::{Decision, RequestId, Why};

/// The requests that were dispatched and are not done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AtDevice(u32);

impl AtDevice {
    /// None are.
    pub(crate) const NONE: Self = Self(0);

    /// Dispatches the next request; if there is none, waits for those at the device.
    pub(crate) fn decide(&mut self, next: Option<(RequestId, Why)>) -> Decision {
        match next {
            Some((id, why)) => {
                self.0 += 1;
                Decision::Dispatch(id, why)
            }
            None if self.0 > 0 => Decision::WaitCompletion(Why::NothingQueued),
            None => Decision::Idle,
        }
    }

    /// One is done.
    pub(crate) fn complete(&mut self) {
        debug_assert!(self.0 > 0, "more requests finished than were dispatched");
        self.0 -= 1;
    }
}

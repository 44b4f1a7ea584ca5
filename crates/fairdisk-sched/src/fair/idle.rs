//! What a stream pays for that has the array to itself.

use super::device::Device;
use super::requests::Rq;
use fairdisk_core::Span;

/// The time in a turn of a task that has the array to itself in which heads stood idle, as far as
/// it was not charged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Idle(Span);

impl Idle {
    /// What a request that took `elapsed`, when so many of its queue were there, costs in such a
    /// turn: what is stated, but no more than the heads that these requests need may have done, and
    /// no less than what one head did. Requests that complete together took the time before, too; a
    /// piece at another place did not.
    pub(super) fn cost_of(&mut self, device: &Device, rq: &Rq, elapsed: Span, there: u32) -> Span {
        if device.costs_as_elsewhere(rq) {
            return rq.dispatched.charged.min(elapsed);
        }
        let passed = self.0 + device.work_of_pieces(elapsed, rq, there);
        let cost = rq.dispatched.charged.min(passed).max(device.work_of_one_head(elapsed));
        self.0 = passed - cost;
        cost
    }
}

//! A disk that takes as many requests as it has places.

use fairdisk_core::{Decision, Driving, Elevator, Instant, RequestId};
use fairdisk_sched::fair::Fair;

/// Hands requests to the disk while fewer than `places` of them are `there`. Returns when to ask
/// again.
pub(crate) fn fill(
    elevator: &mut Fair,
    now: Instant,
    (mut there, places): (usize, usize),
    mut take: impl FnMut(RequestId),
) -> Option<Instant> {
    while there < places {
        match elevator.decide(now) {
            Decision::Dispatch(request, _) => {
                elevator.activate(now, request);
                take(request);
                there += 1;
            }
            Decision::WaitUntil(at, _) => return Some(at),
            _ => return None,
        }
    }
    None
}

//! Devices that serve several requests at once: start-time fair queueing with as many requests at
//! the device as it takes (Jin, Chase, Kaur, "Interposed proportional sharing for a storage service
//! utility", 2004: SFQ(D)). What a request costs is charged when it is dispatched.

use super::turn::Turn;
use super::{Fair, Step};
use fairdisk_core::{Instant, Span, Why};

impl Fair {
    /// What to do on a device that serves several requests at once.
    pub(super) fn step_queueing(&mut self, now: Instant) -> Step {
        loop {
            let Some(group) = self.tree.first() else { return self.wait_for_ceilings() };
            let queue = self.queues.first_of(now, group);
            let at = self.next_of(now, queue);
            if self.is_at_ceiling(now, at) {
                continue;
            }
            self.turn = Some(Turn::of_one(group, queue));
            return self.dispatch(now, at, Why::LeastServed);
        }
    }
}

impl Turn {
    /// A turn of one request.
    const fn of_one(group: u32, queue: u32) -> Self {
        let none = Span::ZERO;
        Self { group, queue, length: none, used: none, used_by_queue: none }
    }
}

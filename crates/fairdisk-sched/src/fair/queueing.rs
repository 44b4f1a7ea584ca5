//! Devices that serve several requests at once: start-time fair queueing with as many requests at
//! the device as it takes (Jin, Chase, Kaur, "Interposed proportional sharing for a storage service
//! utility", 2004: SFQ(D)). What a request costs is charged when it is dispatched.

use super::{Fair, Step};
use fairdisk_core::{Instant, Why};

impl Fair {
    /// What to do on a device that serves several requests at once.
    pub(super) fn step_queueing(&mut self, now: Instant) -> Step {
        loop {
            if let Some(group) = self.below_floor(now) {
                let at = self.next_of(now, self.queues.first_of(now, group));
                if !self.is_at_ceiling(now, at) {
                    return self.dispatch(now, at, Why::BelowFloor);
                }
                continue;
            }
            if let Some(step) = self.serve_target(now) {
                return step;
            }
            let Some(first) = self.tree.first() else { return self.wait_for_ceilings() };
            let Some(group) = self.admitted_by_depth(first) else {
                return Step::WaitCompletion(Why::DepthLimited);
            };
            let queue = self.queues.first_of(now, group);
            let at = self.next_of(now, queue);
            if self.is_at_ceiling(now, at) {
                continue;
            }
            self.give_turn(now, group, queue);
            return self.dispatch(now, at, Why::LeastServed);
        }
    }

    /// The group that may have a request at the device: the first, or one that the first is to
    /// make room for.
    fn admitted_by_depth(&self, first: u32) -> Option<u32> {
        let rule = &self.depth;
        if !rule.is_limiting() || rule.makes_room_for(first) {
            return Some(first);
        }
        if rule.may_go(&self.groups, self.in_flight) {
            return Some(first);
        }
        rule.first_behind(&self.groups).filter(|group| !self.tree.is_barred(*group))
    }
}

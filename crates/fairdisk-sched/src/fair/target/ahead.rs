//! Groups with latency targets that are too far ahead of their share to be served for it. Each is
//! looked at again when something has happened, a few at a time, and goes on once it is less far
//! ahead: to wait until it owes nothing would make its requests later than without a target.

use crate::fair::Fair;
use crate::fair::hierarchy::DEBT_MOST;
use alloc::collections::VecDeque;
use fairdisk_core::Instant;

/// How many groups are looked at after a request or flush is done.
const LOOKED_AT: usize = 4;

/// Those groups.
#[derive(Debug)]
pub(in crate::fair) struct Ahead {
    /// In the order in which they are looked at. Some may not wait any more.
    line: VecDeque<u32>,
    /// Whether something was done since some were looked at.
    is_due: bool,
}

impl Ahead {
    pub(in crate::fair) const fn new() -> Self {
        Self { line: VecDeque::new(), is_due: false }
    }

    /// Notes that something was done.
    pub(in crate::fair) const fn look_on(&mut self) {
        self.is_due = true;
    }
}

impl Fair {
    /// Notes that a group with a target is too far ahead.
    pub(in crate::fair) fn note_ahead(&mut self, group: u32) {
        let entry = &mut self.groups[group as usize];
        if !core::mem::replace(&mut entry.target.is_too_far_ahead, true) {
            self.promises.targets.ahead.line.push_back(group);
            self.promises.targets.needs_no_room(group);
        }
    }

    /// Lets groups that are no longer too far ahead be served for their targets again.
    pub(in crate::fair) fn look_at_ahead(&mut self, now: Instant) {
        if !core::mem::take(&mut self.promises.targets.ahead.is_due) {
            return;
        }
        for _ in 0..LOOKED_AT.min(self.promises.targets.ahead.line.len()) {
            let Some(group) = self.promises.targets.ahead.line.pop_front() else { return };
            let wants = self.wants_target(group);
            if wants && self.tree.is_ahead(group, DEBT_MOST) {
                self.promises.targets.ahead.line.push_back(group);
                continue;
            }
            self.groups[group as usize].target.is_too_far_ahead = false;
            if wants {
                self.target_wants(now, group);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fair::{Fair, FairParams};
    use crate::samples::request;
    use fairdisk_core::{
        Change, Completion, Decision, Elevator, GroupId, Instant, Op, Qos, Span, Why,
    };

    /// However many groups are too far ahead, one that is no longer is served for its target.
    #[test]
    fn who_is_no_longer_too_far_ahead_is_served_for_its_target() {
        let mut fair = Fair::new(&FairParams::default());
        fair.configure(Instant::ZERO, &Change::Rotational { rotational: false });
        let (mut now, service) = (Instant::ZERO, Span::from_ms(8));
        for group in 2..=20 {
            let qos = Qos { latency_p99: Some(Span::from_ms(10)), ..Qos::NONE };
            fair.configure(now, &Change::GroupQos { group: GroupId(group), qos });
        }
        for group in 1..=20 {
            fair.admit(now, &request(group, group, Op::Read, now));
        }
        let (mut for_target, mut by_share) = (0, 0);
        for _ in 0..2000 {
            let Decision::Dispatch(request_id, why) = fair.decide(now) else {
                panic!("it is idle")
            };
            let group = request_id.0;
            match why {
                Why::NearTarget => for_target += 1,
                _ => by_share += 1,
            }
            now += service;
            let completion = Completion { request: request_id, device_time: service, ok: true };
            fair.complete(now, &completion);
            fair.admit(now, &request(group, group, Op::Read, now));
        }
        // All want more than their share, so targets help as often as a group is behind by less
        // than what it may be ahead by: time and again, and not only at first.
        assert!(
            fair.promises.targets.ahead.line.len() <= 19,
            "each is there once: {}",
            fair.promises.targets.ahead.line.len()
        );
        assert!(for_target > 1000 && by_share > 50, "{for_target} {by_share}");
    }
}

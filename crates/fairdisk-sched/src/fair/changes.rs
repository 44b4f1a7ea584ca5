//! Changes from outside: groups and their settings, and the properties of the device.

use super::answer::FloorRoom;
use super::device::Device;
use super::{Fair, NIL};
use crate::groups::Nested;
use alloc::vec::Vec;
use fairdisk_core::{GroupId, Instant, Qos, Share, Span, WeightMap};

impl Fair {
    pub(super) fn set_share(&mut self, group: GroupId, share: Share) {
        self.tree.set_weight(group.0, share.weight(WeightMap::LinearHigh0));
    }

    pub(super) fn set_parent(&mut self, group: u32, parent: Option<u32>) {
        let outer: Vec<u32> = self.tree.path(group).skip(1).collect();
        let there = self.groups[group as usize].used.there;
        outer.iter().for_each(|outer| self.groups[*outer as usize].used.there.take(there));
        self.tree.set_parent(group, parent);
        self.tree
            .path(group)
            .skip(1)
            .for_each(|one| self.groups[one as usize].used.there.add(there));
        self.floors_want(group);
        // Floors inside the group may have waited for the ceiling of a group that is no longer
        // around them.
        outer.into_iter().for_each(|outer| self.barred_floors_want(outer));
    }

    pub(super) fn set_qos(&mut self, now: Instant, group: GroupId, qos: Qos) {
        let entry = &mut self.groups[group.0 as usize];
        entry.used.ceiling.change(now, &entry.qos, &qos);
        entry.used.done.change(now, &entry.qos, &qos);
        let before = core::mem::replace(&mut entry.qos, qos);
        self.promises.barred.changed(group.0, &before, &qos);
        self.set_floor(now, group.0, &before);
        self.release_barred(group.0);
        self.set_target(now, group.0, &before);
    }

    /// Changes what is known of the device. Groups are expected only on a device that serves
    /// several requests at once.
    pub(super) fn change_device(&mut self, now: Instant, change: impl FnOnce(&mut Device)) {
        let was = [self.device.is_serial(), self.device.is_measured()];
        change(&mut self.device);
        self.release_reserved_due(Instant::MAX);
        if [self.device.is_serial(), self.device.is_measured()] != was {
            self.device.forget_measured();
            self.device.cache.paid = Span::ZERO;
        }
        if self.device.is_serial() != was[0] {
            self.promises.floors.room_needed = FloorRoom::NONE;
            (0..self.groups.len() as u32).for_each(|group| self.expect(now, group, NIL));
        }
        let are_kept = self.params.rules.inside && !self.device.is_serial();
        self.queues.keep_places(are_kept, self.params.lag(self.device.rotational));
        self.set_round(now);
        self.device.backlog.device_changed(self.device.is_told());
        self.let_writes_go();
    }

    /// Removes a group. Its queued requests are still served; a new group with its number starts
    /// afresh.
    pub(super) fn remove_group(&mut self, now: Instant, group: GroupId) {
        self.set_share(group, Share::DEFAULT);
        self.set_qos(now, group, Qos::NONE);
        self.set_back(group.0, false);
        self.groups[group.0 as usize].forget();
        self.device.cache.forget_group(group.0);
        self.forget_commits(group.0);
        self.set_parent(group.0, None);
        self.expect(now, group.0, NIL);
        self.tree.forget(group.0);
        self.queues.group_removed(group.0);
        self.forget_free_queues();
        if let Some(turn) = &mut self.turn
            && turn.group == group.0
        {
            turn.kept_since = None;
        }
    }

    /// Drops references to queues that have been freed.
    pub(super) fn forget_free_queues(&mut self) {
        let is_free = |at: u32| self.queues.get(at).is_some_and(|queue| queue.group == NIL);
        if let Some(turn) = &mut self.turn
            && is_free(turn.queue)
        {
            turn.queue = NIL;
        }
        if is_free(self.device.cache.writer()) {
            self.device.cache.forget_writer();
        }
    }

    /// Frees a queue that may have lost its last request, if nobody can add to it any more.
    #[inline]
    pub(super) fn release_queue(&mut self, queue: u32) {
        if self.queues.release_if_done(queue) {
            self.forget_free_queues();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use crate::samples::request;
    use core::num::NonZeroU64;
    use fairdisk_core::{
        Change, Completion, Cost, CostModel, Elevator, Op, Promising, Rates, RequestId, Span,
    };

    fn dispatch(fair: &mut Fair, now: Instant, slot: u32) {
        fair.admit(now, &request(slot, 1, Op::Read, now));
        fair.decide(now);
    }

    fn complete(fair: &mut Fair, now: Instant, slot: u32) {
        let (request, device_time) = (RequestId(slot), Span::from_ms(1));
        fair.complete(now + device_time, &Completion { request, device_time, ok: true });
    }

    #[test]
    fn what_is_at_the_device_counts_for_the_groups_around_while_it_is() {
        let (now, mut fair) = (Instant::ZERO, Fair::new(&FairParams::default()));
        let mut tell = |change| fair.configure(now, &change);
        tell(Change::Depth { depth: 8 });
        let ceiling = Rates { iops: NonZeroU64::new(100), ..Rates::NONE };
        tell(Change::GroupQos { group: GroupId(3), qos: Qos { ceiling, ..Qos::NONE } });
        let move_to = |fair: &mut Fair, parent| {
            fair.configure(now, &Change::GroupParent { group: GroupId(1), parent });
        };
        let there = |fair: &Fair| [1, 2, 3].map(|group: usize| fair.groups[group].used.there.ios);
        move_to(&mut fair, Some(GroupId(2)));
        (0..3).for_each(|slot| dispatch(&mut fair, now, slot));
        assert_eq!(there(&fair), [3, 3, 0]);
        move_to(&mut fair, Some(GroupId(3)));
        complete(&mut fair, now, 0);
        assert_eq!(there(&fair), [2, 0, 2]);
        // After the last ceiling is gone and the depth has changed, requests at the device still
        // leave the count.
        fair.configure(now, &Change::GroupQos { group: GroupId(3), qos: Qos::NONE });
        fair.configure(now, &Change::Depth { depth: 1 });
        (1..3).for_each(|slot| complete(&mut fair, now, slot));
        assert_eq!(there(&fair), [0, 0, 0]);
    }

    /// Whether group 1, which has nothing queued and one request at the device, makes others leave
    /// room for it after the change.
    fn is_expected_after(change: Change) -> bool {
        let (now, mut fair) = (Instant::ZERO, Fair::new(&FairParams::default()));
        dispatch(&mut fair, now, 0);
        fair.configure(now, &change);
        fair.tree.is_there(1)
    }

    #[test]
    fn however_the_depth_is_told_groups_at_the_device_are_expected() {
        let costs = |depth| {
            let (saturation, alone) = (Span::from_ms(1), Span::from_ms(1));
            let cost = Cost { random: alone, ..Cost::default() };
            Change::Costs(CostModel { depth, saturation, alone, read: cost, write: cost })
        };
        assert!(is_expected_after(Change::Depth { depth: 8 }) && is_expected_after(costs(8)));
        assert!(!is_expected_after(costs(1)));
    }

    #[test]
    fn floors_can_be_examined_once_enough_requests_were_measured() {
        let (mut now, mut fair) = (Instant::ZERO, Fair::new(&FairParams::default()));
        let floor = Rates { iops: NonZeroU64::new(1_000_000), ..Rates::NONE };
        let floor = Change::GroupQos { group: GroupId(1), qos: Qos { floor, ..Qos::NONE } };
        assert_eq!(fair.accepts(&floor), Ok(()));
        for _ in 0..8 {
            assert!(!fair.examines_floors());
            dispatch(&mut fair, now, 0);
            complete(&mut fair, now, 0);
            now += Span::from_ms(5);
        }
        assert!(fair.examines_floors());
        assert!(fair.accepts(&floor).is_err());
    }

    #[test]
    fn reads_that_were_there_before_the_depth_changed_are_counted_once_or_never() {
        let (now, mut fair) = (Instant::ZERO, Fair::new(&FairParams::default()));
        let set_depth = |fair: &mut Fair, depth| fair.configure(now, &Change::Depth { depth });
        dispatch(&mut fair, now, 0);
        set_depth(&mut fair, 8);
        (1..4).for_each(|slot| dispatch(&mut fair, now, slot));
        complete(&mut fair, now, 0);
        assert_eq!(fair.device.cache.reads, 3);
        set_depth(&mut fair, 1);
        set_depth(&mut fair, 8);
        complete(&mut fair, now, 1);
        assert_eq!(fair.device.cache.reads, 2);
    }
}

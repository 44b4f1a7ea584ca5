//! What changes from outside: groups, what they are to have, and the device.

use super::Fair;
use crate::groups::Nested;
use alloc::vec::Vec;
use fairdisk_core::{GroupId, Instant, Qos, Share, WeightMap};

impl Fair {
    pub(super) fn set_share(&mut self, group: GroupId, share: Share) {
        self.tree.set_weight(group.0, share.weight(WeightMap::LinearHigh0));
    }

    pub(super) fn set_parent(&mut self, group: u32, parent: Option<u32>) {
        let outer: Vec<u32> = self.tree.path(group).skip(1).collect();
        self.tree.set_parent(group, parent);
        self.floors_want(group);
        // What lies in the group may be barred no longer.
        outer.into_iter().for_each(|outer| self.barred_floors_want(outer));
    }

    pub(super) fn set_qos(&mut self, now: Instant, group: GroupId, qos: Qos) {
        let entry = &mut self.groups[group.0 as usize];
        entry.ceiling.change(now, &entry.qos.ceiling, &qos.ceiling);
        let before = core::mem::replace(&mut entry.qos, qos);
        self.barred.changed(&before.ceiling, &qos.ceiling);
        self.set_floor(now, group.0, &before);
        self.release_barred(group.0);
        self.set_target(now, group.0, &before);
    }

    /// Groups are expected where several requests are served at once, and only there.
    pub(super) fn set_depth(&mut self, now: Instant, depth: u32) {
        let was_serial = self.device.is_serial();
        self.device.depth = depth.max(1);
        if self.device.is_serial() != was_serial {
            (0..self.groups.len() as u32).for_each(|group| self.expect(now, group));
        }
    }

    /// What the group still has queued is served; whoever gets its number starts afresh.
    pub(super) fn remove_group(&mut self, now: Instant, group: GroupId) {
        self.set_share(group, Share::DEFAULT);
        self.set_qos(now, group, Qos::NONE);
        self.groups[group.0 as usize].forget();
        self.cache.forget_group(group.0);
        self.set_parent(group.0, None);
        self.expect(now, group.0);
        self.returning.forget(group.0);
        self.tree.forget(group.0);
        self.queues.group_removed(group.0);
        self.forget_free_queues();
        if let Some(turn) = &mut self.turn
            && turn.group == group.0
        {
            turn.kept_since = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use fairdisk_core::{
        Change, Completion, Elevator, Flags, IoPrio, Lba, Op, Request, RequestId, Sectors, Span,
        TaskId,
    };

    #[test]
    fn reads_that_were_there_before_the_depth_changed_are_counted_once_or_never() {
        let (now, mut fair) = (Instant::ZERO, Fair::new(&FairParams::default()));
        let set_depth = |fair: &mut Fair, depth| fair.configure(now, &Change::Depth { depth });
        let dispatch = |fair: &mut Fair, slot| {
            let (id, task, group) = (RequestId(slot), TaskId(slot), GroupId(1));
            let (op, start, sectors) = (Op::Read, Lba(u64::from(slot) << 10), Sectors(8));
            let (flags, ioprio) = (Flags::NONE, IoPrio::UNSET);
            let request = Request {
                id,
                task,
                group,
                op,
                start,
                sectors,
                sync: true,
                flags,
                ioprio,
                arrived: now,
            };
            fair.admit(now, &request);
            fair.decide(now);
        };
        let complete = |fair: &mut Fair, slot| {
            let (request, device_time) = (RequestId(slot), Span::from_ms(1));
            fair.complete(now + device_time, &Completion { request, device_time, ok: true });
        };
        dispatch(&mut fair, 0);
        set_depth(&mut fair, 8);
        (1..4).for_each(|slot| dispatch(&mut fair, slot));
        complete(&mut fair, 0);
        assert_eq!(fair.cache.reads, 3);
        set_depth(&mut fair, 1);
        set_depth(&mut fair, 8);
        complete(&mut fair, 1);
        assert_eq!(fair.cache.reads, 2);
    }
}

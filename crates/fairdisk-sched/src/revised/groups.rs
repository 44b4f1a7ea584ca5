//! The groups, and which of them has the disk next. Each is charged the time that its queues use,
//! divided by its weight (spec: cfq, section 4.3).

use super::group::Group;
use super::state::State;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::queue::NIL;
use crate::cfq::switches::Switches;
use crate::slab::Slab;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{GroupId, Share, Span, Weight, WeightMap, dense};

/// The only group, or the root group if there are more.
pub(super) const ROOT: u32 = 0;

/// `blkio.weight`: the default, and the weight of the root group.
pub(super) const WEIGHT_DEFAULT: u64 = 500;
const WEIGHT_ROOT: u64 = 1000;

/// Fractional bits of the time charged to groups.
const SERVICE_SHIFT: u32 = 12;

/// A share as a `blkio.weight`: five times the [`Weight`], within the range.
fn blkio_weight(group: GroupId, share: Share) -> u64 {
    if group == GroupId::ROOT && share == Share::DEFAULT {
        return WEIGHT_ROOT;
    }
    let weight = Weight::BLKIO_SCALE * share.weight(WeightMap::LinearHigh0).get();
    let [min, max] = Weight::BLKIO_RANGE;
    weight.clamp(min, max).into()
}

/// The charge for `time` jiffies at the given weight.
fn scaled(time: Jiffies, weight: u64) -> u64 {
    ((time as u64) << SERVICE_SHIFT) * WEIGHT_DEFAULT / weight
}

/// All groups; those with queues are sorted by charge.
#[derive(Debug)]
pub(super) struct Groups {
    all: Slab<Group>,
    /// The index of each group, by its number; `NIL` if unknown.
    by_id: Vec<u32>,
    order: Forest<u64>,
    tree: Tree,
    /// A lower bound of the charges of the groups with queues.
    least: u64,
    /// Total weight of the groups with queues.
    weights: u64,
}

impl Groups {
    pub(super) fn new() -> Self {
        let mut all = Slab::new();
        let root = all.put(Group::new(WEIGHT_ROOT));
        debug_assert_eq!(root, ROOT);
        Self {
            all,
            by_id: vec![ROOT],
            order: Forest::new(),
            tree: Tree::new(),
            least: 0,
            weights: 0,
        }
    }

    pub(super) const fn len(&self) -> u32 {
        self.all.len()
    }

    /// The index of a group, if it is known.
    pub(super) fn find(&self, group: GroupId) -> Option<u32> {
        self.by_id.get(group.0 as usize).copied().filter(|at| *at != NIL)
    }

    /// The index of a group, which is created if needed.
    pub(super) fn find_or_make(&mut self, group: GroupId) -> u32 {
        self.find(group).unwrap_or_else(|| self.make(group, Share::DEFAULT))
    }

    fn make(&mut self, group: GroupId, share: Share) -> u32 {
        let at = self.all.put(Group::new(blkio_weight(group, share)));
        *dense::entry(&mut self.by_id, group.0, || NIL) = at;
        at
    }

    /// Sets the share of a group. A group that has queues already is only changed with `live`.
    pub(super) fn set_share(&mut self, group: GroupId, share: Share, live: bool) {
        let Some(at) = self.find(group) else {
            self.make(group, share);
            return;
        };
        if live || self[at].homes == 0 {
            let weight = blkio_weight(group, share);
            let before = core::mem::replace(&mut self[at].weight, weight);
            if self.order.contains(at) {
                self.weights = self.weights - before + weight;
            }
        }
    }

    /// Removes a group. Its queued requests are still served.
    pub(super) fn remove(&mut self, group: GroupId) {
        if let Some(at) = self.find(group).filter(|at| *at != ROOT) {
            self.by_id[group.0 as usize] = NIL;
            self[at].gone = true;
            self.release_if_done(at);
        }
    }

    /// Counts a queue created for a group.
    pub(super) fn adopt(&mut self, at: u32) {
        self[at].homes += 1;
    }

    /// Counts a freed queue of a group, and frees a removed group after its last queue.
    pub(super) fn abandon(&mut self, at: u32) {
        self[at].homes -= 1;
        self.release_if_done(at);
    }

    fn release_if_done(&mut self, at: u32) {
        if self[at].gone && self[at].homes == 0 {
            self[at].gone = false;
            self.all.free(at);
        }
    }

    // ---- whose turn ----------------------------------------------------------------------

    /// Adds a group that has got its first queue to the order.
    pub(super) fn join(&mut self, at: u32, hz: Jiffies) {
        let last = self.order.last(&self.tree).map(|last| self.order.key(last));
        let charged = last.map_or(self.least, |last| last + hz as u64 / 5);
        self.weights += self[at].weight;
        self.order.insert(&mut self.tree, at, charged);
    }

    /// Removes a group without queues from the order and forgets its saved workload.
    pub(super) fn leave(&mut self, at: u32) {
        self.weights -= self[at].weight;
        self.order.remove(&mut self.tree, at);
        self[at].saved = None;
    }

    /// The group that has been charged least.
    pub(super) fn first(&self) -> Option<u32> {
        self.order.first(&self.tree)
    }

    fn charge(&mut self, at: u32, time: Jiffies, weight: u64) {
        if !self.order.contains(at) {
            return;
        }
        let charged = self.order.key(at) + scaled(time, weight);
        self.order.set_key(&mut self.tree, at, charged);
        let first = self.first().map_or(charged, |first| self.order.key(first));
        self.least = self.least.max(first);
    }

    /// The part of `whole` that corresponds to a group's weight.
    pub(super) fn part_of(&self, at: u32, whole: Jiffies, on: &Switches) -> Jiffies {
        if !on.group_latency || self.weights == 0 {
            return whole;
        }
        (whole as u64 * self[at].weight / self.weights) as Jiffies
    }
}

impl Index<u32> for Groups {
    type Output = Group;
    fn index(&self, at: u32) -> &Group {
        &self.all[at]
    }
}

impl IndexMut<u32> for Groups {
    fn index_mut(&mut self, at: u32) -> &mut Group {
        &mut self.all[at]
    }
}

impl State {
    /// Charges a queue's turn to its group.
    pub(super) fn charge_turn(&mut self, now: Jiffies, queue: u32) {
        if !self.on.group_charge {
            return;
        }
        let q = &self.queues[queue];
        let group = &self.groups[q.place.group];
        let only_async = group.queues == group.async_queues;
        let all = self.on.async_share_global && !q.sync && only_async;
        let time = if all { q.slice_length } else { q.used(now) };
        let weight = if self.on.group_weight { group.weight } else { WEIGHT_DEFAULT };
        let at = q.place.group;
        self.groups.charge(at, time, weight);
        self.groups[at].turns += time as u64;
        self.save_workload(now, at);
    }

    /// The total length of a group's turns; `None` if groups are not charged.
    pub(super) fn charged(&self, group: GroupId) -> Option<Span> {
        if !self.on.group_charge || !self.on.cgroup_groups {
            return None;
        }
        let turns = self.groups.find(group).map_or(0, |at| self.groups[at].turns);
        Some(Span::from_ns(turns * 1_000_000_000 / self.tunables.hz as u64))
    }

    /// The group whose turn it is.
    pub(super) fn next_group(&self) -> u32 {
        if self.on.cgroup_groups { self.groups.first().unwrap_or(ROOT) } else { ROOT }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: cfq, section 8.
    #[test]
    fn golden_charges() {
        assert_eq!([500, 1000, 100].map(|w| scaled(100, w)), [409_600, 204_800, 2_048_000]);
    }

    #[test]
    fn weights_are_five_times_the_common_scale() {
        let weight = |weight| Weight::new(weight).map(Share::Weight).expect("on the scale");
        let of = |share| blkio_weight(GroupId(1), share);
        assert_eq!([1, 50, 100, 10_000].map(|it| of(weight(it))), [100, 250, 500, 1000]);
        assert_eq!([0, 4, 7].map(|it| of(Share::Priority(it))), [1000, 500, 125]);
        assert_eq!(blkio_weight(GroupId::ROOT, Share::DEFAULT), 1000);
    }

    /// A new group is placed behind all others, or at the charge that the last one left at.
    #[test]
    fn groups_come_in_line_by_what_they_were_charged() {
        let mut groups = Groups::new();
        let (a, b) = (groups.find_or_make(GroupId(1)), groups.find_or_make(GroupId(2)));
        groups.join(a, 1000);
        groups.charge(a, 10, 500);
        groups.join(b, 1000);
        assert_eq!(groups.first(), Some(a));
        assert_eq!(groups.order.key(b) - groups.order.key(a), 200);
        groups.charge(a, 1, 500);
        assert_eq!(groups.first(), Some(b));
        assert_eq!(groups.part_of(a, 300, &Switches::NONE), 300);
        let on = Switches { group_latency: true, ..Switches::NONE };
        assert_eq!(groups.part_of(a, 300, &on), 150);
        groups.leave(b);
        groups.leave(a);
        groups.join(b, 1000);
        assert_eq!(groups.order.key(b), groups.least);
    }

    #[test]
    fn a_group_that_is_gone_makes_room_when_its_queues_are() {
        let mut groups = Groups::new();
        let a = groups.find_or_make(GroupId(3));
        groups.adopt(a);
        groups.remove(GroupId(3));
        let b = groups.find_or_make(GroupId(3));
        assert_ne!(a, b, "it starts afresh");
        groups.abandon(a);
        assert_eq!(groups.find_or_make(GroupId(7)), a);
    }
}

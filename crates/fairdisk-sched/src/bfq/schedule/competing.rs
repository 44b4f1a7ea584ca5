//! Which queues compete for the disk, and whether all of them are to get the same, so that nobody
//! needs to be waited for (Documentation/block/bfq-iosched.rst, section 2). A queue competes while
//! it has requests, queued or at the device: on a device that takes many, none may be queued.
//!
//! The documentation makes the children of each group share what the group gets (section 4-1).
//! Queues of equal weight in groups of equal weight are therefore due the same only if, inside each
//! group, all children contain as many competing queues.

use super::{CLASSES, Entity, GROUP_WEIGHT_MAX, NIL, Schedule};
use alloc::vec::Vec;

/// Weight per priority level, and the number of weight classes of queues that are told apart: none,
/// eight levels, raised.
const LEVEL_WEIGHT: usize = 10;
const QUEUE_WEIGHTS: usize = 10;
const QUEUE_KINDS: usize = QUEUE_WEIGHTS * CLASSES;

/// The competing entities of the whole schedule.
#[derive(Debug)]
pub(super) struct Variety {
    /// Entities per weight class, for queues and for groups.
    counts: [Vec<u32>; 2],
    /// Weight classes in use, for queues and for groups.
    different: [u32; 2],
    /// Nodes whose children are not all due the same for each of their queues.
    uneven: u32,
    /// Nodes with queues directly inside.
    nodes: u32,
}

/// The competing children of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Children {
    /// Queues and groups.
    kinds: [u64; 2],
    /// The sum of the queues that each child contains, and the sum of the squares.
    pub(super) queues: u64,
    squares: u64,
}

impl Variety {
    pub(super) fn new() -> Self {
        let counts = [QUEUE_KINDS, GROUP_WEIGHT_MAX + 1].map(|kinds| alloc::vec![0; kinds]);
        Self { counts, different: [0; 2], uneven: 0, nodes: 0 }
    }

    fn enter(&mut self, (kind, at): (usize, usize)) {
        self.counts[kind][at] += 1;
        self.different[kind] += u32::from(self.counts[kind][at] == 1);
    }

    fn leave(&mut self, (kind, at): (usize, usize)) {
        self.counts[kind][at] -= 1;
        self.different[kind] -= u32::from(self.counts[kind][at] == 0);
    }

    /// Whether weights differ.
    pub(super) const fn is_asymmetric(&self) -> bool {
        let [queues, groups] = self.different;
        queues > 1 || groups > 1
    }

    /// Whether groups are not due the same for each of their queues.
    pub(super) const fn is_uneven(&self) -> bool {
        self.uneven > 0
    }

    pub(super) const fn nodes(&self) -> u32 {
        self.nodes
    }

    pub(super) fn raised(&self) -> u32 {
        self.counts[0][(QUEUE_WEIGHTS - 1) * CLASSES..].iter().sum()
    }
}

impl Children {
    /// Replaces a child of this kind that contained `before` queues by one that contains `after`.
    fn replace(&mut self, kind: usize, before: u64, after: u64) {
        self.kinds[kind] += u64::from(after > 0);
        self.kinds[kind] -= u64::from(before > 0);
        self.queues = self.queues + after - before;
        self.squares = self.squares + after * after - before * before;
    }

    pub(super) const fn has_queues(&self) -> bool {
        self.kinds[0] > 0
    }

    /// Whether there are queues beside groups, or children with different numbers of queues: only
    /// of equal numbers is the mean of the squares the square of the mean.
    const fn is_uneven(&self) -> bool {
        let [queues, groups] = self.kinds;
        let all_alike = (queues + groups) * self.squares == self.queues * self.queues;
        (queues > 0 && groups > 0) || !all_alike
    }
}

impl Schedule {
    /// Counts a queue that has got requests.
    pub(in super::super) fn compete(&mut self, queue: u32) {
        if self.entities[queue].counted.is_none() {
            self.count(queue, 0, 1);
        }
    }

    /// Counts a queue no longer: it has no requests, queued or at the device.
    pub(in super::super) fn retire(&mut self, queue: u32) {
        if self.entities[queue].counted.is_some() {
            self.count(queue, 1, 0);
        }
    }

    /// How many competing queues the entity is or contains.
    pub(super) fn competing(&self, entity: u32) -> u64 {
        let it = &self.entities[entity];
        match self.nodes.get(it.node as usize) {
            Some(node) => node.children.queues,
            None => u64::from(it.counted.is_some()),
        }
    }

    /// Counts the entity, which contained `before` competing queues, as one with `after`, and the
    /// groups around it accordingly.
    pub(super) fn count(&mut self, entity: u32, before: u64, after: u64) {
        let (mut entity, mut before, mut after) = (entity, before, after);
        while entity != NIL {
            let it = &mut self.entities[entity];
            let (kind, _) = it.variety();
            if let Some(at) = it.counted.filter(|_| after == 0) {
                self.variety.leave((kind, at));
                it.counted = None;
            } else if it.counted.is_none() && after > 0 {
                let variety = it.variety();
                self.variety.enter(variety);
                it.counted = Some(variety.1);
            }
            let node = &mut self.nodes[it.parent as usize];
            let (queues, uneven) = (node.children.queues, node.children.is_uneven());
            let had_queues = node.children.has_queues();
            node.children.replace(kind, before, after);
            self.variety.nodes -= u32::from(had_queues);
            self.variety.nodes += u32::from(node.children.has_queues());
            self.variety.uneven -= u32::from(uneven);
            self.variety.uneven += u32::from(node.children.is_uneven());
            (entity, before, after) = (node.entity, queues, node.children.queues);
        }
    }

    /// Counts the entity by its present weight and class if it was counted by other ones.
    pub(super) fn recount(&mut self, entity: u32) {
        let it = &mut self.entities[entity];
        let (kind, at) = it.variety();
        if let Some(before) = it.counted.filter(|before| *before != at) {
            self.variety.leave((kind, before));
            self.variety.enter((kind, at));
            it.counted = Some(at);
        }
    }
}

impl Entity {
    /// The kind (queue or group) and the index under which a competing entity is counted: a group
    /// by weight, a queue by class and level, with all raised weights as one level.
    fn variety(&self) -> (usize, usize) {
        if self.node != NIL {
            return (1, self.weight as usize);
        }
        let level = (self.weight as usize / LEVEL_WEIGHT).min(QUEUE_WEIGHTS - 1);
        (0, level * CLASSES + self.class)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::switches::Switches;
    use super::super::ROOT;
    use super::*;
    use fairdisk_core::IoClass;

    /// A schedule with groups 1 and 2, group 3 in 1 and group 4 in 2, and a queue in each of these
    /// groups.
    fn with_queues(groups: &[u32]) -> (Schedule, Vec<u32>) {
        let mut schedule = Schedule::new();
        (1..=4).for_each(|group| schedule.make_group(group, 100));
        schedule.set_parent(3, 1);
        schedule.set_parent(4, 2);
        let make = |group: &u32| {
            let queue = schedule.make_queue(*group, IoClass::BestEffort, 40);
            schedule.compete(queue);
            queue
        };
        let queues = groups.iter().map(make).collect();
        (schedule, queues)
    }

    #[test]
    fn all_are_due_the_same_if_children_contain_as_many_queues() {
        for (groups, asymmetric) in [
            (&[ROOT, ROOT][..], false),
            (&[1, 2], false),
            (&[1, 1, 2, 2], false),
            (&[1, 2, 2], true),
            (&[ROOT, 1], true),
            (&[3, 4], false),
            (&[3, 3, 2, 2], false),
            (&[3, 4, 4], true),
            (&[1, 3], true),
        ] {
            let (schedule, _) = with_queues(groups);
            assert_eq!(schedule.is_asymmetric(&Switches::NONE), asymmetric, "queues in {groups:?}");
        }
    }

    #[test]
    fn a_group_that_moves_takes_its_queues_with_it() {
        let (mut schedule, queues) = with_queues(&[3, 3, 2]);
        assert!(schedule.is_asymmetric(&Switches::NONE));
        schedule.set_parent(3, 2);
        assert!(schedule.is_asymmetric(&Switches::NONE), "a group beside a queue");
        schedule.retire(queues[2]);
        assert!(!schedule.is_asymmetric(&Switches::NONE));
        schedule.begin_group(3);
        assert_eq!([1, 2, 3].map(|group| schedule.nodes[group].children.queues), [0, 0, 2]);
        queues[..2].iter().for_each(|queue| schedule.retire(*queue));
        assert_eq!(schedule.variety.counts.concat().iter().sum::<u32>(), 0);
        assert_eq!((schedule.variety.different, schedule.variety.uneven), ([0; 2], 0));
    }
}

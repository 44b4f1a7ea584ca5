//! A group's service trees, and the number of queues in them (spec: cfq, sections 4.1, 4.4, 4.5).

use super::queue::Queue;
use super::workload::Saved;
use crate::cfq::switches::Switches;
use fairdisk_core::IoClass;
use fairdisk_core::tree::Tree;

/// The kind of tree for asynchronous queues.
pub(super) const ASYNC: usize = 0;
/// The kind of tree for synchronous queues for which the disk does not idle.
pub(super) const NOIDLE: usize = 1;
/// The kind of tree for synchronous queues for which the disk may idle.
pub(super) const SYNC: usize = 2;
const KINDS: usize = 3;

/// Index of the class by rank, in the order of service.
pub(super) const BEST_EFFORT: usize = IoClass::BestEffort.rank();
pub(super) const IDLE: usize = IoClass::Idle.rank();
const CLASSES: usize = IoClass::RANKS;

/// The only tree of the idle class.
const IDLE_TREE: usize = IDLE * KINDS;
const TREES: usize = IDLE_TREE + 1;

/// The tree of a kind of queue in a class.
pub(super) const fn tree_number(class: usize, kind: usize) -> usize {
    if class == IDLE { IDLE_TREE } else { class * KINDS + kind }
}

/// The tree to which a queue belongs in its present state.
pub(super) const fn tree_of(queue: &Queue, on: &Switches) -> usize {
    if !on.class_trees {
        return tree_number(BEST_EFFORT, SYNC);
    }
    let kind = match (on.noidle_trees, queue.sync, queue.idle_window) {
        (true, false, _) => ASYNC,
        (true, true, false) => NOIDLE,
        _ => SYNC,
    };
    tree_number(queue.priority.class.rank(), kind)
}

/// Whether it is a tree of queues for which the disk does not idle.
pub(super) const fn is_noidle(tree: usize) -> bool {
    tree != IDLE_TREE && tree % KINDS == NOIDLE
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) trees: [Tree; TREES],
    /// Queues in all trees.
    pub(super) queues: u32,
    /// Asynchronous queues in all trees.
    pub(super) async_queues: u32,
    /// Queues in the trees of each class.
    busy: [u32; CLASSES],
    /// A slowly decaying mean of `busy`, updated at the start of each slice.
    average: [u32; CLASSES],
    /// The group's `blkio.weight`.
    pub(super) weight: u64,
    /// The workload being served when the group lost the disk, if it had time left.
    pub(super) saved: Option<Saved>,
    /// The total length of the group's turns, in jiffies.
    pub(super) turns: u64,
    /// Queues created for the group.
    pub(super) homes: u32,
    /// Whether the group has been removed, so that it can be freed with its last queue.
    pub(super) gone: bool,
}

impl Group {
    pub(super) const fn new(weight: u64) -> Self {
        Self {
            trees: [const { Tree::new() }; TREES],
            queues: 0,
            async_queues: 0,
            busy: [0; CLASSES],
            average: [0; CLASSES],
            weight,
            saved: None,
            turns: 0,
            homes: 0,
            gone: false,
        }
    }

    /// Counts a queue that enters one of the trees.
    pub(super) fn enter(&mut self, class: usize, sync: bool) {
        self.queues += 1;
        self.async_queues += u32::from(!sync);
        self.busy[class] += 1;
    }

    /// Counts a queue that leaves its tree.
    pub(super) fn leave(&mut self, class: usize, sync: bool) {
        self.queues -= 1;
        self.async_queues -= u32::from(!sync);
        self.busy[class] -= 1;
    }

    /// The class to serve: the best one with a queue.
    pub(super) fn first_class(&self) -> usize {
        (0..CLASSES).find(|class| self.busy[*class] > 0).unwrap_or(IDLE)
    }

    /// The trees of a class, in the order of preference among equal first keys.
    pub(super) fn trees_of(class: usize) -> impl Iterator<Item = usize> {
        let kinds = if class == IDLE { 0..1 } else { 0..KINDS };
        kinds.map(move |kind| tree_number(class, kind))
    }

    /// All trees, in the order in which they are drained.
    pub(super) fn all_trees() -> impl Iterator<Item = usize> {
        (0..CLASSES).flat_map(Self::trees_of)
    }

    /// The number of queues of a class to plan a workload for.
    pub(super) fn planned(&self, class: usize) -> u32 {
        self.average[class].max(self.busy[class]).max(1)
    }

    /// Updates and returns the mean number of queues when a slice begins. It rises quickly and
    /// falls slowly.
    pub(super) fn update_average(&mut self, class: usize) -> u32 {
        let (average, busy) = (self.average[class], self.busy[class]);
        self.average[class] = (3 * average.max(busy) + average.min(busy) + 2) / 4;
        self.average[class]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Spec: cfq, section 8.
    #[test]
    fn golden_averages() {
        let mut group = Group::new(500);
        let mut averages = |busy: u32, times: usize| -> Vec<u32> {
            group.busy[BEST_EFFORT] = busy;
            (0..times).map(|_| group.update_average(BEST_EFFORT)).collect()
        };
        assert_eq!(averages(16, 4), [12, 15, 16, 16]);
        assert_eq!(averages(1, 8), [12, 9, 7, 6, 5, 4, 3, 3]);
    }
}

//! A group: its service trees and how many queues are in them (spec: cfq, sections 4.1, 4.4, 4.5).

use super::queue::Queue;
use super::workload::Saved;
use crate::cfq::switches::Switches;
use fairdisk_core::IoClass;
use fairdisk_core::tree::Tree;

/// Trees of a class: by what its queues are.
pub(super) const ASYNC: usize = 0;
/// Synchronous queues that are not waited for.
pub(super) const NOIDLE: usize = 1;
/// Synchronous queues that are.
pub(super) const SYNC: usize = 2;
const KINDS: usize = 3;

/// Classes by rank, which is the order in which they are served.
pub(super) const BEST_EFFORT: usize = IoClass::BestEffort.rank();
pub(super) const IDLE: usize = IoClass::Idle.rank();
const CLASSES: usize = IoClass::RANKS;

/// The tree of the idle class.
const IDLE_TREE: usize = IDLE * KINDS;
const TREES: usize = IDLE_TREE + 1;

/// The tree for a kind of queue in a class.
pub(super) const fn tree_number(class: usize, kind: usize) -> usize {
    if class == IDLE { IDLE_TREE } else { class * KINDS + kind }
}

/// The tree a queue belongs into as it is now.
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

/// Whether it is one of the trees of queues that are not waited for.
pub(super) const fn is_noidle(tree: usize) -> bool {
    tree != IDLE_TREE && tree % KINDS == NOIDLE
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) trees: [Tree; TREES],
    /// Queues in the trees.
    pub(super) queues: u32,
    /// Those of them that are asynchronous.
    pub(super) async_queues: u32,
    /// Queues by class.
    busy: [u32; CLASSES],
    /// A slow mean of them, updated when a slice begins.
    average: [u32; CLASSES],
    /// Its `blkio.weight`.
    pub(super) weight: u64,
    /// What it was serving when it lost the disk, if that had time left.
    pub(super) saved: Option<Saved>,
    /// How long its turns have been, in jiffies.
    pub(super) turns: u64,
    /// Queues made for it.
    pub(super) homes: u32,
    /// Nobody has its number any more.
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

    /// A queue enters one of the trees.
    pub(super) fn enter(&mut self, class: usize, sync: bool) {
        self.queues += 1;
        self.async_queues += u32::from(!sync);
        self.busy[class] += 1;
    }

    /// A queue leaves its tree.
    pub(super) fn leave(&mut self, class: usize, sync: bool) {
        self.queues -= 1;
        self.async_queues -= u32::from(!sync);
        self.busy[class] -= 1;
    }

    /// The class to serve: the first that has a queue.
    pub(super) fn first_class(&self) -> usize {
        (0..CLASSES).find(|class| self.busy[*class] > 0).unwrap_or(IDLE)
    }

    /// The trees of a class, in the order in which equal first keys are preferred.
    pub(super) fn trees_of(class: usize) -> impl Iterator<Item = usize> {
        let kinds = if class == IDLE { 0..1 } else { 0..KINDS };
        kinds.map(move |kind| tree_number(class, kind))
    }

    /// All trees in the order in which they are drained.
    pub(super) fn all_trees() -> impl Iterator<Item = usize> {
        (0..CLASSES).flat_map(Self::trees_of)
    }

    /// How many queues of a class a workload is planned for.
    pub(super) fn planned(&self, class: usize) -> u32 {
        self.average[class].max(self.busy[class]).max(1)
    }

    /// A slice begins: the mean number of queues, quick to rise and slow to fall.
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

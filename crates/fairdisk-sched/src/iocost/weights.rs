//! Shares of nested groups: which part of the disk each group may have, by the weights of the
//! groups that want it.

use crate::groups::{Nested, OWN_TASKS};
use alloc::vec::Vec;
use fairdisk_core::{GroupId, Weight, dense};

/// The whole disk; parts of it are fractions of this number.
pub(super) const WHOLE: u64 = 1 << 24;

#[derive(Clone, Debug)]
struct Node {
    weight: u64,
    parent: Option<u32>,
    /// Whether the group's own tasks want the disk.
    wants: bool,
    /// Total weight of the active groups directly inside: those that want the disk or contain one
    /// that does.
    inside: u64,
}

impl Node {
    const fn is_active(&self) -> bool {
        self.wants || self.inside > 0
    }
}

/// The weights of all groups, and which of the groups are active.
#[derive(Debug, Default)]
pub(super) struct Weights {
    nodes: Vec<Node>,
    /// Total weight of the active top-level groups.
    outermost: u64,
}

impl Weights {
    /// Weights without any group.
    pub(super) const fn new() -> Self {
        Self { nodes: Vec::new(), outermost: 0 }
    }

    /// Ensures that the group exists.
    pub(super) fn make(&mut self, group: u32) {
        let node =
            || Node { weight: Weight::DEFAULT.get().into(), parent: None, wants: false, inside: 0 };
        dense::entry(&mut self.nodes, group, node);
    }

    /// Sets the weight of a group.
    pub(super) fn set_weight(&mut self, group: u32, weight: Weight) {
        self.make(group);
        self.change(group, |node| node.weight = u64::from(weight.get()));
    }

    /// Moves the group into `parent`, or to the top level for `None`. Does nothing if that would
    /// make a circle.
    pub(super) fn set_parent(&mut self, group: u32, parent: Option<GroupId>) {
        self.make(group);
        let parent = parent.map(|parent| parent.0);
        if let Some(parent) = parent {
            self.make(parent);
        }
        if self.may_lie_in(group, parent) {
            self.change(group, |node| node.parent = parent);
        }
    }

    /// Sets whether the group's own tasks want the disk.
    pub(super) fn set_wants(&mut self, group: u32, wants: bool) {
        self.make(group);
        self.change(group, |node| node.wants = wants);
    }

    /// Changes a node and updates the totals of the nodes above it.
    fn change(&mut self, group: u32, change: impl FnOnce(&mut Node)) {
        let before = self.nodes[group as usize].clone();
        change(&mut self.nodes[group as usize]);
        let after = self.nodes[group as usize].clone();
        if before.is_active() {
            self.count(before.parent, before.weight, 0);
        }
        if after.is_active() {
            self.count(after.parent, 0, after.weight);
        }
    }

    /// Inside `outer`, replaces the weight `less` of one group by `more`.
    fn count(&mut self, outer: Option<u32>, less: u64, more: u64) {
        let (mut outer, mut less, mut more) = (outer, less, more);
        while let Some(group) = outer {
            let node = &mut self.nodes[group as usize];
            let was_active = node.is_active();
            node.inside = (node.inside + more).saturating_sub(less);
            if node.is_active() == was_active {
                return;
            }
            (less, more) = if was_active { (node.weight, 0) } else { (0, node.weight) };
            outer = node.parent;
        }
        self.outermost = (self.outermost + more).saturating_sub(less);
    }

    /// The part of the disk that the group's own tasks may have; never zero.
    pub(super) fn part(&self, group: u32) -> u64 {
        let Some(mut node) = self.nodes.get(group as usize) else { return WHOLE };
        let mut part = WHOLE;
        if node.inside > 0 {
            part = part * OWN_TASKS / (OWN_TASKS + node.inside);
        }
        loop {
            let outer = node.parent.map(|outer| &self.nodes[outer as usize]);
            let all = match outer {
                Some(outer) => outer.inside + if outer.wants { OWN_TASKS } else { 0 },
                None => self.outermost,
            };
            part = part * node.weight / all.max(node.weight);
            match outer {
                Some(outer) => node = outer,
                None => return part.max(1),
            }
        }
    }
}

impl Nested for Weights {
    fn outer(&self, group: u32) -> Option<u32> {
        self.nodes[group as usize].parent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(value: u32) -> Weight {
        Weight::new(value).expect("1 to 10000")
    }

    fn percent(weights: &Weights, group: u32) -> u64 {
        (weights.part(group) * 1000 / WHOLE).div_ceil(10)
    }

    #[test]
    fn those_who_want_nothing_do_not_count() {
        let mut weights = Weights::new();
        for (group, value) in [(1, 100), (2, 300), (3, 600)] {
            weights.set_weight(group, weight(value));
            weights.set_wants(group, true);
        }
        assert_eq!([1, 2, 3].map(|group| percent(&weights, group)), [10, 30, 60]);
        weights.set_wants(3, false);
        assert_eq!([1, 2].map(|group| percent(&weights, group)), [25, 75]);
        weights.set_weight(2, weight(100));
        assert_eq!([1, 2].map(|group| percent(&weights, group)), [50, 50]);
    }

    #[test]
    fn inside_a_group_its_part_is_shared() {
        let mut weights = Weights::new();
        for (group, value) in [(1, 100), (2, 300), (3, 300), (4, 100)] {
            weights.set_weight(group, weight(value));
        }
        weights.set_parent(3, Some(GroupId(2)));
        weights.set_parent(4, Some(GroupId(2)));
        [1, 3, 4].into_iter().for_each(|group| weights.set_wants(group, true));
        // Group 1 gets a quarter; groups 3 and 4 share three quarters, 3:1.
        assert_eq!([1, 3, 4].map(|group| percent(&weights, group)), [25, 57, 19]);
        // The own tasks of group 2 count as one more group inside it, of weight 100.
        weights.set_wants(2, true);
        assert_eq!([1, 2, 3, 4].map(|group| percent(&weights, group)), [25, 15, 45, 15]);
        // Nobody in group 2 wants the disk any more: group 1 gets all of it.
        [2, 3, 4].into_iter().for_each(|group| weights.set_wants(group, false));
        assert_eq!(percent(&weights, 1), 100);
        // A group that wants the disk moves to the top level.
        weights.set_wants(3, true);
        weights.set_parent(3, None);
        assert_eq!([1, 3].map(|group| percent(&weights, group)), [25, 75]);
    }

    #[test]
    fn however_deep_groups_lie_they_are_counted_once() {
        let mut weights = Weights::new();
        for group in 1..100 {
            weights.set_weight(group, weight(100));
            weights.set_parent(group, Some(GroupId(group - 1)));
        }
        weights.set_weight(0, weight(100));
        weights.set_weight(100, weight(900));
        weights.set_wants(100, true);
        weights.set_wants(99, true);
        assert_eq!([99, 100].map(|group| percent(&weights, group)), [10, 90]);
        weights.set_wants(50, true);
        weights.set_wants(99, false);
        weights.set_wants(50, false);
        assert_eq!(percent(&weights, 100), 100, "nobody else wants the disk");
    }

    #[test]
    fn a_group_is_not_put_into_one_that_lies_in_it() {
        let mut weights = Weights::new();
        weights.set_parent(2, Some(GroupId(1)));
        weights.set_parent(3, Some(GroupId(2)));
        (1..=4).for_each(|group| weights.set_wants(group, true));
        let before = [25, 13, 13, 50];
        assert_eq!([1, 2, 3, 4].map(|group| percent(&weights, group)), before);
        // Moves that would make a circle are ignored.
        weights.set_parent(1, Some(GroupId(2)));
        weights.set_parent(2, Some(GroupId(3)));
        weights.set_parent(2, Some(GroupId(2)));
        assert_eq!([1, 2, 3, 4].map(|group| percent(&weights, group)), before);
    }
}

//! Workloads: which of a group's trees is served, and for how long (spec: cfq, section 4.4).

use super::group::{ASYNC, BEST_EFFORT, Group, IDLE, NOIDLE, SYNC, tree_number};
use super::groups::ROOT;
use super::queue::Place;
use super::state::State;
use crate::cfq::jiffies::Jiffies;

/// The workload being served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Serving {
    pub(super) group: u32,
    pub(super) class: usize,
    pub(super) kind: usize,
    /// When the turn of this workload ends.
    expires: Jiffies,
    /// Whether this round of the tree has had a request for which the disk should idle.
    pub(super) tree_requires_idle: bool,
}

impl Serving {
    pub(super) const fn new() -> Self {
        Self {
            group: ROOT,
            class: BEST_EFFORT,
            kind: ASYNC,
            expires: Jiffies::MIN,
            tree_requires_idle: false,
        }
    }
}

/// The workload of a group that has lost the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved {
    class: usize,
    kind: usize,
    /// How much of the workload's turn was left.
    left: Jiffies,
}

/// The shortest turn of a workload, in ticks.
const LEAST: Jiffies = 2;

impl State {
    /// The queue whose turn it is.
    pub(super) fn next_queue(&mut self, now: Jiffies) -> Option<u32> {
        let group = self.next_group();
        self.resume_workload(now, group);
        if !self.on.class_trees {
            let place = Place { group, tree: tree_number(BEST_EFFORT, SYNC) };
            return self.service.first(self.tree(place));
        }
        let class = self.groups[group].first_class();
        let tree = if self.on.noidle_workload {
            self.choose_workload(now, group, class);
            tree_number(class, self.serving.kind)
        } else {
            self.earliest_tree(group, class)
        };
        self.service.first(self.tree(Place { group, tree }))
    }

    /// Saves what is left of the workload's turn for a group that loses the disk.
    pub(super) fn save_workload(&mut self, now: Jiffies, group: u32) {
        let Serving { class, kind, expires, .. } = self.serving;
        let left = expires.saturating_sub(now);
        self.groups[group].saved = (left > 0).then_some(Saved { class, kind, left });
    }

    /// Resumes the saved workload of a group that has got the disk back.
    fn resume_workload(&mut self, now: Jiffies, group: u32) {
        self.serving.group = group;
        if !self.on.group_charge {
            return;
        }
        if let Some(Saved { class, kind, left }) = self.groups[group].saved {
            (self.serving.class, self.serving.kind) = (class, kind);
            self.serving.expires = now + left;
        } else if self.on.workload_expired_on_restore {
            self.serving.expires = now - 1;
        }
    }

    /// The tree of the class whose first queue has the smallest key.
    fn earliest_tree(&self, group: u32, class: usize) -> usize {
        let key = |tree: &usize| {
            let first = self.service.first(self.tree(Place { group, tree: *tree }));
            // An empty tree comes last.
            first.map_or((true, 0), |first| (false, self.service.key(first).key()))
        };
        Group::trees_of(class).min_by_key(key).unwrap_or(tree_number(class, SYNC))
    }

    fn choose_workload(&mut self, now: Jiffies, group: u32, class: usize) {
        let class_changed = core::mem::replace(&mut self.serving.class, class) != class;
        if class == IDLE {
            self.serving.expires = now + 1;
            return;
        }
        let goes_on = !class_changed || self.on.workload_by_key;
        if goes_on
            && self.waiting(group, class, self.serving.kind) > 0
            && now <= self.serving.expires
        {
            return;
        }
        self.serving.kind = if goes_on {
            self.earliest_tree(group, class) - tree_number(class, ASYNC)
        } else {
            let kinds = [NOIDLE, SYNC, ASYNC].into_iter();
            kinds.clone().find(|kind| self.waiting(group, class, *kind) > 0).unwrap_or(ASYNC)
        };
        self.serving.expires = now + self.workload_slice(group, class, self.serving.kind);
        self.serving.tree_requires_idle = false;
    }

    /// The number of queues in a tree.
    fn waiting(&self, group: u32, class: usize, kind: usize) -> u32 {
        self.tree(Place { group, tree: tree_number(class, kind) }).len()
    }

    fn workload_slice(&self, group: u32, class: usize, kind: usize) -> Jiffies {
        let count = Jiffies::from(self.waiting(group, class, kind));
        let planned = Jiffies::from(self.groups[group].planned(class));
        let slice = self.group_slice(group) * count / planned;
        let slice = if kind == ASYNC {
            self.async_part(group).min(slice) * self.tunables.slice(false, 4)
                / self.tunables.slice(true, 4)
        } else {
            slice.max(2 * self.tunables.slice_idle)
        };
        slice.max(LEAST)
    }

    /// The most time of a round for the group's asynchronous queues, in proportion to their number
    /// among all groups.
    fn async_part(&self, group: u32) -> Jiffies {
        if !self.on.async_share_global {
            return Jiffies::MAX;
        }
        let queues = Jiffies::from(self.groups[group].async_queues);
        self.target_latency() * queues / Jiffies::from(self.busy.max(1))
    }

    /// How long a group is served before the next one.
    pub(super) fn group_slice(&self, group: u32) -> Jiffies {
        self.groups.part_of(group, self.target_latency(), &self.on)
    }

    /// How long a round of all queues is to take: 300 ms.
    const fn target_latency(&self) -> Jiffies {
        self.tunables.hz * 3 / 10
    }
}

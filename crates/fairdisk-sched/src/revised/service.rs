//! The service trees: where queues are placed, and by which keys (spec: cfq, sections 2.5, 3.1,
//! 4.2).

use super::group::{is_noidle, tree_of};
use super::groups::ROOT;
use super::queue::Place;
use super::state::State;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::service::ServiceKey;

/// Where in its tree to place a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    /// By its key.
    InTurn,
    /// Before all other queues.
    First,
}

impl State {
    /// Inserts a queue into its tree, or gives one that is in a tree a new place.
    pub(super) fn place(&mut self, now: Jiffies, queue: u32) {
        self.place_at(now, queue, Rank::InTurn);
    }

    /// Places a preempting queue before all others of its tree.
    pub(super) fn place_first(&mut self, now: Jiffies, queue: u32) {
        self.place_at(now, queue, Rank::First);
    }

    fn place_at(&mut self, now: Jiffies, queue: u32, rank: Rank) {
        let place = self.place_of(queue);
        let q = &self.queues[queue];
        let (before, was_there) = (q.place, q.on_tree);
        // Without the switch `groups`, a queue is counted before its key is computed; with it,
        // after.
        if !was_there && !self.on.groups {
            self.enter(queue, place);
        }
        let key = match rank {
            Rank::InTurn => self.service_key(now, queue, place),
            Rank::First => self.first_key(now, queue, place),
        };
        let stays = was_there && before == place;
        if !stays || self.service.key(queue).key() != key.key() {
            if was_there {
                self.take_out(queue);
            }
            if was_there && !stays {
                self.leave(queue);
            }
            if !self.queues[queue].on_tree {
                self.enter(queue, place);
            }
            let group = &mut self.groups[place.group];
            self.service.insert(&mut group.trees[place.tree], queue, key);
        }
        self.note_position(queue);
    }

    /// Where the queue belongs in its present state.
    fn place_of(&self, queue: u32) -> Place {
        let q = &self.queues[queue];
        let tree = tree_of(q, &self.on);
        let lent = self.on.group_isolation && !self.group_isolation && is_noidle(tree);
        Place { group: if lent { ROOT } else { q.home }, tree }
    }

    /// Removes a queue from its tree.
    pub(super) fn unplace(&mut self, queue: u32) {
        self.take_out(queue);
        self.leave(queue);
        self.forget_position(queue);
    }

    fn take_out(&mut self, queue: u32) {
        let Place { group, tree } = self.queues[queue].place;
        self.service.remove(&mut self.groups[group].trees[tree], queue);
    }

    fn enter(&mut self, queue: u32, place: Place) {
        let q = &mut self.queues[queue];
        q.on_tree = true;
        q.place = place;
        q.counted = q.priority.class.rank();
        self.groups[place.group].enter(q.counted, q.sync);
        self.busy += 1;
        if self.on.group_tree && self.groups[place.group].queues == 1 {
            self.groups.join(place.group, self.tunables.hz);
        }
    }

    fn leave(&mut self, queue: u32) {
        let q = &mut self.queues[queue];
        q.on_tree = false;
        let group = q.place.group;
        self.groups[group].leave(q.counted, q.sync);
        self.busy -= 1;
        if self.on.group_tree && self.groups[group].queues == 0 {
            self.groups.leave(group);
        }
    }

    fn service_key(&mut self, now: Jiffies, queue: u32, place: Place) -> ServiceKey {
        let offset = self.offset(queue, place);
        let last = self.service.last(self.tree(place)).filter(|last| *last != queue);
        let last = last.map(|last| self.service.key(last).key());
        let quirks = self.tunables.quirks;
        let q = &mut self.queues[queue];
        let key = if q.is_idle_class() {
            last.unwrap_or(now) + self.tunables.idle_delay
        } else {
            let residual = core::mem::take(&mut q.slice_residual);
            now + offset + if quirks.q1_residual_sign { residual } else { -residual }
        };
        ServiceKey::new(q.priority.class, if quirks.q2_unsigned_keys { wrap(key) } else { key })
    }

    /// How far back to place a queue: further back the more queues there are and the lower its
    /// level.
    fn offset(&self, queue: u32, place: Place) -> Jiffies {
        let q = &self.queues[queue];
        let before = if self.on.offset_by_tree_count {
            Jiffies::from(self.tree(place).len())
        } else if self.on.groups {
            Jiffies::from(self.groups[place.group].queues) - 1
        } else {
            Jiffies::from(self.busy) - 1
        };
        self.tunables.key_offset_behind(before, q.sync, q.priority.level)
    }

    fn first_key(&self, now: Jiffies, queue: u32, place: Place) -> ServiceKey {
        let key = if self.tunables.quirks.q2_unsigned_keys {
            0
        } else {
            let first = self.service.first(self.tree(place)).filter(|first| *first != queue);
            first.map_or(now, |first| self.service.key(first).key()) - self.tunables.hz
        };
        ServiceKey::new(self.queues[queue].priority.class, key)
    }

    // ---- company -------------------------------------------------------------------------

    /// Other queues in the tree that this queue is in, or was in last.
    pub(super) fn others_on_tree(&self, queue: u32) -> u32 {
        let q = &self.queues[queue];
        self.tree(q.place).len() - u32::from(q.on_tree)
    }

    /// Other queues in the trees of the group that this queue is in, or was in last.
    pub(super) fn others_in_group(&self, queue: u32) -> u32 {
        let q = &self.queues[queue];
        self.groups[q.place.group].queues - u32::from(q.on_tree)
    }
}

/// A key as the unsigned 32-bit number of the original.
const fn wrap(key: i64) -> i64 {
    key as u32 as i64
}

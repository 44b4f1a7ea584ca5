//! Closeness: which queue would read close to the position of the head (spec: cfq, sections 3.5,
//! 4.10, 4.14).

use super::queue::Queue;
use super::state::State;
use crate::cfq::queue::NIL;
use fairdisk_core::Lba;

/// How far is close, in sectors, while nothing better is known.
const CLOSE_SECTORS: u64 = 8192;
/// How far is close, in sectors, where seek distances are not averaged.
const NEAR_SECTORS: u64 = 800;

/// What a close queue is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// To give the disk to it.
    Serve,
    /// To know whether the disk could be given to one later.
    Probe,
    /// To let it preempt the active queue.
    Preempt,
}

impl State {
    /// Whether `start` is close to the head, judged by the seek distances of the queue being
    /// served.
    pub(super) fn is_close(&self, start: Lba, aim: Aim) -> bool {
        let distance = start.distance(self.device.last_position);
        self.reach(aim).is_some_and(|reach| distance <= reach)
    }

    /// The distance that counts as close, in sectors; `None` if nothing does.
    fn reach(&self, aim: Aim) -> Option<u64> {
        if self.on.seek_history {
            return Some(if self.on.close_8192 { CLOSE_SECTORS } else { NEAR_SECTORS });
        }
        let seeks = if self.on.seek_per_queue {
            &self.active_queue()?.seeks
        } else {
            &self.tasks.get(self.device.active_context)?.seek
        };
        let reach = match (seeks.is_valid(), self.on.close_by_default) {
            (true, _) => seeks.mean(),
            (false, true) => CLOSE_SECTORS,
            (false, false) => return None,
        };
        let capped = self.on.coop_distance_cap && aim != Aim::Preempt;
        Some(if capped { reach.min(CLOSE_SECTORS) } else { reach })
    }

    /// A queue that would read close to the head, if the active queue may give it the disk.
    pub(super) fn close_cooperator(&self, aim: Aim) -> Option<u32> {
        if !self.on.close_cooperators {
            return None;
        }
        let active = self.active_queue()?;
        if self.on.idle_class_alone && active.is_idle_class() {
            return None;
        }
        if self.on.coop_split && (!active.sync || self.seeks(self.active)) {
            return None;
        }
        if self.on.coop_skip_single && self.others_in_group(self.active) == 0 {
            return None;
        }
        let nearest = self.nearest(active.priority.own_level(), aim)?;
        self.may_cooperate(active, nearest).then_some(nearest)
    }

    fn may_cooperate(&self, active: &Queue, other: u32) -> bool {
        let q = &self.queues[other];
        let real_time = |queue: &Queue| queue.priority.is_real_time();
        other != self.active
            && (self.on.coop_flag_shared || !q.coop)
            && (!self.on.class_trees || real_time(q) == real_time(active))
            && (!self.on.group_isolate_ops || q.place.group == active.place.group)
            && (!self.on.coop_merge || q.sync)
            && (!self.on.coop_split || !self.seeks(other))
    }

    /// The queue of the level whose next request is nearest to the head, if it is close.
    fn nearest(&self, level: u8, aim: Aim) -> Option<u32> {
        let tree = &self.position_trees[usize::from(level)];
        let head = self.device.last_position;
        let above = self.positions.lower_bound(tree, head.0);
        let below = match above {
            Some(above) => self.positions.prev(above),
            None => self.positions.last(tree),
        };
        let start = |queue: u32| self.requests[self.queues[queue].pending.next].start;
        let nearest =
            above.into_iter().chain(below).min_by_key(|queue| start(*queue).distance(head))?;
        self.is_close(start(nearest), aim).then_some(nearest)
    }

    // ---- where queues would read ---------------------------------------------------------

    /// Updates where the queue would read next.
    pub(super) fn note_position(&mut self, queue: u32) {
        if !self.on.close_cooperators {
            return;
        }
        self.forget_position(queue);
        let q = &self.queues[queue];
        if q.is_idle_class() || q.pending.next == NIL || !q.on_tree {
            return;
        }
        let start = self.requests[q.pending.next].start.0;
        let level = q.priority.own_level();
        let tree = &mut self.position_trees[usize::from(level)];
        let taken = self.positions.lower_bound(tree, start);
        if taken.is_none_or(|taken| self.positions.key(taken) != start) {
            self.positions.insert(tree, queue, start);
            self.queues[queue].position_level = level;
        }
    }

    pub(super) fn forget_position(&mut self, queue: u32) {
        if self.on.close_cooperators && self.positions.contains(queue) {
            let level = self.queues[queue].position_level;
            self.positions.remove(&mut self.position_trees[usize::from(level)], queue);
        }
    }
}

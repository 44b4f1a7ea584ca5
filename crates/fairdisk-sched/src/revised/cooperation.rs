//! Cooperation: queues of tasks that read close to each other are merged, and a merged queue that
//! becomes seeky is split again (spec: cfq, sections 4.10, 4.13).

use super::state::State;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::queue::NIL;

impl State {
    /// Marks the active queue and a queue close to the head to be merged.
    pub(super) fn prepare_merge(&mut self, active: u32, close: u32) {
        if !self.on.coop_merge || self.queues[active].merge_into != NIL {
            return;
        }
        let mut other = close;
        while other != active && self.queues[other].merge_into != NIL {
            other = self.queues[other].merge_into;
        }
        let owners = self.queues[active].owners;
        if other == active || owners == 0 {
            return;
        }
        // The queue with fewer tasks joins the other.
        let joins = !self.on.coop_split || self.queues[other].owners >= owners;
        let (from, into) = if joins { (active, other) } else { (other, active) };
        self.queues[from].merge_into = into;
        self.queues[into].merging_here += 1;
    }

    /// Moves the task to the queue into which its own is to be merged, if any.
    pub(super) fn follow_merge(&mut self, now: Jiffies, context: u32) {
        let queue = self.tasks[context].sync_queue;
        let into = self.queues.get(queue).map_or(NIL, |queue| queue.merge_into);
        if into == NIL {
            return;
        }
        self.use_queue(context, into);
        self.queues[into].shared = true;
        self.disown(now, queue);
    }

    /// Marks a shared queue that is seeky to be split, at the end of its turn.
    pub(super) fn mark_split(&mut self, queue: u32) {
        if self.on.split_after_slice && self.queues[queue].shared && self.seeks(queue) {
            self.queues[queue].split = true;
        }
    }

    /// Takes the task out of a shared queue that is to be split; the last task keeps the queue for
    /// itself.
    pub(super) fn split_if_due(&mut self, now: Jiffies, context: u32) {
        let Some(q) = self.queues.get_mut(self.tasks[context].sync_queue) else { return };
        let due = if self.on.split_after_slice {
            q.split
        } else {
            let long = |since| now - since > self.tunables.hz;
            self.on.coop_split && q.seeky_since.is_some_and(long)
        };
        if !due || !q.shared {
            return;
        }
        if q.owners > 1 {
            self.leave_queue(now, context);
        } else {
            (q.shared, q.split, q.seeky_since) = (false, false, None);
        }
    }
}

//! Turns of a layer's queues: keys, slices and preemption (spec: cfq, sections 2.4, 2.5, 2.9,
//! 2.12).

use super::engine::Cfq;
use super::jiffies::Jiffies;
use super::queue::NIL;
use super::service::ServiceKey;
use fairdisk_core::{Flags, Request, Why};

impl Cfq {
    // ---- the service tree ----------------------------------------------------------------

    #[inline]
    pub(crate) fn becomes_busy(&mut self, now: Jiffies, queue: u32) {
        let q = &mut self.queues[queue];
        q.on_tree = true;
        let layer = q.layer as usize;
        self.layers[layer].busy += 1;
        self.busy += 1;
        let key = self.service_key(now, queue);
        self.layers[layer].tree.insert(&mut self.service, queue, key);
        self.count(queue);
    }

    #[inline]
    pub(crate) fn becomes_empty(&mut self, queue: u32) {
        let q = &mut self.queues[queue];
        q.on_tree = false;
        let layer = &mut self.layers[q.layer as usize];
        layer.busy -= 1;
        self.busy -= 1;
        layer.tree.remove(&mut self.service, queue);
        self.count(queue);
    }

    /// Gives a queue in the tree a new key.
    fn resort(&mut self, now: Jiffies, queue: u32) {
        let key = self.service_key(now, queue);
        self.reinsert(queue, key);
    }

    fn reinsert(&mut self, queue: u32, key: ServiceKey) {
        let layer = self.queues[queue].layer as usize;
        let tree = self.layers[layer].tree.whole(&mut self.service);
        if self.service.key(queue).key() != key.key() {
            self.service.set_key(tree, queue, key);
        }
    }

    #[inline]
    fn service_key(&mut self, now: Jiffies, queue: u32) -> ServiceKey {
        let busy = self.busy_beside(self.queues[queue].layer);
        let q = &mut self.queues[queue];
        let class = q.priority.class;
        let quirks = &self.tunables.quirks;
        let key = if q.is_idle_class() {
            self.idle_key(now, queue)
        } else {
            let offset = self.tunables.key_offset(busy, q.sync, q.priority.level);
            now + offset + q.take_residual(quirks)
        };
        let quirks = &self.tunables.quirks;
        ServiceKey::new(class, if quirks.q2_unsigned_keys { wrap(key) } else { key })
    }

    /// The key of a queue of the idle class, behind all other queues.
    #[cold]
    fn idle_key(&mut self, now: Jiffies, queue: u32) -> Jiffies {
        let layer = self.queues[queue].layer as usize;
        let tree = self.layers[layer].tree.whole(&mut self.service);
        let last = self.service.last(tree).filter(|last| *last != queue);
        last.map_or(now, |last| self.service.key(last).key()) + self.tunables.idle_delay
    }

    /// Places a preempting queue before all others of its class.
    fn put_first(&mut self, now: Jiffies, queue: u32) {
        let q = &self.queues[queue];
        let tree = self.layers[q.layer as usize].tree.whole(&mut self.service);
        let key = if self.tunables.quirks.q2_unsigned_keys {
            0
        } else {
            let first = self.service.first(tree).filter(|first| *first != queue);
            first.map_or(now, |first| self.service.key(first).key()) - self.tunables.hz
        };
        self.reinsert(queue, ServiceKey::new(q.priority.class, key));
    }

    // ---- turns ---------------------------------------------------------------------------

    /// Gives the disk to the first queue of the layer's tree, if there is one.
    pub(crate) fn begin_next_turn(&mut self, layer: u32) -> Option<u32> {
        let layer = &mut self.layers[layer as usize];
        let tree = layer.tree.whole(&mut self.service);
        let queue = self.service.first(tree)?;
        layer.active = queue;
        self.queues[queue].begin_turn(layer.turn_ended);
        Some(queue)
    }

    /// Takes the disk from the queue. If it `timed_out`, it keeps the rest of its slice.
    pub(crate) fn expire(&mut self, now: Jiffies, queue: u32, timed_out: bool) {
        let q = &mut self.queues[queue];
        let layer = q.layer as usize;
        self.layers[layer].turn_ended = q.why_turn_ends(now);
        if q.waits {
            self.driver.idle_timer = None;
        }
        let had_disk = !q.suspended;
        q.end_turn(now, timed_out);
        if q.on_tree {
            self.resort(now, queue);
        }
        if self.layers[layer].active == queue {
            self.layers[layer].active = NIL;
        }
        if had_disk {
            self.driver.active_context = NIL;
        }
    }

    /// Suspends the turn of the layer's active queue because the layer loses the disk.
    pub(crate) fn suspend_turn(&mut self, now: Jiffies, layer: u32) {
        let active = self.layers[layer as usize].active;
        let Some(q) = self.queues.get_mut(active) else { return };
        if q.waits {
            self.driver.idle_timer = None;
        }
        q.suspend(now);
        self.driver.active_context = NIL;
    }

    /// Resumes the suspended turn of the layer's active queue.
    pub(crate) fn resume_turn(&mut self, now: Jiffies, layer: u32) {
        let active = self.layers[layer as usize].active;
        if let Some(q) = self.queues.get_mut(active) {
            q.resume(now);
        }
    }

    /// Handles a completion of the queue that has the disk.
    pub(crate) fn active_completed(&mut self, now: Jiffies, queue: u32, sync: bool) {
        let q = &mut self.queues[queue];
        if q.slice_new {
            // A queue with nothing queued does not count as busy, but it is part of the round.
            let busy = self.layers[q.layer as usize].busy + u32::from(!q.on_tree);
            q.start_clock(now, self.tunables.slice_among(busy, q.sync, q.priority.level));
        }
        if q.slice_used(now) || q.is_idle_class() {
            self.expire(now, queue, true);
        } else if sync && q.is_empty() && !q.suspended {
            self.arm_idle(now, queue);
        }
    }

    // ---- arrival and preemption ----------------------------------------------------------

    /// Handles the arrival of a request in `queue`: the disk may have been idling for it, or it may
    /// preempt the active queue.
    pub(crate) fn arrived(&mut self, now: Jiffies, queue: u32, request: &Request) {
        let layer = self.queues[queue].layer;
        self.end_layer_idle(layer);
        if self.driver.together {
            // A further request may be dispatched beside those in flight.
            self.kicks.kick();
        }
        let active = self.layers[layer as usize].active;
        if active == queue {
            if self.queues[queue].waits {
                self.driver.idle_timer = None;
                self.kicks.kick_at_once();
            }
        } else if active != NIL && self.should_preempt(now, active, queue, request) {
            self.preempt(now, active, queue);
            self.queues[queue].turn = Some(Why::Preempted);
        }
    }

    /// Handles an arrival in a layer that does not have the disk. It may still preempt its layer's
    /// active queue, and so be the first when the layer's turn comes.
    pub(crate) fn arrived_outside(&mut self, now: Jiffies, layer: u32, request: &Request) {
        let active = self.layers[layer as usize].active;
        let queue = self.requests[request.id.0].queue;
        if active != NIL && self.should_preempt(now, active, queue, request) {
            self.preempt(now, active, queue);
        }
    }

    fn preempt(&mut self, now: Jiffies, active: u32, queue: u32) {
        self.expire(now, active, true);
        self.put_first(now, queue);
        self.queues[queue].slice_end = 0;
        self.queues[queue].slice_new = true;
        self.kicks.kick_at_once();
    }

    /// Whether the new queue preempts the active one; the first rule that applies decides (spec:
    /// cfq, section 2.12).
    fn should_preempt(&self, now: Jiffies, active: u32, new: u32, request: &Request) -> bool {
        let (active, new) = (&self.queues[active], &self.queues[new]);
        if active.slice_used(now) {
            return true;
        }
        if new.is_idle_class() {
            return false;
        }
        if active.is_idle_class() || (request.sync && !active.sync) {
            return true;
        }
        if request.flags.contains(Flags::META) && active.pending.meta == 0 {
            return true;
        }
        let Some(context) = self.tasks.get(self.driver.active_context) else { return false };
        let distance = request.start.distance(self.driver.last_position);
        active.waits && context.seek.is_valid() && distance <= context.seek.mean()
    }
}

/// A key as the unsigned 32-bit number of the original.
const fn wrap(key: i64) -> i64 {
    key as u32 as i64
}

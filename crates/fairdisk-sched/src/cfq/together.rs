//! Serving the tasks of a layer together, on a device that is faster that way. The disk does not
//! idle for a single task unless that keeps tasks of another priority away from the disk. It idles
//! for the layer as a whole instead, so that the layer keeps its turn among others.
//!
//! On any device, seeky tasks are served together while no other task of the layer wants the disk:
//! the next request of another seeky task is no further away than the next one of the same task.

use super::engine::Cfq;
use super::jiffies::Jiffies;
use super::queue::NIL;

impl Cfq {
    /// Sets how many requests the device serves at once.
    pub(crate) const fn takes_at_once(&mut self, depth: u32) {
        if self.tunables.serve_together {
            self.driver.together = depth > 1;
            // Detection at another depth is no longer valid.
            self.driver.queueing = self.tunables.queues_at_first();
            self.kicks.kick();
        }
    }

    /// Updates whether the layer counts the queue among those with requests, if that is maintained.
    #[inline]
    pub(crate) fn count(&mut self, queue: u32) {
        if self.tunables.serve_together {
            self.count_present(queue);
        }
    }

    #[inline(never)]
    fn count_present(&mut self, queue: u32) {
        let q = &mut self.queues[queue];
        if !q.sync {
            return;
        }
        let present = !q.is_empty() || q.dispatched > 0;
        if present == q.counted.is_some() {
            return;
        }
        let layer = &mut self.layers[q.layer as usize];
        match q.counted.take() {
            Some(counted) => layer.leave(counted),
            None => {
                let (class, level) = (q.priority.class, q.priority.level);
                q.counted = Some(layer.enter(class, level, q.seeks));
            }
        }
    }

    /// Whether the disk may idle for this queue alone.
    #[inline]
    pub(crate) fn is_waited_for(&self, queue: u32) -> bool {
        !self.tunables.serve_together || self.keeps_others_away(queue)
    }

    /// Whether idling for this queue protects it from tasks with which it should not be served
    /// together.
    fn keeps_others_away(&self, queue: u32) -> bool {
        let q = &self.queues[queue];
        let layer = &self.layers[q.layer as usize];
        let (class, level) = (q.priority.class, q.priority.level);
        if self.driver.together {
            layer.has_others(class, level)
        } else {
            !q.seeks || layer.has_sequential(class, level) || layer.has_others(class, level)
        }
    }

    /// How long the disk may be kept for the layer of a task when it has nothing queued.
    pub(crate) fn layer_patience(&self, queue: u32, context: u32) -> Jiffies {
        let (q, context) = (&self.queues[queue], &self.tasks[context]);
        if context.alive && !q.is_idle_class() { self.patience_of(q.layer) } else { 0 }
    }

    fn patience_of(&self, layer: u32) -> Jiffies {
        let layer = &self.layers[layer as usize];
        let wait = layer.idle.unwrap_or(self.tunables.slice_idle);
        // With many tasks, each submits rarely but one of them soon, so the layer's think time
        // decides.
        let thinks_long = layer.think.is_valid() && layer.think.mean() > wait as u64;
        if thinks_long { 0 } else { wait }
    }

    /// Restarts the idle wait of the layer after a flush of one of its tasks has completed.
    pub(crate) fn flushed(&mut self, now: Jiffies, layer: u32, has_disk: bool) {
        if !self.tunables.serve_together {
            return;
        }
        self.layers[layer as usize].note_empty(now);
        if has_disk {
            self.end_layer_idle(layer);
            self.wait_for_layer(now, layer, self.patience_of(layer));
            self.kicks.kick();
        }
    }

    /// Keeps the disk for `wait` for a layer that has run empty, if tasks are served together.
    pub(crate) fn wait_for_layer(&mut self, now: Jiffies, layer: u32, wait: Jiffies) {
        let l = &self.layers[layer as usize];
        let empty = l.busy == 0 && l.dispatched == 0;
        let together = self.tunables.serve_together;
        if wait == 0 || !together || !empty || self.driver.idle_timer.is_some() {
            return;
        }
        if l.active != NIL {
            self.expire(now, l.active, false);
        }
        self.waiting_layer = layer;
        self.driver.idle_timer = Some(now + wait);
    }
}

//! Serving the tasks of one layer together, on a device that is faster that way: nobody waits for a
//! single task where that would keep nobody of another priority away from the disk. What is waited
//! for is the layer, so that it keeps its place against others.

use super::engine::Cfq;
use super::jiffies::Jiffies;
use super::queue::NIL;

impl Cfq {
    /// The device takes so many requests at once.
    pub(crate) const fn takes_at_once(&mut self, depth: u32) {
        if self.tunables.serve_together {
            self.driver.together = depth > 1;
            // What was seen at another depth says nothing any more.
            self.driver.queueing = !self.tunables.quirks.q6_queueing_latched;
            self.kick();
        }
    }

    /// Counts the queue in its layer if it has requests.
    #[inline]
    pub(crate) fn count(&mut self, queue: u32) {
        let q = &mut self.queues[queue as usize];
        if !self.tunables.serve_together || !q.sync {
            return;
        }
        let present = !q.is_empty() || q.dispatched > 0;
        if present == q.counted.is_some() {
            return;
        }
        let layer = &mut self.layers[q.layer as usize];
        match q.counted.take() {
            Some(counted) => layer.leave(counted),
            None => q.counted = Some(layer.enter(q.priority.class, q.priority.level)),
        }
    }

    /// Whether the disk may wait for this queue alone.
    pub(crate) fn is_waited_for(&self, queue: u32) -> bool {
        let q = &self.queues[queue as usize];
        !self.driver.together
            || self.layers[q.layer as usize].has_others(q.priority.class, q.priority.level)
    }

    /// How long the disk may be kept for the layer of a task that has nothing queued.
    pub(crate) fn layer_patience(&self, queue: u32, context: u32) -> Jiffies {
        let (q, context) = (&self.queues[queue as usize], &self.tasks[context]);
        let wait = self.layers[q.layer as usize].idle.unwrap_or(self.tunables.slice_idle);
        let thinks_long = context.think.is_valid() && context.think.mean() > wait as u64;
        if context.alive && !thinks_long && !q.is_idle_class() { wait } else { 0 }
    }

    /// The layer that has the disk has run empty, and a task of it will be back soon: the layer
    /// keeps the disk for a while, where tasks are served together.
    pub(crate) fn wait_for_layer(&mut self, now: Jiffies, layer: u32, wait: Jiffies) {
        let l = &self.layers[layer as usize];
        let empty = l.busy == 0 && l.dispatched == 0;
        if wait == 0 || !self.driver.together || !empty || self.driver.idle_timer.is_some() {
            return;
        }
        if l.active != NIL {
            self.expire(now, l.active, false);
        }
        self.waiting_layer = layer;
        self.driver.idle_timer = Some(now + wait);
    }
}

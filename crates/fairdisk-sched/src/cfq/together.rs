//! Serving the tasks of one layer together, on a device that is faster that way: nobody waits for a
//! single task where that would keep nobody of another priority away from the disk. What is waited
//! for is the layer, so that it keeps its place against others.
//!
//! On any device tasks that seek are served together while nobody else of the layer wants the disk:
//! the next request of another seeker is no further away than the next of the same.

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
            self.kicks.kick();
        }
    }

    /// Counts the queue in its layer if it has requests, where that matters.
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

    /// Whether the disk may wait for this queue alone.
    #[inline]
    pub(crate) fn is_waited_for(&self, queue: u32) -> bool {
        !self.tunables.serve_together || self.keeps_others_away(queue)
    }

    /// Whether tasks that could be served together with this queue's are better not.
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

    /// How long the disk may be kept for the layer of a task that has nothing queued.
    pub(crate) fn layer_patience(&self, queue: u32, context: u32) -> Jiffies {
        let (q, context) = (&self.queues[queue], &self.tasks[context]);
        if context.alive && !q.is_idle_class() { self.patience_of(q.layer) } else { 0 }
    }

    fn patience_of(&self, layer: u32) -> Jiffies {
        let layer = &self.layers[layer as usize];
        let wait = layer.idle.unwrap_or(self.tunables.slice_idle);
        // One of many tasks comes seldom, and yet one of them comes soon.
        let thinks_long = layer.think.is_valid() && layer.think.mean() > wait as u64;
        if thinks_long { 0 } else { wait }
    }

    /// A flush of a task of the layer has finished: what the disk waits for begins now.
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

    /// The layer that has the disk has run empty, and a task of it will be back soon: the layer
    /// keeps the disk for a while, where tasks are served together.
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

//! Waiting: idling for the next request of the task being served, and what a refusal means to the
//! driver (spec: cfq, section 2.10).

use super::context::Context;
use super::engine::Cfq;
use super::jiffies::Jiffies;
use super::queue::NIL;
use fairdisk_core::{Decision, Instant, Why};

impl Cfq {
    /// When the engine must run the driver even if the device is plugged.
    pub(crate) fn runs_driver_at(&self) -> Option<Instant> {
        let timer = self.driver.idle_timer.map(|timer| self.ticker.instant(timer));
        self.kicks.runs_driver_at(timer)
    }

    /// Converts a refusal to the wait it implies, and lets that wait stand.
    pub(crate) fn wait(&mut self, why: Why) -> Decision {
        let wait = self.meaning_of(why);
        self.kicks.let_stand(wait)
    }

    fn meaning_of(&self, why: Why) -> Decision {
        let outstanding = self.driver.outstanding > 0;
        if self.queued == 0 {
            let busy = Decision::WaitCompletion(Why::NothingQueued);
            return if outstanding { busy } else { Decision::Idle };
        }
        let due = self.patience.as_ref().and_then(|patience| patience.due());
        let until = |at| Decision::WaitUntil(self.ticker.instant(at), why);
        match (self.driver.idle_timer, due) {
            (Some(timer), due) => {
                let at = due.map_or(timer, |due| due.min(timer));
                Decision::WaitUntil(self.ticker.instant(at), Why::IdleWait)
            }
            (None, Some(due)) => until(due),
            (None, None) => {
                debug_assert!(outstanding, "refused with {why:?}, nothing in flight");
                Decision::WaitCompletion(why)
            }
        }
    }

    /// Starts idling for the queue that has the disk and has run empty, if that is worth it.
    pub(crate) fn arm_idle(&mut self, now: Jiffies, queue: u32) {
        if !self.is_waited_for(queue) {
            return;
        }
        let Some(context) = self.tasks.get(self.driver.active_context) else { return };
        let busy = self.driver.in_driver > 0 && !self.tunables.quirks.q8_idle_while_busy;
        if !context.alive || busy {
            return;
        }
        let seeky = context.seek.is_valid() && context.seek.seeks();
        let own = if seeky { self.tunables.seeky_idle } else { self.tunables.slice_idle };
        let wait = self.patience_with(queue, context, own);
        if wait == 0 {
            return;
        }
        self.queues[queue].waits = true;
        self.driver.idle_timer = Some(now + wait);
    }

    /// Starts idling for the layer of a queue whose slice has ended, if the queue's task is the
    /// layer's only one and is expected back soon (spec: groups, section 1.3).
    pub(crate) fn arm_layer_idle(&mut self, now: Jiffies, queue: u32, context: u32) {
        let q = &self.queues[queue];
        let layer = &self.layers[q.layer as usize];
        if layer.active != NIL || layer.busy > 0 || layer.dispatched > 0 {
            return;
        }
        // An idle wait configured for the layer applies to any of its tasks.
        let asked_for = layer.idle.is_some() || self.tasks.only_of_layer(q.layer) == Some(context);
        let context = &self.tasks[context];
        let wait = self.patience_with(queue, context, self.tunables.slice_idle);
        if asked_for && wait > 0 && context.alive {
            self.waiting_layer = q.layer;
            self.driver.idle_timer = Some(now + wait);
        }
    }

    /// Keeps the disk until `until` for the layer that has it and has nothing queued.
    pub(crate) const fn keep_for_layer(&mut self, layer: u32, until: Jiffies) {
        self.waiting_layer = layer;
        self.driver.idle_timer = Some(until);
    }

    /// How long the disk idles for the task of an empty queue; zero for not at all. `own` is the
    /// wait to use if the layer has none configured or has other requests queued.
    fn patience_with(&self, queue: u32, context: &Context, own: Jiffies) -> Jiffies {
        let q = &self.queues[queue];
        let layer = &self.layers[q.layer as usize];
        match layer.idle.filter(|_| layer.busy == 0) {
            None if q.idle_window => own,
            None => 0,
            // It would be useless to idle for a task that usually thinks for longer.
            Some(idle) if context.think.is_valid() && context.think.mean() > idle as u64 => 0,
            Some(idle) => idle,
        }
    }

    /// Whether the disk will idle for an empty queue once its requests in flight have completed.
    pub(crate) fn will_wait(&self, queue: u32) -> bool {
        if !self.is_waited_for(queue) {
            return false;
        }
        let q = &self.queues[queue];
        let layer = &self.layers[q.layer as usize];
        match layer.idle.filter(|_| layer.busy == 0) {
            None => q.idle_window,
            Some(idle) => idle > 0 && q.sync && !q.is_idle_class(),
        }
    }

    /// Ends idling for the layer, if it is the one that the disk is kept for.
    pub(crate) fn end_layer_idle(&mut self, layer: u32) {
        if self.waiting_layer == layer && layer != NIL {
            self.waiting_layer = NIL;
            self.driver.idle_timer = None;
            self.kicks.kick_at_once();
        }
    }

    /// Lets the idle timer act if it is due; `layer` is the one being served.
    #[inline]
    pub(crate) fn fire_timer(&mut self, now: Jiffies, layer: u32) {
        match self.driver.idle_timer {
            Some(timer) if now >= timer => self.timer_fired(timer, layer),
            _ => {}
        }
    }

    /// Handles the expired idle timer. If nothing is queued the queue keeps the disk, since no
    /// other wants it.
    #[inline(never)]
    fn timer_fired(&mut self, timer: Jiffies, layer: u32) {
        self.driver.idle_timer = None;
        self.waiting_layer = NIL;
        let active = self.layers[layer as usize].active;
        let Some(queue) = self.queues.get(active) else { return self.kicks.kick() };
        if queue.slice_used(timer) {
            self.expire(timer, active, false);
            self.kicks.kick();
        } else if self.queued > 0 {
            if queue.is_empty() {
                self.expire(timer, active, false);
            }
            self.kicks.kick();
        }
    }
}

//! Idling for the next request of the task being served (spec: cfq, sections 2.10, 3.6, 4.6, 4.8,
//! 4.9).

use super::group::NOIDLE;
use super::state::State;
use crate::cfq::jiffies::Jiffies;
use fairdisk_core::Why;

impl State {
    /// Whether the disk should idle for the queue when it is empty.
    pub(super) fn should_idle(&self, queue: u32) -> bool {
        let q = &self.queues[queue];
        if !self.on.idle_last_of_class {
            return q.idle_window;
        }
        if q.is_idle_class() {
            return false;
        }
        let flash = self.on.flash_selects && self.device.is_queueing_flash();
        if q.idle_window && !flash {
            return true;
        }
        (q.sync || !self.on.last_idle_sync_only) && self.others_on_tree(queue) == 0
    }

    /// Starts idling for the queue that has the disk and has run empty, if that is worth it.
    pub(super) fn arm_idle(&mut self, now: Jiffies, queue: u32) {
        let flash = self.on.flash_never_idles && self.device.is_queueing_flash();
        if flash || self.tunables.slice_idle == 0 || !self.should_idle(queue) {
            return;
        }
        if self.on.idle_when_drained && self.pending_at_device(queue) > 0 {
            return;
        }
        let Some(context) = self.tasks.get(self.device.active_context) else { return };
        let left = self.queues[queue].slice_end - now;
        let too_late = context.think.is_valid() && left < context.think.mean() as Jiffies;
        if !context.alive || (self.on.no_idle_past_slice && too_late) {
            return;
        }
        let Some(wait) = self.idle_time(queue) else { return };
        self.queues[queue].waits = true;
        self.device.idle_timer = Some(now + wait);
    }

    /// The number of requests that must complete before idling begins.
    fn pending_at_device(&self, queue: u32) -> u32 {
        if self.on.idle_corner_a {
            self.queues[queue].dispatched
        } else {
            self.device.all_in_driver()
        }
    }

    /// How long to idle; `None` for not at all.
    fn idle_time(&self, queue: u32) -> Option<Jiffies> {
        let (short, long) = (self.tunables.seeky_idle, self.tunables.slice_idle);
        if !self.on.noidle_arm_time {
            return Some(if self.surely_seeks(queue) { short } else { long });
        }
        let others = self.serving.kind == NOIDLE && self.others_on_tree(queue) > 0;
        if !others || self.on.noidle_no_2ms {
            return Some(long);
        }
        let quick = self.device.non_rotational || self.device.queueing.is_likely();
        (!quick).then_some(short)
    }

    /// Lets the disk idle once more for the only queue of a group, whose slice is ending, so that
    /// the group keeps its place.
    pub(super) fn wait_for_group(&mut self, now: Jiffies, queue: u32) {
        if !self.on.wait_busy || self.others_in_group(queue) > 0 {
            return;
        }
        let q = &self.queues[queue];
        let left = q.slice_end - now;
        let think = self.tasks.get(self.device.active_context).map(|context| context.think);
        let late = think.is_some_and(|think| think.is_valid() && left < think.mean() as Jiffies);
        let about_to_end = self.on.wait_busy_corners && (late || left == 1);
        if q.slice_used(now) || about_to_end {
            let until = now + self.tunables.slice_idle;
            let q = &mut self.queues[queue];
            q.slice_end = until;
            q.wait_busy = true;
        }
    }

    /// Whether idling beyond the end of the slice has brought the awaited request.
    pub(super) fn waited_long_enough(&self, queue: u32) -> bool {
        let q = &self.queues[queue];
        let came = if self.on.wait_busy_simplify { !q.is_empty() } else { q.wait_busy_done };
        q.wait_busy && came
    }

    /// Whether the slice of a group's only queue has ended while its requests are still in flight.
    pub(super) fn outlasts_slice(&self, queue: u32) -> bool {
        let q = &self.queues[queue];
        self.on.wait_busy_corners
            && self.others_in_group(queue) == 0
            && q.is_empty()
            && q.dispatched > 0
            && self.should_idle(queue)
    }

    /// Lets the idle timer act if it is due.
    pub(super) fn fire_timer(&mut self, now: Jiffies) {
        match self.device.idle_timer {
            Some(timer) if now >= timer => self.timer_fired(timer),
            _ => {}
        }
    }

    /// Handles the expired idle timer. If no queue is in the trees, the active queue keeps the
    /// disk, since no other wants it.
    fn timer_fired(&mut self, timer: Jiffies) {
        self.device.idle_timer = None;
        let active = self.active;
        let Some(queue) = self.queues.get_mut(active) else { return self.kicks.kick() };
        if queue.must_dispatch {
            return self.kicks.kick();
        }
        if queue.slice_used(timer) {
            self.expire(timer, active, false);
            self.kicks.kick();
        } else if self.busy > 0 {
            if queue.is_empty() {
                queue.deep = false;
                self.expire(timer, active, false);
                self.turn_ended = Why::IdleWaitFailed;
            }
            self.kicks.kick();
        }
    }
}

//! The idle window: whether the disk may idle for a queue, by its task's think time and seek
//! distance (spec: cfq, sections 2.11, 3.6, 4.7, 4.14).

use super::queue::Queue;
use super::state::State;
use crate::cfq::jiffies::Jiffies;
use fairdisk_core::Request;

/// The number of requests at once that makes a queue deep.
const DEEP: u32 = 4;
/// A request further than this from the previous one counts as a seek, in sectors.
const FAR_SECTORS: u64 = 800;
/// On a device without a moving head, a request shorter than this counts as a seek, in sectors.
const SHORT_SECTORS: u32 = 64;
/// The most seeks among the last 32 requests of a queue that is not seeky.
const FEW_SEEKS: u32 = 4;

impl State {
    /// Updates the statistics with a new request. They decide whether the disk may idle for the
    /// queue.
    pub(super) fn observe(&mut self, now: Jiffies, request: &Request, queue: u32, context: u32) {
        let think_max = 2 * self.tunables.slice_idle;
        self.tasks[context].observe_think(now, think_max);
        self.observe_seek(now, request, queue, context);
        let deep = self.on.deep_queues && self.queues[queue].pending.len() >= DEEP;
        let q = &mut self.queues[queue];
        q.deep |= deep;
        if !q.sync || q.is_idle_class() {
            return;
        }
        let seeks_too_much = self.seeks_too_much(queue, context);
        let limit = self.think_limit(queue, context);
        let context = &self.tasks[context];
        let q = &mut self.queues[queue];
        if !context.alive || self.tunables.slice_idle == 0 || seeks_too_much {
            q.idle_window = false;
        } else if context.think.is_valid() {
            q.idle_window = context.think.mean() <= limit as u64;
        }
    }

    fn observe_seek(&mut self, now: Jiffies, request: &Request, queue: u32, context: u32) {
        let first_seeks = self.tunables.quirks.q5_first_request_seeks;
        let (start, end) = (request.start, request.end());
        if !self.on.seek_per_queue {
            self.tasks[context].seek.observe(start, end, first_seeks);
            return;
        }
        let by_size = self.on.flash_history && self.device.non_rotational;
        let q = &mut self.queues[queue];
        let far = if by_size {
            request.sectors.0 < SHORT_SECTORS
        } else {
            q.seeks.distance_to(start, first_seeks) > FAR_SECTORS
        };
        q.history = q.history << 1 | u32::from(far);
        q.seeks.observe(start, end, first_seeks);
        let seeky = self.seeks(queue);
        let q = &mut self.queues[queue];
        q.seeky_since = if seeky { q.seeky_since.or(Some(now)) } else { None };
    }

    /// Whether the queue is too seeky for the disk to idle for it.
    fn seeks_too_much(&self, queue: u32, context: u32) -> bool {
        if self.on.noidle_window {
            return !self.queues[queue].deep && self.surely_seeks_in(queue, context);
        }
        let despite = self.on.idle_despite_seeks && self.low_latency;
        !despite && self.device.queueing.is_likely() && self.seeks_in(queue, context)
    }

    /// The longest mean think time of a task for which the disk idles.
    fn think_limit(&self, queue: u32, context: u32) -> Jiffies {
        let short = self.on.seeky_think_limit && !self.on.noidle_think;
        if short && self.surely_seeks_in(queue, context) {
            self.tunables.seeky_idle
        } else {
            self.tunables.slice_idle
        }
    }

    // ---- seeking -------------------------------------------------------------------------

    fn seeks_in(&self, queue: u32, context: u32) -> bool {
        if self.on.seek_per_queue { self.seeks(queue) } else { self.tasks[context].seek.seeks() }
    }

    fn surely_seeks_in(&self, queue: u32, context: u32) -> bool {
        let known = if self.on.seek_history {
            true
        } else if self.on.seek_per_queue {
            self.queues[queue].seeks.is_valid()
        } else {
            self.tasks[context].seek.is_valid()
        };
        known && self.seeks_in(queue, context)
    }

    /// Whether the queue counts as seeky, where seeks are counted per queue.
    pub(super) fn seeks(&self, queue: u32) -> bool {
        let Queue { history, ref seeks, .. } = self.queues[queue];
        if self.on.seek_history { history.count_ones() > FEW_SEEKS } else { seeks.seeks() }
    }

    /// Whether the active queue counts as seeky by enough samples.
    pub(super) fn surely_seeks(&self, queue: u32) -> bool {
        self.surely_seeks_in(queue, self.device.active_context)
    }
}

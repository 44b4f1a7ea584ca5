//! A BFQ queue: the synchronous requests of one task in one group, or a group's asynchronous
//! requests of one priority level.

use super::params::{BfqParams, weight_of_level};
use crate::cfq::pending::Pending;
use crate::cfq::priority::Priority;
use crate::cfq::queue::NIL;
use fairdisk_core::{Instant, IoPrio};

/// The most sectors that the weight of an interactive task stays raised for (8a8747dc01ce: those
/// that a large application reads while it starts).
const RAISED_SECTORS_MAX: u64 = 110_000;

#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) group: u32,
    pub(super) sync: bool,
    pub(super) priority: Priority,
    pub(super) pending: Pending,
    /// Requests dispatched and not completed.
    pub(super) dispatched: u32,
    /// The queue's entity in the schedule.
    pub(super) entity: u32,
    /// Whether the queue is active in the schedule.
    pub(super) active: bool,
    /// The budget of the queue's next turn, in sectors.
    pub(super) budget: u64,
    /// Since when the queue has had no requests; `None` before its first one.
    pub(super) idle_since: Option<Instant>,
    /// When the current or latest batch of requests began, and how many sectors it asked for.
    batch_began: Instant,
    batch_sectors: u64,
    raised: Option<Raised>,
    /// The context of the queue's task; `NIL` for asynchronous requests.
    pub(super) context: u32,
    /// Whether no more requests will be added, so that the queue can be freed once it is idle.
    pub(super) orphan: bool,
}

/// A temporarily raised weight.
#[derive(Clone, Copy, Debug)]
struct Raised {
    factor: u32,
    until: Instant,
    /// The sectors after which it ends before that.
    sectors_left: u64,
}

impl Queue {
    pub(super) fn new(group: u32, sync: bool, ioprio: IoPrio, entity: u32, budget: u64) -> Self {
        Self {
            group,
            sync,
            priority: Priority::of(ioprio),
            pending: Pending::new(),
            dispatched: 0,
            entity,
            active: false,
            budget,
            idle_since: None,
            batch_began: Instant::ZERO,
            batch_sectors: 0,
            raised: None,
            context: NIL,
            orphan: false,
        }
    }

    /// Whether the queue has no request, pending or at the device.
    pub(super) fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.dispatched == 0
    }

    pub(super) const fn is_raised(&self) -> bool {
        self.raised.is_some()
    }

    /// The queue's weight within its group, raised or not.
    pub(super) fn weight(&self) -> u32 {
        let factor = self.raised.map_or(1, |raised| raised.factor);
        weight_of_level(self.priority.level) * factor
    }

    /// Counts an arriving request. If the queue was idle, classifies its task (Valente and Avanzini
    /// 2015): an interactive task is new or was idle for long; a soft real-time task asks for
    /// little, and not as soon as its previous requests have completed.
    pub(super) fn arrives(&mut self, now: Instant, sectors: u64, params: &BfqParams) {
        if self.is_idle() {
            if params.low_latency && self.sync {
                self.raise(now, params);
            }
            self.batch_began = now;
            self.batch_sectors = 0;
        }
        self.batch_sectors += sectors;
    }

    fn raise(&mut self, now: Instant, params: &BfqParams) {
        let BfqParams { raising, switches: on, .. } = params;
        let idle = self.idle_since.map(|since| now.since(since));
        let spent = u128::from(now.since(self.batch_began).as_ns());
        let rate_max = u128::from(raising.soft_real_time_rate_max);
        let little = u128::from(self.batch_sectors) * 1_000_000_000 <= spent * rate_max;
        let raised = match idle.filter(|idle| *idle < raising.idle_min) {
            None => on.interactive_raising.then(|| Raised {
                factor: raising.interactive_factor,
                until: now + raising.interactive_span,
                sectors_left: if on.raising_limit { RAISED_SECTORS_MAX } else { u64::MAX },
            }),
            Some(idle) => {
                (on.soft_real_time && idle > params.slice_idle && little).then(|| Raised {
                    factor: raising.interactive_factor * raising.soft_real_time_factor,
                    until: now + raising.soft_real_time_span,
                    sectors_left: u64::MAX,
                })
            }
        };
        if raised.is_some() {
            self.raised = raised;
        }
    }

    /// Counts sectors that the queue was served while its weight is raised.
    pub(super) const fn is_served(&mut self, sectors: u64) {
        if let Some(raised) = &mut self.raised {
            raised.sectors_left = raised.sectors_left.saturating_sub(sectors);
        }
    }

    /// Ends the weight raising once its time is over or its sectors have been served.
    pub(super) fn lower(&mut self, now: Instant) {
        self.raised = self.raised.filter(|it| now < it.until && it.sectors_left > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Span;

    #[test]
    fn a_queue_that_is_never_idle_may_ask_for_as_much_as_it_likes() {
        let params = BfqParams::default();
        let begun = Instant::ZERO + Span::from_s(10);
        let mut queue = Queue::new(0, true, IoPrio::UNSET, 0, 8);
        queue.arrives(begun, 1 << 50, &params);
        queue.lower(begun + params.raising.interactive_span);
        let done = begun + Span::from_s(1 << 20);
        queue.idle_since = Some(done);
        queue.arrives(done + Span::from_ms(20), 8, &params);
        assert!(!queue.is_raised(), "it asked for more than the soft real-time rate");
    }
}

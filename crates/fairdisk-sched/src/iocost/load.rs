//! How well the device keeps up during one period, by which the pace of virtual time is adjusted.

use super::{IocostParams, LatencyGoal};
use fairdisk_core::{Instant, Op, Span};

/// Completions in one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    done: u64,
    late: u64,
}

impl Side {
    fn note(&mut self, took: Span, goal: &LatencyGoal) {
        self.done += 1;
        self.late += u64::from(took > goal.time);
    }

    /// Whether more requests were late than the goal allows.
    const fn misses(&self, goal: &LatencyGoal) -> bool {
        let may_be_late = 100 - if goal.percent > 100 { 100 } else { goal.percent };
        self.late * 100 > self.done * may_be_late as u64
    }
}

/// Observations during one period.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    reads: Side,
    writes: Side,
    /// The longest time a request with budget waited for room at the device.
    wait_max: Span,
}

/// The verdict on one period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The device does not keep up with what it is given.
    Saturated,
    /// The device keeps up.
    Copes,
}

impl Load {
    /// Observations of a new period.
    pub(super) const fn new() -> Self {
        let none = Side { done: 0, late: 0 };
        Self { reads: none, writes: none, wait_max: Span::ZERO }
    }

    pub(super) fn completed(&mut self, op: Op, took: Span, params: &IocostParams) {
        if op.is_write() {
            self.writes.note(took, &params.writes);
        } else {
            self.reads.note(took, &params.reads);
        }
    }

    /// Records that a request which could have gone at `ready` is dispatched at `now`.
    pub(super) fn dispatched(&mut self, now: Instant, ready: Instant) {
        self.wait_max = self.wait_max.max(now - ready);
    }

    pub(super) fn verdict(&self, params: &IocostParams) -> Verdict {
        let wait_percent = self.wait_max.as_ns() * 100 / params.period.as_ns().max(1);
        let saturated = self.reads.misses(&params.reads)
            || self.writes.misses(&params.writes)
            || wait_percent > u64::from(params.wait_percent);
        if saturated { Verdict::Saturated } else { Verdict::Copes }
    }
}

//! How the device copes: the signals by which the pace of virtual time is changed, over one period.

use super::{IocostParams, LatencyGoal};
use fairdisk_core::{Instant, Op, Span};

/// Completions of one direction.
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

    /// Whether more came late than the goal lets.
    const fn misses(&self, goal: &LatencyGoal) -> bool {
        let may_be_late = 100 - if goal.percent > 100 { 100 } else { goal.percent };
        self.late * 100 > self.done * may_be_late as u64
    }
}

/// What was seen in a period.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    reads: Side,
    writes: Side,
    /// The longest that a request with budget waited for room at the device.
    wait_max: Span,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The device does not get done what it is given.
    Saturated,
    /// It does.
    Copes,
}

impl Load {
    /// A new period.
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

    /// A request goes to the device that could have gone at `ready` already.
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

//! What became of what a group was promised: floor, ceiling, latency target.

use super::demand::Rate;
use crate::run::{Kept, RunResult};
use fairdisk_core::{Histogram, Qos, Rates};

/// What a group was promised and what became of it; `None` where nothing was.
#[derive(Clone, Copy, Debug, Default)]
pub struct Promises {
    /// Its floor.
    pub floor: Option<Floor>,
    /// Its ceiling.
    pub ceiling: Option<Ceiling>,
    /// Its latency target.
    pub latency: Option<Target>,
}

/// A floor.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// Seconds in which it wanted its floor, of all runs.
    pub seconds: u32,
    /// Of these, seconds in which it got less.
    pub below: u32,
    /// Whether it could use its floor if it had the disk to itself. If not, it cannot be wronged.
    pub usable: bool,
}

/// A ceiling.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    /// How far it was ahead of it at most, as milliseconds of the ceiling, beyond a burst.
    pub over_ms: f64,
}

/// A latency target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What was asked for, in milliseconds.
    pub asked_ms: f64,
    /// Within this time 99 of 100 I/Os were done; `None` if there were none.
    pub p99_ms: Option<f64>,
}

impl Floor {
    /// Whether it was kept.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.below == 0 || !self.usable
    }
}

impl Ceiling {
    /// Whether it was kept.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.over_ms <= 0.0
    }
}

impl Target {
    /// Whether it was met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.p99_ms.is_some_and(|p99| p99 <= self.asked_ms)
    }
}

impl Promises {
    /// Whether all were kept, or there were none.
    #[must_use]
    pub fn are_kept(&self) -> bool {
        self.floor.is_none_or(|floor| floor.is_kept())
            && self.ceiling.is_none_or(|ceiling| ceiling.is_kept())
            && self.latency.is_none_or(|target| target.is_met())
    }

    /// Whether there are none.
    #[must_use]
    pub const fn are_none(&self) -> bool {
        self.floor.is_none() && self.ceiling.is_none() && self.latency.is_none()
    }

    /// Of the group at `at`, whose I/Os and those of groups in it had these latencies; `alone` is
    /// what it did when it had the disk to itself.
    pub(super) fn new(
        qos: &Qos,
        runs: &[RunResult],
        at: usize,
        latency: &Histogram,
        alone: Option<Rate>,
    ) -> Self {
        let kept: Vec<Kept> = runs.iter().filter_map(|run| run.groups[at].kept).collect();
        let floor = (!qos.floor.is_none()).then(|| Floor {
            seconds: kept.iter().map(|kept| kept.seconds).sum(),
            below: kept.iter().map(|kept| kept.below).sum(),
            usable: alone.is_none_or(|alone| reaches(&alone, &qos.floor)),
        });
        let ceiling = (!qos.ceiling.is_none()).then(|| Ceiling {
            over_ms: kept.iter().map(|kept| kept.over().as_ns()).max().unwrap_or(0) as f64 / 1e6,
        });
        let latency = qos.latency_p99.map(|target| {
            let p99 = latency.quantile(990).as_ns() as f64 / 1e6;
            let p99_ms = (latency.count() > 0).then_some(p99);
            Target { asked_ms: target.as_ns() as f64 / 1e6, p99_ms }
        });
        Self { floor, ceiling, latency }
    }
}

fn reaches(rate: &Rate, floor: &Rates) -> bool {
    floor.iops.is_none_or(|least| rate.ios >= least.get() as f64)
        && floor.bytes_per_s.is_none_or(|least| rate.bytes >= least.get() as f64)
}

//! Promises: whether the floor, the ceiling and the targets of a group were kept.

use super::demand::{Rate, p99_ms};
use crate::run::{Kept, RunResult};
use fairdisk_core::{Histogram, Qos, QosKey, Rates, Span};

/// The promises made to a group, and whether each was kept; `None` for one that was not made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Promises {
    /// The floor.
    pub floor: Option<Floor>,
    /// The ceiling.
    pub ceiling: Option<Ceiling>,
    /// The latency target.
    pub latency: Option<Target>,
    /// The target for flushes.
    pub fsync: Option<Target>,
}

/// Whether a floor was kept.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// Seconds, over all runs, in which the group wanted its floor.
    pub seconds: u32,
    /// Seconds out of those in which it got less.
    pub below: u32,
    /// Whether the group could use its floor if it had the disk to itself. If not, the floor counts
    /// as kept.
    pub usable: bool,
}

/// Whether a ceiling was kept.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    /// The furthest the group ran ahead of its ceiling beyond the burst, in milliseconds of the
    /// ceiling.
    pub over_ms: f64,
}

/// Whether a target for reads and writes, or for flushes, was met.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The target, in milliseconds.
    pub asked_ms: f64,
    /// The 99th percentile of what it is about, in milliseconds; `None` if there was none.
    pub p99_ms: Option<f64>,
}

impl Floor {
    /// Whether the floor was kept.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.below == 0 || !self.usable
    }
}

impl Ceiling {
    /// Whether the ceiling was kept.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.over_ms <= 0.0
    }
}

impl Target {
    /// Whether the target was met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.p99_ms.is_some_and(|p99| p99 <= self.asked_ms)
    }
}

impl Promises {
    /// Whether all promises were kept; `true` if there were none.
    #[must_use]
    pub fn are_kept(&self) -> bool {
        self.floor.is_none_or(|floor| floor.is_kept())
            && self.ceiling.is_none_or(|ceiling| ceiling.is_kept())
            && self.targets().all(|(_, target)| target.is_met())
    }

    /// Whether there are no promises.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.floor.is_none() && self.ceiling.is_none() && self.targets().next().is_none()
    }

    /// The targets, by the keys of their settings.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (QosKey, &Target)> {
        let all = [(QosKey::LatencyP99, &self.latency), (QosKey::FsyncP99, &self.fsync)];
        all.into_iter().filter_map(|(key, target)| Some((key, target.as_ref()?)))
    }

    /// The promises to the group with index `at`, given the latencies of its I/Os and flushes and
    /// those of groups nested in it; `alone` is its rate when it had the disk to itself.
    pub(super) fn new(
        qos: &Qos,
        runs: &[RunResult],
        at: usize,
        [ios, flushes]: [&Histogram; 2],
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
        let target = |asked: Span, got: &Histogram| Target {
            asked_ms: asked.as_ns() as f64 / 1e6,
            p99_ms: p99_ms(got),
        };
        let latency = qos.latency_p99.map(|asked| target(asked, ios));
        let fsync = qos.fsync_p99.map(|asked| target(asked, flushes));
        Self { floor, ceiling, latency, fsync }
    }
}

fn reaches(rate: &Rate, floor: &Rates) -> bool {
    floor.iops.is_none_or(|least| rate.ios >= least.get() as f64)
        && floor.bytes_per_s.is_none_or(|least| rate.bytes >= least.get() as f64)
}

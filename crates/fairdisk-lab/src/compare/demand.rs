//! Demand: what each group does when it has the disk to itself, which is the most it can use.

use super::BASE;
use crate::catalog::error::CatalogError;
use crate::plan::{Plan, Single};
use crate::run::{Ensemble, GroupRun, RunResult};
use crate::seconds::in_seconds;
use fairdisk_core::Histogram;
use std::collections::BTreeMap;

/// What a group does per second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    pub(crate) ios: f64,
    pub(crate) bytes: f64,
    /// Work for the group, in seconds of the whole disk.
    pub(crate) work: f64,
    /// The 99th percentile of its latency, in milliseconds; `None` without I/Os.
    pub(crate) p99_ms: Option<f64>,
    /// That of its flushes; `None` without any.
    pub(crate) fsync_p99_ms: Option<f64>,
}

impl Rate {
    /// The mean rate of the group that `find` selects in each of some runs.
    pub(crate) fn of(runs: &[RunResult], find: impl Fn(&RunResult) -> &GroupRun) -> Self {
        let seconds: f64 = runs.iter().map(|run| in_seconds(run.elapsed)).sum();
        let mean = |value: fn(&GroupRun) -> f64| {
            let sum: f64 = runs.iter().map(|run| value(find(run))).sum();
            if seconds > 0.0 { sum / seconds } else { 0.0 }
        };
        let (mut latency, mut flush) = (Histogram::new(), Histogram::new());
        for group in runs.iter().map(&find) {
            latency.merge(&group.latency);
            group.flush.latency().into_iter().for_each(|one| flush.merge(one));
        }
        Self {
            ios: mean(|group| group.ios as f64),
            bytes: mean(|group| group.bytes as f64),
            work: mean(|group| in_seconds(group.work)),
            p99_ms: p99_ms(&latency),
            fsync_p99_ms: p99_ms(&flush),
        }
    }

    /// The work per I/O and per byte.
    pub(crate) fn cost(&self) -> [f64; 2] {
        [self.ios, self.bytes].map(|count| if count > 0.0 { self.work / count } else { 0.0 })
    }
}

/// The 99th percentile in milliseconds; `None` if nothing was counted.
pub(crate) fn p99_ms(latency: &Histogram) -> Option<f64> {
    (latency.count() > 0).then(|| latency.quantile(990).as_ns() as f64 / 1e6)
}

/// The runs of single groups that a plan needs.
#[derive(Debug)]
pub(crate) struct Singles {
    pub(crate) plan: Plan,
    places: Vec<Single>,
}

/// The results of these runs.
#[derive(Debug, Default)]
pub(crate) struct Demands(BTreeMap<Single, Rate>);

impl Singles {
    pub(crate) fn of(plan: &Plan) -> Result<Self, CatalogError> {
        let (plan, places) = plan.alone(BASE)?;
        Ok(Self { plan, places })
    }

    /// The results, from the ensembles of the runs.
    pub(crate) fn demands(&self, ensembles: &[Ensemble]) -> Demands {
        let rate = |ensemble: &Ensemble| {
            let place = self.places[ensemble.row];
            (place, Rate::of(&ensemble.runs, |run| &run.groups[place.1]))
        };
        Demands(ensembles.iter().map(rate).collect())
    }
}

impl Demands {
    /// The rate of a group of a row when alone; `None` if it saturates the disk alone or was not
    /// run.
    pub(crate) fn of(&self, row: usize, group: usize) -> Option<Rate> {
        self.0.get(&(row, group)).copied()
    }
}

//! What groups do when each has the disk to itself: more than that, none of them can use.

use super::BASE;
use crate::catalog::error::CatalogError;
use crate::plan::{Plan, Single};
use crate::run::{Ensemble, GroupRun, RunResult};
use fairdisk_core::Histogram;
use std::collections::BTreeMap;

/// What a group does in a second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    pub(crate) ios: f64,
    pub(crate) bytes: f64,
    /// Work for it, in seconds of the disk.
    pub(crate) work: f64,
    /// Within this time 99 of 100 of its I/Os are done, in milliseconds; `None` without I/Os.
    pub(crate) p99_ms: Option<f64>,
}

impl Rate {
    /// What `find` names in some runs.
    pub(crate) fn of(runs: &[RunResult], find: impl Fn(&RunResult) -> &GroupRun) -> Self {
        let seconds: f64 = runs.iter().map(|run| run.elapsed.as_ns() as f64 / 1e9).sum();
        let mean = |value: fn(&GroupRun) -> f64| {
            let sum: f64 = runs.iter().map(|run| value(find(run))).sum();
            if seconds > 0.0 { sum / seconds } else { 0.0 }
        };
        let mut latency = Histogram::new();
        runs.iter().for_each(|run| latency.merge(&find(run).latency));
        Self {
            ios: mean(|group| group.ios as f64),
            bytes: mean(|group| group.bytes as f64),
            work: mean(|group| group.work.as_ns() as f64 / 1e9),
            p99_ms: (latency.count() > 0).then(|| latency.quantile(990).as_ns() as f64 / 1e6),
        }
    }

    /// What an I/O, and what a byte, costs.
    pub(crate) fn cost(&self) -> [f64; 2] {
        [self.ios, self.bytes].map(|count| if count > 0.0 { self.work / count } else { 0.0 })
    }
}

/// The runs of single groups that a plan needs.
#[derive(Debug)]
pub(crate) struct Singles {
    pub(crate) plan: Plan,
    places: Vec<Single>,
}

/// What was found out about single groups of a plan.
#[derive(Debug, Default)]
pub(crate) struct Demands(BTreeMap<Single, Rate>);

impl Singles {
    pub(crate) fn of(plan: &Plan) -> Result<Self, CatalogError> {
        let (plan, places) = plan.alone(BASE)?;
        Ok(Self { plan, places })
    }

    /// What came out of them.
    pub(crate) fn demands(&self, ensembles: &[Ensemble]) -> Demands {
        let rate = |ensemble: &Ensemble| {
            let place = self.places[ensemble.row];
            (place, Rate::of(&ensemble.runs, |run| &run.groups[place.1]))
        };
        Demands(ensembles.iter().map(rate).collect())
    }
}

impl Demands {
    /// Of a group of a row; `None` if it fills the disk alone, or was not run.
    pub(crate) fn of(&self, row: usize, group: usize) -> Option<Rate> {
        self.0.get(&(row, group)).copied()
    }
}

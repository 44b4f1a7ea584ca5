//! What groups do when each has the disk to itself: more than that, none of them can use.

use super::BASE;
use crate::catalog::error::CatalogError;
use crate::plan::Plan;
use crate::run::{Ensemble, GroupRun, RunResult};

/// What a group does in a second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    pub(super) ios: f64,
    pub(super) bytes: f64,
    /// Work for it, in seconds of the disk.
    pub(super) work: f64,
}

impl Rate {
    /// What `find` names in some runs.
    pub(super) fn of(runs: &[RunResult], find: impl Fn(&RunResult) -> &GroupRun) -> Self {
        let seconds: f64 = runs.iter().map(|run| run.elapsed.as_ns() as f64 / 1e9).sum();
        let mean = |value: fn(&GroupRun) -> f64| {
            let sum: f64 = runs.iter().map(|run| value(find(run))).sum();
            if seconds > 0.0 { sum / seconds } else { 0.0 }
        };
        Self {
            ios: mean(|group| group.ios as f64),
            bytes: mean(|group| group.bytes as f64),
            work: mean(|group| group.work.as_ns() as f64 / 1e9),
        }
    }

    /// What an I/O, and what a byte, costs.
    pub(super) fn cost(&self) -> [f64; 2] {
        [self.ios, self.bytes].map(|count| if count > 0.0 { self.work / count } else { 0.0 })
    }
}

/// The runs of single groups that a plan needs.
#[derive(Debug)]
pub(super) struct Singles {
    pub(super) plan: Plan,
    places: Vec<(usize, usize)>,
}

/// What was found out about single groups of a plan.
#[derive(Debug, Default)]
pub(super) struct Demands(Vec<((usize, usize), Rate)>);

impl Singles {
    pub(super) fn of(plan: &Plan) -> Result<Self, CatalogError> {
        let (plan, places) = plan.alone(BASE)?;
        Ok(Self { plan, places })
    }

    /// What came out of them.
    pub(super) fn demands(&self, ensembles: &[Ensemble]) -> Demands {
        let rate = |ensemble: &Ensemble| {
            let place = self.places[ensemble.row];
            (place, Rate::of(&ensemble.runs, |run| &run.groups[place.1]))
        };
        Demands(ensembles.iter().map(rate).collect())
    }
}

impl Demands {
    /// Of a group of a row; `None` if it fills the disk alone, or was not run.
    pub(super) fn of(&self, row: usize, group: usize) -> Option<Rate> {
        self.0.iter().find(|(place, _)| *place == (row, group)).map(|(_, rate)| *rate)
    }
}

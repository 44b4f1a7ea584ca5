//! The same load under several schedulers and on several devices: who got what they asked for, what
//! it cost in throughput, and how long anybody waited.

mod json;
mod table;

pub use json::to_json;
pub use table::to_table;

use crate::outcome::{GroupOutcome, Outcome, RowOutcome, Shell};
use crate::plan::Plan;
use crate::run::Ensemble;
use fairdisk_core::WeightMap;

/// One row on one device under one arm.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The disk's id.
    pub device: String,
    /// What the arm is called: most of the time the scheduler.
    pub arm: String,
    /// Its scheduler.
    pub scheduler: String,
    /// The row.
    pub row: String,
    /// Number of runs, and length of one in seconds.
    pub seeds: usize,
    /// See `seeds`.
    pub duration_s: f64,
    /// Whether it has fewer runs than asked for, or one was cut short.
    pub partial: bool,
    /// I/Os a second, of all groups.
    pub ios_per_s: f64,
    /// Million bytes a second, of all groups.
    pub mb_per_s: f64,
    /// Throughput in bytes as part of that of `noop` on the same device and row.
    pub of_noop: Option<f64>,
    /// What the groups asked for and got; without the root group.
    pub groups: Vec<CellGroup>,
}

/// One group of a cell.
#[derive(Clone, Debug)]
pub struct CellGroup {
    /// The part of the disk's time that it asks for with its weight, of that which the groups got.
    pub asked: f64,
    /// The part of that time it got.
    pub got: f64,
    /// What else is known of it.
    pub outcome: GroupOutcome,
}

impl CellGroup {
    /// How far it is from what it asked for, in percentage points.
    #[must_use]
    pub fn error_points(&self) -> f64 {
        (self.got - self.asked) * 100.0
    }
}

impl Cell {
    /// The distances of its groups from what they asked for, in percentage points: the mean, and
    /// the largest.
    #[must_use]
    pub fn error_points(&self) -> (f64, f64) {
        let errors = self.groups.iter().map(|group| group.error_points().abs());
        let count = self.groups.len().max(1) as f64;
        (errors.clone().sum::<f64>() / count, errors.fold(0.0, f64::max))
    }
}

/// The scheduler that others are measured by.
pub const BASE: &str = "noop";

/// A comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The experiment's id.
    pub experiment: String,
    /// One line about it.
    pub title: String,
    /// Runs of each cell, if nothing ends them early.
    pub seeds: u32,
    /// By device, then row, then scheduler.
    pub cells: Vec<Cell>,
}

impl Comparison {
    /// Adds what the ensembles of `plan` came to.
    ///
    /// # Errors
    /// The load does not fit the disk.
    pub fn add(&mut self, plan: &Plan, ensembles: &[Ensemble]) -> Result<(), String> {
        self.experiment.clone_from(&plan.id);
        self.title.clone_from(&plan.title);
        self.seeds = plan.seeds;
        let outcome = Outcome::new(plan, Shell::Lab, ensembles);
        for (ensemble, row) in ensembles.iter().zip(outcome.rows) {
            let (arm, load) = (&plan.arms[ensemble.arm], &plan.rows[ensemble.row]);
            let asked = plan.setup(arm, load, 0)?.groups;
            let weight =
                |at: usize| f64::from(asked[at].spec.share.weight(WeightMap::LinearHigh0).get());
            let weights: Vec<f64> = (0..asked.len()).map(weight).collect();
            self.cells.push(cell(&outcome.device, row, &weights));
        }
        Ok(())
    }

    /// Puts the cells in order and measures each by [`BASE`].
    pub fn finish(&mut self) {
        let place = |list: &mut Vec<String>, name: &String| {
            list.iter().position(|one| one == name).unwrap_or_else(|| {
                list.push(name.clone());
                list.len() - 1
            })
        };
        let (mut devices, mut rows) = (Vec::new(), Vec::new());
        self.cells.sort_by_cached_key(|cell| {
            (place(&mut devices, &cell.device), place(&mut rows, &cell.row))
        });
        let base: Vec<(String, String, f64)> = (self.cells.iter())
            .filter(|cell| cell.scheduler == BASE)
            .map(|cell| (cell.device.clone(), cell.row.clone(), cell.mb_per_s))
            .collect();
        for cell in &mut self.cells {
            let same =
                base.iter().find(|(device, row, _)| *device == cell.device && *row == cell.row);
            cell.of_noop =
                same.filter(|base| base.2 > 0.0).map(|(_, _, rate)| cell.mb_per_s / rate);
        }
    }
}

fn cell(device: &str, row: RowOutcome, weights: &[f64]) -> Cell {
    let per_second = |amount: f64| if row.duration_s > 0.0 { amount / row.duration_s } else { 0.0 };
    let groups: Vec<GroupOutcome> = row.groups.into_iter().take(weights.len()).collect();
    let time: f64 = groups.iter().map(|group| group.time_share).sum();
    let asked: f64 = weights.iter().sum();
    let part = |amount: f64, whole: f64| if whole > 0.0 { amount / whole } else { 0.0 };
    Cell {
        device: device.to_owned(),
        arm: row.arm,
        scheduler: row.scheduler,
        row: row.row,
        seeds: row.seeds,
        duration_s: row.duration_s,
        partial: row.partial,
        ios_per_s: per_second(row.total_ios.mean),
        mb_per_s: per_second(row.total_bytes) / 1e6,
        of_noop: None,
        groups: groups
            .into_iter()
            .zip(weights)
            .map(|(outcome, weight)| CellGroup {
                asked: part(*weight, asked),
                got: part(outcome.time_share, time),
                outcome,
            })
            .collect(),
    }
}

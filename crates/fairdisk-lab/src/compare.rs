//! Comparison of schedulers under the same load, on one or more devices: whether groups got what
//! they asked for, what that cost in throughput, and how long requests waited.
//!
//! What a group got of a disk is measured in [work](fairdisk_sim::device::Device::work). What a
//! group asked for is what it is entitled to: its weight's share of the work of all groups, or the
//! most it can use if that is less, within its floor and its ceiling.

mod cell;
mod demand;
mod division;
mod entitled;
mod html;
mod json;
mod promise;
mod single_plan;
mod summary;
mod table;

pub use cell::{Cell, CellGroup};
pub use division::Parts;
pub(crate) use html::sections;
pub use html::to_html;
pub use json::{CompareResults, to_json};
pub use promise::{Ceiling, Floor, Promises, Target};
pub use single_plan::run_and_divide;
pub use summary::Summary;
pub(crate) use table::excess;
pub use table::to_table;

use crate::outcome::{ArmOutcome, Outcome, Shell, runs};
use crate::plan::{Plan, PlannedRow};
use crate::run::{Ensemble, PlanRuns, Progress, run_plans};
pub(crate) use demand::{Demands, Rate, Singles};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// The scheduler that serves as the baseline for throughput.
pub const BASE: &str = "noop";

/// A comparison of schedulers.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The experiment's id.
    pub experiment: String,
    /// One line about the experiment.
    pub title: String,
    /// The number of runs of each cell, unless stopped early.
    pub seeds: u32,
    /// The cells, by device, then row, then scheduler.
    pub cells: Vec<Cell>,
    /// The arms as they were resolved, device by device.
    pub arms: Vec<ArmOutcome>,
    /// Rows that schedulers refused to run.
    pub refused: Vec<RefusedCell>,
    /// Cells that were asked for and have no runs, because the runs were stopped before.
    pub missing: Vec<MissingCells>,
    /// Settings of the load that schedulers other than [`BASE`] do not honour, as sentences.
    pub unheeded: Vec<String>,
}

/// A row that the scheduler of an arm refuses to run on a device.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RefusedCell {
    /// The id of the device.
    pub device: String,
    /// The row.
    pub row: String,
    /// The name of the arm.
    pub arm: String,
    /// The reason for the refusal.
    pub reason: String,
}

/// Cells without runs on one device and row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCells {
    /// The id of the device.
    pub device: String,
    /// The row.
    pub row: String,
    /// The names of the arms.
    pub arms: Vec<String>,
}

/// What to do about an arm that has its own device.
pub(crate) const LEAVE_OUT: &str = "compare without it, by a file that leaves it out";

/// Runs `plans`, which are one load on several devices, all at the same time. Also runs each group
/// alone, unless it is known to saturate the disk. Setting `stop` ends early with what is known by
/// then.
///
/// # Errors
/// Returns an error if a load cannot be run under any scheduler. What only some schedulers refuse
/// is left out and listed as refused.
pub fn compare(
    plans: &[Plan],
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Comparison, String> {
    plans.iter().try_for_each(|plan| plan.demand_one_rig("a comparison", LEAVE_OUT))?;
    let singles = plans.iter().map(Singles::of).collect::<Result<Vec<_>, _>>();
    let singles = singles.map_err(|error| error.to_string())?;
    // Single groups first: their results determine what the groups ask for.
    let all: Vec<&Plan> = singles.iter().map(|single| &single.plan).chain(plans).collect();
    let runs = run_plans(&all, progress, stop)?;
    let (alone, together) = runs.split_at(plans.len());
    let mut comparison = Comparison::default();
    for ((plan, singles), (alone, together)) in
        plans.iter().zip(&singles).zip(alone.iter().zip(together))
    {
        comparison.add(plan, &together.ensembles, &singles.demands(&alone.ensembles));
        comparison.refused.extend(together.refused.iter().map(|refused| RefusedCell {
            device: plan.rig.device_id.clone(),
            row: plan.rows[refused.row].label.clone(),
            arm: plan.arms[refused.arm].name.clone(),
            reason: refused.reason.clone(),
        }));
        comparison.missing.extend(missing(plan, together));
    }
    // The load and the schedulers are the same on every device.
    if let Some(plan) = plans.first() {
        let others = plan.arms.iter().filter(|arm| arm.revision.id != BASE);
        comparison.unheeded = plan.unheeded(others);
    }
    comparison.finish();
    Ok(comparison)
}

/// The cells of `plan` that neither have a run nor were refused.
fn missing(plan: &Plan, runs: &PlanRuns) -> Vec<MissingCells> {
    let mut known: BTreeSet<(usize, usize)> =
        runs.ensembles.iter().map(|ensemble| (ensemble.row, ensemble.arm)).collect();
    known.extend(runs.refused.iter().map(|refused| (refused.row, refused.arm)));
    let of_row = |(at, row): (usize, &PlannedRow)| MissingCells {
        device: plan.rig.device_id.clone(),
        row: row.label.clone(),
        arms: (plan.arms.iter().enumerate())
            .filter(|(arm, _)| !known.contains(&(at, *arm)))
            .map(|(_, arm)| arm.name.clone())
            .collect(),
    };
    let rows = plan.rows.iter().enumerate().map(of_row);
    rows.filter(|missing| !missing.arms.is_empty()).collect()
}

impl Comparison {
    /// The number of cells that were asked for, without those refused.
    #[must_use]
    pub fn asked(&self) -> usize {
        let missing = self.missing.iter().map(|missing| missing.arms.len());
        self.cells.len() + missing.sum::<usize>()
    }

    /// That not all cells are complete, in words; `None` if they are.
    #[must_use]
    pub fn partial(&self) -> Option<String> {
        let complete = self.cells.iter().filter(|cell| !cell.partial).count();
        let asked = self.asked();
        let text = || format!("results are partial: {complete} of {asked} cells are complete");
        (complete < asked).then(text)
    }

    /// How many runs the figures of a cell are the mean of.
    fn runs(&self) -> String {
        match self.partial() {
            Some(_) if self.seeds > 1 => format!("mean of up to {} runs", self.seeds),
            _ => runs(self.seeds as usize),
        }
    }

    /// Adds the results of the ensembles of `plan`.
    pub(crate) fn add(&mut self, plan: &Plan, ensembles: &[Ensemble], demands: &Demands) {
        self.experiment.clone_from(&plan.id);
        self.title.clone_from(&plan.title);
        self.seeds = plan.seeds;
        let outcome = Outcome::new(plan, Shell::Lab, ensembles);
        self.arms.extend(outcome.arms);
        for (ensemble, row) in ensembles.iter().zip(outcome.rows) {
            self.cells.push(Cell::new(plan, ensemble, row, demands));
        }
    }

    /// Notes on the figures, in sentences.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.note().into_iter().chain(self.caveats())
    }

    /// What to know before reading the figures.
    fn caveats(&self) -> impl Iterator<Item = &str> {
        self.lone_group().into_iter().chain(self.unheeded.iter().map(String::as_str))
    }

    /// A note for comparisons in which no row has groups to share between.
    fn lone_group(&self) -> Option<&'static str> {
        let is_lone = |cell: &Cell| cell.groups.len() == 1 && cell.outer.is_empty();
        (!self.cells.is_empty() && self.cells.iter().all(is_lone)).then_some(
            "There is one group, which may have all of the disk: there is nothing to share out. \
             Put tasks in groups, as with group=/NAME in a job file, to see who gets what.",
        )
    }

    /// A note for comparisons in which groups end at different times.
    #[must_use]
    pub fn note(&self) -> Option<&'static str> {
        let is_partly_idle = |cell: &Cell| cell.done_early && cell.groups.len() > 1;
        self.cells.iter().any(is_partly_idle).then_some(
            "A group was done before others: it takes nothing from then on, and is entitled to \
             its part all the same. --duration with less than that, or tasks without an end, \
             compares what all get while all want it.",
        )
    }

    /// The cells of each device and row.
    fn blocks(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunk_by(|one, two| one.device == two.device && one.row == two.row)
    }

    /// Sorts the cells and relates each to the [`BASE`] scheduler.
    pub(crate) fn finish(&mut self) {
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

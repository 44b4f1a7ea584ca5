//! The same load under several schedulers and on several devices: who got what they asked for, what
//! it cost in throughput, and how long anybody waited.
//!
//! Who got how much of a disk is measured in [work](fairdisk_sim::device::Device::work), and what a
//! group asks for is what it is entitled to: its weight's part of what was got, or what it can use
//! at most if that is less, within its floor and its ceiling.

mod cell;
mod demand;
mod entitled;
mod html;
mod json;
mod promise;
mod summary;
mod table;

pub use cell::{Cell, CellGroup};
pub use html::to_html;
pub use json::to_json;
pub use promise::{Ceiling, Floor, Promises, Target};
pub use summary::Summary;
pub use table::to_table;

use crate::outcome::{Outcome, Shell};
use crate::plan::Plan;
use crate::run::{Ensemble, Progress, run_plans};
pub(crate) use demand::{Demands, Rate, Singles};
use std::sync::atomic::AtomicBool;

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
    /// What schedulers refused to run.
    pub refused: Vec<RefusedCell>,
    /// What the load asks for that schedulers other than [`BASE`] take no notice of, as sentences.
    pub unheeded: Vec<String>,
}

/// A row that the scheduler of an arm does not take on a device.
#[derive(Clone, Debug)]
pub struct RefusedCell {
    /// The disk's id.
    pub device: String,
    /// The row.
    pub row: String,
    /// What the arm is called.
    pub arm: String,
    /// Why.
    pub reason: String,
}

/// What to do about arms with their own disk.
pub(crate) const LEAVE_OUT: &str = "compare without it, by a file that leaves it out";

/// Runs `plans`, which are one load on several devices, all of them at once, and each group alone
/// where that is not known to fill the disk. `stop` ends early with what is known by then.
///
/// # Errors
/// A load that cannot be run under any scheduler. What a single scheduler refuses is left out, and
/// said.
pub fn compare(
    plans: &[Plan],
    progress: Progress<'_>,
    stop: &AtomicBool,
) -> Result<Comparison, String> {
    plans.iter().try_for_each(|plan| plan.demand_one_rig("a comparison", LEAVE_OUT))?;
    let singles = plans.iter().map(Singles::of).collect::<Result<Vec<_>, _>>();
    let singles = singles.map_err(|error| error.to_string())?;
    // Single groups first: without them nobody knows what the others asked for.
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
    }
    // The same load under the same schedulers, whatever the device.
    if let Some(plan) = plans.first() {
        let others = plan.arms.iter().filter(|arm| arm.revision.id != BASE);
        comparison.unheeded = plan.unheeded(others);
    }
    comparison.finish();
    Ok(comparison)
}

impl Comparison {
    /// Adds what the ensembles of `plan` came to.
    pub(crate) fn add(&mut self, plan: &Plan, ensembles: &[Ensemble], demands: &Demands) {
        self.experiment.clone_from(&plan.id);
        self.title.clone_from(&plan.title);
        self.seeds = plan.seeds;
        let outcome = Outcome::new(plan, Shell::Lab, ensembles);
        for (ensemble, row) in ensembles.iter().zip(outcome.rows) {
            self.cells.push(Cell::new(plan, ensemble, row, demands));
        }
    }

    /// What to know of its figures, in sentences.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.note().into_iter().chain(self.unheeded.iter().map(String::as_str))
    }

    /// What to know where groups end at different times.
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

    /// Puts the cells in order and measures each by [`BASE`].
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

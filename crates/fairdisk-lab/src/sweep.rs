//! Sweeps: one key takes value after value, and figures of the runs become curves over it.

mod html;
mod json;
mod table;
mod values;

pub use html::to_html;
pub(crate) use html::{page_below, sections};
pub use json::{SweepResults, to_json};
pub use table::to_table;
pub use values::{Sweep, values_of};

use crate::metric::{Metric, NO_PAGES};
use crate::outcome::{RefusedRow, Series};
use crate::plan::{Obstacle, Plan, PlannedArm, PlannedRow};
use crate::run::{Progress, run_once};
use crate::threads::on_cores;
use std::sync::atomic::AtomicBool;

/// What a run is known for, metric by metric; `None` for what it has not.
pub type Measured = Vec<Option<f64>>;

/// Finished runs that are kept for later.
pub trait Keeper: Sync {
    /// What an earlier run with this identity and seed had.
    fn known(&self, identity: &str, seed: u32) -> Option<Measured>;
    /// Keeps a run.
    fn keep(&self, identity: &str, seed: u32, measured: &Measured);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct Forgetful;

impl Keeper for Forgetful {
    fn known(&self, _identity: &str, _seed: u32) -> Option<Measured> {
        None
    }

    fn keep(&self, _identity: &str, _seed: u32, _measured: &Measured) {}
}

/// The curves of a sweep.
#[derive(Clone, Debug)]
pub struct SweepOutcome {
    /// The experiment's id.
    pub experiment: String,
    /// One line about the experiment.
    pub title: String,
    /// The question that the experiment answers.
    pub question: String,
    /// The id of the device, of the first value.
    pub device: String,
    /// The key that is swept, with its scope first.
    pub key: String,
    /// The number of runs of each point, unless stopped early.
    pub seeds: u32,
    /// The curves: row by row, arm by arm.
    pub curves: Vec<Curve>,
    /// Points that schedulers refused to run; the row is told with the value.
    pub refused: Vec<RefusedRow>,
    /// What to know before reading the figures.
    pub caveats: Vec<String>,
    /// The number of points, and how many of them have all of their runs or are refused.
    pub points: [usize; 2],
}

/// One row under one arm.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The name of the arm.
    pub arm: String,
    /// The label of the row.
    pub row: String,
    /// What is measured.
    pub metrics: Vec<Metric>,
    /// The points, in order of the values.
    pub points: Vec<Point>,
}

/// One value of the key.
#[derive(Clone, Debug)]
pub struct Point {
    /// The value as it was given.
    pub value: String,
    /// The number of runs.
    pub runs: usize,
    /// Each metric; `None` if a run does not have it.
    pub figures: Vec<Option<Series>>,
}

impl SweepOutcome {
    /// That results are partial, if they are.
    #[must_use]
    pub fn partial(&self) -> Option<String> {
        let [all, known] = self.points;
        (known < all).then(|| format!("results are partial: {known} of {all} points are complete"))
    }
}

/// One arm, row and value.
struct Cell<'a> {
    plan: &'a Plan,
    arm: &'a PlannedArm,
    row: &'a PlannedRow,
    groups: Vec<String>,
    metrics: Vec<Metric>,
    /// A text of everything that determines a run, apart from its seed.
    identity: String,
}

impl<'a> Cell<'a> {
    /// What it is called while it runs.
    fn name(&self) -> String {
        format!("{} under {} on {}", self.row.label, self.arm.name, self.arm.rig.device_id)
    }

    fn new(plan: &'a Plan, (arm, row): (usize, usize), wanted: &[Metric]) -> Result<Self, String> {
        let (arm, row) = plan.cell(arm, row);
        let groups = row.load.group_names();
        let metrics = match wanted {
            [] => usual(&groups),
            wanted => wanted.to_vec(),
        };
        for metric in &metrics {
            let of_row =
                |error| format!("--metric {}: row `{}`: {error}", metric.name(), row.label);
            metric.demand_group(&groups).map_err(of_row)?;
        }
        let identity = format!("{arm:?} {row:?} {:?} {metrics:?}", plan.ramp);
        Ok(Self { plan, arm, row, groups, metrics, identity })
    }

    fn measure(&self, seed: u32, stop: &AtomicBool) -> Result<Measured, Obstacle> {
        let run = run_once(self.plan, self.arm, self.row, seed, stop)?;
        Ok(self.metrics.iter().map(|metric| metric.of(&run, &self.groups).ok()).collect())
    }
}

/// What is measured if nothing else is asked for: rates, and how several groups share the disk.
fn usual(groups: &[String]) -> Vec<Metric> {
    let shares = groups.iter().filter(|_| groups.len() > 1).cloned().map(Metric::Share);
    [Metric::Mbps, Metric::Ios, Metric::P99].into_iter().chain(shares).collect()
}

/// Runs the plans of a sweep, one for each of its values, and measures `wanted`, or what is usual.
/// Setting `stop` ends early with the runs that are complete.
///
/// # Errors
/// Returns an error if a metric names a group that a row does not have, or the first load that
/// cannot be run under any scheduler.
pub fn sweep(
    sweep: &Sweep,
    plans: &[Plan],
    wanted: &[Metric],
    keeper: &dyn Keeper,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<SweepOutcome, String> {
    let Some(first) = plans.first() else { return Err("a sweep has values".to_owned()) };
    let mut cells = Vec::new();
    for row in 0..first.rows.len() {
        for arm in 0..first.arms.len() {
            for plan in plans {
                cells.push(Cell::new(plan, (arm, row), wanted)?);
            }
        }
    }
    let jobs: Vec<(&Cell<'_>, u32)> =
        cells.iter().flat_map(|cell| (0..cell.plan.seeds).map(move |seed| (cell, seed))).collect();
    let name = |(cell, _): &(&Cell<'_>, u32)| cell.name();
    let results = on_cores(&jobs, name, progress, stop, |(cell, seed)| {
        if let Some(known) = keeper.known(&cell.identity, *seed) {
            return Ok(known);
        }
        let measured = cell.measure(*seed, stop)?;
        // A run that was interrupted has no result.
        if !stop.load(std::sync::atomic::Ordering::Relaxed) {
            keeper.keep(&cell.identity, *seed, &measured);
        }
        Ok(measured)
    });
    let mut outcome = empty(sweep, first);
    outcome.points[0] = cells.len();
    let mut results = results.into_iter();
    for curve in cells.chunks(plans.len()) {
        let mut points = Vec::new();
        for (cell, value) in curve.iter().zip(sweep.values()) {
            let runs = results.by_ref().take(cell.plan.seeds as usize).flatten();
            let runs = runs.collect::<Result<Vec<Measured>, Obstacle>>();
            match runs {
                Ok(runs) => {
                    outcome.points[1] += usize::from(runs.len() == cell.plan.seeds as usize);
                    points.extend(point(cell, value, &runs));
                }
                Err(Obstacle::Load(why)) => return Err(why),
                Err(Obstacle::Refusal { reason, .. }) => {
                    outcome.points[1] += 1;
                    let row = format!("{}, {}={value}", cell.row.label, sweep.key());
                    outcome.refused.push(RefusedRow { arm: cell.arm.name.clone(), row, reason });
                }
            }
        }
        let Some(Cell { arm, row, metrics, .. }) = curve.first() else { continue };
        let (arm, row, metrics) = (arm.name.clone(), row.label.clone(), metrics.clone());
        if !points.is_empty() {
            let note = without_pages(curve).filter(|it| !outcome.caveats.contains(it));
            outcome.caveats.extend(note);
            outcome.curves.push(Curve { arm, row, metrics, points });
        }
    }
    Ok(outcome)
}

/// That a metric needs memory page by page, which a point of the curve does not have.
fn without_pages(curve: &[Cell<'_>]) -> Option<String> {
    let lacks = |cell: &Cell<'_>| cell.arm.rig.host.memory.kernel.is_none();
    let metrics = curve.iter().filter(|cell| lacks(cell)).flat_map(|cell| &cell.metrics);
    let metric = metrics.into_iter().find(|metric| metric.is_of_pages())?;
    Some(format!("{}: {NO_PAGES}", metric.name()))
}

fn empty(sweep: &Sweep, plan: &Plan) -> SweepOutcome {
    let unheeded = plan.unheeded(plan.arms.iter());
    SweepOutcome {
        experiment: plan.id.clone(),
        title: plan.title.clone(),
        question: plan.question.clone(),
        device: plan.rig.device_id.clone(),
        key: sweep.key().to_owned(),
        seeds: plan.seeds,
        curves: Vec::new(),
        refused: Vec::new(),
        caveats: plan.caveats.iter().cloned().chain(unheeded).collect(),
        points: [0, 0],
    }
}

/// The point of these runs; `None` if there is none.
fn point(cell: &Cell<'_>, value: &str, runs: &[Measured]) -> Option<Point> {
    let figure = |at: usize| {
        let each: Option<Vec<f64>> = runs.iter().map(|run| *run.get(at)?).collect();
        each.map(Series::of)
    };
    let figures = (0..cell.metrics.len()).map(figure).collect();
    (!runs.is_empty()).then(|| Point { value: value.to_owned(), runs: runs.len(), figures })
}

//! What each group of a single plan is entitled to, for `run`.

use super::demand::{Demands, Singles};
use super::division::Division;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::run::{Ensemble, PlanRuns, Progress, Silent, run_all, run_plan};
use fairdisk_core::Prng;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most runs of single groups that are made for the sake of a plan with fewer runs than that.
const SINGLES_MOST: usize = 16;

/// Runs everything in the plan that schedulers accept, and each group alone as [`compare`] does, so
/// that the outcome says how much of the disk each group is entitled to. Where single groups cannot
/// be run, or are many more than the runs of the plan, that stays unknown. Setting `stop` ends
/// early with the runs that are complete.
///
/// [`compare`]: super::compare
///
/// # Errors
/// Returns the first load that cannot be run under any scheduler.
pub fn run_and_divide(
    plan: &Plan,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<(PlanRuns, Outcome), String> {
    let runs = run_all(plan, progress, stop)?;
    let mut outcome = Outcome::of_runs(plan, &runs);
    if let Some(demands) = demands(plan, stop) {
        for (ensemble, row) in runs.ensembles.iter().zip(&mut outcome.rows) {
            let asked = asked(plan, ensemble, &demands);
            for (group, asked) in row.groups.iter_mut().zip(asked) {
                group.disk.asked = asked;
            }
        }
    }
    Ok((runs, outcome))
}

/// What each group can use; `None` where that is not known.
fn demands(plan: &Plan, stop: &AtomicBool) -> Option<Demands> {
    plan.demand_one_rig("a division", "").ok()?;
    let has_events = plan.rows.iter().any(|row| !row.events.is_empty());
    let singles = Singles::of(plan).ok().filter(|_| !has_events)?;
    let all = plan.arms.len() * plan.rows.len() * plan.seeds as usize;
    if singles.plan.rows.len() > all.max(SINGLES_MOST) {
        return None;
    }
    let ensembles = run_plan(&singles.plan, &Silent, stop).ok()?;
    (!stop.load(Ordering::Relaxed)).then(|| singles.demands(&ensembles))
}

/// The part of the disk that each group of an ensemble is entitled to; `None` for groups without
/// tasks, and for one that has nobody beside it.
fn asked(plan: &Plan, ensemble: &Ensemble, demands: &Demands) -> Vec<Option<f64>> {
    let load = &plan.rows[ensemble.row].load;
    let loaded = load.build(&plan.rig.host, false, &mut Prng::new(0));
    let parts = Division::new(&loaded, ensemble, demands).parts_of_each();
    if parts.iter().flatten().count() < 2 {
        return Vec::new();
    }
    parts.into_iter().map(|parts| Some(parts?.asked)).collect()
}

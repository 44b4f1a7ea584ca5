//! Jobs that were done within their `ramp_time`.

use crate::plan::Plan;
use crate::run::Ensemble;
use std::collections::BTreeSet;

/// A note that names them: a ramp that is never passed takes nothing away, as in fio.
pub(super) fn note(plan: &Plan, ensembles: &[Ensemble]) -> Option<String> {
    let names = ensembles.iter().flat_map(|ensemble| {
        let names = plan.rows[ensemble.row].load.task_names();
        let ended = |at: usize| ensemble.runs.iter().any(|run| run.tasks[at].ended_in_ramp);
        names.into_iter().enumerate().filter(move |(at, _)| ended(*at)).map(|(_, name)| name)
    });
    let names: BTreeSet<String> = names.map(|name| format!("`{name}`")).collect();
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!("Done within ramp_time, so that all of it is counted: {}.", names.join(", "))
    })
}

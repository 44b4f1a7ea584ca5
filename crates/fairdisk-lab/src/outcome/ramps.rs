//! Jobs that got no further than their `ramp_time`.

use crate::plan::Plan;
use crate::run::Ensemble;
use std::collections::BTreeSet;

/// A note that names them: a ramp that is never passed takes nothing away, as in fio.
pub(super) fn note(plan: &Plan, ensembles: &[Ensemble]) -> Option<String> {
    let names = ensembles.iter().flat_map(|ensemble| {
        let names = plan.rows[ensemble.row].load.task_names();
        let are_in = |at: usize| ensemble.runs.iter().any(|run| run.tasks[at].in_ramp);
        names.into_iter().enumerate().filter(move |(at, _)| are_in(*at)).map(|(_, name)| name)
    });
    let names: BTreeSet<String> = names.map(|name| format!("`{name}`")).collect();
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("All that is done is counted, as ramp_time is not over by then: {names}.")
    })
}

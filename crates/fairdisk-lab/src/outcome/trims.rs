//! Trims in the lab, whose work is not modelled.

use crate::plan::Plan;
use crate::run::Ensemble;

/// A note if tasks trimmed: no device of the lab takes longer for a trim than for a command, and
/// discarded bytes are not moved.
pub(super) fn note(plan: &Plan, ensembles: &[Ensemble]) -> Option<String> {
    let runs = ensembles.iter().flat_map(|ensemble| &ensemble.runs);
    let bytes: u64 = runs.flat_map(|run| &run.groups).map(|group| group.trim.bytes).sum();
    (bytes > 0).then(|| {
        format!(
            "A trim of any size takes `{}` the time of a command and holds nobody up: the work of \
             real disks for trims is not modelled. Discarded bytes are in no MB/s.",
            plan.rig.device_id
        )
    })
}

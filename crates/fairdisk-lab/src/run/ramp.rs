//! Checks that something is left to measure after the ramp.

use crate::plan::{Obstacle, Plan, PlannedRow};
use crate::seconds::in_seconds;
use fairdisk_core::Elevator;
use fairdisk_sim::Machine;
use std::ops::Range;

/// Returns an error unless something is left to measure at the end of the ramp: of all tasks
/// together, and of each line of the report.
pub(super) fn demand_left<E: Elevator>(
    plan: &Plan,
    row: &PlannedRow,
    named: &[Range<usize>],
    machine: &Machine<E>,
) -> Result<(), Obstacle> {
    let is_done: Vec<bool> = machine.task_ends().map(|(_, end)| end.is_some()).collect();
    let are_done = |tasks: &Range<usize>| {
        is_done.get(tasks.clone()).is_some_and(|tasks| tasks.iter().all(|done| *done))
    };
    let who = if are_done(&(0..is_done.len())) {
        "all tasks".to_owned()
    } else {
        let Some(line) = named.iter().position(are_done) else { return Ok(()) };
        let names = row.load.task_names();
        format!("row `{}`: all tasks of `{}`", row.label, names[line % names.len()])
    };
    let seconds = in_seconds(plan.ramp);
    Err(Obstacle::Load(format!(
        "{who} were done within the {seconds} s of `ramp_s`, which are not measured; lower it, or \
         give them more to do"
    )))
}

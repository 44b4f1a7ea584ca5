//! Checks that something is left to measure after the ramp.

use crate::plan::{Obstacle, Plan, PlannedRow};
use crate::seconds::in_seconds;
use fairdisk_sched::Scheduler;
use fairdisk_sim::{Machine, TaskReport};
use std::ops::Range;

/// Returns an error unless something is left to measure at the end of the ramp: of all tasks
/// together, and of each line of the report; and of a run that lasts until its tasks are done, all
/// of each task.
pub(super) fn demand_left(
    plan: &Plan,
    row: &PlannedRow,
    named: &[Range<usize>],
    machine: &Machine<Scheduler>,
) -> Result<(), Obstacle> {
    let seconds = in_seconds(plan.ramp);
    let is_running = |task: &TaskReport| task.started.is_some() && task.finished.is_none();
    if row.duration.is_none() && machine.task_reports().any(is_running) {
        return Err(Obstacle::Load(format!(
            "row `{}`: a task that begins within the {seconds} s of `ramp_s` is not done by then, \
             and with `until` tasks are measured from beginning to end; raise it",
            row.label
        )));
    }
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
    Err(Obstacle::Load(format!(
        "{who} were done within the {seconds} s of `ramp_s`, which are not measured; lower it, or \
         give them more to do"
    )))
}

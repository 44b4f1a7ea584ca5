//! Tasks that the host limits, and not the disk.

use super::part;
use crate::plan::Plan;
use crate::run::{Ensemble, RunResult};
use crate::seconds::in_seconds;
use fairdisk_core::Span;
use std::collections::BTreeSet;

/// The part of its time for which a task, or each CPU, is busy if it is the limit.
const IS_LIMIT: f64 = 0.9;

/// A note that names the jobs, or groups of unnamed tasks, that did as much as their CPU time
/// allows, or that says that all CPUs were busy.
pub(super) fn note(plan: &Plan, ensembles: &[Ensemble]) -> Option<String> {
    let mut names = BTreeSet::new();
    let mut places = Vec::new();
    let mut all_busy = false;
    for ensemble in ensembles {
        let load = &plan.rows[ensemble.row].load;
        let (lines, groups) = (load.task_names(), load.group_names());
        let (arm, row) = plan.cell(ensemble.arm, ensemble.row);
        let host = &arm.rig.host;
        let mut is_limit = false;
        for run in &ensemble.runs {
            let busy = in_seconds(cpu(run))
                >= IS_LIMIT * f64::from(host.cpus) * in_seconds(run.elapsed)
                && run.elapsed > Span::ZERO;
            all_busy |= busy;
            let of_lines = lines.iter().zip(&run.tasks).map(|(name, task)| {
                let time = task.each.iter().fold(Span::ZERO, |sum, each| sum + *each);
                (name, task.cpu, time)
            });
            let of_groups = groups.iter().zip(&run.groups);
            let of_groups = of_groups
                .filter(|_| lines.is_empty())
                .map(|(name, group)| (name, group.cpu, group.task_time));
            let limited = of_lines
                .chain(of_groups)
                .filter(|(_, cpu, time)| part(in_seconds(*cpu), in_seconds(*time)) >= IS_LIMIT);
            let limited: Vec<String> = limited.map(|(name, ..)| format!("`{name}`")).collect();
            is_limit |= busy || !limited.is_empty();
            names.extend(limited);
        }
        if is_limit {
            places.push(format!("{} under {}", row.label, arm.name));
        }
    }
    let [least, most] = plan.rig.host.turnaround_us;
    let host = &plan.rig.host_name;
    let who = match (all_busy, names.is_empty()) {
        (true, _) => format!("all {} CPUs", plan.rig.host.cpus),
        (false, false) => names.into_iter().collect::<Vec<_>>().join(", "),
        (false, true) => return None,
    };
    Some(format!(
        "The host is the limit, not the disk{}: the time of {who} went into CPU work, of which each \
         I/O takes {least} to {most} us on host `{host}` (--set host.turnaround_us).",
        of_places(&places, ensembles.len()),
    ))
}

/// Where that is so, in words; empty if it is so everywhere.
fn of_places(places: &[String], all: usize) -> String {
    match places {
        places if places.len() == all => String::new(),
        [one] => format!(", in {one}"),
        [one, others @ ..] => format!(", in {one} and {} more", others.len()),
        [] => String::new(),
    }
}

/// The CPU time of all tasks of a run.
fn cpu(run: &RunResult) -> Span {
    let groups = run.groups.iter().chain([&run.root]);
    groups.fold(Span::ZERO, |sum, group| sum + group.cpu)
}

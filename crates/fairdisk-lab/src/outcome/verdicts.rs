//! Jobs that ended by what they measured.

use crate::plan::Plan;
use crate::run::Ensemble;
use crate::seconds::in_seconds;
use fairdisk_core::Span;
use fairdisk_sim::workload::Verdict;
use std::collections::BTreeMap;

/// A note for each job that ended so: why, and after which times.
pub(super) fn notes(plan: &Plan, ensembles: &[Ensemble]) -> Vec<String> {
    let mut ends: BTreeMap<(String, String), Vec<Span>> = BTreeMap::new();
    for ensemble in ensembles {
        let names = plan.rows[ensemble.row].load.task_names();
        for run in &ensemble.runs {
            for (name, task) in names.iter().zip(&run.tasks) {
                for (verdict, after) in &task.verdicts {
                    let why = (name.clone(), reason(*verdict));
                    ends.entry(why).or_default().push(*after);
                }
            }
        }
    }
    let note = |((name, why), times): ((String, String), Vec<Span>)| {
        let seconds = times.iter().map(|time| in_seconds(*time));
        let least = seconds.clone().fold(f64::INFINITY, f64::min);
        let most = seconds.fold(0.0, f64::max);
        let when = if most - least < 0.05 {
            format!("{most:.1} s")
        } else {
            format!("{least:.1} to {most:.1} s")
        };
        format!("`{name}` ended after {when}: {why}.")
    };
    ends.into_iter().map(note).collect()
}

fn reason(verdict: Verdict) -> String {
    match verdict {
        Verdict::TooSlow => "it did less than rate_min or rate_iops_min asks for".to_owned(),
        Verdict::TooLong => "a request took longer than max_latency".to_owned(),
        Verdict::Steady => "it was as steady as steadystate asks for".to_owned(),
        Verdict::Found { depth } => {
            format!("latency_target is met with up to {depth} in flight")
        }
        Verdict::OutOfReach => "latency_target is out of reach even with one in flight".to_owned(),
    }
}

//! Tasks of an experiment that were through with their files before they were done.

use crate::plan::Plan;
use crate::run::Ensemble;
use std::collections::BTreeMap;

/// A note for all rows in which tasks of the same groups did. What a job file has jobs do at the
/// end of their files, it says itself.
pub(super) fn notes(plan: &Plan, ensembles: &[Ensemble]) -> Vec<String> {
    let mut rows: BTreeMap<Vec<String>, Vec<&str>> = BTreeMap::new();
    for ensemble in ensembles {
        let row = &plan.rows[ensemble.row];
        let goes_round = |at: usize| ensemble.runs.iter().any(|run| run.groups[at].goes_round);
        let names = row.load.group_names().into_iter().enumerate();
        let groups: Vec<String> =
            names.filter(|(at, _)| goes_round(*at)).map(|(_, name)| format!("`{name}`")).collect();
        if row.load.document().is_some() && !groups.is_empty() {
            let rows = rows.entry(groups).or_default();
            if !rows.contains(&row.label.as_str()) {
                rows.push(&row.label);
            }
        }
    }
    let note = |(groups, rows): (Vec<String>, Vec<&str>)| {
        let s = if groups.len() == 1 { "" } else { "s" };
        format!(
            "{}: tasks of group{s} {} came to the end of their file and went on from its start.",
            rows.join(", "),
            groups.join(", ")
        )
    };
    rows.into_iter().map(note).collect()
}

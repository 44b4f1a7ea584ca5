//! What groups of an experiment ask for and schedulers take no notice of.

use super::{PlannedArm, PlannedRow};
use crate::catalog::experiment::{Experiment, Group, Row};
use crate::limits::limits;
use std::collections::BTreeMap;

/// A note for those that run it; none if every scheduler heeds all of it.
pub(super) fn note(
    experiment: &Experiment,
    rows: &[PlannedRow],
    arms: &[PlannedArm],
) -> Option<String> {
    let is_run = |row: &&Row| rows.iter().any(|planned| planned.label == row.label);
    let run = experiment.rows.iter().filter(is_run);
    let groups: Vec<&Group> = run.flat_map(|row| experiment.groups_of(row)).collect();
    let mut ignored: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for arm in arms {
        let honours = arm.revision.spec.honours();
        let keys = groups.iter().flat_map(|group| limits(&group.qos())).map(|(key, _)| key);
        for key in keys.filter(|key| !honours.keeps(key)) {
            let keys = ignored.entry(&arm.revision.id).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    let words = |(scheduler, keys): (&&str, &Vec<&str>)| {
        format!("{scheduler} takes no notice of {}", keys.join(", "))
    };
    let words: Vec<String> = ignored.iter().map(words).collect();
    (!words.is_empty()).then(|| format!("{}.", words.join("; ")))
}

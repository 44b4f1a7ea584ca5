//! Checks of estimates: they belong to the experiment, and there is one for a row at most.

use super::published::{check_percent, unlike};
use crate::catalog::allowed::Wrong;
use crate::catalog::error::unknown;
use crate::catalog::experiment::{Estimate, Experiment, Row};
use crate::catalog::text::check_text;

/// Checks the estimate with index `at`.
pub(super) fn check_estimate(
    experiment: &Experiment,
    at: usize,
    estimate: &Estimate,
) -> Result<(), Wrong> {
    let key = |key: &str| format!("estimate.{at}.{key}");
    check_text(&key("source"), &estimate.source)?;
    let arms: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
    if !arms.contains(&estimate.arm.as_str()) {
        return Err((key("arm"), unknown("arm", &estimate.arm, &arms).into()));
    }
    let labels: Vec<&str> = experiment.rows.iter().map(|row| row.label.as_str()).collect();
    for (number, label) in estimate.rows.iter().enumerate() {
        if !labels.contains(&label.as_str()) {
            return Err((key("rows"), unknown("row", label, &labels).into()));
        }
        if estimate.rows[..number].contains(label) {
            let text = format!("`{label}` is there twice; drop one of them");
            return Err((key("rows"), text.into()));
        }
    }
    let about = |row: &&Row| estimate.is_about(&estimate.arm, &row.label);
    for row in experiment.rows.iter().filter(about) {
        let groups = experiment.groups_of(row);
        let (figures, count) = (estimate.percent.len(), groups.len());
        if figures != count {
            let text = unlike("percent", figures, row, count, "groups");
            return Err((key("percent"), text.into()));
        }
        check_percent(&key, groups, &estimate.percent)?;
        let mut above = experiment.estimates[..at].iter();
        if above.any(|other| other.is_about(&estimate.arm, &row.label)) {
            let (arm, row) = (&estimate.arm, &row.label);
            let text = format!("arm `{arm}`, row `{row}` is estimated above; drop one of the two");
            return Err((key("arm"), text.into()));
        }
    }
    Ok(())
}

//! One arm beside another: how much more it does in the same time.

use super::{Spread, part};
use crate::catalog::experiment::{Bound, PublishedChange};
use crate::plan::Plan;
use crate::run::{Ensemble, RunResult};

/// How much more, or less, of a row's work one arm does than another.
#[derive(Clone, Debug)]
pub struct ChangeOutcome {
    /// The row.
    pub row: String,
    /// The arm that is compared with.
    pub from: String,
    /// The arm that differs.
    pub to: String,
    /// Change of the bytes per second in percent, seed by seed.
    pub percent: Spread,
    /// What the source prints.
    pub published: PublishedChange,
}

impl ChangeOutcome {
    /// How far it is from what the source allows for, in percentage points.
    #[must_use]
    pub fn distance(&self) -> f64 {
        self.published.distance(self.percent.mean)
    }

    /// What the source prints, in words.
    #[must_use]
    pub fn published_text(&self) -> String {
        let PublishedChange { percent, range, bound, .. } = &self.published;
        let percent = percent.unwrap_or_default();
        match (range, bound) {
            (Some([from, to]), _) => format!("{from:+} to {to:+}"),
            (None, None) => format!("{percent:+}"),
            (None, Some(Bound::More)) if percent < 0.0 => format!("{percent:+} or below"),
            (None, Some(Bound::More)) => format!("{percent:+} or above"),
            (None, Some(Bound::Less)) if percent < 0.0 => format!("{percent:+} to 0"),
            (None, Some(Bound::Less)) => format!("0 to {percent:+}"),
        }
    }
}

/// The changes the source prints something about, of those arms and rows that were run.
pub(super) fn changes(plan: &Plan, ensembles: &[Ensemble]) -> Vec<ChangeOutcome> {
    let runs = |arm: &String, row: &String| {
        let found = ensembles.iter().find(|ensemble| {
            plan.arms[ensemble.arm].name == *arm && plan.rows[ensemble.row].label == *row
        });
        found.map(|ensemble| &ensemble.runs)
    };
    let change = |published: &PublishedChange| {
        let PublishedChange { row, from, to, .. } = published;
        let pairs = runs(from, row)?.iter().zip(runs(to, row)?);
        let percents: Vec<f64> = pairs
            .filter(|(from, _)| rate(from) > 0.0)
            .map(|(from, to)| (rate(to) / rate(from) - 1.0) * 100.0)
            .collect();
        (!percents.is_empty()).then(|| ChangeOutcome {
            row: row.clone(),
            from: from.clone(),
            to: to.clone(),
            percent: Spread::of(&percents),
            published: published.clone(),
        })
    };
    plan.published_changes.iter().filter_map(change).collect()
}

/// Bytes per second.
fn rate(run: &RunResult) -> f64 {
    let bytes: u64 = run.groups.iter().map(|group| group.bytes).sum();
    part(bytes as f64 * 1e9, run.elapsed.as_ns() as f64)
}

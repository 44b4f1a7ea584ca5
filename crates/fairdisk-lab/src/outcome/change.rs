//! One arm beside another: by how much a figure changes.

use super::Spread;
use super::figure::measure;
use crate::catalog::experiment::PublishedChange;
use crate::plan::{ChangeFigure, Plan, Whom};
use crate::run::Ensemble;

/// How much more, or less, one arm comes to than another.
#[derive(Clone, Debug)]
pub struct ChangeOutcome {
    /// The row.
    pub row: String,
    /// The arm that is compared with.
    pub from: String,
    /// The arm that differs.
    pub to: String,
    /// Of whom.
    pub whom: Whom,
    /// Change of the figure in percent, seed by seed; none: in no run both arms have the figure.
    pub percent: Option<Spread>,
    /// What the source prints.
    pub published: PublishedChange,
}

impl ChangeOutcome {
    /// What changes, if it is not the bytes per second of everybody together.
    #[must_use]
    pub fn figure_text(&self) -> Option<String> {
        let (name, figure) = (self.whom.words(), self.published.figure());
        let is_usual = self.whom == Whom::All && self.published.figure.is_none();
        (!is_usual).then(|| format!("{name}: {}", figure.words()))
    }

    /// How far it is from what the source allows for, in percentage points, if it is known.
    #[must_use]
    pub fn distance(&self) -> Option<f64> {
        Some(self.published.distance(self.percent?.mean))
    }
}

/// The changes the source prints something about, of those arms and rows that were run.
pub(super) fn changes(plan: &Plan, ensembles: &[Ensemble]) -> Vec<ChangeOutcome> {
    let find = |arm: &String, row: &String| {
        ensembles.iter().find(|ensemble| {
            plan.arms[ensemble.arm].name == *arm && plan.rows[ensemble.row].label == *row
        })
    };
    let change = |ChangeFigure { published, whom, .. }: &ChangeFigure| {
        let PublishedChange { row, from, to, .. } = published;
        let (before, after) = (find(from, row)?, find(to, row)?);
        let load = plan.rows[before.row].load.as_ref();
        let percents: Vec<f64> = before
            .runs
            .iter()
            .zip(&after.runs)
            .filter_map(|runs| {
                let figure = |run| measure(load, run, whom, published.figure());
                let (from, to) = (figure(runs.0)?, figure(runs.1)?);
                (from > 0.0).then(|| (to / from - 1.0) * 100.0)
            })
            .collect();
        Some(ChangeOutcome {
            row: row.clone(),
            from: from.clone(),
            to: to.clone(),
            whom: whom.clone(),
            percent: (!percents.is_empty()).then(|| Spread::of(&percents)),
            published: published.clone(),
        })
    };
    plan.published_changes.iter().filter_map(change).collect()
}

//! Changes of a figure between two arms.

use super::Series;
use super::figure::measure;
use crate::catalog::experiment::PublishedChange;
use crate::plan::{ChangeFigure, Plan, Whom};
use crate::run::Ensemble;

/// The change of a figure between two arms.
#[derive(Clone, Debug)]
pub struct ChangeOutcome {
    /// The label of the row.
    pub row: String,
    /// The arm that is compared with.
    pub from: String,
    /// The arm that differs.
    pub to: String,
    /// The subject of the figure.
    pub whom: Whom,
    /// The change of the figure in percent, seed by seed; `None` if no run of both arms has the
    /// figure.
    pub percent: Option<Series>,
    /// The change that the source gives.
    pub published: PublishedChange,
}

impl ChangeOutcome {
    /// The quantity and the subject, unless it is the bytes per second over everything.
    #[must_use]
    pub fn figure_text(&self) -> Option<String> {
        let (name, figure) = (self.whom.words(), self.published.figure());
        let is_usual = self.whom == Whom::All && self.published.figure.is_none();
        (!is_usual).then(|| format!("{name}: {}", figure.words()))
    }

    /// The distance from the range that the source allows, in percentage points; `None` if not
    /// known.
    #[must_use]
    pub fn distance(&self) -> Option<f64> {
        Some(self.published.distance(self.percent.as_ref()?.mean))
    }
}

/// The changes for which the source gives a figure, among the arms and rows that were run.
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
            percent: (!percents.is_empty()).then(|| Series::of(percents)),
            published: published.clone(),
        })
    };
    plan.published_changes.iter().filter_map(change).collect()
}

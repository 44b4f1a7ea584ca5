//! Changes of a figure between two arms.

use super::Series;
use super::figure::measure;
use crate::catalog::experiment::{Over, PublishedChange};
use crate::plan::{ChangeFigure, Plan, Whom};
use crate::run::Ensemble;

/// The change of a figure between two arms.
#[derive(Clone, Debug)]
pub struct ChangeOutcome {
    /// The label of the row, or which of several rows, in words.
    pub row: String,
    /// Of several rows, the one with the largest change, if that was asked for.
    pub largest_in: Option<String>,
    /// The arm that is compared with.
    pub from: String,
    /// The arm that differs.
    pub to: String,
    /// The subject of the figure.
    pub whom: Whom,
    /// The change of the figure in percent, seed by seed; `None` if no run of both arms has the
    /// figure.
    pub percent: Option<Series>,
    /// How far the change of the row in which the source has the largest one is from ours, in
    /// percentage points; `None` if the source does not say which row that is.
    pub short_of_largest: Option<f64>,
    /// The change that the source gives.
    pub published: PublishedChange,
}

impl ChangeOutcome {
    /// The row, or the rows and in which of them the change is the largest.
    #[must_use]
    pub fn rows_text(&self) -> String {
        let Self { row, largest_in, .. } = self;
        largest_in.as_ref().map_or_else(|| row.clone(), |label| format!("{row} (in {label})"))
    }

    /// The quantity and the subject, unless it is the bytes per second over everything.
    #[must_use]
    pub fn figure_text(&self) -> Option<String> {
        let (name, figure) = (self.whom.words(), self.published.figure());
        let is_usual = self.whom == Whom::All && self.published.figure.is_none();
        (!is_usual).then(|| format!("{name}: {}", figure.words()))
    }

    /// The distance from the range that the source allows, or from the largest change to that of
    /// the row in which the source has it, in percentage points; `None` if not known.
    #[must_use]
    pub fn distance(&self) -> Option<f64> {
        match self.short_of_largest {
            Some(points) => Some(points),
            None => Some(self.published.distance(self.percent.as_ref()?.mean)),
        }
    }
}

/// The changes for which the source gives a figure, among the arms and rows that were run.
pub(super) fn changes(plan: &Plan, ensembles: &[Ensemble]) -> Vec<ChangeOutcome> {
    plan.published_changes.iter().filter_map(|figure| change(plan, ensembles, figure)).collect()
}

/// A change, if all of its rows were run under both arms.
fn change(plan: &Plan, ensembles: &[Ensemble], figure: &ChangeFigure) -> Option<ChangeOutcome> {
    let ChangeFigure { published, whom, .. } = figure;
    let labels = published.labels();
    let in_row =
        |(label, whom): (&String, &Whom)| percents(plan, ensembles, published, label, whom);
    let rows = labels.iter().zip(whom).map(in_row).collect::<Option<Vec<Vec<Option<f64>>>>>()?;
    // A seed counts if all rows have the figure with it.
    let seeds = rows.iter().map(Vec::len).min().unwrap_or(0);
    let of_seed = |seed: usize| rows.iter().map(|row| row[seed]).collect::<Option<Vec<f64>>>();
    let seeds: Vec<Vec<f64>> = (0..seeds).filter_map(of_seed).collect();
    let over = published.over.unwrap_or(Over::Mean);
    let percents: Vec<f64> = seeds.iter().map(|rows| over.of(rows)).collect();
    let means: Vec<f64> = (0..labels.len())
        .map(|row| seeds.iter().map(|seed| seed[row]).sum::<f64>() / seeds.len().max(1) as f64)
        .collect();
    let largest = Over::Largest.of(&means);
    let has_largest = published.over == Some(Over::Largest) && !seeds.is_empty();
    let largest_in = means.iter().position(|mean| has_largest && *mean == largest);
    let expected = published.at.as_ref().filter(|_| !seeds.is_empty());
    let expected = expected.and_then(|at| labels.iter().position(|label| label == at));
    let row = match published.over {
        Some(over) => format!("{} of {}", over.word(), labels.join(", ")),
        None => published.row.clone(),
    };
    Some(ChangeOutcome {
        row,
        largest_in: largest_in.map(|row| labels[row].clone()),
        from: published.from.clone(),
        to: published.to.clone(),
        whom: whom.first()?.clone(),
        percent: (!percents.is_empty()).then(|| Series::of(percents)),
        short_of_largest: expected.map(|row| (largest - means[row]).abs()),
        published: published.clone(),
    })
}

/// The change in one row, seed by seed; `None` of a seed for which the figure is not known. `None`
/// if the row was not run under both arms.
fn percents(
    plan: &Plan,
    ensembles: &[Ensemble],
    published: &PublishedChange,
    label: &str,
    whom: &Whom,
) -> Option<Vec<Option<f64>>> {
    let find = |arm: &String| {
        ensembles.iter().find(|ensemble| {
            plan.arms[ensemble.arm].name == *arm && plan.rows[ensemble.row].label == label
        })
    };
    let (before, after) = (find(&published.from)?, find(&published.to)?);
    let load = plan.rows[before.row].load.as_ref();
    let percent = |(before, after)| {
        let figure = |run| measure(&|at| load.has_end(at), run, whom, published.figure());
        let (from, to) = (figure(before)?, figure(after)?);
        (from > 0.0).then(|| (to / from - 1.0) * 100.0)
    };
    Some(before.runs.iter().zip(&after.runs).map(percent).collect())
}

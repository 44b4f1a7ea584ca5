//! Scores: the distance from published figures, one number each for shares, totals and rates.

use super::{ChangeOutcome, Outcome};
use crate::catalog::experiment::Quantity;
use std::collections::BTreeMap;

/// Distances from the published figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Mean distance of groups' shares, in percentage points.
    pub share_error_points_mean: f64,
    /// Largest distance of a group's share, in percentage points.
    pub share_error_points_max: f64,
    /// Mean distance of rows' I/Os, as a fraction of the published ones; `None` if none are
    /// comparable.
    pub total_error_mean: Option<f64>,
    /// Number of shares compared.
    pub cells: usize,
    /// The score of what was estimated; `None` if no estimate can be compared.
    pub estimates: Option<EstimateScore>,
    /// Scores of named tasks; `None` if no rates are published.
    pub rates: Option<RateScore>,
    /// Scores of changes between arms; `None` if none are published.
    pub changes: Option<ChangeScore>,
    /// Scores of figures without a column of their own, by quantity.
    pub figures: Vec<FigureScore>,
}

/// Distances of estimated shares from the published ones, in percentage points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimateScore {
    /// Mean distance of the estimates.
    pub error_mean: f64,
    /// Largest distance of an estimate.
    pub error_max: f64,
    /// Mean distance of our shares, over the same groups.
    pub ours_mean: f64,
    /// Number of shares compared.
    pub cells: usize,
}

impl EstimateScore {
    fn of(outcome: &Outcome) -> Option<Self> {
        let groups = outcome.rows.iter().flat_map(|row| &row.groups);
        let groups = groups.filter_map(|group| group.published.as_ref());
        let compared = groups.filter(|group| group.is_contested);
        let errors = compared.filter_map(|group| {
            Some((group.estimate_error()?.abs(), (group.ours.mean - group.share?).abs() * 100.0))
        });
        let (errors, ours): (Vec<f64>, Vec<f64>) = errors.unzip();
        (!errors.is_empty()).then(|| Self {
            error_mean: mean(&errors),
            error_max: max(&errors),
            ours_mean: mean(&ours),
            cells: errors.len(),
        })
    }
}

/// Distances of the figures of one quantity from the published ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureScore {
    /// The quantity.
    pub quantity: Quantity,
    /// Mean distance: percentage points for shares, otherwise percent of the published figure.
    pub error_mean: f64,
    /// Largest distance, in the same unit.
    pub error_max: f64,
    /// Number of figures compared.
    pub cells: usize,
}

impl FigureScore {
    fn of(outcome: &Outcome) -> Vec<Self> {
        let mut errors: BTreeMap<Quantity, Vec<f64>> = BTreeMap::new();
        let figures = outcome.rows.iter().flat_map(|row| &row.figures);
        for (quantity, error) in figures.filter_map(|it| Some((it.quantity, it.error()?))) {
            errors.entry(quantity).or_default().push(error.abs());
        }
        let score = |(quantity, errors): (Quantity, Vec<f64>)| Self {
            quantity,
            error_mean: mean(&errors),
            error_max: max(&errors),
            cells: errors.len(),
        };
        errors.into_iter().map(score).collect()
    }
}

/// Distances of changes between arms from the published ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeScore {
    /// Mean distance from the range that the source allows, in percentage points.
    pub error_points_mean: f64,
    /// Largest distance, in percentage points.
    pub error_points_max: f64,
    /// Number of changes compared.
    pub changes: usize,
}

impl ChangeScore {
    fn of(outcome: &Outcome) -> Option<Self> {
        let errors: Vec<f64> = outcome.changes.iter().filter_map(ChangeOutcome::distance).collect();
        (!errors.is_empty()).then(|| Self {
            error_points_mean: mean(&errors),
            error_points_max: max(&errors),
            changes: errors.len(),
        })
    }
}

/// Distances of named tasks from their published rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateScore {
    /// Mean distance, as a fraction of the published rate.
    pub error_mean: f64,
    /// Largest distance, as a fraction of the published rate.
    pub error_max: f64,
    /// Rows in which the tasks finish in the published order.
    pub orders_right: usize,
    /// Rows with published run times.
    pub orders: usize,
    /// Number of rates compared.
    pub tasks: usize,
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

impl Score {
    /// The score of an outcome; `None` if nothing is published.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Option<Self> {
        let groups = outcome.rows.iter().flat_map(|row| &row.groups);
        let shares: Vec<f64> = groups
            .filter_map(|group| {
                let published =
                    group.published.as_ref().filter(|published| published.is_contested)?;
                Some((published.ours.mean - published.share?).abs() * 100.0)
            })
            .collect();
        let totals: Vec<f64> = outcome
            .rows
            .iter()
            .filter_map(|row| Some((row.total_ios.mean / row.published_total? - 1.0).abs()))
            .collect();
        let rates = RateScore::of(outcome);
        let changes = ChangeScore::of(outcome);
        let figures = FigureScore::of(outcome);
        let is_compared = rates.is_some() || changes.is_some() || !figures.is_empty();
        if shares.is_empty() && totals.is_empty() && !is_compared {
            return None;
        }
        Some(Self {
            share_error_points_mean: mean(&shares),
            share_error_points_max: max(&shares),
            total_error_mean: (!totals.is_empty()).then(|| mean(&totals)),
            cells: shares.len(),
            estimates: EstimateScore::of(outcome),
            rates,
            changes,
            figures,
        })
    }
}

impl RateScore {
    fn of(outcome: &Outcome) -> Option<Self> {
        let tasks = outcome.rows.iter().flat_map(|row| &row.tasks);
        let errors: Vec<f64> = tasks.filter_map(|task| Some(task.rate_error()?.abs())).collect();
        if errors.is_empty() {
            return None;
        }
        let orders: Vec<bool> = outcome
            .rows
            .iter()
            .filter_map(|row| {
                let published: Option<Vec<f64>> =
                    row.tasks.iter().map(|task| task.published_seconds).collect();
                let ours = row.tasks.iter().map(|task| task.seconds.mean).collect::<Vec<_>>();
                let published = published.filter(|list| !list.is_empty())?;
                Some(same_order(&published, &ours))
            })
            .collect();
        Some(Self {
            error_mean: mean(&errors),
            error_max: max(&errors),
            orders_right: orders.iter().filter(|right| **right).count(),
            orders: orders.len(),
            tasks: errors.len(),
        })
    }
}

/// Tasks whose run times differ by less than this fraction count as ending together, since their
/// order is chance.
const TOGETHER: f64 = 0.1;

/// Whether tasks that are published as ending clearly apart do so in the same order here, and tasks
/// that end together do so here.
fn same_order(published: &[f64], ours: &[f64]) -> bool {
    let order = |one: f64, two: f64| {
        let apart = (one - two) / one.max(two);
        if apart.abs() < TOGETHER { 0 } else { apart.signum() as i32 }
    };
    (0..published.len())
        .all(|a| (0..a).all(|b| order(published[a], published[b]) == order(ours[a], ours[b])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_compared_with_a_tolerance() {
        assert!(same_order(&[27.8, 28.8], &[30.0, 29.0]));
        assert!(same_order(&[18.8, 28.1], &[17.0, 27.0]));
        assert!(!same_order(&[18.8, 28.1], &[27.0, 17.0]));
        assert!(!same_order(&[18.8, 28.1], &[27.0, 27.5]));
    }
}

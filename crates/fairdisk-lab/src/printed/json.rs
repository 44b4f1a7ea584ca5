//! The figures of sources as JSON.

use super::{Line, Off, Printed};
use crate::outcome::{Regime, Score, ScoreResults};
use crate::results::{Each, SCHEMA, value};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What `fairdisk catalog published` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PublishedResults {
    /// Another number if a name changes its meaning.
    schema: u32,
    /// The experiments.
    experiments: Vec<Experiment>,
}

/// An experiment beside its source.
#[derive(Debug, Serialize, JsonSchema)]
struct Experiment {
    /// The id of the experiment.
    experiment: String,
    /// One line about it.
    title: String,
    /// The source of published figures.
    source: String,
    /// The id of the device.
    device: String,
    /// The number of runs.
    seeds: u32,
    /// What is published.
    figures: Vec<Figure>,
    /// The distance from published figures; null without.
    score: Option<ScoreResults>,
    /// What to know before reading the figures.
    caveats: Vec<String>,
    /// What was tried as the cause of a difference and is not the cause.
    excluded: Vec<String>,
}

/// A published figure.
#[derive(Debug, Serialize, JsonSchema)]
struct Figure {
    /// The row, or several in words.
    row: String,
    /// The arm; of a change, both in words.
    arm: String,
    /// Whose figure it is.
    of: String,
    /// The figure and its unit.
    figure: String,
    /// The number; null of a change.
    published: Option<f64>,
    /// What is published, in words.
    published_words: String,
    /// The mean of ours.
    ours: Option<f64>,
    /// The standard deviation between runs.
    ours_sd: Option<f64>,
    /// How far ours is off, in percentage points.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_points: Option<Option<f64>>,
    /// How far ours is off, in percent of what is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_percent: Option<Option<f64>>,
    /// Whether that is far: more than 4 points, or more than 10 %.
    resists: bool,
    /// What was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<f64>,
    /// How far that is off, in percentage points.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate_error_points: Option<Option<f64>>,
    /// How far that is off, in percent of what is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate_error_percent: Option<Option<f64>>,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ours_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    ours_regimes: Option<[Regime; 2]>,
}

/// The figures of all these experiments as a JSON object.
#[must_use]
pub fn to_json(all: &[Printed]) -> Value {
    let experiments = all.iter().map(Experiment::from).collect();
    value(&PublishedResults { schema: SCHEMA, experiments })
}

impl From<&Printed> for Experiment {
    fn from(Printed { outcome, lines }: &Printed) -> Self {
        Self {
            experiment: outcome.experiment.clone(),
            title: outcome.title.clone(),
            source: outcome.source.clone(),
            device: outcome.device.clone(),
            seeds: outcome.seeds,
            figures: lines.iter().map(Figure::from).collect(),
            score: Score::of(outcome).as_ref().map(ScoreResults::from),
            caveats: outcome.caveats.clone(),
            excluded: outcome.excluded.clone(),
        }
    }
}

impl From<&Line> for Figure {
    fn from(line: &Line) -> Self {
        let Each { each: ours_each, regimes: ours_regimes } = Each::of(line.ours.as_ref());
        let in_unit = |unit: Off, distance: Option<f64>| (line.off == unit).then_some(distance);
        let estimated =
            |unit: Off| line.estimate.and_then(|_| in_unit(unit, line.estimate_error()));
        Self {
            row: line.row.clone(),
            arm: line.arm.clone(),
            of: line.of.clone(),
            figure: line.figure.clone(),
            published: line.number,
            published_words: line.published.clone(),
            ours: line.ours.as_ref().map(|ours| ours.mean),
            ours_sd: line.ours.as_ref().map(|ours| ours.sd),
            error_points: in_unit(Off::Points, line.error),
            error_percent: in_unit(Off::Percent, line.error),
            resists: line.resists(),
            estimate: line.estimate,
            estimate_error_points: estimated(Off::Points),
            estimate_error_percent: estimated(Off::Percent),
            ours_each,
            ours_regimes,
        }
    }
}

//! The curves of a sweep as JSON. The names are an interface for other tools.

use super::{Curve, Point, SweepOutcome};
use crate::metric::Metric;
use crate::outcome::{RefusedRow, Regime, Series};
use crate::results::{Each, SCHEMA, value};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What `fairdisk run --sweep` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepResults {
    /// Another number if a name changes its meaning.
    schema: u32,
    /// The id of the experiment, or the name of the job file.
    experiment: String,
    /// One line about it.
    title: String,
    /// `lab`.
    shell: &'static str,
    /// The id of the device.
    device: String,
    /// The key that is swept.
    key: String,
    /// The number of runs of each value.
    seeds: u32,
    /// One for each row and arm.
    curves: Vec<CurveResults>,
    /// What to know before reading the figures.
    caveats: Vec<String>,
    /// What schedulers refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedRow>,
}

/// What becomes of a row under an arm.
#[derive(Debug, Serialize, JsonSchema)]
struct CurveResults {
    /// The name of the arm.
    arm: String,
    /// The label of the row.
    row: String,
    /// One for each value.
    points: Vec<PointResults>,
}

/// The runs with one value.
#[derive(Debug, Serialize, JsonSchema)]
struct PointResults {
    /// The value.
    value: String,
    /// The number of runs.
    runs: usize,
    /// One for each metric.
    figures: Vec<Figure>,
}

/// A figure.
#[derive(Debug, Serialize, JsonSchema)]
struct Figure {
    /// The metric.
    metric: String,
    /// Over the runs; null if one does not have it.
    mean: Option<f64>,
    /// The standard deviation between runs.
    sd: Option<f64>,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_regimes: Option<[Regime; 2]>,
}

/// The curves as a JSON object.
#[must_use]
pub fn to_json(outcome: &SweepOutcome) -> Value {
    value(&SweepResults::from(outcome))
}

impl From<&SweepOutcome> for SweepResults {
    fn from(outcome: &SweepOutcome) -> Self {
        Self {
            schema: SCHEMA,
            experiment: outcome.experiment.clone(),
            title: outcome.title.clone(),
            shell: "lab",
            device: outcome.device.clone(),
            key: outcome.key.clone(),
            seeds: outcome.seeds,
            curves: outcome.curves.iter().map(CurveResults::from).collect(),
            caveats: outcome.caveats.clone(),
            refused: outcome.refused.clone(),
        }
    }
}

impl From<&Curve> for CurveResults {
    fn from(curve: &Curve) -> Self {
        let point = |point: &Point| {
            let figures = curve.metrics.iter().zip(&point.figures);
            PointResults {
                value: point.value.clone(),
                runs: point.runs,
                figures: figures.map(|(metric, series)| Figure::of(metric, series)).collect(),
            }
        };
        Self {
            arm: curve.arm.clone(),
            row: curve.row.clone(),
            points: curve.points.iter().map(point).collect(),
        }
    }
}

impl Figure {
    fn of(metric: &Metric, series: &Option<Series>) -> Self {
        let Each { each: mean_each, regimes: mean_regimes } = Each::of(series.as_ref());
        Self {
            metric: metric.name(),
            mean: series.as_ref().map(|series| series.mean),
            sd: series.as_ref().map(|series| series.sd),
            mean_each,
            mean_regimes,
        }
    }
}

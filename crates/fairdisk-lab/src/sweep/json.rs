//! The curves of a sweep as JSON. The names are an interface for other tools.

use super::{Curve, Point, SweepOutcome};
use crate::outcome::{RefusedRow, put_runs};
use serde_json::{Value, json};

/// The version of the JSON layout.
const SCHEMA: u32 = 1;

/// The curves as a JSON object.
#[must_use]
pub fn to_json(outcome: &SweepOutcome) -> Value {
    let mut value = json!({
        "schema": SCHEMA,
        "experiment": outcome.experiment,
        "title": outcome.title,
        "shell": "lab",
        "device": outcome.device,
        "key": outcome.key,
        "seeds": outcome.seeds,
        "curves": outcome.curves.iter().map(curve).collect::<Vec<_>>(),
        "caveats": outcome.caveats,
    });
    if !outcome.refused.is_empty() {
        let refused =
            |it: &RefusedRow| json!({ "arm": it.arm, "row": it.row, "reason": it.reason });
        value["refused"] = outcome.refused.iter().map(refused).collect();
    }
    value
}

fn curve(curve: &Curve) -> Value {
    let point = |point: &Point| {
        let figures = curve.metrics.iter().zip(&point.figures).map(|(metric, series)| {
            let mut value = json!({
                "metric": metric.name(),
                "mean": series.as_ref().map(|series| series.mean),
                "sd": series.as_ref().map(|series| series.sd),
            });
            put_runs(&mut value, "mean", series.as_ref());
            value
        });
        let figures: Vec<Value> = figures.collect();
        json!({ "value": point.value, "runs": point.runs, "figures": figures })
    };
    let points: Vec<Value> = curve.points.iter().map(point).collect();
    json!({ "arm": curve.arm, "row": curve.row, "points": points })
}

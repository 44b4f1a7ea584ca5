//! The figures of sources as JSON.

use super::{Line, Off, Printed};
use crate::outcome::{Score, put_runs, score_json};
use serde_json::{Value, json};

/// The figures of all these experiments as a JSON object.
#[must_use]
pub fn to_json(all: &[Printed]) -> Value {
    json!({ "schema": 1, "experiments": all.iter().map(experiment).collect::<Vec<_>>() })
}

fn experiment(Printed { outcome, lines }: &Printed) -> Value {
    json!({
        "experiment": outcome.experiment,
        "title": outcome.title,
        "source": outcome.source,
        "device": outcome.device,
        "seeds": outcome.seeds,
        "figures": lines.iter().map(line).collect::<Vec<_>>(),
        "score": Score::of(outcome).map(|score| score_json(&score)),
        "caveats": outcome.caveats,
        "excluded": outcome.excluded,
    })
}

fn line(line: &Line) -> Value {
    let unit = match line.off {
        Off::Points => "error_points",
        Off::Percent => "error_percent",
    };
    let mut value = json!({
        "row": line.row,
        "arm": line.arm,
        "of": line.of,
        "figure": line.figure,
        "published": line.number,
        "published_words": line.published,
        "ours": line.ours.as_ref().map(|ours| ours.mean),
        "ours_sd": line.ours.as_ref().map(|ours| ours.sd),
        (unit): line.error,
        "resists": line.resists(),
    });
    if let Some(estimate) = line.estimate {
        value["estimate"] = estimate.into();
        value[format!("estimate_{unit}")] = json!(line.estimate_error());
    }
    put_runs(&mut value, "ours", line.ours.as_ref());
    value
}

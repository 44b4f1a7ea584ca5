//! The report as JSON. The names are an interface for other tools.

use super::{Change, Report};
use crate::blame::{
    Bisection, Divergence, Effect, Ends, FactorSet, Halt, Method, Move, MoveKind, Pair, Rest, Step,
    Undo,
};
use crate::outcome::{Spread, published_change};
use serde_json::{Value, json};

/// The version of the JSON layout.
const SCHEMA: u32 = 1;

/// The report as one JSON object.
#[must_use]
pub fn to_json(report: &Report) -> Value {
    let found = &report.findings;
    let mut value = json!({
        "schema": SCHEMA,
        "title": report.title,
        "shell": report.shell,
        "place": report.place,
        "metric": report.metric,
        "unit": report.unit,
        "good": report.good,
        "bad": report.bad,
        "changes": report.changes.iter().map(change).collect::<Vec<_>>(),
        "runs": found.runs,
        "seeds": found.seeds,
        "ends": found.ends.as_ref().map(ends),
        "noise_sd": found.noise.of_one_run(),
        "suspects": report.names(found.suspects),
        "to_blame": report.names(found.culprits()),
        "method": found.method.map(method),
        "effects": found.effects.iter().map(|one| effect(report, one)).collect::<Vec<_>>(),
        "rest": found.rest.as_ref().map(|one| rest(report, one)),
        "pairs": found.pairs.iter().map(|one| pair(report, one)).collect::<Vec<_>>(),
        "together": found.together().map(|pair| names_of(report, pair)).collect::<Vec<_>>(),
        "mixtures": found.mixtures.iter().map(|one| mixture(report, one)).collect::<Vec<_>>(),
        "undo": found.undo.as_ref().map(|one| undo(report, one)),
        "bisection": found.bisection.as_ref().map(|one| bisection(report, one)),
        "divergence": report.divergence.as_ref().map(divergence),
    });
    if let Some(published) = &report.published {
        value["published"] = published_change(published);
    }
    for (key, texts) in [("caveats", &report.caveats), ("excluded", &report.excluded)] {
        if !texts.is_empty() {
            value[key] = texts.clone().into();
        }
    }
    if !found.is_searched || found.halt.is_some() {
        value["partial"] = match found.halt {
            Some(Halt::Interrupted) => "interrupted".into(),
            _ => "budget".into(),
        };
    }
    value
}

fn change(change: &Change) -> Value {
    let mut value = json!({ "name": change.name, "good": change.good, "bad": change.bad });
    if let Some(about) = &change.about {
        value["commit"] = about.commit.as_str().into();
        value["author"] = about.author.as_str().into();
        value["summary"] = about.summary.as_str().into();
    }
    value
}

fn ends(ends: &Ends) -> Value {
    json!({
        "good": end(&ends.good),
        "bad": end(&ends.bad),
        "whole": ends.whole(),
        "differ": ends.differ,
    })
}

fn end(values: &[f64]) -> Value {
    let spread = Spread::of(values);
    json!({ "mean": spread.mean, "sd": spread.sd, "values": values })
}

fn method(method: Method) -> Value {
    match method {
        Method::Exact { mixtures } => json!({ "name": "exact", "mixtures": mixtures }),
        Method::Sampled { pairs_of_orders } => {
            json!({ "name": "sampled", "pairs_of_orders": pairs_of_orders })
        }
    }
}

fn effect(report: &Report, effect: &Effect) -> Value {
    json!({
        "change": report.name(effect.factor),
        "part": effect.part.mean,
        "part_sd": effect.part.sd,
        "alone": effect.first,
        "undone": effect.undone(),
        "within_noise": effect.is_noise,
    })
}

fn rest(report: &Report, rest: &Rest) -> Value {
    json!({
        "changes": report.names(rest.factors),
        "part": rest.part.mean,
        "part_sd": rest.part.sd,
        "within_noise": rest.is_noise,
    })
}

fn pair(report: &Report, pair: &Pair) -> Value {
    json!({
        "changes": pair.factors.map(|factor| report.name(factor)),
        "interaction": pair.interaction.mean,
        "interaction_sd": pair.interaction.sd,
        "within_noise": pair.is_noise,
    })
}

fn names_of(report: &Report, pair: &Pair) -> Value {
    json!(pair.factors.map(|factor| report.name(factor)))
}

fn mixture(report: &Report, (set, values): &(FactorSet, Vec<f64>)) -> Value {
    json!({ "bad": report.names(*set), "values": values })
}

fn undo(report: &Report, undo: &Undo) -> Value {
    json!({
        "changes": report.names(undo.factors),
        "value": undo.value.mean,
        "value_sd": undo.value.sd,
        "recovers": undo.recovers,
        "enough": undo.is_enough,
        "smallest": undo.is_smallest,
    })
}

fn bisection(report: &Report, bisection: &Bisection) -> Value {
    let way = |steps: &Vec<Step>| -> Value { steps.iter().map(step).collect() };
    let recovers = |undone: &(usize, f64)| undone_alone(report.name(undone.0), undone.1);
    json!({
        "answers": bisection.answers.iter().map(|at| report.name(*at)).collect::<Vec<_>>(),
        "undone_alone": bisection.recovers.iter().map(recovers).collect::<Vec<_>>(),
        "nearest_sd": bisection.nearest_sd,
        "ways": bisection.ways.iter().map(way).collect::<Vec<_>>(),
    })
}

fn step(step: &Step) -> Value {
    json!({ "changes_made": step.changes, "value": step.value, "bad": step.is_bad })
}

fn undone_alone(change: &str, recovers: f64) -> Value {
    json!({ "change": change, "recovers": recovers })
}

fn divergence(found: &Divergence) -> Value {
    let mut value = json!({
        "seed": found.seed,
        "at_ms": found.at.as_ns() as f64 / 1e6,
        "equal_decisions": found.decisions,
        "good": decision(&found.good),
        "bad": decision(&found.bad),
    });
    if let Some(disk) = found.disk {
        value["disk"] = disk.into();
    }
    value
}

fn decision(made: &Move) -> Value {
    let mut value = json!({ "at_ms": made.at.as_ns() as f64 / 1e6, "words": made.words() });
    if let MoveKind::Chose(chosen, _) = &made.what {
        value["request"] = json!({
            "number": chosen.number,
            "group": chosen.group,
            "task": chosen.task,
            "op": chosen.op,
            "sector": chosen.sector,
            "bytes": chosen.bytes,
        });
    }
    let why = match &made.what {
        MoveKind::Chose(_, why) | MoveKind::Waits(_, why) | MoveKind::WaitsCompletion(why) => {
            format!("{why:?}").into()
        }
        MoveKind::Else(_) | MoveKind::Nothing => Value::Null,
    };
    value["why"] = why;
    value
}

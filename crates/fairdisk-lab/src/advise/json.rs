//! Advice as JSON.

use super::settings::{check, commands, lines, settings};
use super::{Advice, Tried};
use serde_json::{Map, Value, json};

/// The advice as one object; docs/results.md says what the names mean.
#[must_use]
pub fn to_json(advice: &Advice) -> Value {
    let wish = |(at, wish): (usize, &super::Wish)| {
        json!({
            "group": wish.name,
            "wish": wish.text,
            "met": advice.proposed().is_some_and(|best| best.verdicts[at].met),
            "got": advice.proposed().map(|best| &best.verdicts[at].got),
            "limit": advice.limits[at],
        })
    };
    let proposed = advice.proposed().map(|best| {
        json!({
            "name": best.name,
            "scheduler": best.scheduler,
            "groups": groups(best, &advice.names),
            "experiment": lines(advice.spec, best, &advice.names),
            "check": check(best, &advice.options),
            "commands": commands(best, &advice.names),
        })
    });
    let refused = |(name, reason): &(String, String)| json!({ "name": name, "reason": reason });
    json!({
        "schema": 1,
        "experiment": advice.experiment,
        "title": advice.title,
        "granted": advice.is_granted(),
        "wishes": advice.wishes.iter().enumerate().map(wish).collect::<Vec<_>>(),
        "proposed": proposed,
        "note": advice.comparison.note(),
        "refused": advice.refused.iter().map(refused).collect::<Vec<_>>(),
        "tried": advice.tried.iter().map(|one| tried(one, &advice.names)).collect::<Vec<_>>(),
    })
}

fn groups(tried: &Tried, names: &[String]) -> Value {
    let group = |(name, spec): (&String, _)| {
        let settings = settings(spec, &tried.honours);
        let settings = settings.into_iter().map(|(key, value)| {
            (key.to_owned(), value.parse::<f64>().map_or(Value::Null, Value::from))
        });
        (name.clone(), Value::Object(settings.collect()))
    };
    Value::Object(names.iter().zip(&tried.groups).map(group).collect::<Map<_, _>>())
}

fn tried(one: &Tried, names: &[String]) -> Value {
    let verdicts =
        one.verdicts.iter().map(|verdict| json!({ "met": verdict.met, "got": verdict.got }));
    json!({
        "name": one.name,
        "scheduler": one.scheduler,
        "groups": groups(one, names),
        "mb_per_s": one.cell.mb_per_s,
        "of_noop": one.cell.of_noop,
        "met": one.met(),
        "wishes": verdicts.collect::<Vec<_>>(),
    })
}

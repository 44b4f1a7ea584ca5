//! Advice as JSON.

use super::settings::{Given, check, commands, given, lines};
use super::words::others;
use super::{Advice, Party, Tried, Verdict};
use crate::memory;
use serde_json::{Map, Value, json};

/// The advice as a JSON object; docs/results.md defines the names.
#[must_use]
pub fn to_json(advice: &Advice) -> Value {
    let wish = |(at, wish): (usize, &super::Wish)| {
        json!({
            "group": wish.name,
            "wish": wish.text,
            "met": advice.proposed().is_some_and(|best| best.verdicts[at].met),
            "enforced": advice.proposed().is_some_and(|best| best.verdicts[at].enforced),
            "got": advice.proposed().map(|best| &best.verdicts[at].got),
            "limit": advice.limits[at],
        })
    };
    let proposed = advice.proposed().map(|best| {
        json!({
            "name": best.name,
            "scheduler": best.scheduler,
            "groups": groups(best, &advice.groups),
            "experiment": lines(advice, best),
            "check": check(advice, best),
            "commands": commands(advice, best),
        })
    });
    let refused = |(name, reason): &(String, String)| json!({ "name": name, "reason": reason });
    let mut value = json!({
        "schema": 1,
        "experiment": advice.experiment,
        "title": advice.title,
        "granted": advice.is_granted(),
        "wishes": advice.wishes.iter().enumerate().map(wish).collect::<Vec<_>>(),
        "others": advice.proposed().map(|best| {
            let other = |(name, got)| json!({ "group": name, "got": got });
            others(advice, best).into_iter().map(other).collect::<Vec<_>>()
        }),
        "proposed": proposed,
        "note": advice.comparison.note(),
        "refused": advice.refused.iter().map(refused).collect::<Vec<_>>(),
        "tried": advice.tried.iter().map(|one| tried(one, &advice.groups)).collect::<Vec<_>>(),
    });
    if let Some(need) = &advice.memory {
        value["memory"] = memory::to_json(need);
    }
    value
}

fn groups(tried: &Tried, parties: &[Party]) -> Value {
    let group = |Given { group, settings, .. }: Given<'_>| {
        let settings = settings.into_iter().map(|(key, value)| {
            (key.to_owned(), value.parse::<f64>().map_or(Value::Null, Value::from))
        });
        (group.name.clone(), Value::Object(settings.collect()))
    };
    Value::Object(given(tried, parties).map(group).collect::<Map<_, _>>())
}

fn tried(one: &Tried, parties: &[Party]) -> Value {
    let verdict = |verdict: &Verdict| {
        let Verdict { met, enforced, got, .. } = verdict;
        json!({ "met": met, "enforced": enforced, "got": got })
    };
    let mut value = json!({
        "name": one.name,
        "scheduler": one.scheduler,
        "groups": groups(one, parties),
        "mb_per_s": one.cell.mb_per_s,
        "of_noop": one.cell.of_noop,
        "met": one.met(),
        "wishes": one.verdicts.iter().map(verdict).collect::<Vec<_>>(),
    });
    if one.cell.partial {
        value["partial"] = true.into();
    }
    value
}

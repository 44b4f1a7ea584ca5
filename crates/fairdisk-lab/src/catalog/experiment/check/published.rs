//! Checks of published figures: they belong to the experiment and can be compared.

use super::columns::{check_change_of, check_columns};
use crate::catalog::allowed::{Wrong, demand, demand_in};
use crate::catalog::error::unknown;
use crate::catalog::experiment::{Experiment, Group, Over, Published, PublishedChange, Row};

/// The largest figure; no source gives a larger one.
pub(super) const FIGURE_MAX: f64 = 1e15;

/// Checks a change that the source gives between two arms.
pub(super) fn check_published_change(
    experiment: &Experiment,
    path: &str,
    change: &PublishedChange,
) -> Result<(), Wrong> {
    let key = |key: &str| format!("{path}.{key}");
    check_rows_of(experiment, &key, change)?;
    let arms: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
    for (name, value) in [("from", &change.from), ("to", &change.to)] {
        if !arms.contains(&value.as_str()) {
            return Err((key(name), unknown("arm", value, &arms).into()));
        }
    }
    let wrong = |name: &str, text: &str| Err((key(name), text.into()));
    match (change.percent, change.range, change.bound) {
        (None, None, None) if change.at.is_some() => {}
        _ if change.at.is_some() => {
            let text = "`at` says in which row it is the largest, `percent` and `range` how large \
                        it is; drop one, or give both in a [[published_change]] of their own";
            return wrong("at", text);
        }
        (None, None, _) => return wrong("from", "missing key `percent` (or `range`)"),
        (Some(_), Some(_), _) => {
            return wrong("range", "`percent` and `range` exclude each other; drop one of them");
        }
        (None, Some(_), Some(_)) => {
            return wrong("bound", "`bound` belongs to `percent`; drop it");
        }
        _ => {}
    }
    if change.from == change.to {
        return wrong("to", "the arm that differs is the one it is compared with");
    }
    let figures = change.percent.into_iter().chain(change.range.into_iter().flatten());
    let name = if change.range.is_some() { "range" } else { "percent" };
    for figure in figures {
        let fine = (-100.0..=1e6).contains(&figure);
        demand(fine, &key(name), figure, "-100 (nothing is left) to 1000000")?;
    }
    Ok(())
}

/// Checks the row of a change, or its rows and what stands for all of them.
fn check_rows_of(
    experiment: &Experiment,
    key: &impl Fn(&str) -> String,
    change: &PublishedChange,
) -> Result<(), Wrong> {
    let PublishedChange { row, rows, over, at, .. } = change;
    let wrong = |name: &str, text: &str| Err((key(name), text.into()));
    match (row.is_empty(), rows.len(), over) {
        (true, 0, _) => return wrong("from", "missing key `row` (or `rows`)"),
        (false, 1.., _) => {
            return wrong("rows", "`row` and `rows` exclude each other; drop one of them");
        }
        (true, 1, _) => return wrong("rows", "one row is given as `row`"),
        (true, _, None) => {
            return wrong(
                "rows",
                "missing key `over`: the \"mean\" or the \"largest\" of the rows",
            );
        }
        (false, 0, Some(_)) => return wrong("over", "`over` belongs to `rows`; drop it"),
        _ => {}
    }
    let known: Vec<&str> = experiment.rows.iter().map(|row| row.label.as_str()).collect();
    let name = if rows.is_empty() { "row" } else { "rows" };
    for (number, label) in change.labels().iter().enumerate() {
        let Some(row) = experiment.rows.iter().find(|row| row.label == *label) else {
            return Err((key(name), unknown("row", label, &known).into()));
        };
        if rows[..number.min(rows.len())].contains(label) {
            return Err((key(name), format!("`{label}` is there twice; drop one of them").into()));
        }
        check_change_of(experiment, key, row, change)?;
    }
    let Some(at) = at else { return Ok(()) };
    if *over != Some(Over::Largest) {
        return wrong("at", "`at` belongs to `over = \"largest\"`; drop it");
    }
    let known: Vec<&str> = rows.iter().map(String::as_str).collect();
    match known.contains(&at.as_str()) {
        true => Ok(()),
        false => Err((key("at"), unknown("row of `rows`", at, &known).into())),
    }
}

/// Checks the figures that the source gives for one row under one arm.
pub(super) fn check_published(
    experiment: &Experiment,
    at: usize,
    published: &Published,
) -> Result<(), Wrong> {
    let key = |key: &str| format!("published.{at}.{key}");
    let rows: Vec<&str> = experiment.rows.iter().map(|row| row.label.as_str()).collect();
    let arms: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
    if !arms.contains(&published.arm.as_str()) {
        return Err((key("arm"), unknown("arm", &published.arm, &arms).into()));
    }
    let Some(row) = experiment.rows.iter().find(|row| row.label == published.row) else {
        return Err((key("row"), unknown("row", &published.row, &rows).into()));
    };
    let same = |other: &&Published| other.arm == published.arm && other.row == published.row;
    if experiment.published[..at].iter().any(|other| same(&other)) {
        let (arm, row) = (&published.arm, &published.row);
        let text = format!("arm `{arm}`, row `{row}` is published above; drop one of the two");
        return Err((key("row"), text.into()));
    }
    let groups = experiment.groups_of(row);
    let named = row.task_names().count();
    let Published { total, ios, percent, read_percent, seconds, .. } = published;
    let of_groups = [("ios", ios), ("percent", percent), ("read_percent", read_percent)]
        .map(|(name, list)| (name, list.as_ref(), groups.len(), "groups"));
    let rates = published.rates().map(|(name, list, _)| (name, list, named, "named tasks"));
    let seconds_of = ("seconds", seconds.as_ref(), named, "named tasks");
    let lists = || of_groups.into_iter().chain([seconds_of]).chain(rates);
    for (name, list, count, what) in lists() {
        if let Some(list) = list.filter(|list| list.len() != count) {
            return Err((key(name), unlike(name, list.len(), row, count, what).into()));
        }
    }
    let has_columns = published.columns().next().is_some();
    if total.is_none() && !has_columns && lists().all(|(_, list, ..)| list.is_none()) {
        let text =
            "nothing is published; add `ios`, `percent`, `total` or others, or drop all of it";
        return Err((key("row"), text.into()));
    }
    let mut units = rates.into_iter().filter(|(_, list, ..)| list.is_some());
    if let (Some((one, ..)), Some((other, ..))) = (units.next(), units.next()) {
        let text = format!("`{one}` and `{other}` exclude each other; drop one of them");
        return Err((key(other), text.into()));
    }
    if ios.is_some() && percent.is_some() {
        let text = "`ios` and `percent` exclude each other; drop `percent`";
        return Err((key("percent"), text.into()));
    }
    if seconds.is_some() && experiment.ramp_s > 0.0 && experiment.until.is_none() {
        let text = "`seconds` are counted from a task's beginning, which `ramp_s` leaves out; drop \
                    `ramp_s`, or give `mb_per_s`, the rate behind it";
        return Err((key("seconds"), text.into()));
    }
    check_figures(&key, published)?;
    check_columns(experiment, &key, row, published)?;
    check_sums(&key, groups, published)
}

/// The message for a number of figures that does not match the number of subjects.
pub(super) fn unlike(name: &str, figures: usize, row: &Row, count: usize, whom: &str) -> String {
    let noun = if figures == 1 { "figure" } else { "figures" };
    format!("`{name}` has {figures} {noun}; row `{}` has {count} {whom}", row.label)
}

/// Checks that figures are in a range in which they can be compared.
fn check_figures(key: &impl Fn(&str) -> String, published: &Published) -> Result<(), Wrong> {
    let Published { total, ios, read_percent, seconds, .. } = published;
    let above = f64::MIN_POSITIVE..=FIGURE_MAX;
    let words = "more than 0, up to 1e15";
    demand_in(above.clone(), &key("total"), *total, words)?;
    let rates = published.rates().map(|(name, list, _)| (name, list));
    for (name, list) in rates.into_iter().chain([("seconds", seconds.as_ref())]) {
        for figure in list.into_iter().flatten().filter(|figure| !figure.is_nan()) {
            demand_in(above.clone(), &key(name), Some(*figure), words)?;
        }
    }
    for figure in ios.iter().flatten() {
        demand_in(0.0..=FIGURE_MAX, &key("ios"), Some(*figure), "0 to 1e15")?;
    }
    for figure in read_percent.iter().flatten() {
        demand_in(0.0..=100.0, &key("read_percent"), Some(*figure), "0 to 100")?;
    }
    let nothing = ios.as_ref().is_some_and(|ios| ios.iter().all(|figure| *figure == 0.0));
    let text = "at least one figure above 0, for shares are compared";
    demand(!nothing, &key("ios"), "0 for all groups", text)
}

/// Checks that figures are consistent. A group's figure includes those of nested groups.
fn check_sums(
    key: &impl Fn(&str) -> String,
    groups: &[Group],
    published: &Published,
) -> Result<(), Wrong> {
    let Published { total, ios, percent, .. } = published;
    if let Some(ios) = ios {
        check_nested(key, "ios", groups, ios)?;
    }
    if let (Some(total), Some(ios)) = (total, ios) {
        let all = sum(groups, ios, None);
        if (all - total).abs() > rounding(*total, ios.len()) {
            let text = format!("`total` is {total}, but `ios` come to {all}; correct one of them");
            return Err((key("total"), text.into()));
        }
    }
    percent.as_ref().map_or(Ok(()), |percent| check_percent(key, groups, percent))
}

/// The sum of the figures of the groups that lie in `outer`, or in none.
fn sum(groups: &[Group], figures: &[f64], outer: Option<&str>) -> f64 {
    let within = groups.iter().zip(figures);
    let within = within.filter(|(group, _)| group.parent.as_deref() == outer);
    within.map(|(_, figure)| figure).sum()
}

/// Checks that no group has less than the groups in it together.
fn check_nested(
    key: &impl Fn(&str) -> String,
    name: &str,
    groups: &[Group],
    figures: &[f64],
) -> Result<(), Wrong> {
    for (Group { name: outer, .. }, figure) in groups.iter().zip(figures) {
        let inner = sum(groups, figures, Some(outer));
        if inner > figure + rounding(*figure, figures.len()) {
            let text = format!(
                "`{name}` of group `{outer}` is {figure}, of the groups in it {inner}; the figure \
                 of a group includes those of the groups in it"
            );
            return Err((key(name), text.into()));
        }
    }
    Ok(())
}

/// Checks that these are parts of a whole, in percent.
pub(super) fn check_percent(
    key: &impl Fn(&str) -> String,
    groups: &[Group],
    percent: &[f64],
) -> Result<(), Wrong> {
    for figure in percent {
        demand_in(0.0..=100.0, &key("percent"), Some(*figure), "0 to 100")?;
    }
    check_nested(key, "percent", groups, percent)?;
    let all = sum(groups, percent, None);
    let found = format!("{all} for all groups together");
    let allowed = "98 to 102, for they are parts of the whole";
    demand((98.0..=102.0).contains(&all), &key("percent"), found, allowed)
}

/// The rounding error to allow in the sum of this many figures.
fn rounding(sum: f64, figures: usize) -> f64 {
    (sum * 0.02).max(figures as f64)
}

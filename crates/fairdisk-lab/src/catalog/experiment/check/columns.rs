//! Checks of published figures without a key of their own: their subject, and whether runs measure
//! them.

use super::published::{FIGURE_MAX, unlike};
use crate::catalog::allowed::{Wrong, demand};
use crate::catalog::error::unknown;
use crate::catalog::experiment::{
    Experiment, Ios, Measure, Published, PublishedChange, Quantity, Row, Subject,
};

/// Checks these figures for a row with the given groups and named tasks.
pub(super) fn check_columns(
    experiment: &Experiment,
    key: &impl Fn(&str) -> String,
    row: &Row,
    published: &Published,
) -> Result<(), Wrong> {
    for (subject, quantity, figures) in published.columns() {
        let path = key(&format!("{}.{}", subject.key(), quantity.key()));
        if let Some(own) = own_key(subject, quantity) {
            let text = format!("is given as `{own}`, beside `row`; drop `{}.`", subject.key());
            return Err((path, format!("`{}` of {} {text}", quantity.key(), of(subject)).into()));
        }
        check_known(experiment, &path, row, subject, quantity)?;
        let (count, whom) = match subject {
            Subject::All => (1, ""),
            Subject::Groups => (experiment.groups_of(row).len(), "groups"),
            Subject::Tasks => (row.task_names().count(), "named tasks"),
        };
        if count == 0 {
            return Err((path, format!("row `{}` has no {whom}; drop it", row.label).into()));
        }
        if figures.len() != count {
            let name = format!("{}.{}", subject.key(), quantity.key());
            return Err((path, unlike(&name, figures.len(), row, count, whom).into()));
        }
        // A figure that the source does not give is not a number.
        let printed = || figures.iter().filter(|figure| !figure.is_nan());
        let least = if subject == Subject::All { "a number" } else { "at least one number" };
        demand(printed().next().is_some(), &path, "nan", least)?;
        for figure in printed() {
            let (fine, words) = match quantity.is_percent() {
                true => ((0.0..=100.0).contains(figure), "0 to 100"),
                false => ((f64::MIN_POSITIVE..=FIGURE_MAX).contains(figure), ABOVE),
            };
            demand(fine, &path, format_args!("{figure:e}"), words)?;
        }
        if quantity.is_percent() {
            check_parts(&path, experiment, row, subject, &figures)?;
        }
    }
    check_units(key, published)
}

/// Checks that the parts of groups, or of all tasks, do not exceed the whole.
fn check_parts(
    path: &str,
    experiment: &Experiment,
    row: &Row,
    subject: Subject,
    figures: &[f64],
) -> Result<(), Wrong> {
    let groups = experiment.groups_of(row);
    let is_inner = |at: usize| subject == Subject::Groups && groups[at].parent.is_some();
    let outer = figures.iter().enumerate().filter(|(at, it)| !it.is_nan() && !is_inner(*at));
    let sum: f64 = outer.map(|(_, figure)| figure).sum();
    let found = format!("{sum} all together");
    demand(sum <= PARTS_MAX, path, found, "up to 102, for they are parts of the whole")
}

/// The highest sum of parts in percent; sources round.
const PARTS_MAX: f64 = 102.0;

/// Checks that a rate is given in one unit only.
fn check_units(key: &impl Fn(&str) -> String, published: &Published) -> Result<(), Wrong> {
    let rates: Vec<(Subject, Quantity)> = published
        .columns()
        .map(|(subject, quantity, _)| (subject, quantity))
        .filter(|(_, quantity)| quantity.is_byte_rate())
        .collect();
    for (at, (subject, quantity)) in rates.iter().enumerate() {
        let same =
            |other: &&(Subject, Quantity)| (other.0, other.1.ios) == (*subject, quantity.ios);
        if let Some((_, before)) = rates[..at].iter().find(same) {
            let [one, other] =
                [before, quantity].map(|it| format!("{}.{}", subject.key(), it.key()));
            let text = format!("`{one}` and `{other}` exclude each other; drop one of them");
            return Err((key(&other), text.into()));
        }
    }
    Ok(())
}

const ABOVE: &str = "more than 0, up to 1e15";

/// Checks the subject of a published change.
pub(super) fn check_change_of(
    experiment: &Experiment,
    key: &impl Fn(&str) -> String,
    row: &Row,
    change: &PublishedChange,
) -> Result<(), Wrong> {
    let (name, subject, wanted, known) = match (&change.group, &change.task) {
        (None, None) => {
            return check_known(experiment, &key("figure"), row, Subject::All, change.figure());
        }
        (Some(_), Some(_)) => {
            let text = "`group` and `task` exclude each other; drop one of them";
            return Err((key("task"), text.into()));
        }
        (Some(group), None) => {
            let groups = experiment.groups_of(row).iter().map(|group| group.name.as_str());
            ("group", Subject::Groups, group, groups.collect::<Vec<_>>())
        }
        (None, Some(task)) => ("task", Subject::Tasks, task, row.task_names().collect()),
    };
    if !known.contains(&wanted.as_str()) {
        return Err((key(name), unknown(name, wanted, &known).into()));
    }
    check_known(experiment, &key("figure"), row, subject, change.figure())
}

/// Checks that runs of the row measure the figure of this subject.
fn check_known(
    experiment: &Experiment,
    path: &str,
    row: &Row,
    subject: Subject,
    quantity: Quantity,
) -> Result<(), Wrong> {
    let whom = of(subject);
    if !quantity.is_known_of(subject) {
        let known = Quantity::keys_of(subject).join(", ");
        let text = format!("`{}` is not known of {whom} (known: {known})", quantity.key());
        return Err((path.to_owned(), text.into()));
    }
    let is_counted = quantity.measure.is_seconds();
    if is_counted && subject == Subject::All && experiment.duration_s(row).is_some() {
        let text = "a run takes the seconds that `duration_s` says; drop them, or give \
                    `until = \"done\"`";
        return Err((path.to_owned(), text.into()));
    }
    if is_counted && experiment.ramp_s > 0.0 && experiment.until.is_none() {
        let text = "`seconds` are counted from the beginning, which `ramp_s` leaves out";
        return Err((path.to_owned(), text.into()));
    }
    Ok(())
}

const fn of(subject: Subject) -> &'static str {
    match subject {
        Subject::All => "all together",
        Subject::Groups => "groups",
        Subject::Tasks => "named tasks",
    }
}

/// The separate key, beside `row`, that holds this figure.
fn own_key(subject: Subject, quantity: Quantity) -> Option<String> {
    use Measure::{KibPerS, MbPerS, MibPerS, Seconds};
    match (subject, quantity.measure) {
        _ if quantity.ios != Ios::All => None,
        (Subject::All, Measure::Ios) => Some("total".to_owned()),
        (Subject::Groups, Measure::Ios)
        | (Subject::Tasks, Seconds | MbPerS | MibPerS | KibPerS) => Some(quantity.measure.key()),
        _ => None,
    }
}

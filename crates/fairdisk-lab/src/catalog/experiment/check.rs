//! Checks of an experiment file beyond its syntax: names exist and are unique, and values can be
//! run.

mod changes;
mod columns;
mod estimates;
mod events;
mod groups;
mod links;
mod published;
mod tasks;
mod volumes;

use super::{Arm, Experiment, Group, Row, Tasks, Until};
use crate::catalog::allowed::{Wrong, demand, demand_in};
use crate::catalog::error::unknown;
use crate::catalog::library::{Kind, check_id, find};
use crate::catalog::text::{check_line, check_text};
use changes::check_changes;
pub(super) use changes::check_rows_set;
use estimates::check_estimate;
use events::check_events;
use groups::check_groups;
use links::check_links;
use published::{check_published, check_published_change};
use std::collections::BTreeSet;
use tasks::{check_defaults, check_tasks};
use volumes::check_volumes;

/// Checks that names are printable and unique.
fn check_names<'a>(
    what: &str,
    names: impl Iterator<Item = &'a String>,
    path: impl Fn(usize) -> String,
) -> Result<(), Wrong> {
    let mut known = BTreeSet::new();
    for (at, name) in names.enumerate() {
        let path = path(at);
        check_line(&path, name)?;
        if !known.insert(name) {
            let message = format!("there is another {what} `{name}`; give each its own name");
            return Err((path, message.into()));
        }
    }
    Ok(())
}

/// Checks an experiment.
pub(super) fn check(experiment: &Experiment) -> Result<(), Wrong> {
    check_id(&experiment.id)?;
    check_texts(experiment)?;
    check_times(experiment)?;
    check_arms(experiment)?;
    check_volumes(&experiment.volumes)?;
    check_groups("group", &experiment.groups)?;
    check_names("row", experiment.rows.iter().map(|row| &row.label), |at| {
        format!("row.{at}.label")
    })?;
    for (at, row) in experiment.rows.iter().enumerate() {
        check_row(experiment, &format!("row.{at}"), row)?;
    }
    check_defaults(experiment)?;
    check_levels(experiment)?;
    for (at, published) in experiment.published.iter().enumerate() {
        check_published(experiment, at, published)?;
    }
    for (at, change) in experiment.published_changes.iter().enumerate() {
        check_published_change(experiment, &format!("published_change.{at}"), change)?;
    }
    for (at, estimate) in experiment.estimates.iter().enumerate() {
        check_estimate(experiment, at, estimate)?;
    }
    Ok(())
}

fn check_texts(experiment: &Experiment) -> Result<(), Wrong> {
    check_line("title", &experiment.title)?;
    check_text("question", &experiment.question)?;
    check_text("source", &experiment.source)?;
    let lists = [("caveats", &experiment.caveats), ("excluded", &experiment.excluded)];
    let mut texts = lists.iter().flat_map(|(key, texts)| {
        texts.iter().enumerate().map(move |(at, text)| (format!("{key}.{at}"), text))
    });
    texts.try_for_each(|(key, text)| check_text(&key, text))
}

fn check_times(experiment: &Experiment) -> Result<(), Wrong> {
    let wrong = |key: &str, message: &str| Err((key.to_owned(), message.into()));
    match (experiment.duration_s, experiment.until) {
        (None, None) => return wrong("id", "missing key `duration_s` (or `until`)"),
        (Some(_), Some(Until::Done | Until::First)) => {
            return wrong("until", "`until` and `duration_s` exclude each other; drop one of them");
        }
        _ => {}
    }
    let positive = |key: &str, duration: Option<f64>| {
        let value = duration.unwrap_or(1.0);
        demand(value > 0.0 && value <= 1e6, key, value, "more than 0, at most 1000000")
    };
    let (duration, ramp) = (experiment.duration_s, experiment.ramp_s);
    positive("duration_s", duration)?;
    let fits = (0.0..1e6).contains(&ramp) && duration.is_none_or(|duration| ramp < duration);
    demand(fits, "ramp_s", ramp, "0 or more, less than `duration_s`")?;
    let lines = || experiment.rows.iter().flat_map(|row| &row.tasks);
    let begins_later = |tasks: &Tasks| tasks.start_s.is_some_and(|start| start >= ramp);
    if ramp > 0.0 && experiment.until.is_some() && !lines().any(begins_later) {
        let text = "with `until` tasks are measured from beginning to end; drop `ramp_s`, or let \
                    those that are measured begin after it, with `start_s`";
        return wrong("ramp_s", text);
    }
    for (at, row) in experiment.rows.iter().enumerate() {
        let key = format!("row.{at}.duration_s");
        positive(&key, row.duration_s)?;
        if row.duration_s.is_some() && experiment.until.is_some() {
            let text = "`until` and `duration_s` exclude each other; drop one of them";
            return Err((key, text.into()));
        }
        let value = row.duration_s.unwrap_or(1e6);
        demand(ramp < value, &key, value, format!("more than `ramp_s`, which is {ramp}"))?;
    }
    demand_in(1..=10_000, "seeds", experiment.seeds, "1 to 10000")?;
    if experiment.rows.is_empty() {
        return wrong("id", "an experiment needs at least one [[row]]");
    }
    Ok(())
}

/// Checks the arms and the files they name.
fn check_arms(experiment: &Experiment) -> Result<(), Wrong> {
    let exists = |kind: Kind, path: String, name: &str| match find(kind, name) {
        Ok(_) => Ok(()),
        Err(error) => Err((path, error.naming(name).into())),
    };
    exists(Kind::Device, "device".to_owned(), &experiment.device)?;
    exists(Kind::Host, "host".to_owned(), &experiment.host)?;
    check_names("arm", experiment.arms.iter().map(|arm| &arm.name), |at| format!("arm.{at}.name"))?;
    for (at, arm) in experiment.arms.iter().enumerate() {
        exists(Kind::Revision, format!("arm.{at}.scheduler"), &arm.scheduler)?;
        let rig = [(Kind::Device, "device", &arm.device), (Kind::Host, "host", &arm.host)];
        for (kind, key, name) in rig {
            name.as_ref().map_or(Ok(()), |name| exists(kind, format!("arm.{at}.{key}"), name))?;
        }
        check_changes(experiment, &format!("arm.{at}.set"), arm)?;
        check_priorities(experiment, &format!("arm.{at}.priorities"), arm)?;
    }
    Ok(())
}

/// Checks the priorities that an arm gives to groups: one for each group, in every row.
fn check_priorities(experiment: &Experiment, path: &str, arm: &Arm) -> Result<(), Wrong> {
    let Some(priorities) = &arm.priorities else { return Ok(()) };
    for row in &experiment.rows {
        let (groups, label) = (experiment.groups_of(row).len(), &row.label);
        if groups != priorities.len() {
            let text =
                format!("{} priorities; row `{label}` has {groups} groups", priorities.len());
            return Err((path.to_owned(), text.into()));
        }
        let weighted = experiment.groups_of(row).iter().find(|group| group.weight().is_some());
        if let Some(Group { name, .. }) = weighted {
            let text = format!(
                "group `{name}` of row `{label}` has a `weight`, which `priorities` would replace; \
                 drop one of them"
            );
            return Err((path.to_owned(), text.into()));
        }
    }
    let mut each = priorities.iter().enumerate();
    each.try_for_each(|(at, one)| demand_in(0..=7, &format!("{path}.{at}"), Some(*one), "0 to 7"))
}

/// Refuses `ionice` levels in an experiment without an arm that uses them, which are hardly
/// intended.
fn check_levels(experiment: &Experiment) -> Result<(), Wrong> {
    if experiment.arms.is_empty() || experiment.arms.iter().any(|arm| arm.ionice) {
        return Ok(());
    }
    let of_groups = |path: String, groups: &[Group]| {
        let has_one = |group: &Group| (group.ionice.is_some(), group.ionice_class.is_some());
        first_level(&path, groups.iter().map(has_one))
    };
    let of_row = |(at, row): (usize, &Row)| {
        let has_one = |tasks: &Tasks| (tasks.ionice.is_some(), tasks.ionice_class.is_some());
        let of_tasks = || first_level(&format!("row.{at}.tasks"), row.tasks.iter().map(has_one));
        of_groups(format!("row.{at}.groups"), &row.groups).or_else(of_tasks)
    };
    let first = of_groups("group".to_owned(), &experiment.groups)
        .or_else(|| experiment.rows.iter().enumerate().find_map(of_row));
    let text = "no arm has `ionice = true`, so that no task has it; add that to an arm, or drop it";
    first.map_or(Ok(()), |path| Err((path, text.into())))
}

/// The key of the first `ionice` level or class among the items at `path`.
fn first_level(path: &str, each: impl Iterator<Item = (bool, bool)>) -> Option<String> {
    each.enumerate().find_map(|(at, has)| match has {
        (true, _) => Some(format!("{path}.{at}.ionice")),
        (false, true) => Some(format!("{path}.{at}.ionice_class")),
        (false, false) => None,
    })
}

fn check_row(experiment: &Experiment, path: &str, row: &Row) -> Result<(), Wrong> {
    check_groups(&format!("{path}.groups"), &row.groups)?;
    if row.tasks.is_empty() {
        return Err((format!("{path}.tasks"), "a row needs at least one task".into()));
    }
    let names = row.tasks.iter().enumerate().filter(|(_, tasks)| tasks.name.is_some());
    let (places, names): (Vec<_>, Vec<_>) =
        names.map(|(at, tasks)| (at, tasks.name.clone().unwrap_or_default())).unzip();
    check_names("task", names.iter(), |at| format!("{path}.tasks.{}.name", places[at]))?;
    let groups: Vec<&str> =
        experiment.groups_of(row).iter().map(|group| group.name.as_str()).collect();
    for (at, tasks) in row.tasks.iter().enumerate() {
        let path = format!("{path}.tasks.{at}");
        if !groups.contains(&tasks.group.as_str()) {
            return Err((format!("{path}.group"), unknown("group", &tasks.group, &groups).into()));
        }
        check_tasks(experiment, &path, row, tasks)?;
        check_links(experiment, &path, row, at)?;
    }
    check_events(experiment, path, row)?;
    if row.tasks.iter().all(|tasks| tasks.background) {
        let text = "all tasks run in the background; one at least is to be waited for";
        return Err((format!("{path}.tasks.0.background"), text.into()));
    }
    let ends = |tasks: &Tasks| experiment.task(tasks).has_end();
    if experiment.until == Some(Until::First) && !row.tasks.iter().any(ends) {
        let text = "with `until = \"first\"` some task needs `bytes_mib` or `ios`";
        return Err((format!("{path}.tasks.0.bytes_mib"), text.into()));
    }
    Ok(())
}

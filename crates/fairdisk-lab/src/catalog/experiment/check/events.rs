//! Checks of events: what they name exists when they happen.

use crate::catalog::allowed::{Wrong, demand, demand_in};
use crate::catalog::error::unknown;
use crate::catalog::experiment::{Deed, Experiment, Row, Tasks};
use crate::catalog::library::{Kind, find};

/// Checks the events of the row at `path`.
pub(super) fn check_events(experiment: &Experiment, path: &str, row: &Row) -> Result<(), Wrong> {
    let groups: Vec<&str> =
        experiment.groups_of(row).iter().map(|group| group.name.as_str()).collect();
    let names: Vec<&str> = row.task_names().collect();
    let end = experiment.duration_s(row).unwrap_or(f64::INFINITY);
    let mut last = experiment.ramp_s;
    for (at, event) in row.events.iter().enumerate() {
        let path = format!("{path}.events.{at}");
        let key = |key: &str| format!("{path}.{key}");
        let allowed = "no time before `ramp_s`, the event above, or after the end of the run";
        demand(event.at_s >= last && event.at_s < end, &key("at_s"), event.at_s, allowed)?;
        last = event.at_s;
        demand_in(0..=7, &key("priority"), event.priority, "0 to 7")?;
        demand_in(1..=10_000, &key("weight"), event.weight, "1 to 10000")?;
        let known = |name: &str, what: &str, value: &str, known: &[&str]| {
            if known.contains(&value) {
                return Ok(());
            }
            Err((key(name), unknown(what, value, known).into()))
        };
        let deed = event.deed().map_err(|text| (key("at_s"), text.into()))?;
        match &deed {
            Deed::Switch(name) => {
                let found = find(Kind::Revision, name).map(|_| ());
                found.map_err(|error| (key("scheduler"), error.naming(name).into()))?;
            }
            Deed::Make(group) => known("make", "group", group, &groups)?,
            Deed::Remove(group) => known("remove", "group", group, &groups)?,
            Deed::Priority(group, _) | Deed::Weight(group, _) => {
                known("group", "group", group, &groups)?;
            }
            Deed::End(tasks) => known("end", "task", tasks, &names)?,
            Deed::Move(tasks, to) => {
                known("move", "task", tasks, &names)?;
                known("to", "group", to, &groups)?;
            }
            Deed::Back | Deed::DiskFails => {}
        }
        check_tasks_of(&path, row, at, &deed)?;
    }
    Ok(())
}

/// Checks that a group has no tasks before it is made or when it is removed.
fn check_tasks_of(path: &str, row: &Row, at: usize, deed: &Deed) -> Result<(), Wrong> {
    let wrong = |key: &str, text: String| Err((format!("{path}.{key}"), text.into()));
    match deed {
        Deed::Make(group) => {
            let when = row.events[at].at_s;
            let early = row.tasks.iter().filter(|tasks| tasks.group == *group);
            let mut early = early.filter(|tasks| tasks.start_s.unwrap_or(0.0) < when);
            let text =
                format!("tasks of `{group}` begin before; give them a `start_s` from {when}");
            let is_moved = row.events[..at].iter().any(|event| event.to.as_ref() == Some(group));
            if is_moved {
                return wrong("make", format!("tasks move to `{group}` before"));
            }
            early.next().map_or(Ok(()), |_| wrong("make", text))
        }
        Deed::Remove(group) => {
            let is_ended = |name: &str| {
                let mut above = row.events[..at].iter();
                above.any(|event| event.end.as_deref() == Some(name))
            };
            let is_in = |tasks: &&Tasks| {
                let mut above = row.events[..at].iter().rev();
                let moved = above.find(|event| event.moves.is_some() && event.moves == tasks.name);
                *moved.and_then(|event| event.to.as_ref()).unwrap_or(&tasks.group) == *group
            };
            let mut tasks = row.tasks.iter().filter(is_in);
            let left = tasks.find(|tasks| !tasks.name.as_deref().is_some_and(is_ended));
            let text = format!("`{group}` has tasks; `end` or `move` them by their `name` before");
            left.map_or(Ok(()), |_| wrong("remove", text))
        }
        _ => Ok(()),
    }
}

//! What an experiment file must keep to beyond its form: names that stand for something and are
//! given once, and values that can be run.

use super::{
    Arm, Experiment, Group, OpMix, Published, PublishedChange, Row, Tasks, Until, Volume,
    VolumeType,
};
use crate::catalog::error::unknown;
use crate::catalog::library::{Kind, check_id, find};
use crate::catalog::revision::load;
use crate::catalog::text::{check_line, check_text};
use fairdisk_core::Weight;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The path of the key that is wrong, as `row.0.tasks.1.count`, and how.
pub(super) type Wrong = (String, String);

/// No disk is larger; sums of these stay far from overflowing.
const GIB_MAX: f64 = (1u64 << 30) as f64;
const MIB_MAX: u64 = 1 << 40;
const GIB: f64 = (1u64 << 30) as f64;

/// Demands that the value of the key at `path` is `good`.
fn demand(good: bool, path: &str, value: impl Display, allowed: &str) -> Result<(), Wrong> {
    let key = path.rsplit('.').next().unwrap_or_default();
    let wrong = || (path.to_owned(), format!("`{key}` is {value}; allowed: {allowed}"));
    if good { Ok(()) } else { Err(wrong()) }
}

/// Demands that a value, if there is one, lies in a range.
fn demand_in<T: PartialOrd + Display + Copy>(
    range: RangeInclusive<T>,
    path: &str,
    value: Option<T>,
    allowed: &str,
) -> Result<(), Wrong> {
    value.map_or(Ok(()), |value| demand(range.contains(&value), path, value, allowed))
}

/// Demands that names can be printed and that none is given twice.
fn check_names<'a>(
    what: &str,
    names: impl Iterator<Item = &'a String>,
    path: impl Fn(usize) -> String,
) -> Result<(), Wrong> {
    let mut known: Vec<&str> = Vec::new();
    for (at, name) in names.enumerate() {
        let path = path(at);
        check_line(&path, name)?;
        if known.contains(&name.as_str()) {
            let message = format!("there is another {what} `{name}`; give each its own name");
            return Err((path, message));
        }
        known.push(name);
    }
    Ok(())
}

/// Checks the experiment of the file `id`.
pub(super) fn check(experiment: &Experiment, id: &str) -> Result<(), Wrong> {
    check_id(&experiment.id, id)?;
    check_texts(experiment)?;
    check_times(experiment)?;
    check_arms(experiment)?;
    check_names("volume", experiment.volumes.iter().map(|volume| &volume.name), |at| {
        format!("volume.{at}.name")
    })?;
    for (at, volume) in experiment.volumes.iter().enumerate() {
        check_volume(&format!("volume.{at}"), volume)?;
    }
    check_groups("group", &experiment.groups)?;
    check_names("row", experiment.rows.iter().map(|row| &row.label), |at| {
        format!("row.{at}.label")
    })?;
    for (at, row) in experiment.rows.iter().enumerate() {
        check_row(experiment, &format!("row.{at}"), row)?;
    }
    for (at, published) in experiment.published.iter().enumerate() {
        check_published(experiment, at, published)?;
    }
    for (at, change) in experiment.published_changes.iter().enumerate() {
        check_published_change(experiment, &format!("published_change.{at}"), change)?;
    }
    Ok(())
}

fn check_texts(experiment: &Experiment) -> Result<(), Wrong> {
    check_line("title", &experiment.title)?;
    check_text("question", &experiment.question)?;
    check_text("source", &experiment.source)?;
    let mut caveats = experiment.caveats.iter().enumerate();
    caveats.try_for_each(|(at, caveat)| check_text(&format!("caveats.{at}"), caveat))
}

fn check_times(experiment: &Experiment) -> Result<(), Wrong> {
    let wrong = |key: &str, message: &str| Err((key.to_owned(), message.to_owned()));
    match (experiment.duration_s, experiment.until) {
        (None, None) => return wrong("id", "missing key `duration_s` (or `until = \"done\"`)"),
        (Some(_), Some(Until::Done)) => {
            return wrong("until", "`until` and `duration_s` exclude each other; drop one of them");
        }
        _ => {}
    }
    let duration = experiment.duration_s;
    let positive = duration.is_none_or(|value| value > 0.0 && value <= 1e6);
    let value = duration.unwrap_or_default();
    demand(positive, "duration_s", value, "more than 0, at most 1000000")?;
    let ramp = experiment.ramp_s;
    let fits = (0.0..1e6).contains(&ramp) && duration.is_none_or(|duration| ramp < duration);
    demand(fits, "ramp_s", ramp, "0 or more, less than `duration_s`")?;
    demand_in(1..=10_000, "seeds", experiment.seeds, "1 to 10000")?;
    if experiment.rows.is_empty() || experiment.arms.is_empty() {
        return wrong("id", "an experiment needs at least one [[row]] and one [[arm]]");
    }
    Ok(())
}

/// The names of other files.
fn check_arms(experiment: &Experiment) -> Result<(), Wrong> {
    let exists = |kind: Kind, path: String, name: &str| match find(kind, name) {
        Ok(_) => Ok(()),
        Err(error) if error.message.contains(name) => Err((path, error.message)),
        Err(error) => Err((path, format!("{name}: {}", error.message))),
    };
    exists(Kind::Device, "device".to_owned(), &experiment.device)?;
    exists(Kind::Host, "host".to_owned(), &experiment.host)?;
    check_names("arm", experiment.arms.iter().map(|arm| &arm.name), |at| format!("arm.{at}.name"))?;
    for (at, arm) in experiment.arms.iter().enumerate() {
        exists(Kind::Revision, format!("arm.{at}.scheduler"), &arm.scheduler)?;
        check_changes(&format!("arm.{at}.set"), arm)?;
        check_priorities(experiment, &format!("arm.{at}.priorities"), arm)?;
    }
    Ok(())
}

/// The priorities an arm gives to the groups: one each, in every row.
fn check_priorities(experiment: &Experiment, path: &str, arm: &Arm) -> Result<(), Wrong> {
    let Some(priorities) = &arm.priorities else { return Ok(()) };
    for row in &experiment.rows {
        let (groups, label) = (experiment.groups_of(row).len(), &row.label);
        if groups != priorities.len() {
            let text =
                format!("{} priorities; row `{label}` has {groups} groups", priorities.len());
            return Err((path.to_owned(), text));
        }
    }
    let mut each = priorities.iter().enumerate();
    each.try_for_each(|(at, one)| demand_in(0..=7, &format!("{path}.{at}"), Some(*one), "0 to 7"))
}

/// What an arm changes about its scheduler.
fn check_changes(path: &str, arm: &Arm) -> Result<(), Wrong> {
    let wrong = |at: usize, message: String| {
        let message = message.replace("--set scheduler.", "");
        (format!("{path}.{at}"), format!("arm `{}`: {message}", arm.name))
    };
    let overrides = arm.overrides().map_err(|(at, message)| wrong(at, message))?;
    for at in 0..overrides.len() {
        load(&arm.scheduler, &overrides[..=at]).map_err(|error| wrong(at, error.to_string()))?;
    }
    Ok(())
}

/// Bytes of each of its files.
fn file_bytes(volume: &Volume) -> u64 {
    match volume.kind {
        VolumeType::Raw => (volume.size_gib.unwrap_or(0.0) * GIB) as u64 / 4096 * 4096,
        VolumeType::Ext2 | VolumeType::Ext3 => volume.file_mib.unwrap_or(0) << 20,
    }
}

fn check_volume(path: &str, volume: &Volume) -> Result<(), Wrong> {
    let key = |key: &str| format!("{path}.{key}");
    let needs = |name: &str| {
        Err((key(name), format!("volume `{}` needs `{name}`, more than 0", volume.name)))
    };
    demand((0.0..=GIB_MAX).contains(&volume.start_gib), &key("start_gib"), volume.start_gib, SIZE)?;
    if volume.kind == VolumeType::Raw {
        let Some(size) = volume.size_gib else { return needs("size_gib") };
        let fits = size <= GIB_MAX && file_bytes(volume) > 0;
        return demand(fits, &key("size_gib"), size, "a block of 4 KiB or more, up to 1073741824");
    }
    let Some(files) = volume.files else { return needs("files") };
    let Some(mib) = volume.file_mib else { return needs("file_mib") };
    demand(files > 0, &key("files"), files, "1 or more")?;
    let most = MIB_MAX / u64::from(files);
    demand((1..=most).contains(&mib), &key("file_mib"), mib, &format!("1 to {most}"))
}

const SIZE: &str = "0 to 1073741824";

fn check_groups(path: &str, groups: &[Group]) -> Result<(), Wrong> {
    check_names("group", groups.iter().map(|group| &group.name), |at| format!("{path}.{at}.name"))?;
    for (at, group) in groups.iter().enumerate() {
        let key = |key: &str| format!("{path}.{at}.{key}");
        if group.priority.is_some() && group.weight.is_some() {
            let text = "`priority` and `weight` exclude each other; drop one of them";
            return Err((key("weight"), format!("group `{}`: {text}", group.name)));
        }
        demand_in(0..=7, &key("priority"), group.priority, "0 (high) to 7 (low)")?;
        let weight = group.weight.unwrap_or(1);
        demand(Weight::new(weight).is_some(), &key("weight"), weight, "1 to 10000")?;
        demand_in(0..=7, &key("ionice"), group.ionice, "0 (high) to 7 (low)")?;
        check_parent(&key("parent"), groups, group)?;
        check_qos(&key, group)?;
    }
    Ok(())
}

/// A group lies in another of the list, and none in itself, however far out.
fn check_parent(path: &str, groups: &[Group], group: &Group) -> Result<(), Wrong> {
    let mut inner = group;
    for _ in groups {
        let Some(parent) = &inner.parent else { return Ok(()) };
        let Some(outer) = groups.iter().find(|one| one.name == *parent) else {
            let names: Vec<&str> = groups.iter().map(|one| one.name.as_str()).collect();
            return Err((path.to_owned(), unknown("group", parent, &names)));
        };
        inner = outer;
    }
    Err((path.to_owned(), format!("group `{}` would lie in itself", group.name)))
}

fn check_qos(key: &impl Fn(&str) -> String, group: &Group) -> Result<(), Wrong> {
    let pairs =
        [("max_iops", group.min_iops, group.max_iops), ("max_bps", group.min_bps, group.max_bps)];
    for (name, floor, ceiling) in pairs {
        if let (Some(floor), Some(ceiling)) = (floor, ceiling) {
            let expected = format!("{floor} or more, which the group is to get at least");
            demand(ceiling >= floor, &key(name), ceiling, &expected)?;
        }
    }
    demand_in(1..=60_000, &key("burst_ms"), group.burst_ms, "1 to 60000")?;
    let target = group.latency_p99_ms.unwrap_or(1.0);
    let fits = (0.001..=60_000.0).contains(&target);
    demand(fits, &key("latency_p99_ms"), target, "0.001 to 60000")
}

fn check_row(experiment: &Experiment, path: &str, row: &Row) -> Result<(), Wrong> {
    check_groups(&format!("{path}.groups"), &row.groups)?;
    let groups: Vec<&str> =
        experiment.groups_of(row).iter().map(|group| group.name.as_str()).collect();
    for (at, tasks) in row.tasks.iter().enumerate() {
        let path = format!("{path}.tasks.{at}");
        if !groups.contains(&tasks.group.as_str()) {
            return Err((format!("{path}.group"), unknown("group", &tasks.group, &groups)));
        }
        tasks.name.as_ref().map_or(Ok(()), |name| check_line(&format!("{path}.name"), name))?;
        check_tasks(experiment, &path, tasks)?;
    }
    Ok(())
}

fn check_tasks(experiment: &Experiment, path: &str, tasks: &Tasks) -> Result<(), Wrong> {
    let defaults = &experiment.defaults;
    // Where a value comes from that the task need not have itself.
    let key = |name: &str, own: bool, default: bool| match (own, default) {
        (false, true) => format!("defaults.{name}"),
        _ => format!("{path}.{name}"),
    };
    let task = experiment.task(tasks);
    let Some(volume) = experiment.volumes.iter().find(|volume| volume.name == task.volume) else {
        let volumes: Vec<&str> =
            experiment.volumes.iter().map(|volume| volume.name.as_str()).collect();
        let path = key("volume", tasks.volume.is_some(), defaults.volume.is_some());
        return Err((path, unknown("volume", &task.volume, &volumes)));
    };
    let files = volume.files.unwrap_or(1);
    let allowed = format!("0 to {}", files - 1);
    demand_in(0..=files - 1, &format!("{path}.file"), tasks.file, &allowed)?;
    demand_in(1..=100_000, &format!("{path}.count"), Some(tasks.count), "1 to 100000")?;
    let most = file_bytes(volume) / 1024;
    let allowed = format!("1 to {most}, the size of a file of volume `{}`", volume.name);
    let path_of = key("block_kib", tasks.block_kib.is_some(), defaults.block_kib.is_some());
    demand_in(1..=most, &path_of, Some(task.block_bytes / 1024), &allowed)?;
    if task.op == OpMix::Mixed || tasks.read_percent.is_some() {
        let own = tasks.read_percent.is_some();
        let path = key("read_percent", own, defaults.read_percent.is_some());
        demand_in(0..=100, &path, Some(task.read_percent), "0 to 100")?;
    }
    check_mapped(experiment, tasks, &key)?;
    let path_of = key("depth", tasks.depth.is_some(), defaults.depth.is_some());
    demand_in(1..=100_000, &path_of, Some(task.depth), "1 to 100000")?;
    demand_in(0..=7, &format!("{path}.ionice"), tasks.ionice, "0 (high) to 7 (low)")?;
    check_pauses(experiment, tasks, &key)?;
    let path_of = key("bytes_mib", tasks.bytes_mib.is_some(), defaults.bytes_mib.is_some());
    let mib = tasks.bytes_mib.or(defaults.bytes_mib);
    demand_in(1..=MIB_MAX, &path_of, mib, &format!("1 to {MIB_MAX}"))?;
    if experiment.until.is_some() && mib.is_none() {
        let text = "with `until = \"done\"` every task needs `bytes_mib`";
        return Err((path_of, text.to_owned()));
    }
    Ok(())
}

/// A pause and how many I/Os are between two of them.
fn check_pauses(
    experiment: &Experiment,
    tasks: &Tasks,
    key: &dyn Fn(&str, bool, bool) -> String,
) -> Result<(), Wrong> {
    let defaults = &experiment.defaults;
    let pause = tasks.think_ms.or(defaults.think_ms);
    let path = key("think_ms", tasks.think_ms.is_some(), defaults.think_ms.is_some());
    demand_in(0.0..=3.6e6, &path, pause, "0 to 3600000")?;
    let burst = tasks.burst_ios.or(defaults.burst_ios);
    let path = key("burst_ios", tasks.burst_ios.is_some(), defaults.burst_ios.is_some());
    demand_in(1..=1_000_000, &path, burst, "1 to 1000000")?;
    match (burst, pause) {
        (Some(_), None) => {
            Err((path, "`burst_ios` is about pauses; add `think_ms`, or drop it".to_owned()))
        }
        _ => Ok(()),
    }
}

/// What is mapped goes through the page cache, and only of a mapping can be said how it is used.
fn check_mapped(
    experiment: &Experiment,
    tasks: &Tasks,
    key: &dyn Fn(&str, bool, bool) -> String,
) -> Result<(), Wrong> {
    let defaults = &experiment.defaults;
    let task = experiment.task(tasks);
    let says_direct = tasks.direct.or(defaults.direct) == Some(true);
    if task.mapped && says_direct {
        let path = key("direct", tasks.direct.is_some(), defaults.direct.is_some());
        let text = "`mapped` and `direct = true` exclude each other; drop one of them";
        return Err((path, text.to_owned()));
    }
    if !task.mapped && tasks.advice.is_some() {
        let path = key("advice", true, false);
        return Err((
            path,
            "`advice` is about a mapping; add `mapped = true`, or drop it".to_owned(),
        ));
    }
    Ok(())
}

fn check_published_change(
    experiment: &Experiment,
    path: &str,
    change: &PublishedChange,
) -> Result<(), Wrong> {
    let key = |key: &str| format!("{path}.{key}");
    let rows: Vec<&str> = experiment.rows.iter().map(|row| row.label.as_str()).collect();
    let arms: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
    let names = [
        ("row", "row", &change.row, &rows),
        ("from", "arm", &change.from, &arms),
        ("to", "arm", &change.to, &arms),
    ];
    for (name, what, value, known) in names {
        if !known.contains(&value.as_str()) {
            return Err((key(name), unknown(what, value, known)));
        }
    }
    let wrong = |name: &str, text: &str| Err((key(name), text.to_owned()));
    match (change.percent, change.range, change.bound) {
        (None, None, _) => return wrong("row", "missing key `percent` (or `range`)"),
        (Some(_), Some(_), _) => {
            return wrong("range", "`percent` and `range` exclude each other; drop one of them");
        }
        (None, Some(_), Some(_)) => {
            return wrong("bound", "`bound` belongs to `percent`; drop it");
        }
        _ => {}
    }
    let figures = change.percent.into_iter().chain(change.range.into_iter().flatten());
    let name = if change.range.is_some() { "range" } else { "percent" };
    for figure in figures {
        let fine = (-100.0..=1e6).contains(&figure);
        demand(fine, &key(name), figure, "-100 (nothing is left) to 1000000")?;
    }
    Ok(())
}

fn check_published(experiment: &Experiment, at: usize, published: &Published) -> Result<(), Wrong> {
    let key = |key: &str| format!("published.{at}.{key}");
    let rows: Vec<&str> = experiment.rows.iter().map(|row| row.label.as_str()).collect();
    let arms: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
    if !arms.contains(&published.arm.as_str()) {
        return Err((key("arm"), unknown("arm", &published.arm, &arms)));
    }
    let Some(row) = experiment.rows.iter().find(|row| row.label == published.row) else {
        return Err((key("row"), unknown("row", &published.row, &rows)));
    };
    let same = |other: &&Published| other.arm == published.arm && other.row == published.row;
    if experiment.published[..at].iter().any(|other| same(&other)) {
        let (arm, row) = (&published.arm, &published.row);
        let text = format!("arm `{arm}`, row `{row}` is published above; drop one of the two");
        return Err((key("row"), text));
    }
    let groups = experiment.groups_of(row).len();
    let named = row.tasks.iter().filter(|tasks| tasks.name.is_some()).count();
    let lists = [
        ("ios", &published.ios, groups, "groups"),
        ("read_percent", &published.read_percent, groups, "groups"),
        ("seconds", &published.seconds, named, "named tasks"),
        ("mb_per_s", &published.mb_per_s, named, "named tasks"),
    ];
    for (name, list, count, what) in lists {
        if let Some(list) = list.as_ref().filter(|list| list.len() != count) {
            let (row, len) = (&published.row, list.len());
            let text = format!("`{name}` has {len} figures; row `{row}` has {count} {what}");
            return Err((key(name), text));
        }
    }
    Ok(())
}

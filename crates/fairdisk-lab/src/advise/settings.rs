//! A proposed configuration as lines for files and commands.

use super::wish::weight;
use super::{Advice, Party, Tried};
use crate::plan::Spec;
use fairdisk_core::Share;
use fairdisk_sim::GroupSpec;

/// The settings given to one group.
pub(super) struct Given<'a> {
    pub(super) group: &'a Party,
    pub(super) spec: &'a GroupSpec,
    /// The settings that the scheduler honours, as keys and values of an experiment's group and of
    /// `fairdisk ctl set`.
    pub(super) settings: Vec<(&'static str, String)>,
}

/// The settings given to each group in a try.
pub(super) fn given<'a>(tried: &'a Tried, groups: &'a [Party]) -> impl Iterator<Item = Given<'a>> {
    groups.iter().zip(&tried.groups).map(|(group, spec)| {
        let has_share = spec.share != Share::DEFAULT;
        let share = has_share.then(|| ("weight", weight(spec).to_string()));
        let is_seen = group.is_seen(spec, &tried.honours);
        let limits = spec.qos.settings().map(|(limit, value)| (limit.name(), limit.written(value)));
        let settings = share.into_iter().chain(limits);
        let settings = settings.filter(|(key, _)| is_seen && tried.honours.keeps(key)).collect();
        Given { group, spec, settings }
    })
}

impl Given<'_> {
    /// The settings on one line.
    fn line(&self, between: &str) -> String {
        let settings = self.settings.iter().map(|(key, value)| format!("{key}={value}"));
        settings.collect::<Vec<_>>().join(between)
    }

    /// Whether a file of this kind can express the settings. A job file sets a group's settings in
    /// one of the group's jobs, so it needs a group with tasks.
    fn can_be_said(&self, spec: Spec) -> bool {
        spec == Spec::Experiment || self.group.has_tasks
    }
}

/// The groups that are given any settings.
fn all_given<'a>(tried: &'a Tried, groups: &'a [Party]) -> impl Iterator<Item = Given<'a>> {
    given(tried, groups).filter(|one| !one.settings.is_empty())
}

/// The settings of all groups on one line.
pub(super) fn in_a_line(tried: &Tried, groups: &[Party]) -> String {
    let groups = all_given(tried, groups);
    let groups = groups.map(|one| format!("{}: {}", one.group.name, one.line(" ")));
    let groups: Vec<String> = groups.collect();
    if groups.is_empty() { "no settings".to_owned() } else { groups.join("; ") }
}

/// The settings as lines of a file of the kind that the load was read from.
pub(super) fn lines(advice: &Advice, tried: &Tried) -> String {
    match advice.spec {
        Spec::Experiment => experiment(tried, &advice.groups),
        Spec::JobFile => job_file(tried, &advice.groups),
        Spec::Trace => replay(tried, &advice.groups),
    }
}

/// The scheduler and the weights as options; a replay has none for other settings.
fn replay(tried: &Tried, groups: &[Party]) -> String {
    let mut out = format!("--scheduler {}\n", tried.asked);
    for one in all_given(tried, groups) {
        let name = &one.group.name;
        let (weights, others): (Vec<_>, Vec<_>) =
            one.settings.iter().partition(|(key, _)| *key == "weight");
        for (_, weight) in weights {
            out.push_str(&format!("--weight {name}={weight}\n"));
        }
        for (key, value) in others {
            out.push_str(&format!("# {name}: {key}={value}\n"));
        }
    }
    out
}

fn job_file(tried: &Tried, groups: &[Party]) -> String {
    let mut out = format!("[global]\nscheduler={}\n", tried.asked);
    for one in all_given(tried, groups) {
        let name = &one.group.name;
        if !one.can_be_said(Spec::JobFile) {
            let settings = one.line(" ");
            out.push_str(&format!(
                "\n; no job is in {name}, which no job file can give {settings}\n"
            ));
            continue;
        }
        out.push_str(&format!("\n; in a job of {name}\ngroup={name}\n"));
        for (key, value) in one.settings {
            out.push_str(&format!("group_{key}={value}\n"));
        }
    }
    out
}

fn experiment(tried: &Tried, groups: &[Party]) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let mut out = format!("[[arm]]\nname = \"proposed\"\nscheduler = {}\n", quoted(&tried.asked));
    if !tried.set.is_empty() {
        out.push_str(&format!("set = {}\n", toml::Value::from(tried.set.clone())));
    }
    out.push_str("\n# in place of the groups that the row has\n");
    for (at, Given { group, spec, settings }) in given(tried, groups).enumerate() {
        let gap = if at == 0 { "" } else { "\n" };
        out.push_str(&format!("{gap}[[group]]\nname = {}\n", quoted(&group.name)));
        let parent = spec.parent.and_then(|id| groups.get((id.0 as usize).checked_sub(1)?));
        if let Some(parent) = parent.filter(|parent| parent.name != group.name) {
            out.push_str(&format!("parent = {}\n", quoted(&parent.name)));
        }
        for (key, value) in settings {
            out.push_str(&format!("{key} = {value}\n"));
        }
    }
    out
}

/// The settings as commands for a running mount whose cgroups have the names and places of the
/// groups. None if mounts do not run the scheduler with the settings that were tried.
pub(super) fn commands(advice: &Advice, tried: &Tried) -> Vec<String> {
    if !advice.on_mounts {
        return Vec::new();
    }
    let scheduler = format!("fairdisk ctl scheduler --at MOUNTPOINT {}", tried.asked);
    let set = |one: Given<'_>| {
        let (group, settings) = (quoted(&one.group.cgroup), one.line(" "));
        format!("fairdisk ctl set --at MOUNTPOINT {group} {settings}")
    };
    [scheduler].into_iter().chain(all_given(tried, &advice.groups).map(set)).collect()
}

/// The command that runs the proposal again, with its lines in `FILE`. Settings that the lines
/// cannot express are passed as what groups ask for.
pub(super) fn check(advice: &Advice, tried: &Tried) -> String {
    let (row, device) = (quoted(&tried.cell.row), quoted(&tried.cell.device));
    let scheduler = quoted(&tried.asked);
    let wants = all_given(tried, &advice.groups).filter(|one| !one.can_be_said(advice.spec));
    let wants = wants.map(|one| format!("{}: {}", one.group.name, one.line(", ")));
    let wants: Vec<String> = wants.map(|want| format!(" --want {}", quoted(&want))).collect();
    let mut command =
        format!("fairdisk compare FILE --row {row} --device {device} --scheduler {scheduler}");
    command.push_str(&wants.concat());
    for (option, value) in &advice.options {
        command.push_str(&format!(" {option} {}", quoted(value)));
    }
    command
}

/// A word quoted for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

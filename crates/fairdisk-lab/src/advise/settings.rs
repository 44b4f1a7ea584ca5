//! A configuration as lines to use.

use super::Tried;
use super::wish::weight;
use crate::limits::limits;
use crate::plan::Spec;
use fairdisk_core::Share;
use fairdisk_sched::Honours;
use fairdisk_sim::GroupSpec;

/// The settings of a group that a scheduler honours, as keys of an experiment's group and of
/// `fairdisk ctl set` with their values.
pub(super) fn settings(spec: &GroupSpec, honours: &Honours) -> Vec<(&'static str, String)> {
    let has_share = spec.share != Share::DEFAULT;
    let share = has_share.then(|| ("weight", weight(spec).to_string()));
    share.into_iter().chain(limits(&spec.qos)).filter(|(key, _)| honours.keeps(key)).collect()
}

/// The settings of all groups in a line.
pub(super) fn in_a_line(tried: &Tried, names: &[String]) -> String {
    let group = |(name, spec): (&String, &GroupSpec)| {
        let settings = settings(spec, &tried.honours);
        let words: Vec<String> =
            settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        (!words.is_empty()).then(|| format!("{name}: {}", words.join(" ")))
    };
    let groups: Vec<String> = names.iter().zip(&tried.groups).filter_map(group).collect();
    if groups.is_empty() { "no settings".to_owned() } else { groups.join("; ") }
}

/// As lines of a file of that kind.
pub(super) fn lines(spec: Spec, tried: &Tried, names: &[String]) -> String {
    match spec {
        Spec::Experiment => experiment(tried, names),
        Spec::JobFile => job_file(tried, names),
    }
}

fn job_file(tried: &Tried, names: &[String]) -> String {
    let mut out = format!("[global]\nscheduler={}\n", tried.scheduler);
    for (name, spec) in names.iter().zip(&tried.groups) {
        let settings = settings(spec, &tried.honours);
        if !settings.is_empty() {
            out.push_str(&format!("\n; in a job of {name}\ngroup={name}\n"));
        }
        for (key, value) in settings {
            out.push_str(&format!("group_{key}={value}\n"));
        }
    }
    out
}

fn experiment(tried: &Tried, names: &[String]) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let mut out =
        format!("[[arm]]\nname = \"proposed\"\nscheduler = {}\n", quoted(&tried.scheduler));
    for (at, (name, spec)) in names.iter().zip(&tried.groups).enumerate() {
        out.push_str(&format!("\n[[group]]\nname = {}\n", quoted(name)));
        let parent = spec.parent.and_then(|group| names.get((group.0 as usize).checked_sub(1)?));
        if let Some(parent) = parent.filter(|parent| **parent != names[at]) {
            out.push_str(&format!("parent = {}\n", quoted(parent)));
        }
        for (key, value) in settings(spec, &tried.honours) {
            out.push_str(&format!("{key} = {value}\n"));
        }
    }
    out
}

/// As commands for a running mount whose cgroups have the groups' names.
pub(super) fn commands(tried: &Tried, names: &[String]) -> Vec<String> {
    let mut lines = vec![format!("fairdisk ctl scheduler {}", tried.scheduler)];
    for (name, spec) in names.iter().zip(&tried.groups) {
        let settings = settings(spec, &tried.honours);
        if settings.is_empty() {
            continue;
        }
        let words: Vec<String> =
            settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let name = quoted(&format!("/{}", name.trim_start_matches('/')));
        lines.push(format!("fairdisk ctl set {name} {}", words.join(" ")));
    }
    lines
}

/// The command that runs it again, with those lines in `FILE`.
pub(super) fn check(tried: &Tried, options: &[(String, String)]) -> String {
    let (row, device) = (quoted(&tried.cell.row), quoted(&tried.cell.device));
    let scheduler = quoted(&tried.scheduler);
    let mut command =
        format!("fairdisk compare FILE --row {row} --device {device} --scheduler {scheduler}");
    for (option, value) in options {
        command.push_str(&format!(" {option} {}", quoted(value)));
    }
    command
}

/// One word of a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

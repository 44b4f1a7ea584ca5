//! Who pays for buffered writes: what each rule would have charged the groups of a row.

use super::part;
use crate::catalog::host::Host;
use crate::plan::ROOT_GROUP;
use crate::run::{GroupRun, RunResult};
use fairdisk_core::Span;
use fairdisk_sim::host::Payer;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The part of their time for which writers of every group wait for the machine's limit, from which
/// on that decides what they get.
const HELD_UP: f64 = 0.5;
/// The number of rules.
const RULES: usize = Payer::ALL.len();

/// What each rule would have charged, as the mean of the runs of a row.
#[derive(Clone, Debug)]
pub struct PayersOutcome {
    /// The rule of the host.
    acting: Payer,
    /// The groups with data written back, and the root group if it has any.
    groups: Vec<Charged>,
    /// How often an inode got another owner.
    owner_changes: f64,
}

/// What each rule would have charged a group.
#[derive(Clone, Debug)]
struct Charged {
    name: String,
    /// Bytes, in the order of [`Payer::ALL`].
    bytes: [f64; RULES],
    /// The part of its time for which its tasks waited for the machine's limit.
    held_up: f64,
    /// Whether it has tasks that wrote.
    writes: bool,
}

impl PayersOutcome {
    /// The heading of the names of groups.
    pub(super) const TITLE: &str = "charged, MB";

    /// The mean of some runs on a host, if that says who pays.
    pub(super) fn of(host: &Host, names: Vec<String>, runs: &[RunResult]) -> Option<Self> {
        let acting = host.write_back?.charged_to?.0;
        let group = |name: String, find: &dyn Fn(&RunResult) -> &GroupRun| {
            let n = runs.len().max(1) as f64;
            let by_rule = |run| find(run).charged_by_rule.unwrap_or_default();
            let sum = |rule: usize| runs.iter().map(|run| by_rule(run)[rule] as f64).sum::<f64>();
            let time = |time: &dyn Fn(&GroupRun) -> Span| {
                runs.iter().map(|run| time(find(run)).as_ns() as f64).sum::<f64>()
            };
            Charged {
                name,
                bytes: std::array::from_fn(|rule| sum(rule) / n),
                held_up: part(time(&|group| group.held_up), time(&|group| group.task_time)),
                writes: runs.iter().any(|run| find(run).write.ios > 0),
            }
        };
        let names = (0..).zip(names);
        let mut groups: Vec<Charged> =
            names.map(|(at, name)| group(name, &|run| &run.groups[at])).collect();
        groups.push(group(ROOT_GROUP.to_owned(), &|run| &run.root));
        groups.retain(|group| group.bytes.iter().any(|bytes| *bytes > 0.0));
        let changes: u64 = runs.iter().map(|run| run.owner_changes).sum();
        Some(Self { acting, groups, owner_changes: changes as f64 / runs.len().max(1) as f64 })
    }

    /// The headings of the rules; a star marks that of the host.
    pub(super) fn heads(&self) -> [String; RULES] {
        Payer::ALL.map(|rule| match rule == self.acting {
            true => format!("*{}", rule.name()),
            false => rule.name().to_owned(),
        })
    }

    /// The name of each group, and what each rule charges it: MB, and the share in percent.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&str, [String; RULES])> {
        let whole = |rule: usize| self.groups.iter().map(|group| group.bytes[rule]).sum::<f64>();
        let wholes: [f64; RULES] = std::array::from_fn(whole);
        self.groups.iter().map(move |group| {
            let column = |rule: usize| {
                let bytes = group.bytes[rule];
                format!("{:.0} ({:.1}%)", bytes / 1e6, 100.0 * part(bytes, wholes[rule]))
            };
            (group.name.as_str(), std::array::from_fn(column))
        })
    }

    /// Whether writers of several groups wait for the machine instead of the disk.
    fn waits_for_machine(&self) -> bool {
        let writers = || self.groups.iter().filter(|group| group.writes);
        writers().count() > 1 && writers().all(|group| group.held_up >= HELD_UP)
    }

    /// What to know of these figures, in sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.waits_for_machine() {
            let least = self.groups.iter().filter(|group| group.writes).map(|group| group.held_up);
            let least = least.fold(1.0, f64::min);
            notes.push(format!(
                "writers of every group waited for the machine's limit of dirty memory for {:.0} % \
                 of their time or more, and not for the disk. That limit does not know groups, so no \
                 scheduler can give them other shares; --set host.write_back.group_limit_kib=32768 \
                 gives each group a limit of its own",
                100.0 * least
            ));
        }
        if self.owner_changes > 0.0 {
            notes.push(format!("an inode got another owner {:.1} times", self.owner_changes));
        }
        notes
    }

    /// As it is in results.
    pub(super) fn results(&self) -> WriteBack {
        let group = |group: &Charged| ChargedGroup {
            name: group.name.clone(),
            held_up: group.held_up,
            charged_bytes: (Payer::ALL.into_iter().zip(group.bytes))
                .map(|(rule, bytes)| (rule.name(), bytes))
                .collect(),
        };
        WriteBack {
            charged_to: self.acting.name(),
            groups: self.groups.iter().map(group).collect(),
            waits_for_machine: self.waits_for_machine(),
            owner_changes: self.owner_changes,
        }
    }
}

/// Who pays for buffered writes, in results.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WriteBack {
    /// The rule of the host.
    charged_to: &'static str,
    /// The groups with data written back.
    groups: Vec<ChargedGroup>,
    /// Whether writers of all groups waited for the machine's limit instead of the disk.
    waits_for_machine: bool,
    /// How often an inode got another owner.
    owner_changes: f64,
}

/// What each rule would have charged a group, in results.
#[derive(Debug, Serialize, JsonSchema)]
struct ChargedGroup {
    /// The name of the group.
    name: String,
    /// The part of its time for which its tasks waited for the machine's limit.
    held_up: f64,
    /// Bytes by rule.
    charged_bytes: BTreeMap<&'static str, f64>,
}

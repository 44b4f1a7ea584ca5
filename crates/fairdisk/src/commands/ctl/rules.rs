//! `fairdisk ctl rules`: whether the rules for groups are right, and what they are for; and what
//! `fairdisk ctl set --keep` adds to them.

use crate::failure::Failure;
use crate::output::{self, diagnose, plain};
use clap::Subcommand;
use fairdisk_mount::control::Status;
use fairdisk_mount::identity::rules::{Directory, Loaded};
use fairdisk_mount::identity::{Hierarchy, Setting};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Whether the rules are right: where they are not, or each with the cgroups that it is for
    Check {
        /// Another directory
        directory: Option<PathBuf>,
    },
}

pub(super) fn execute(Action::Check { directory }: &Action) -> Result<(), Failure> {
    let directory = directory.clone().map_or_else(Directory::of_user, Directory::at);
    let Loaded { rules, files, problems } = directory.load();
    if !problems.is_empty() {
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(Failure::BadInput(plain(&all.join("\n")).into_owned()));
    }
    let cgroups = Hierarchy::best().map(|it| it.cgroups()).unwrap_or_default();
    let mut text = String::new();
    if let Some(origin) = &rules.kernel_weights {
        let _ = writeln!(text, "{origin}: weights are those of io.weight");
    }
    for rule in &rules.all {
        let now = cgroups.iter().filter(|path| rule.is_for(path)).count();
        let (origin, rule) = (rule.origin.to_string(), rule.to_string());
        let (origin, rule) = (plain(&origin), plain(&rule));
        let _ = writeln!(text, "{origin}: {rule} ({})", counted(now, "cgroup"));
    }
    let (rules, files) = (counted(rules.all.len(), "rule"), counted(files, "file"));
    let _ = writeln!(text, "{rules} in {files} of {}", plain(&directory.path().to_string_lossy()));
    Ok(output::print(&text)?)
}

/// A number of things.
fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// What is to be kept as a rule.
pub(super) struct Kept {
    directory: Directory,
    cgroup: String,
    disk: Option<String>,
}

impl Kept {
    /// That of the cgroup that `status` is about; for its disk `alone` or for all.
    pub(super) fn of(status: &Status, alone: bool) -> Self {
        let cgroup = status.groups.first().map(|entry| entry.cgroup.clone()).unwrap_or_default();
        let rules = status.rules.as_ref().map(PathBuf::from);
        let directory = rules.map_or_else(Directory::of_user, Directory::at);
        Self { directory, cgroup, disk: alone.then(|| status.disk.clone()) }
    }

    /// That of the cgroup at `path`, for all disks.
    pub(super) fn at(path: String) -> Self {
        Self { directory: Directory::of_user(), cgroup: path, disk: None }
    }

    /// Writes a rule with these settings, or takes them out of it, and says where.
    pub(super) fn keep(&self, settings: &[String]) -> Result<(), Failure> {
        let all = Setting::parse_all(settings);
        let all = all.map_err(|error| Failure::BadInput(error.to_string()))?;
        let kept = self.directory.keep(&self.cgroup, &all, self.disk.as_deref());
        let file = kept.map_err(|error| {
            let file = self.directory.kept().display().to_string();
            Failure::Run(format!("it is set, but cannot be kept in {}: {error}", plain(&file)))
        })?;
        let file = file.display().to_string();
        match all.iter().any(|setting| setting.word().is_some()) {
            true => diagnose(&format!("note: kept in {}", plain(&file))),
            false => diagnose(&format!("note: taken back in {}", plain(&file))),
        }
        Ok(())
    }
}

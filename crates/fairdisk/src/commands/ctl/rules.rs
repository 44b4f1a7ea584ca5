//! `fairdisk ctl rules`: whether the rules for groups are right, and what they are for; and what
//! `fairdisk ctl set --keep` adds to them.

use crate::failure::Failure;
use crate::output::{self, diagnose, plain};
use clap::Subcommand;
use fairdisk_mount::control::{Client, Status};
use fairdisk_mount::identity::rules::{Directory, Loaded};
use fairdisk_mount::identity::{Hierarchy, Setting, SettingError, group_path};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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

    /// That of a cgroup that no mount finds, as far as can be told; for the only disk `alone` or
    /// for all. `None` if it is there.
    pub(super) fn to_come(
        clients: &mut [Client],
        group: &str,
        alone: bool,
    ) -> Result<Option<Self>, Failure> {
        let mut last = None;
        for client in clients {
            let status = client.status()?;
            let Some(name) = &status.cgroups else { return Ok(None) };
            let Ok(Some(hierarchy)) = Hierarchy::find(Some(name)) else { return Ok(None) };
            match hierarchy.group(group) {
                Err(SettingError::NoGroup { .. }) => {}
                _ => return Ok(None),
            }
            last = Some((hierarchy, Self::of(&status, alone)));
        }
        Ok(last.map(|(hierarchy, of)| Self { cgroup: Self::announced(&hierarchy, group), ..of }))
    }

    /// The path of a cgroup that is not there yet, which is said.
    pub(super) fn announced(hierarchy: &Hierarchy, group: &str) -> String {
        let below = Path::new(group).strip_prefix(hierarchy.mount()).ok().and_then(Path::to_str);
        let path = group_path(below.unwrap_or(group));
        diagnose(&format!(
            "note: no group `{}` is there now; the rule is for one to come",
            plain(&path)
        ));
        path
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
            Failure::Run(format!("cannot be kept in {}: {error}", plain(&file)))
        })?;
        let file = file.display().to_string();
        match all.iter().any(|setting| setting.word().is_some()) {
            true => diagnose(&format!("note: kept in {}", plain(&file))),
            false => diagnose(&format!("note: taken back in {}", plain(&file))),
        }
        Ok(())
    }
}

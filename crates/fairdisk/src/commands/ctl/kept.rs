//! `fairdisk ctl` without a running mount: settings are read from and stored with the cgroups,
//! where later mounts find them.

use super::{Action, NOBODY, keys, rules, show, with_hint};
use crate::failure::Failure;
use crate::output::{self, diagnose, plain};
use fairdisk_core::QosKey;
use fairdisk_mount::control::{ControlError, GroupEntry};
use fairdisk_mount::identity::rules::{Directory, Shared};
use fairdisk_mount::identity::{Disks, Hierarchy, Setting, SettingError};
use rustix::process::geteuid;

/// Executes the actions that need no mount, and refuses the others.
pub(super) fn execute(action: &Action) -> Result<(), Failure> {
    let hierarchy = || {
        let best = Hierarchy::best().map_err(|error| Failure::Run(error.to_string()))?;
        Ok::<_, Failure>(best.with_rules(Shared::of(Directory::of_user()).0))
    };
    match action {
        Action::Get { group, json } => get(&hierarchy()?, group, *json),
        Action::Set { group, settings, keep } => set(&hierarchy()?, group, settings, *keep),
        Action::Rules(action) => rules::execute(action),
        Action::List { .. }
        | Action::Mark { .. }
        | Action::Status { .. }
        | Action::Metrics { .. }
        | Action::Scheduler { .. } => Err(Failure::Run(NOBODY.to_owned())),
    }
}

fn get(hierarchy: &Hierarchy, group: &str, json: bool) -> Result<(), Failure> {
    let cgroup = hierarchy.group(group).map_err(|error| refused(&error))?;
    let entry = GroupEntry::kept(hierarchy, &cgroup);
    // A running mount would report these in its log.
    for (of, why) in hierarchy.refused(&cgroup) {
        diagnose(&format!(
            "note: a setting of {} does not count: {}",
            plain(of),
            plain(&why.to_string())
        ));
    }
    show(&entry, group, (None, "no scheduler"), json)?;
    if !json {
        for (disk, own) in &entry.own {
            output::print(&format!("{}: {}\n", plain(disk), own.join(" ")))?;
        }
    }
    Ok(())
}

fn set(hierarchy: &Hierarchy, group: &str, settings: &[String], keep: bool) -> Result<(), Failure> {
    if keep && matches!(hierarchy.group(group), Err(SettingError::NoGroup { .. })) {
        return rules::Kept::at(rules::Kept::announced(hierarchy, group)).keep(settings);
    }
    let made = Setting::parse_all(settings).and_then(|all| {
        let changed = hierarchy.set(group, &all, Disks::All)?;
        Ok((all, changed.group))
    });
    let (made, path) = made.map_err(|error| with_hint(refused(&error), &keys(settings)))?;
    let is_floor =
        |it: &Setting| matches!(it, Setting::Qos(QosKey::MinIops | QosKey::MinBps, Some(_)));
    let at = hierarchy.mount().display().to_string();
    // Settings stored by another user are invisible to root's mounts, and root's to theirs.
    let whose = if geteuid().is_root() { "of root" } else { "of yours" };
    let checked = match made.iter().any(is_floor) {
        true => "; whether its floor can be kept is checked by their scheduler only then",
        false => "",
    };
    diagnose(&format!(
        "note: no mount that schedules was found; what is set is kept with the cgroup, below {}, \
         where mounts {whose} to come find it{checked}",
        plain(&at)
    ));
    if let Some(directory) = hierarchy.unsafe_directory(group) {
        let directory = directory.display().to_string();
        diagnose(&format!(
            "note: it does not count while others than you may write to {}",
            plain(&directory)
        ));
    }
    if keep {
        rules::Kept::at(path).keep(settings)?;
    }
    Ok(())
}

/// The error with which a mount would refuse the setting.
fn refused(error: &SettingError) -> ControlError {
    ControlError::Refused(error.to_string())
}

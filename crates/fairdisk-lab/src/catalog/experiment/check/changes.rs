//! Checks of what arms and rows change about schedulers, the device, the host and the volumes.

use crate::catalog::allowed::Wrong;
use crate::catalog::device;
use crate::catalog::error::CatalogError;
use crate::catalog::experiment::{Arm, Experiment};
use crate::catalog::host::Host;
use crate::catalog::library::Document;
use crate::catalog::overrides::Override;
use crate::catalog::revision::load as load_revision;
use crate::catalog::schedulers::for_each_scheduler;

/// Checks what an arm changes about its scheduler, the device and the host.
pub(super) fn check_changes(experiment: &Experiment, path: &str, arm: &Arm) -> Result<(), Wrong> {
    let words = format!("arm `{}`", arm.name);
    let changes = arm.overrides().map_err(|wrong| refusal(path, &words, wrong))?;
    demand_together(path, &words, &changes, |changes| {
        load_revision(&arm.scheduler, changes)?;
        load_rig(experiment, arm, changes)
    })
}

/// Checks what rows change.
pub(in crate::catalog::experiment) fn check_rows_set(
    experiment: &Experiment,
    document: &Document,
) -> Result<(), Wrong> {
    let rows = experiment.rows.iter().enumerate().filter(|(_, row)| !row.set.is_empty());
    for (at, row) in rows {
        let (path, words) = (format!("row.{at}.set"), format!("row `{}`", row.label));
        let changes = row.overrides().map_err(|wrong| refusal(&path, &words, wrong))?;
        demand_together(&path, &words, &changes, |changes| {
            Experiment::parse_for_row(document, at, changes)?;
            load_row(experiment, changes)
        })?;
    }
    Ok(())
}

/// Loads the schedulers, devices and hosts of all arms as changed by a row.
fn load_row(experiment: &Experiment, changes: &[Override]) -> Result<(), CatalogError> {
    let of_arm = |arm: &Arm| arm.overrides().unwrap_or_default();
    let own: Vec<Vec<Override>> = experiment.arms.iter().map(of_arm).collect();
    let schedulers: Vec<&str> = experiment.arms.iter().map(|arm| arm.scheduler.as_str()).collect();
    let all = for_each_scheduler(&schedulers, own, changes)?;
    experiment.arms.iter().zip(all).try_for_each(|(arm, changes)| {
        load_rig(experiment, arm, &changes).map_err(|error| CatalogError {
            fault: format!("{} (arm `{}`)", error.fault, arm.name).into(),
            ..error
        })
    })
}

/// Loads the device and the host of an arm, if it has its own.
fn load_rig(experiment: &Experiment, arm: &Arm, changes: &[Override]) -> Result<(), CatalogError> {
    if arm.has_own_rig(changes) {
        device::load(arm.device.as_ref().unwrap_or(&experiment.device), changes)?;
        Host::load(arm.host.as_ref().unwrap_or(&experiment.host), changes)?;
    }
    Ok(())
}

/// Checks that changes can be made together. The fault is the first one that cannot be made after
/// those before it.
fn demand_together(
    path: &str,
    words: &str,
    changes: &[Override],
    load: impl Fn(&[Override]) -> Result<(), CatalogError>,
) -> Result<(), Wrong> {
    let Err(whole) = load(changes) else { return Ok(()) };
    for at in 0..changes.len() {
        load(&changes[..=at]).map_err(|error| refusal(path, words, (at, error.to_string())))?;
    }
    Err((path.to_owned(), whole.to_string().into()))
}

/// Why a change is not possible, in the terms of those who wrote it.
fn refusal(path: &str, words: &str, (at, message): (usize, String)) -> Wrong {
    (format!("{path}.{at}"), format!("{words}: {message}").into())
}

//! Changes by arms and rows to the scheduler, the device and the host. Those of a row take
//! precedence over those of an arm, and the caller's over both.

use super::{Options, Plan, PlannedArm, PlannedRow, Rig};
use crate::catalog::error::{CatalogError, Where};
use crate::catalog::experiment::{Arm, Experiment, Row};
use crate::catalog::library::Document;
use crate::catalog::overrides::Override;
use crate::catalog::revision::load as load_revision;
use crate::catalog::schedulers::{for_each_scheduler, take};
use crate::catalog::source::Source;
use std::sync::Arc;

impl PlannedRow {
    /// An arm as it is in this row.
    #[must_use]
    pub fn arm<'a>(&'a self, arm: &'a PlannedArm) -> &'a PlannedArm {
        self.own_arms.iter().find(|own| own.name == arm.name).unwrap_or(arm)
    }
}

impl Plan {
    /// The arm and the row with these indices; the arm as it is in the row.
    #[must_use]
    pub fn cell(&self, arm: usize, row: usize) -> (&PlannedArm, &PlannedRow) {
        let row = &self.rows[row];
        (row.arm(&self.arms[arm]), row)
    }

    /// What a row under an arm is called while it runs.
    #[must_use]
    pub fn cell_name(&self, arm: usize, row: usize) -> String {
        let (arm, row) = self.cell(arm, row);
        format!("{} under {} on {}", row.label, arm.name, arm.rig.device_id)
    }
}

/// An experiment and its file, for locating faults.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExperimentFile<'a> {
    pub(super) document: &'a Document,
    pub(super) experiment: &'a Experiment,
}

impl ExperimentFile<'_> {
    /// An error about a change made by an arm, or elsewhere.
    fn of_arm(&self, arm: &Arm, change: &str, message: &str) -> CatalogError {
        let at = self.experiment.arms.iter().position(|it| it.name == arm.name);
        let key = at.map(|at| format!("arm.{at}")).unwrap_or_default();
        self.of(&key, &arm.set, change, format!("arm `{}`: {message}", arm.name))
    }

    /// An error about a change made by the row with index `at`.
    fn of_row(&self, at: usize, change: &str, message: &str) -> CatalogError {
        let Row { label, set, .. } = &self.experiment.rows[at];
        self.of(&format!("row.{at}"), set, change, format!("row `{label}`: {message}"))
    }

    fn of(&self, key: &str, set: &[String], change: &str, message: String) -> CatalogError {
        let number = set.iter().position(|set| set == change);
        let key = number.map_or(key.to_owned(), |number| format!("{key}.set.{number}"));
        Source::of(self.document).error_at_key(&key, message)
    }
}

/// These arms, changed by the caller's options.
pub(super) fn plan_arms(
    arms: &[Arm],
    options: &Options,
    rig: &Arc<Rig>,
    file: Option<ExperimentFile<'_>>,
) -> Result<Vec<PlannedArm>, CatalogError> {
    let own = arms.iter().map(changes_of).collect::<Result<Vec<_>, _>>()?;
    let rigs = arms.iter().zip(&own).map(|(arm, own)| {
        own_rig(arm, own, options, rig, "--arm").map_err(|error| match file {
            Some(file) if !is_given(options, &error) => {
                file.of_arm(arm, change_in(&error), &error.to_string())
            }
            _ => error,
        })
    });
    let rigs = rigs.collect::<Result<Vec<_>, _>>()?;
    let schedulers: Vec<&str> = arms.iter().map(|arm| arm.scheduler.as_str()).collect();
    let overrides = for_each_scheduler(&schedulers, own, &options.overrides)?;
    let arms = arms.iter().zip(&overrides).zip(rigs);
    arms.map(|((arm, overrides), rig)| planned(arm, overrides, rig)).collect()
}

/// These arms as they are in a row, if it changes anything about them.
pub(super) fn arms_in_row(
    file: ExperimentFile<'_>,
    row: usize,
    arms: &[Arm],
    options: &Options,
    rig: &Arc<Rig>,
) -> Result<Vec<PlannedArm>, CatalogError> {
    let of_row = |change: &str, message: &str| file.of_row(row, change, message);
    let changes = file.experiment.rows[row].overrides();
    let changes = changes.map_err(|(_, message)| of_row("", &message))?;
    if changes.iter().all(|change| change.scope() == "volume") {
        return Ok(Vec::new());
    }
    let in_row = |arm: &Arm| {
        let mut own = changes_of(arm)?;
        // Changes that this scheduler has no key for are meant for others.
        let refused = take(&arm.scheduler, &mut own, &changes);
        if let Some(error) = refused.into_iter().flatten().find(|it| !it.is_about_a_name()) {
            return Err(of_row(change_in(&error), &format!("arm `{}`: {error}", arm.name)));
        }
        let rig = own_rig(arm, &own, options, rig, "--row").map_err(|error| {
            if is_given(options, &error) {
                return error;
            }
            of_row(change_in(&error), &error.to_string())
        })?;
        take(&arm.scheduler, &mut own, &options.overrides);
        planned(arm, &own, rig)
    };
    arms.iter().map(in_row).collect()
}

/// The experiment as it is in a row.
pub(super) fn in_row(
    file: ExperimentFile<'_>,
    row: usize,
    options: &Options,
) -> Result<Experiment, CatalogError> {
    let ExperimentFile { document, experiment } = file;
    let mut changes = experiment.rows[row].overrides().unwrap_or_default();
    changes.retain(|change| change.scope() == "volume");
    if changes.is_empty() {
        return Ok(experiment.clone());
    }
    changes.extend_from_slice(&options.overrides);
    Experiment::parse_for_row(document, row, &changes).map_err(|error| {
        let message = format!("{error}; leave it out with --row");
        file.of_row(row, change_in(&error), &message)
    })
}

/// The change that an error is about, if it is about one.
fn change_in(error: &CatalogError) -> &str {
    match &error.place {
        Where::Change { change, .. } => change,
        _ => "",
    }
}

fn planned(arm: &Arm, overrides: &[Override], rig: Arc<Rig>) -> Result<PlannedArm, CatalogError> {
    let revision = load_revision(&arm.scheduler, overrides)?;
    let Arm { name, scheduler, ionice, priorities, set, .. } = arm.clone();
    let taken = overrides.to_vec();
    Ok(PlannedArm { name, asked: scheduler, set, taken, ionice, priorities, revision, rig })
}

fn changes_of(arm: &Arm) -> Result<Vec<Override>, CatalogError> {
    arm.overrides().map_err(|(_, message)| CatalogError::unstated(message))
}

/// The device and the host of an arm: the common ones, unless the arm or its changes `own` say
/// otherwise. The caller's changes take precedence. `remedy` is the option that leaves the arm or
/// row out.
fn own_rig(
    arm: &Arm,
    own: &[Override],
    options: &Options,
    common: &Arc<Rig>,
    remedy: &str,
) -> Result<Arc<Rig>, CatalogError> {
    if !arm.has_own_rig(own) {
        return Ok(Arc::clone(common));
    }
    let device = options.device.as_ref().or(arm.device.as_ref()).unwrap_or(&common.device_id);
    let host = arm.host.as_ref().unwrap_or(&common.host_name);
    let overrides: Vec<Override> = own.iter().chain(&options.overrides).cloned().collect();
    Rig::load(device, host, &overrides).map(Arc::new).map_err(|error| {
        let arm = &arm.name;
        let at = format!("on device `{device}`, under arm `{arm}`; leave it out with {remedy}");
        CatalogError { fault: format!("{} ({at})", error.fault).into(), ..error }
    })
}

/// Whether a change that the caller gave is at fault.
fn is_given(options: &Options, error: &CatalogError) -> bool {
    options.overrides.iter().any(|given| *given.place() == error.place)
}

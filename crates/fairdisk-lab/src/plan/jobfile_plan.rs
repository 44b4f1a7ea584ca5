//! A fio job file as a plan.

use super::jobfile_load::JobFileLoad;
use super::jobfile_notes::notes;
use super::setup::partition_sectors;
use super::{
    DEFAULT_SEEDS, Options, Plan, PlannedArm, PlannedRow, Rig, Spec, changed::plan_arms, choose,
    demand_measured,
};
use crate::catalog::device;
use crate::catalog::error::{CatalogError, Where};
use crate::catalog::experiment::Arm;
use crate::catalog::overrides::{Override, demand_none};
use crate::catalog::revision::Revision;
use crate::jobfile::{Asked, Job, JobRow, Place, Resolved};
use fairdisk_core::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The device of a job file that does not name one.
const DEFAULT_DEVICE: &str = "hdd-7200-2007";
/// The host of every job file.
const HOST: &str = "plain";
/// The scopes that `--set` cannot change.
const NOT_IN_JOB_FILES: [&str; 3] = ["experiment", "volume", "tasks"];
const USE_OPTIONS: &str = "a job file has no experiment, no volumes and no lines of tasks; use \
                           --seeds or --duration, or change the file";
/// The scheduler of a job file that does not name one.
const DEFAULT_SCHEDULER: &str = "two-layer-cfq";

impl Plan {
    /// Plans the jobs of the file `name`. The device is that of `--device`, of the jobs' `device=`,
    /// or a 7200 rpm disk of 2007; the scheduler is chosen in the same way, by default two-layer
    /// CFQ.
    ///
    /// # Errors
    /// Returns an error if a device or scheduler does not exist, jobs disagree about them, or a
    /// change concerns something that a job file does not have.
    pub fn job_file(
        name: &str,
        resolved: &Resolved,
        options: &Options,
    ) -> Result<Self, CatalogError> {
        Self::job_rows(name, &[resolved.clone().into()], options)
    }

    /// Plans jobs in rows, as [`job_file`](Self::job_file) does those of one. Jobs with a disk of
    /// their own are together on one machine.
    ///
    /// # Errors
    /// As [`job_file`](Self::job_file).
    pub fn job_rows(
        name: &str,
        job_rows: &[JobRow],
        options: &Options,
    ) -> Result<Self, CatalogError> {
        demand_none(&NOT_IN_JOB_FILES, &options.overrides, USE_OPTIONS)?;
        let Some(JobRow { jobs: resolved, .. }) = job_rows.first() else {
            return Err(CatalogError::file(name, "it has no job; add one"));
        };
        demand_known(resolved)?;
        let options = &together(resolved, options)?;
        let device_id = pick("device", &options.device, DEFAULT_DEVICE, resolved)?;
        let rig = Arc::new(Rig::load(&device_id, HOST, &options.overrides)?);
        let arms = arms(resolved, options, &rig)?;
        let rows = job_rows.iter().map(|row| plan_row(name, row, options, &rig));
        let rows = rows.collect::<Result<_, _>>()?;
        let tests: Vec<&str> = job_rows[0].children.iter().map(|test| test.name).collect();
        let names = || resolved.jobs.iter().map(|job| job.name.as_str()).collect();
        let title = if tests.is_empty() { names() } else { tests };
        Ok(Self {
            spec: Spec::JobFile,
            id: name.to_owned(),
            title: title.join(", "),
            question: String::new(),
            source: String::new(),
            caveats: notes(resolved),
            excluded: Vec::new(),
            rig,
            arms: choose("arm", &options.arms, arms, |arm| &arm.name)?,
            rows: choose("row", &options.rows, rows, |row: &PlannedRow| &row.label)?,
            ramp: Span::ZERO,
            seeds: options.seeds.unwrap_or(DEFAULT_SEEDS),
            keep_journal: options.keep_journal,
            published_changes: Vec::new(),
            estimates: Vec::new(),
            published: Vec::new(),
        })
    }
}

/// The options, with all disks on one machine if jobs have disks of their own: they wait for each
/// other.
fn together(resolved: &Resolved, options: &Options) -> Result<Options, CatalogError> {
    const KEY: &str = "host.disks_together";
    let mut options = options.clone();
    if resolved.jobs.iter().all(|job| job.disk.is_none()) {
        return Ok(options);
    }
    let wanted = Override::parse(&format!("{KEY}=true"))
        .map_err(|fault| CatalogError::option(KEY, fault))?;
    match options.overrides.iter().find(|change| change.key() == KEY) {
        None => options.overrides.push(wanted),
        Some(given) if given.value() != wanted.value() => {
            let message = "jobs on disks of their own are on one machine; drop it";
            return Err(given.error(message.to_owned()));
        }
        Some(_) => {}
    }
    Ok(options)
}

fn plan_row(
    name: &str,
    row: &JobRow,
    options: &Options,
    rig: &Rig,
) -> Result<PlannedRow, CatalogError> {
    let measured = |job: &Job| job.schedule.start_delay.min_ns + job.schedule.ramp_ns;
    let first = Span::from_ns(row.jobs.jobs.iter().map(measured).min().unwrap_or(0));
    demand_measured(options, first, "what comes before the end of every job's ramp_time")?;
    let disk_bytes = partition_sectors(&rig.device, rig.array) * 512;
    let mut load = JobFileLoad::new(row, disk_bytes, rig.array.disks);
    if options.duration.is_some() {
        load.lift_runtimes();
    }
    if let Some(message) = load.obstacle(rig) {
        return Err(CatalogError::file(name, message));
    }
    let (label, duration) = (row.label.clone(), options.duration);
    let (load, changes, own_arms) = (Arc::new(load), Vec::new(), Vec::new());
    Ok(PlannedRow { label, load, duration, events: Vec::new(), changes, own_arms })
}

/// An arm for each scheduler.
fn arms(
    resolved: &Resolved,
    options: &Options,
    rig: &Arc<Rig>,
) -> Result<Vec<PlannedArm>, CatalogError> {
    let schedulers = match options.schedulers.as_slice() {
        [] => vec![pick("scheduler", &None, DEFAULT_SCHEDULER, resolved)?],
        chosen => chosen.to_vec(),
    };
    let arm = |name: &String| Arm { ionice: true, ..Arm::asked(name) };
    let arms: Vec<Arm> = schedulers.iter().map(arm).collect();
    plan_arms(&arms, options, rig, None)
}

/// The value given on the command line; else the one that all jobs with a value agree on; else the
/// default.
fn pick(
    key: &str,
    option: &Option<String>,
    default: &str,
    resolved: &Resolved,
) -> Result<String, CatalogError> {
    if let Some(option) = option {
        return Ok(option.clone());
    }
    let mut said = resolved.asked.iter().filter(|asked| asked.key == key);
    let Some(first) = said.next() else { return Ok(default.to_owned()) };
    match said.find(|other| other.value != first.value) {
        None => Ok(first.value.clone()),
        Some(other) => Err(CatalogError {
            place: (&other.place).into(),
            fault: format!(
                "`{key}={}`, but {} says `{}`; a run has one, write the same or choose with --{key}",
                other.value, first.place, first.value
            )
            .into(),
        }),
    }
}

/// Checks that the schedulers and devices that jobs name can be used, also where the command line
/// names others.
fn demand_known(resolved: &Resolved) -> Result<(), CatalogError> {
    let mut known = BTreeSet::new();
    for Asked { key, value, place } in &resolved.asked {
        if known.insert((key, value)) {
            let found = match *key {
                "device" => device::load(value, &[]).map(drop),
                _ => Revision::load(value).map(drop),
            };
            found.map_err(|error| at(error, value, place))?;
        }
    }
    Ok(())
}

/// Moves the error for a name that stands for nothing, or for a file that is none, to the place
/// where the name is written.
fn at(error: CatalogError, name: &str, place: &Place) -> CatalogError {
    match [Where::Unstated, Where::file(name)].contains(&error.place) {
        true => CatalogError { place: place.into(), ..error },
        false => error,
    }
}

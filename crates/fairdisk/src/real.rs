//! Real runs: the lab's machine, driven in real time, with its I/O done on a file or block device.
//!
//! The file is measured as it is, at its own pace. Its blocks are written beforehand, since holes
//! would be read at the speed of memory. With `--device` a model provides the timing and the file
//! the data, so that a run on a fast disk can be compared with the lab.

mod backend;
mod bench;
mod place;
mod report;
mod room;
mod watched;

pub(crate) use backend::{BackendArg, Needs};
pub(crate) use bench::{Ended, RealBench, Spread};
pub(crate) use place::Place;
pub(crate) use report::{backend, to_text};

use crate::failure::Failure;
use crate::progress;
use backend::Opened;
use fairdisk_core::{Instant, Span};
use fairdisk_lab::catalog::device::{Adapter, Array};
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::outcome::OWN_PACE;
use fairdisk_lab::plan::{Options, Plan, Rig, Setup};
use fairdisk_lab::run::{Ensemble, RunEnd};
use fairdisk_lab::time_text;
use fairdisk_plane::file::Made;
use fairdisk_plane::{MonotonicClock, Shell, ShellReport};
use indicatif::ProgressBar;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use watched::Watched;

/// The value of `--device` for "no device model": the file is measured as it is.
pub(crate) const NO_MODEL: &str = OWN_PACE;
/// The device that stands in the plan for "no device model". It costs no time, and its queue depth
/// is that of the run.
const NO_MODEL_DEVICE: &str = "null";

/// The file or block device of a real run, and how it is used.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The path of the file or block device.
    pub(crate) path: PathBuf,
    /// The I/O backend that serves the file.
    pub(crate) backend: BackendArg,
    /// Whether contents that Fairdisk did not write may be overwritten.
    pub(crate) overwrite: bool,
    /// Whether a device model sets the timing.
    pub(crate) modelled: bool,
    /// Whether the file is unlinked as soon as it is open, so that nothing of it remains, however
    /// the program ends.
    pub(crate) temporary: bool,
}

/// A completed run of one arm and row.
#[derive(Debug)]
pub(crate) struct Run {
    /// The result, as an ensemble of one run.
    pub(crate) ensemble: Ensemble,
    /// What the shell measured about the run itself, such as the lateness of its timers.
    pub(crate) report: ShellReport,
    /// What became of the file, if the run made it and could not finish for want of space.
    removed: Option<String>,
}

impl Run {
    /// Why the run ended.
    pub(crate) fn end(&self) -> RunEnd {
        self.ensemble.end()
    }
}

/// Loads the plan of a real run with `load`. Without a device model, the plan's device is replaced
/// and its queue depth is 32 unless `options` set another one.
///
/// # Errors
/// `load` fails, or the plan needs several disks or several kinds of rig, of which a real run has
/// one.
pub(crate) fn plan(
    options: &Options,
    modelled: bool,
    load: impl Fn(&Options) -> Result<Plan, Failure>,
) -> Result<Plan, Failure> {
    if modelled {
        let plan = load(options)?;
        let cells = plan.rows.iter().flat_map(|row| plan.arms.iter().map(|arm| row.arm(arm)));
        if let Some(arm) = cells.into_iter().find(|arm| arm.rig.array != Array::SINGLE) {
            return Err(several(&arm.rig));
        }
        return Ok(plan);
    }
    let mut options = options.clone();
    options.device = Some(NO_MODEL_DEVICE.to_owned());
    for real in REAL {
        options.overrides.insert(0, Override::parse(real).map_err(Failure::BadInput)?);
    }
    let mut plan = load(&options)?;
    plan.demand_one_rig("a real file", CHOOSE).map_err(Failure::BadInput)?;
    plan.rename_device(NO_MODEL);
    Ok(plan)
}

/// What is that of the computer and the disk at hand: requests at the disk at once, and the time
/// that a task needs between two I/Os, which it takes anyway.
const REAL: [&str; 3] = ["device.depth=32", "host.turnaround_us=[0, 1]", "host.slot_wake_us=0"];

const CHOOSE: &str = "choose others with --arm and --row";

/// The error for a rig with several disks or partitions, or a transport of its own: a real run has
/// one file as its disk.
fn several(rig: &Rig) -> Failure {
    let Array { disks, partitions, link_mb_per_s, adapter } = rig.array;
    if adapter != Adapter::default() {
        return Failure::BadInput(format!(
            "device `{}` has an adapter, which a real run does not model; choose another --device",
            rig.device_id
        ));
    }
    if link_mb_per_s.is_some() && disks == 1 && partitions == 1 {
        return Failure::BadInput(format!(
            "device `{}` has `link_mb_per_s`, a transport that a real run does not model; choose \
             another --device",
            rig.device_id
        ));
    }
    Failure::BadInput(format!(
        "device `{}` has {disks} disks with {partitions} partitions each, a real run has one disk: add \
         --set device.jbod=1 --set device.partitions=1",
        rig.device_id
    ))
}

/// A line that tells the user what sets the pace, and how long all runs of the plan will take.
pub(crate) fn estimate(plan: &Plan, modelled: bool) -> String {
    match modelled {
        true => format!("at the pace of {}: {}", plan.rig.device_id, length(plan)),
        false => format!("at the file's own pace: {}", length(plan)),
    }
}

/// How long all runs of the plan will take, in words.
fn length(plan: &Plan) -> String {
    let (arms, rows) = (plan.arms.len(), plan.rows.len());
    let count = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    let what = format!("{} x {}", count(arms, "arm"), count(rows, "row"));
    let choose = "choose with --arm, --row and --duration";
    let lengths: Option<Vec<Span>> = plan.rows.iter().map(|row| row.duration).collect();
    let Some(lengths) = lengths else {
        return format!("{what}, in real time and until tasks are done; {choose}");
    };
    let each = lengths.iter().copied().reduce(|a, b| a + b).unwrap_or_default();
    let total = time_text::words(Span::from_ns(each.as_ns().saturating_mul(arms as u64)));
    match lengths.as_slice() {
        [first, others @ ..] if others.iter().all(|other| other == first) => {
            format!("{what} x {} = {total} in real time; {choose}", time_text::words(*first))
        }
        _ => format!("{what}, {total} in real time; {choose}"),
    }
}

/// Determines what the rows of `plan` need of their target and checks that the target provides it.
///
/// # Errors
/// The target cannot be opened or lacks something the rows need.
pub(crate) fn prepare(plan: &Plan, target: &Target, stop: &AtomicBool) -> Result<Needs, Failure> {
    let needs = Needs::of(plan)?;
    needs.check(plan, target, stop)?;
    Ok(needs)
}

/// Runs every arm and row of `plan` in turn, until one of them fails or cannot start, or `stop` is
/// set. Returns the completed runs in any case.
pub(crate) fn run_plan(
    plan: &Plan,
    target: &Target,
    needs: &Needs,
    quiet: bool,
    stop: &Arc<AtomicBool>,
) -> (Vec<Run>, Result<(), Failure>) {
    let (mut runs, mut made) = (Vec::new(), None);
    for cell in cells(plan) {
        let failed = runs.last().is_some_and(|run: &Run| run.end() == RunEnd::Failed);
        if failed || stop.load(Ordering::Relaxed) {
            return (runs, Ok(()));
        }
        match run_row(plan, cell, target, needs, &mut made, quiet, stop) {
            Ok(run) => runs.extend(run),
            Err(failure) => return (runs, Err(failure)),
        }
    }
    (runs, Ok(()))
}

/// The cells of a plan, each an arm and a row by their indices, in the order in which they run.
fn cells(plan: &Plan) -> impl Iterator<Item = (usize, usize)> {
    let rows = 0..plan.rows.len();
    (0..plan.arms.len()).flat_map(move |arm| rows.clone().map(move |row| (arm, row)))
}

/// Runs one arm and row; `None` if `stop` was set before the run began.
fn run_row(
    plan: &Plan,
    (arm, row): (usize, usize),
    target: &Target,
    needs: &Needs,
    made: &mut Option<Made>,
    quiet: bool,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Run>, Failure> {
    let setup = setup(plan, (arm, row))?;
    let Setup { machine, jbod, named, root, .. } = setup;
    let opened = backend::open(target, needs, jbod, quiet, stop)?;
    let Some(Opened { backend, made: made_now }) = opened else { return Ok(None) };
    *made = made_now.or(made.take());
    let (names, length) = (plan.rows[row].load.group_names(), plan.rows[row].duration);
    let label = format!("{} {}", plan.arms[arm].name, plan.rows[row].label);
    let watched = Watched::new(machine, named, root, plan.ramp);
    let bar = progress::bar(length.map_or(0, seconds), quiet);
    let live = live(watched.clone(), bar.clone(), label, names);
    let mut shell = Shell::new(watched.clone(), backend, MonotonicClock::start())
        .stop_on(Arc::clone(stop))
        .end_on_failure()
        .on_progress(live);
    if let Some(duration) = length {
        shell = shell.end_at(Instant::ZERO + duration);
    }
    let report = shell.run().map_err(|error| Failure::Run(error.to_string()))?;
    bar.finish_and_clear();
    let mut result = watched.result(Instant::ZERO + report.elapsed);
    result.end = end(length, &report);
    let is_full = report.first_error.is_some_and(|error| error.failure.is_for_want_of_space());
    let removed = made.as_ref().filter(|_| is_full).and_then(remove);
    Ok(Some(Run { ensemble: Ensemble { arm, row, runs: vec![result] }, report, removed }))
}

/// Gives back what a file takes up on a disk that is full. What became of it, if it had a name.
fn remove(made: &Made) -> Option<String> {
    let path = made.path().display();
    match made.remove() {
        Ok(true) => Some(format!("{path}, which this run had made, is removed")),
        Ok(false) => None,
        Err(error) => Some(format!("{path}, which this run had made, cannot be removed: {error}")),
    }
}

/// Checks that no request of the runs failed.
///
/// # Errors
/// A request failed; the message has the first error.
pub(crate) fn demand_no_errors(runs: &[Run]) -> Result<(), Failure> {
    let failed = runs.iter().find_map(|run| Some((run, run.report.first_error?)));
    let Some((run, error)) = failed else { return Ok(()) };
    let mut text = match run.report.errors {
        1 => format!("a request failed and ended the run: {error}"),
        errors => format!("{errors} requests failed and ended the run; the first: {error}"),
    };
    if let Some(removed) = &run.removed {
        text = format!("{text}; {removed}");
    }
    Err(Failure::Run(text))
}

fn end(length: Option<Span>, report: &ShellReport) -> RunEnd {
    let over = |at: Instant| length.is_some_and(|length| at >= Instant::ZERO + length);
    if report.errors > 0 {
        RunEnd::Failed
    } else if report.stopped.is_some_and(|at| !over(at)) {
        RunEnd::Interrupted
    } else {
        RunEnd::Planned
    }
}

fn setup(plan: &Plan, (arm, row): (usize, usize)) -> Result<Setup, Failure> {
    let (arm, row) = plan.cell(arm, row);
    Ok(plan.setup(arm, row, 0)?)
}

const fn seconds(span: Span) -> u64 {
    span.as_ns() / 1_000_000_000
}

/// A callback that shows each group's share of the I/Os so far in the progress bar, once per
/// second.
fn live(
    watched: Watched,
    bar: ProgressBar,
    label: String,
    names: Vec<String>,
) -> impl FnMut(&fairdisk_plane::Progress) + 'static {
    let mut shown = None;
    move |progress| {
        let second = progress.now.as_ns() / 1_000_000_000;
        if shown.replace(second) == Some(second) {
            return;
        }
        let ios = watched.ios();
        let total = ios.iter().sum::<u64>().max(1);
        let part = |(name, ios): (&String, &u64)| format!("{name} {} %", ios * 100 / total);
        let shares: Vec<String> = names.iter().zip(&ios).map(part).collect();
        bar.set_position(second);
        bar.set_message(format!("s  {label}  {}", shares.join("  ")));
    }
}

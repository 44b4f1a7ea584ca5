//! `fairdisk run`: runs an experiment or a job file, in the lab or on a real file.

mod sweep;

use crate::failure::Failure;
use crate::interrupt;
use crate::output;
use crate::own_file::OwnFile;
use crate::progress;
use crate::real::{self, BackendArg, Place};
use crate::results::{Results, command};
use crate::selection::{self, Changes, Rows};
use clap::ValueHint;
use fairdisk_core::Span;
use fairdisk_lab::compare::run_and_divide;
use fairdisk_lab::jobfile::JobRow;
use fairdisk_lab::outcome::{Outcome, RunResults, Shell, Style, film, to_html, to_table};
use fairdisk_lab::page::Made;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::{Ensemble, PlanRuns, RUN_MAX, RunEnd};
use fairdisk_lab::spec;
use fairdisk_lab::time_text;
use fairdisk_lab::watched::watch;
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Run an experiment or a fio job file, in the lab or on a real file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk run satoshi-2008-05-27-test1\n  \
    fairdisk run satoshi-2008-05-27-test1 --arm two-layer --row '#1' --set host.hz=1000\n  \
    fairdisk run satoshi-2008-05-27-test1 --arm two-layer --row '#1' --duration 30s --on file:scratch --device wd2500js\n  \
    fairdisk run two-groups --sweep tasks.count=1..8+1 --report curves.html")]
pub(crate) struct Args {
    /// An experiment of `fairdisk catalog experiments`; the path of a .toml file, of a fio job
    /// file or `-` for one on standard input, or of a .iozone file with a command of iozone; or a
    /// command line of fio: fairdisk run --name=x --rw=randread --size=1g
    spec: String,
    /// Where: in the lab (lab), or in real time on a file or block device (file:PATH), which is
    /// made if it is not there, at its own pace or at that of --device
    #[arg(long, value_name = "PLACE", default_value = "lab")]
    on: OsString,
    #[command(flatten)]
    changes: Changes,
    /// Run only this arm (may be repeated)
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    arm: Vec<String>,
    #[command(flatten)]
    rows: Rows,
    /// Say what each disk did, as iostat -x prints it; JSON and pages always do
    #[arg(long, conflicts_with = "json")]
    disks: bool,
    #[command(flatten)]
    sweep: sweep::Sweeping,
    #[command(flatten)]
    results: Results,
    /// Print the job file as it was understood, and run nothing
    #[arg(long, conflicts_with_all = OF_RUNS)]
    show_job: bool,
    /// Write a page that plays a run: the head of the disk, the queue of each group, and whose turn
    /// it was
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    animate: Option<PathBuf>,
    /// Write to a file or device that Fairdisk did not make; what is in it is lost
    #[arg(long)]
    overwrite: bool,
    /// What serves the file [default: auto]; memory leaves it alone and keeps the bytes in memory
    #[arg(long, value_enum)]
    backend: Option<BackendArg>,
}

/// The options that change a run, or what is written about it.
const OF_RUNS: [&str; 18] = [
    "animate",
    "json_lines",
    "csv",
    "on",
    "scheduler",
    "device",
    "duration",
    "overrides",
    "arm",
    "row",
    "seeds",
    "disks",
    "sweep",
    "metric",
    "resume",
    "report",
    "overwrite",
    "backend",
];

/// How much of a run the time line of a page shows, and at most how many requests.
const TIME_LINE: Span = Span::from_s(2);
const TIME_LINE_MOST: usize = 1_000;
/// How much of a run a film shows, and at most how many requests.
const FILM: Span = Span::from_s(4);
const FILM_MOST: usize = 4_000;

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let place = Place::parse(&args.on)?;
    if args.show_job {
        return show_job(args);
    }
    args.results.demand_place()?;
    if let Some(path) = &args.animate {
        demand_lab(args, &place)?;
        OwnFile::FILM.demand_place(path)?;
    }
    match place {
        Place::Lab => in_lab(args),
        Place::File(path) => on_file(args, path),
    }
}

/// Checks that there is something to play: only a run in the lab is known request by request.
fn demand_lab(args: &Args, place: &Place) -> Result<(), Failure> {
    let why = match place {
        Place::File(_) => "--on",
        Place::Lab if args.sweep.is_asked() => "--sweep",
        Place::Lab => return Ok(()),
    };
    Err(Failure::BadInput(format!("--animate shows one run in the lab: drop it, or {why}")))
}

fn options(args: &Args) -> Result<Options, Failure> {
    Ok(Options {
        arms: args.arm.clone(),
        rows: args.rows.row.clone(),
        seeds: args.rows.seeds.seeds,
        ..args.changes.options()?
    })
}

fn style(args: &Args) -> Style {
    Style { disks: args.disks, ..output::style() }
}

fn show_job(args: &Args) -> Result<(), Failure> {
    let (spec, json) = (args.spec.as_str(), args.results.json);
    let is_trace = spec::is_trace(spec);
    if is_trace || !spec::is_job_file(spec) {
        let what = if is_trace { "a trace" } else { "an experiment" };
        let message = format!("--show-job is for job files; {spec} is {what}");
        return Err(Failure::BadInput(message));
    }
    let rows = spec::resolve(spec, args.changes.values.approximate)?;
    if !json {
        return Ok(output::print(&spec::to_text(&rows))?);
    }
    let value = match rows.as_slice() {
        [row] => serde_json::to_value(&row.jobs),
        rows => serde_json::to_value(json_rows(rows)),
    };
    let mut value = value.map_err(|error| Failure::Run(format!("{spec}: {error}")))?;
    value["schema"] = output::SCHEMA.into();
    Ok(output::print_json(&value)?)
}

/// The jobs of several rows, each with its label.
fn json_rows(rows: &[JobRow]) -> Value {
    let row = |row: &JobRow| serde_json::json!({ "row": row.label, "jobs": row.jobs.jobs });
    serde_json::json!({ "rows": rows.iter().map(row).collect::<Vec<_>>() })
}

// ---- in the lab --------------------------------------------------------------------------------

fn in_lab(args: &Args) -> Result<(), Failure> {
    let for_files = [
        ("--device none", args.changes.device.as_deref() == Some(real::NO_MODEL)),
        ("--overwrite", args.overwrite),
        ("--backend", args.backend.is_some()),
    ];
    if let Some((option, _)) = for_files.iter().find(|(_, given)| *given) {
        let message = format!("{option} is for real files: add --on file:PATH or drop it");
        return Err(Failure::BadInput(message));
    }
    if args.sweep.is_asked() {
        return args.sweep.execute(&args.spec, &options(args)?, &args.results);
    }
    let plan = selection::load(&args.spec, &options(args)?)?;
    let stop = interrupt::stop_flag()?;
    let runs = progress::of_runs(args.results.quiet, |tell| run_and_divide(&plan, tell, &stop));
    let (runs, mut outcome) = runs.map_err(Failure::BadInput)?;
    let PlanRuns { ensembles, refused } = &runs;
    let all = rows(&plan) - refused.len();
    let complete = complete(&plan, ensembles);
    let interrupted = stop.load(Ordering::Relaxed) && complete < all;
    let partial = interrupted.then(|| partial(complete, all));
    let has_some = !ensembles.is_empty() || !refused.is_empty();
    let table = || has_some.then(|| to_table(&outcome, style(args)));
    args.results.print(interrupted, || with_rig(&outcome, &plan, args), table)?;
    if args.results.has_page() {
        outcome.watched = watch(&plan, TIME_LINE, TIME_LINE_MOST, &stop);
    }
    args.results.write_page(partial.as_deref(), |made| to_html(&outcome, made))?;
    if let Some(partial) = partial {
        return Err(Failure::Interrupted(partial));
    }
    if let Some(path) = &args.animate {
        outcome.watched = watch(&plan, FILM, FILM_MOST, &stop);
        OwnFile::FILM.write(path, &film(&outcome, &Made::by(&command())))?;
    }
    demand_done(ensembles)?;
    let reasons: Vec<&str> = refused.iter().map(|refused| refused.reason.as_str()).collect();
    demand_none_refused(&reasons, rows(&plan), "row")
}

/// The results, with the host that they are about and what was changed on the command line.
fn with_rig(outcome: &Outcome, plan: &Plan, args: &Args) -> RunResults {
    let overrides = args.changes.values.overrides.clone();
    RunResults::from(outcome).with_host(plan.rig.host.clone(), overrides)
}

/// The number of pairs of an arm and a row.
const fn rows(plan: &Plan) -> usize {
    plan.arms.len() * plan.rows.len()
}

/// Checks that no scheduler refused one of `all` rows or cells, as `what` calls them. `reasons` has
/// one reason per refusal.
pub(super) fn demand_none_refused(reasons: &[&str], all: usize, what: &str) -> Result<(), Failure> {
    let Some(reason) = reasons.first() else { return Ok(()) };
    let s = if all == 1 { "" } else { "s" };
    let (was, first) = if reasons.len() == 1 { ("was", "") } else { ("were", "the first: ") };
    let count = reasons.len();
    Err(Failure::Run(format!("{count} of {all} {what}{s} {was} refused; {first}{reason}")))
}

/// Checks that every run came to its end.
fn demand_done(ensembles: &[Ensemble]) -> Result<(), Failure> {
    let given_up = ensembles.iter().filter(|ensemble| ensemble.end() == RunEnd::GivenUp).count();
    demand_none_given_up(given_up, ensembles.len(), "rows")
}

/// Checks that none of `all` rows or cells, as `what` calls them, was given up for taking too long.
pub(super) fn demand_none_given_up(given_up: usize, all: usize, what: &str) -> Result<(), Failure> {
    if given_up == 0 {
        return Ok(());
    }
    Err(Failure::Run(format!(
        "{given_up} of {all} {what} were not done after {} of simulated time and were given up; \
         make their work smaller, or say with --duration how long to run",
        time_text::words(RUN_MAX),
    )))
}

/// The number of rows that have all of their runs.
fn complete(plan: &Plan, ensembles: &[Ensemble]) -> usize {
    ensembles.iter().filter(|ensemble| ensemble.is_complete(plan)).count()
}

fn partial(known: usize, all: usize) -> String {
    format!("results are partial: {known} of {all} rows are complete")
}

// ---- on a file ---------------------------------------------------------------------------------

fn on_file(args: &Args, path: PathBuf) -> Result<(), Failure> {
    if args.sweep.is_asked() {
        let message = "--sweep is for the lab: drop --on, or give one value with --set";
        return Err(Failure::BadInput(message.to_owned()));
    }
    if args.rows.seeds.seeds.is_some_and(|seeds| seeds > 1) {
        let message = "--seeds: a real run has no seeds to vary; leave it out or repeat the run";
        return Err(Failure::BadInput(message.to_owned()));
    }
    let modelled = args.changes.device.as_deref().is_some_and(|device| device != real::NO_MODEL);
    let mut options = options(args)?;
    options.seeds = Some(1);
    let plan = real::plan(&options, modelled, |options| selection::load(&args.spec, options))?;
    let target = real::Target {
        path,
        backend: args.backend.unwrap_or_default(),
        overwrite: args.overwrite,
        modelled,
        temporary: false,
    };
    let stop = interrupt::stop_flag()?;
    let needs = real::prepare(&plan, &target, &stop)?;
    if !args.results.quiet {
        output::diagnose(&real::estimate(&plan, modelled));
    }
    let (runs, ended) = real::run_plan(&plan, &target, &needs, args.results.quiet, &stop);
    match ended {
        Ok(()) => {
            print_runs(args, &plan, &runs)?;
            finish(&plan, &runs, &stop)
        }
        Err(failure) if runs.is_empty() => Err(failure),
        // The target was usable when the first row began, so there are runs to show.
        Err(failure) => {
            print_runs(args, &plan, &runs)?;
            let partial = partial(runs.len(), rows(&plan));
            Err(Failure::Run(format!("{}; {partial}", failure.message())))
        }
    }
}

fn print_runs(args: &Args, plan: &Plan, runs: &[real::Run]) -> Result<(), Failure> {
    let ensembles: Vec<Ensemble> = runs.iter().map(|run| run.ensemble.clone()).collect();
    let outcome = Outcome::new(plan, Shell::File, &ensembles);
    let backends = runs.iter().map(|run| real::backend(&run.report));
    let json = || RunResults::from(&outcome).with_backends(backends);
    let table =
        || (!runs.is_empty()).then(|| to_table(&outcome, style(args)) + &real::to_text(plan, runs));
    let (complete, all) = (complete(plan, &ensembles), rows(plan));
    let partial = (complete < all).then(|| partial(complete, all));
    args.results.print(partial.is_some(), json, table)?;
    args.results.write_page(partial.as_deref(), |made| to_html(&outcome, made))
}

fn finish(plan: &Plan, runs: &[real::Run], stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    real::demand_no_errors(runs)?;
    let complete = runs.iter().filter(|run| run.end() == RunEnd::Planned).count();
    if stop.load(Ordering::Relaxed) && complete < rows(plan) {
        return Err(Failure::Interrupted(partial(complete, rows(plan))));
    }
    Ok(())
}

//! `fairdisk compare`: one load under several schedulers and on several devices.

use crate::failure::Failure;
use crate::selection::{self, Rows, Values};
use crate::{interrupt, output, page, progress};
use clap::ValueHint;
use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::compare::{BASE, compare, to_html, to_json, to_table};
use fairdisk_lab::plan::{Options, Plan};
use std::path::PathBuf;

/// Run an experiment or a fio job file under several schedulers and on several devices, in the lab
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk compare two-groups\n  \
    fairdisk compare two-groups --scheduler cfq-2.6.25,two-layer-cfq --device wd2500js,sata-ssd")]
pub(crate) struct Args {
    /// An experiment of `fairdisk catalog experiments`, or the path of a .toml file or of a fio job
    /// file
    spec: String,
    /// Schedulers: names of `fairdisk catalog schedulers`, or paths of .toml files [default: all
    /// that are built in]. noop is always run, as what the others' throughput is measured by
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    scheduler: Vec<String>,
    /// Disks: names of `fairdisk catalog devices`, or paths of .toml files [default: the
    /// experiment's; of a job file, its own or hdd-7200-2007]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    device: Vec<String>,
    #[command(flatten)]
    values: Values,
    #[command(flatten)]
    rows: Rows,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a page of plots: one file that any browser shows
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    report: Option<PathBuf>,
    /// No progress, no remarks
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let plans = plans(args)?;
    let stop = interrupt::stop_flag()?;
    let bar = progress::bar(0, args.quiet);
    bar.set_message("runs");
    let tell = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let comparison = compare(&plans, &tell, &stop).map_err(Failure::BadInput)?;
    bar.finish_and_clear();
    let asked = plans.iter().map(|plan| plan.arms.len() * plan.rows.len()).sum::<usize>();
    let known = comparison.cells.iter().filter(|cell| !cell.partial).count();
    let is_partial = known < asked;
    if let Some(path) = &args.report {
        page::write(path, |command| to_html(&comparison, command))?;
    }
    if args.json {
        let mut value = to_json(&comparison);
        if is_partial {
            value["partial"] = true.into();
        }
        output::print_json(&value)?;
    } else if !comparison.cells.is_empty() {
        output::print(&to_table(&comparison, output::style()))?;
    }
    if is_partial {
        let message = format!("results are partial: {known} of {asked} cells are complete");
        return Err(Failure::Interrupted(message));
    }
    Ok(())
}

/// A plan for each device, [`BASE`] as the first of its schedulers.
fn plans(args: &Args) -> Result<Vec<Plan>, Failure> {
    let built_in = || Kind::Revision.ids().map(str::to_owned).collect();
    let wanted: Vec<String> =
        if args.scheduler.is_empty() { built_in() } else { args.scheduler.clone() };
    let mut schedulers = vec![BASE.to_owned()];
    schedulers.extend(wanted.into_iter().filter(|name| name != BASE));
    let devices: Vec<Option<String>> = match args.device.is_empty() {
        true => vec![None],
        false => args.device.iter().cloned().map(Some).collect(),
    };
    let options = Options {
        schedulers,
        row: args.rows.row.clone(),
        seeds: args.rows.seeds,
        ..args.values.options()?
    };
    let load = |device| selection::load(&args.spec, &Options { device, ..options.clone() });
    devices.into_iter().map(load).collect()
}

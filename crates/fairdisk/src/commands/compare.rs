//! `fairdisk compare`: runs one load under several schedulers and on several devices.

use super::run::{demand_none_given_up, demand_none_refused};
use crate::failure::Failure;
use crate::results::Results;
use crate::selection::{self, Rows, Schedulers, Values};
use crate::{interrupt, output, progress};
use clap::ValueHint;
use fairdisk_lab::advise::{Want, asking};
use fairdisk_lab::compare::{compare, to_html, to_json, to_table};
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::run::Progress;

/// Run an experiment or a fio job file under several schedulers and on several devices, in the lab
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk compare two-groups\n  \
    fairdisk compare two-groups --scheduler cfq-2.6.25,two-layer-cfq --device wd2500js,sata-ssd")]
pub(crate) struct Args {
    /// An experiment of `fairdisk catalog experiments`, or the path of a .toml file or of a fio job
    /// file
    spec: String,
    /// What groups ask for, in place of what the load says, as for `fairdisk advise` (may be
    /// repeated)
    #[arg(
        long, value_name = "GROUP: KEY=VALUE, …", value_parser = Want::parse,
        value_hint = ValueHint::Other
    )]
    want: Vec<Want>,
    #[command(flatten)]
    schedulers: Schedulers,
    /// Disks, separated by commas: names of `fairdisk catalog devices`, or paths of .toml files
    /// [default: the experiment's; of a job file, its own or hdd-7200-2007]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    device: Vec<String>,
    #[command(flatten)]
    values: Values,
    #[command(flatten)]
    rows: Rows,
    #[command(flatten)]
    results: Results,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    args.results.demand_place()?;
    let plans = plans(args)?;
    let stop = interrupt::stop_flag()?;
    let compare = |tell: &dyn Progress| compare(&plans, tell, &stop);
    let comparison = progress::of_runs(args.results.quiet, compare).map_err(Failure::BadInput)?;
    let refused = comparison.refused.len();
    let partial = comparison.partial();
    let has_some = !comparison.cells.is_empty() || refused > 0;
    let table = || has_some.then(|| to_table(&comparison, output::style()));
    args.results.print(partial.is_some(), || to_json(&comparison), table)?;
    args.results.write_page(partial.as_deref(), |made| to_html(&comparison, made))?;
    if let Some(partial) = partial {
        return Err(Failure::Interrupted(partial));
    }
    let given_up = comparison.cells.iter().filter(|cell| cell.given_up).count();
    demand_none_given_up(given_up, comparison.cells.len(), "cells")?;
    let reasons = comparison.refused.iter().map(|refused| refused.reason.as_str());
    demand_none_refused(&reasons.collect::<Vec<_>>(), comparison.asked() + refused, "cell")
}

/// One plan for each device.
fn plans(args: &Args) -> Result<Vec<Plan>, Failure> {
    let devices = selection::listed("--device", &args.device)?;
    let devices: Vec<Option<String>> = match devices.is_empty() {
        true => vec![None],
        false => devices.into_iter().map(Some).collect(),
    };
    let options = Options {
        schedulers: args.schedulers.names(selection::built_in)?,
        rows: args.rows.row.clone(),
        seeds: args.rows.seeds.seeds,
        ..args.values.options()?
    };
    let load = |device| {
        let plan = selection::load(&args.spec, &Options { device, ..options.clone() })?;
        match args.want.is_empty() {
            true => Ok(plan),
            false => asking(&plan, &args.want).map_err(Failure::BadInput),
        }
    };
    devices.into_iter().map(load).collect()
}

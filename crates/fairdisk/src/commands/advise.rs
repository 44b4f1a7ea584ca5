//! `fairdisk advise`: from a load and wishes to a configuration.

use crate::failure::Failure;
use crate::selection::{self, Rows, Values};
use crate::{interrupt, output, page, progress};
use clap::ValueHint;
use fairdisk_lab::advise::{Want, advise, to_json, to_table};
use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::compare::{BASE, to_html};
use fairdisk_lab::plan::{Options, Plan};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Propose a scheduler and settings for a load and wishes about it, checked in the lab
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk advise two-groups\n  \
    fairdisk advise two-groups --device sata-ssd --want 'database: share=70, latency_p99_ms=1'")]
pub(crate) struct Args {
    /// An experiment of `fairdisk catalog experiments`, or the path of a .toml file or of a fio job
    /// file. What its groups ask for are wishes
    spec: String,
    /// Who must have what: weight, share (in percent of the disk), min_iops, min_bps, max_iops,
    /// max_bps, burst_ms, latency_p99_ms (may be repeated)
    #[arg(
        long, value_name = "GROUP: KEY=VALUE, …", value_parser = Want::parse,
        value_hint = ValueHint::Other
    )]
    want: Vec<Want>,
    /// Schedulers to try: names of `fairdisk catalog schedulers`, or paths of .toml files [default:
    /// all that are built in]. noop is always tried, as what the others' throughput is measured by
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    scheduler: Vec<String>,
    /// The disk: a name of `fairdisk catalog devices`, or the path of a .toml file [default: the
    /// experiment's; of a job file, its own or hdd-7200-2007]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
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
    let plan = plan(args)?;
    let stop = interrupt::stop_flag()?;
    let bar = progress::bar(0, args.quiet);
    bar.set_message("runs");
    let tell = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let advice = advise(&plan, &args.want, &tell, &stop).map_err(Failure::BadInput)?;
    bar.finish_and_clear();
    let is_partial = stop.load(Ordering::Relaxed);
    if let Some(path) = &args.report {
        page::write(path, |command| to_html(&advice.comparison, command))?;
    }
    if args.json {
        let mut value = to_json(&advice);
        if is_partial {
            value["partial"] = true.into();
        }
        output::print_json(&value)?;
    } else if advice.best.is_some() {
        output::print(&to_table(&advice, output::style()))?;
    }
    if is_partial {
        let tried = advice.tried.len();
        return Err(Failure::Interrupted(format!("advice is partial: {tried} tries are done")));
    }
    Ok(())
}

/// The plan with [`BASE`] as the first of its schedulers.
fn plan(args: &Args) -> Result<Plan, Failure> {
    let built_in = || Kind::Revision.ids().map(str::to_owned).collect();
    let wanted: Vec<String> =
        if args.scheduler.is_empty() { built_in() } else { args.scheduler.clone() };
    let mut schedulers = vec![BASE.to_owned()];
    schedulers.extend(wanted.into_iter().filter(|name| name != BASE));
    let options = Options {
        schedulers,
        device: args.device.clone(),
        row: args.rows.row.clone(),
        seeds: args.rows.seeds,
        ..args.values.options()?
    };
    selection::load(&args.spec, &options)
}

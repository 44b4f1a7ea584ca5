//! `fairdisk memory`: how much memory a load needs, found out in the lab.

use crate::failure::Failure;
use crate::kept_figures::KeptFigures;
use crate::results::Results;
use crate::selection::{self, Changes, OneRow};
use crate::{interrupt, output, progress};
use clap::ValueHint;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::memory::{KEY, need, percent, to_html, to_json, to_table};
use fairdisk_lab::plan::{Options, Plan};
use std::path::PathBuf;

/// The key of the kernel, and the one whose memory management is assumed.
const KERNEL: &str = "host.memory.kernel";
const NOW: &str = "now";

/// Find out how much memory a load needs, and what less of it costs, in the lab
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk memory readers.fio --want 95%\n  \
    fairdisk memory readers.fio --device nvme --report memory.html")]
pub(crate) struct Args {
    /// An experiment of `fairdisk catalog experiments`, or the path of a .toml file, of a fio job
    /// file, or of a .iozone file with a command of iozone
    spec: String,
    /// How much of the throughput that it has with plenty of memory the load is to keep
    #[arg(
        long, value_name = "PERCENT", value_parser = percent, default_value = "95%",
        value_hint = ValueHint::Other
    )]
    want: f64,
    #[command(flatten)]
    changes: Changes,
    /// The arm, if there are several
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    arm: Option<String>,
    #[command(flatten)]
    row: OneRow,
    /// Keep finished runs in this file, and do not repeat those it has
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    resume: Option<PathBuf>,
    #[command(flatten)]
    results: Results,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    args.results.demand_place()?;
    let options = options(args)?;
    let runs = KeptFigures::open(args.resume.as_deref())?;
    let stop = interrupt::stop_flag()?;
    let at_size = |mib: u64| at_size(&args.spec, &options, mib);
    let need = progress::of_runs(args.results.quiet, |tell| {
        need(&at_size, args.want, runs.keeper(), tell, &stop)
    });
    let need = need.map_err(Failure::BadInput)?;
    let kept = runs.close();
    let partial = need.enough_mib.is_none().then(|| "it is not known yet".to_owned());
    let table = || (!need.curves.curves.is_empty()).then(|| to_table(&need, output::style()));
    args.results.print(partial.is_some(), || to_json(&need), table)?;
    args.results.write_page(partial.as_deref(), |made| to_html(&need, made))?;
    let reasons: Vec<&str> = need.curves.refused.iter().map(|it| it.reason.as_str()).collect();
    super::run::demand_none_refused(&reasons, need.curves.points[0], "size")?;
    partial.map_or(kept, |partial| Err(Failure::Interrupted(partial)))
}

/// The options of all sizes. A host without a kernel of its own gets today's.
fn options(args: &Args) -> Result<Options, Failure> {
    let mut options = Options {
        arms: args.arm.iter().cloned().collect(),
        rows: args.row.row.iter().cloned().collect(),
        seeds: args.row.seeds.seeds,
        ..args.changes.options()?
    };
    prepare(&args.spec, &mut options, &args.changes.values.overrides)?;
    Ok(options)
}

/// Adds to options what all sizes need: a kernel, if the host has none. `sets` are the changes of
/// the command line.
pub(super) fn prepare(spec: &str, options: &mut Options, sets: &[String]) -> Result<(), Failure> {
    if let Some(set) = sets.iter().find(|set| set.starts_with(KEY)) {
        let message = format!("--set {set}: the size is what is looked for; leave it out");
        return Err(Failure::BadInput(message));
    }
    let plan = selection::load(spec, options)?;
    if plan.rig.host.memory.kernel.is_none() {
        options.overrides.push(change(&format!("{KERNEL}={NOW}"))?);
    }
    Ok(())
}

fn change(text: &str) -> Result<Override, Failure> {
    Override::parse(text).map_err(Failure::BadInput)
}

/// The plan of a load with so much memory.
pub(super) fn at_size(spec: &str, options: &Options, mib: u64) -> Result<Plan, String> {
    let mut options = options.clone();
    let size = change(&format!("{KEY}={mib}"));
    size.and_then(|size| {
        options.overrides.push(size);
        selection::load(spec, &options)
    })
    .map_err(|failure| failure.message())
}

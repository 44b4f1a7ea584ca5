//! `fairdisk advise`: tries schedulers in the lab and proposes the configuration that meets what
//! the groups of a load ask for.

mod kernel;

use super::memory::{at_size, prepare};
use super::mount::scheduler::find;
use crate::failure::Failure;
use crate::results::Results;
use crate::selection::{self, OneRow, Schedulers, Values};
use crate::{interrupt, output, progress};
use clap::ValueHint;
use fairdisk_lab::advise::{
    Advice, AdviceResults, Tried, Want, Wanted, advise, memory, to_html, to_table,
};
use fairdisk_lab::catalog::revision::Revision;
use fairdisk_lab::plan::{Options, PlannedArm};
use fairdisk_lab::run::Progress;
use fairdisk_lab::spec;
use fairdisk_lab::time_text;
use std::sync::atomic::{AtomicBool, Ordering};

/// Propose a scheduler and settings for a load and wishes about it, checked in the lab
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk advise two-groups\n  \
    fairdisk advise two-groups --device sata-ssd --want 'database: share=70, latency_p99_ms=1'\n  \
    fairdisk advise two-groups --want 'database: share=70' --want memory=95%\n  \
    fairdisk advise two-groups --want 'database: share=70' --for kernel --device nvme")]
pub(crate) struct Args {
    /// An experiment of `fairdisk catalog experiments`, or the path of a .toml file or of a fio job
    /// file. What its groups ask for are wishes
    spec: String,
    /// Who must have what: weight, share (in percent of the disk), min_iops, min_bps, max_iops,
    /// max_bps, max_read_iops, max_read_bps, max_write_iops, max_write_bps, burst_ms, burst_iops,
    /// burst_bps, burst_for, latency_p99_ms, fsync_p99_ms (may be repeated); or memory=95%: how
    /// much memory keeps so much of the throughput
    #[arg(
        long, value_name = "GROUP: KEY=VALUE, …", value_parser = Wanted::parse,
        value_hint = ValueHint::Other
    )]
    want: Vec<Wanted>,
    #[command(flatten)]
    schedulers: Schedulers,
    /// The disk: a name of `fairdisk catalog devices`, or the path of a .toml file [default: the
    /// experiment's; of a job file, its own or hdd-7200-2007]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    #[command(flatten)]
    values: Values,
    #[command(flatten)]
    row: OneRow,
    /// What is to keep the wishes: the kernel's own settings, or a mount. For the kernel, the
    /// answer is a plan of `fairdisk kernel`, and files that last
    #[arg(long = "for", value_name = "WHAT", value_enum)]
    target: Option<Target>,
    /// The disk that the files of --for kernel are about
    #[arg(
        long, value_name = "DEVICE", default_value = "/dev/DISK", value_hint = ValueHint::AnyPath
    )]
    disk: String,
    #[command(flatten)]
    results: Results,
}

/// What is to keep the wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// Schedulers, weights and limits of the kernel
    Kernel,
    /// A mount, by `fairdisk ctl`
    Mount,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    args.results.demand_place()?;
    let options = options(args)?;
    let plan = selection::load(&args.spec, &options)?;
    let wants = wants(args);
    let memory = memory_wish(args, &options)?;
    let stop = interrupt::stop_flag()?;
    let advise = |tell: &dyn Progress| advise(&plan, &wants, tell, &stop);
    let mut advice = progress::of_runs(args.results.quiet, advise).map_err(Failure::BadInput)?;
    if let Some(wish) = memory.filter(|_| advice.partial.is_none()) {
        add_memory(args, &wish, &mut advice, &stop)?;
    }
    advice.on_mounts = advice.proposed().is_some_and(is_run_by_mounts);
    let arm = advice.proposed().map(|best| &plan.arms[best.arm]);
    advice.options = again(args, arm);
    let partial = advice.partial.as_deref();
    let files = match args.target {
        Some(Target::Kernel) if partial.is_none() => {
            let more = kernel::MountOnly::find(&advice, &|| mount_advice(args, &wants, &stop))?;
            kernel::Files::of(&advice, &plan.rig.device, &args.disk, more)
        }
        _ => None,
    };
    let kernel = files.as_ref().map(kernel::Files::results);
    let json = || AdviceResults::from(&advice).with_kernel(kernel);
    let table = || {
        let files = files.as_ref().map(kernel::Files::to_text).unwrap_or_default();
        advice.best.is_some().then(|| to_table(&advice, output::style()) + &files)
    };
    args.results.print(partial.is_some(), json, table)?;
    args.results.write_page(partial, |made| to_html(&advice, made))?;
    partial.map_or(Ok(()), |partial| Err(Failure::Interrupted(partial.to_owned())))
}

/// What a mount with `fair` would keep of the same wishes.
fn mount_advice(args: &Args, wants: &[Want], stop: &AtomicBool) -> Result<Advice, Failure> {
    let options = Options { schedulers: vec!["fair".to_owned()], ..options(args)? };
    let plan = selection::load(&args.spec, &options)?;
    let found = |tell: &dyn Progress| advise(&plan, wants, tell, stop);
    progress::of_runs(args.results.quiet, found).map_err(Failure::BadInput)
}

/// Whether `fairdisk ctl scheduler` switches a mount to the scheduler of a try, with the same
/// settings.
fn is_run_by_mounts(tried: &Tried) -> bool {
    find(&tried.asked, &[]).is_ok_and(|choice| choice.spec == tried.spec)
}

/// The wishes of groups.
fn wants(args: &Args) -> Vec<Want> {
    let of_group = |wanted: &Wanted| match wanted {
        Wanted::OfGroup(want) => Some(want.clone()),
        Wanted::Memory(_) => None,
    };
    args.want.iter().filter_map(of_group).collect()
}

/// A wish for memory, in percent of the throughput with plenty, and the options of all sizes.
type MemoryWish = (f64, Options);

/// The wish for memory, if there is one.
fn memory_wish(args: &Args, options: &Options) -> Result<Option<MemoryWish>, Failure> {
    let percent = |wanted: &Wanted| match wanted {
        Wanted::Memory(percent) => Some(*percent),
        Wanted::OfGroup(_) => None,
    };
    let percents: Vec<f64> = args.want.iter().filter_map(percent).collect();
    match percents[..] {
        [] => Ok(None),
        [percent] => {
            let mut options = options.clone();
            prepare(&args.spec, &mut options, &args.values.overrides)?;
            Ok(Some((percent, options)))
        }
        [first, second, ..] => {
            let message = format!(
                "--want memory={second}%: memory={first}% is wished already, and one size is \
                 looked for; leave one out"
            );
            Err(Failure::BadInput(message))
        }
    }
}

/// Adds how much memory the load needs as proposed.
fn add_memory(
    args: &Args,
    (percent, options): &MemoryWish,
    advice: &mut Advice,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let at_size = |mib: u64| at_size(&args.spec, options, mib);
    let memory = |tell: &dyn Progress| memory(advice, &at_size, *percent, tell, stop);
    let need = progress::of_runs(args.results.quiet, memory).map_err(Failure::BadInput)?;
    if stop.load(Ordering::Relaxed) {
        advice.partial =
            Some("advice is partial: how much memory is enough is not known".to_owned());
    }
    advice.memory = need;
    Ok(())
}

/// The options of the load under all schedulers to try.
fn options(args: &Args) -> Result<Options, Failure> {
    selection::demand_one("--device", args.device.as_ref())?;
    let options = Options {
        schedulers: schedulers(args)?,
        device: args.device.clone(),
        rows: args.row.row.iter().cloned().collect(),
        seeds: args.row.seeds.seeds,
        ..args.values.options()?
    };
    if spec::is_iozone(&args.spec) {
        let message = format!(
            "{}: advise proposes lines of a job file, and a command has none; write one with \
             `fairdisk run {} --show-job > NAME.fio`, and name that",
            spec::command_place(&args.spec)?,
            args.spec
        );
        return Err(Failure::BadInput(message));
    }
    Ok(options)
}

/// The schedulers to try.
fn schedulers(args: &Args) -> Result<Vec<String>, Failure> {
    let all = || match args.target {
        None => Revision::of_today(),
        Some(Target::Kernel) => kernel::schedulers(),
        Some(Target::Mount) => {
            let runs = |id: &String| find(id, &[]).is_ok();
            Revision::of_today().into_iter().filter(runs).collect()
        }
    };
    let names = args.schedulers.names(all)?;
    let strange = |name: &&String| !kernel::schedulers().contains(name);
    match names.iter().find(strange).filter(|_| args.target == Some(Target::Kernel)) {
        Some(name) => {
            let ours = kernel::schedulers().join(", ");
            let message = format!("--for kernel: the kernel has no {name}; it has {ours}");
            Err(Failure::BadInput(message))
        }
        None => Ok(names),
    }
}

/// The options that another command needs, beside scheduler and device, to repeat the measurement
/// of `arm` alone.
fn again(args: &Args, arm: Option<&PlannedArm>) -> Vec<(String, String)> {
    let option = |name: &str, value: String| (name.to_owned(), value);
    let seeds = args.row.seeds.seeds.map(|seeds| option("--seeds", seeds.to_string()));
    let duration = args.values.duration.map(|time| option("--duration", time_text::text(time)));
    let sets = args.values.overrides.iter();
    let sets = sets.filter(|set| arm.is_none_or(|arm| arm.takes(set)));
    let sets = sets.map(|set| option("--set", set.clone()));
    seeds.into_iter().chain(duration).chain(sets).collect()
}

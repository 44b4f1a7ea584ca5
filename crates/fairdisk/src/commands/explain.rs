//! `fairdisk explain`: tells why a request of a lab run had to wait.
//!
//! The run is simulated again, and its journal is read as it grows. Runs are deterministic, so the
//! request is the same one.

mod found;
mod journey;
mod run_name;
mod stall;
mod text;
mod tracks;
mod wait;

use crate::failure::Failure;
use crate::number_arg::within;
use crate::output;
use crate::own_file::OwnFile;
use crate::selection::{self, Changes};
use crate::{interrupt, progress};
use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fairdisk_core::{Instant, OpKind, Reporting};
use fairdisk_lab::catalog::error::unknown as unknown_name;
use fairdisk_lab::catalog::library::Kind;
use fairdisk_lab::plan::{GroupLabel, Options, Plan, Rig, Spec};
use fairdisk_lab::run::RUN_MAX;
use fairdisk_lab::time_text;
use fairdisk_sim::World;
use found::{Life, Listener, Slowest};
use run_name::RunName;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use tracks::Tracks;

/// Explain why a request of a run in the lab waited
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
#[command(override_usage = "fairdisk explain [OPTIONS] <RUN> <REQUEST>\n       \
    fairdisk explain [OPTIONS] <RUN> --slowest <N>\n       \
    fairdisk explain [OPTIONS] <RUN> --perfetto <FILE.pftrace>")]
#[command(after_help = "Examples:\n  \
    fairdisk explain two-groups/two-layer --slowest 5\n  \
    fairdisk explain two-groups/two-layer 117\n  \
    fairdisk explain two-groups/two-layer --perfetto run.pftrace\n  \
    fairdisk explain 'satoshi-2008-05-27-test1/two-layer/#1/0' --slowest 10 --duration 20s")]
pub(crate) struct Args {
    /// The run: SPEC[/ARM[/ROW[/SEED]]]; the first arm and row and seed 0 if not given. ARM may be
    /// that of --scheduler
    #[arg(index = 1)]
    run: String,
    /// The request's number, as --slowest shows it
    #[arg(
        index = 2, group = "what", value_parser = within::<u64>(1..=u64::MAX),
        allow_negative_numbers = true
    )]
    request: Option<u64>,
    /// List the N requests that took longest
    #[arg(
        long, value_name = "N", group = "what", value_parser = within::<u32>(1..=u32::MAX.into()),
        allow_negative_numbers = true
    )]
    slowest: Option<u32>,
    /// Write tracks of groups and tasks, with each decision's reason, for the Perfetto UI
    #[arg(
        long, value_name = "FILE.pftrace", group = "what", conflicts_with = "json",
        value_hint = ValueHint::FilePath
    )]
    perfetto: Option<PathBuf>,
    /// List operations of this kind only
    #[arg(long, value_name = "OP", requires = "slowest", value_parser = op())]
    op: Option<OpKind>,
    /// Of a device with several disks, the one whose requests are meant, counted from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    disk: Option<u32>,
    #[command(flatten)]
    changes: Changes,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

/// Parses a kind of operation.
fn op() -> impl TypedValueParser<Value = OpKind> {
    let named = |name: String| {
        let kind = OpKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.expect("it is one of the possible values")
    };
    PossibleValuesParser::new(OpKind::ALL.map(OpKind::name)).map(named)
}

/// The name of a run, its groups and the number of its tasks, by which a journal's ids are put into
/// words.
pub(crate) struct Story {
    name: String,
    /// The disk, if there are several.
    disk: Option<u32>,
    groups: Vec<GroupLabel>,
    tasks: usize,
}

/// The run to tell again, and the disk whose requests are meant.
struct Retold<'a> {
    spec: &'a str,
    seed: u32,
    disk: Option<u32>,
    quiet: bool,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let (spec, rest) = run_name::split(&args.run);
    let options = Options { seeds: Some(1), keep_journal: true, ..args.changes.options()? };
    let (options, seed) = match rest {
        "" => (options, 0),
        rest => named(&args.run, spec, rest, options)?,
    };
    let plan = selection::load(spec, &options)?;
    let stop = interrupt::stop_flag()?;
    let run = Retold { spec, seed, disk: args.disk, quiet: args.quiet };
    if let Some(count) = args.slowest {
        let mut slowest = Slowest::new(count as usize, args.op);
        let story = retell(&run, &plan, &stop, &mut slowest)?;
        let (requests, list) = slowest.finish();
        return show(
            args.json,
            || text::slowest_json(&story, requests, &list),
            || text::slowest(&story, requests, &list),
        );
    }
    if let Some(path) = &args.perfetto {
        OwnFile::TRACKS.demand_place(path)?;
        let mut tracks = Tracks::default();
        let story = retell(&run, &plan, &stop, &mut tracks)?;
        return tracks.write(&story, path);
    }
    let number = args.request.unwrap_or(1);
    let mut life = Life::new(number);
    let story = retell(&run, &plan, &stop, &mut life)?;
    let (journey, wait) = life.finish().map_err(|count| unknown(&story, number, count))?;
    show(
        args.json,
        || text::life_json(&story, &journey, &wait),
        || text::life(&story, &journey, &wait),
    )
}

/// Adds to `options` the arm and the row that the name `run` ends with, in `rest` after `spec`;
/// returns them with its seed. An arm is one of the experiment, whose place the scheduler of an
/// option takes, or that of this scheduler.
fn named(
    run: &str,
    spec: &str,
    rest: &str,
    mut options: Options,
) -> Result<(Options, u32), Failure> {
    let plan = selection::load(spec, &options)?;
    let names = |plan: Plan| plan.arms.into_iter().map(|arm| arm.name).collect::<Vec<_>>();
    let own = Options { schedulers: Vec::new(), overrides: Vec::new(), ..options.clone() };
    // An experiment may have no arms, or none that can be run; the option is enough then.
    let own = selection::load(spec, &own).map(names).unwrap_or_default();
    let rows: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let mut arms: Vec<&str> = own.iter().map(String::as_str).collect();
    arms.extend(plan.arms.iter().map(|arm| arm.name.as_str()).filter(|arm| !is_in(arm, &own)));
    let name = RunName::parse(run, rest, &arms, &rows)?;
    for (what, name, known) in [("arm", &name.arm, &arms), ("row", &name.row, &rows)] {
        if let Some(name) = name.as_ref().filter(|name| !known.contains(&name.as_str())) {
            let message = unknown_name(what, name, known);
            let is_scheduler = what == "arm" && Kind::Revision.ids().any(|id| id == name);
            let hint = match is_scheduler && options.schedulers.is_empty() {
                true => format!("; to run that scheduler, add --scheduler {name}"),
                false => String::new(),
            };
            return Err(Failure::BadInput(format!("{run}: {message}{hint}")));
        }
    }
    // The jobs of a job file have one arm, whatever it is called.
    let arm = name.arm.filter(|arm| plan.spec == Spec::Experiment && is_in(arm, &own));
    options.arms.extend(arm);
    options.rows.extend(name.row);
    Ok((options, name.seed))
}

fn is_in(name: &str, names: &[String]) -> bool {
    names.iter().any(|one| one == name)
}

fn show(
    json: bool,
    value: impl Fn() -> serde_json::Value,
    words: impl Fn() -> String,
) -> Result<(), Failure> {
    let printed = if json { output::print_json(&value()) } else { output::print(&words()) };
    Ok(printed?)
}

fn unknown(story: &Story, number: u64, count: u64) -> Failure {
    Failure::BadInput(format!(
        "{} has no request {number}; its requests are numbered 1 to {count}, and --slowest 10 \
         shows the longest",
        story.name
    ))
}

/// Simulates the first arm and row of `plan` again and passes the journal of one disk to
/// `listener`, to the end or until the listener wants no more. The story has a name that this
/// command takes.
fn retell(
    run: &Retold<'_>,
    plan: &Plan,
    stop: &AtomicBool,
    listener: &mut impl Listener,
) -> Result<Story, Failure> {
    let (Some(arm), Some(row)) = (plan.arms.first(), plan.rows.first()) else {
        return Err(Failure::BadInput(format!("{} has nothing to run", plan.id)));
    };
    let (arm, seed) = (row.arm(arm), run.seed);
    let disk = which_disk(&arm.rig, run.disk)?;
    let disks = arm.rig.machines().find(|disks| disks.contains(&disk)).unwrap_or(0..1);
    // The number of the disk in its machine.
    let at = disk - disks.start;
    let setup = plan.setup_disks(arm, row, seed, disks)?;
    let mut world = World::new(setup.machine, setup.jbod);
    let length = row.duration.unwrap_or(RUN_MAX);
    let seconds = row.duration.map_or(0, |length| length.as_ns() / 1_000_000_000);
    let bar = progress::bar(seconds, run.quiet);
    bar.set_message("s simulated");
    let (mut next, end) = (Instant::ZERO, Instant::ZERO + length);
    let mut curious = true;
    while curious && next < end && !world.machine().is_done() {
        if stop.load(Ordering::Relaxed) {
            let simulated = time_text::words(next - Instant::ZERO);
            return Err(Failure::Interrupted(format!(
                "nothing to show yet after {simulated} of the run"
            )));
        }
        next = (next + listener.step()).min(end);
        world.run_until_done(next);
        let others = (0..world.machine().disks()).filter(|other| *other != at);
        others.for_each(|other| drop(world.machine_mut().drain_journal(other)));
        let moments = world.machine_mut().drain_stalls(at);
        moments.into_iter().for_each(|(at, task, step)| listener.stalled(at, task, step));
        curious = world.machine_mut().drain_journal(at).all(|entry| listener.enter(&entry));
        let elevator = world.machine().engine(at).elevator();
        listener.look(next, &|group| elevator.held_back(next, group));
        bar.set_position(next.as_ns() / 1_000_000_000);
    }
    bar.finish_and_clear();
    Ok(Story {
        name: format!("{}/{}/{}/{seed}", run.spec, arm.name, row.label),
        disk: run.disk,
        groups: setup.groups,
        tasks: world.machine().programs(at),
    })
}

/// The number of the disk whose requests are meant: the one that is asked for, or the only one.
fn which_disk(rig: &Rig, asked: Option<u32>) -> Result<u32, Failure> {
    let (device, disks) = (&rig.device_id, rig.array.disks);
    match asked {
        Some(disk) if disk < disks => Ok(disk),
        Some(disk) => Err(Failure::BadInput(format!(
            "--disk {disk}: device `{device}` has {disks} disks; allowed: 0 to {}",
            disks - 1
        ))),
        None if disks == 1 => Ok(0),
        None => Err(Failure::BadInput(format!(
            "device `{device}` is {disks} disks, each with the same load; explain follows the \
             requests of one: say which with --disk 0 to {}, or add --set device.jbod=1",
            disks - 1
        ))),
    }
}

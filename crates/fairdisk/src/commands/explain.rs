//! `fairdisk explain`: why did this request wait?
//!
//! The run is simulated again with its journal kept; runs are deterministic, so the request is the
//! same one.

mod journey;
mod run_name;
mod text;
mod wait;

use crate::failure::Failure;
use crate::output;
use crate::selection::{self, Changes};
use crate::{interrupt, progress};
use fairdisk_core::{Entry, Instant, Span};
use fairdisk_lab::plan::{GroupLabel, Options, Plan};
use fairdisk_lab::run::RUN_MAX;
use fairdisk_sim::World;
use journey::Journeys;
use run_name::RunName;
use std::sync::atomic::{AtomicBool, Ordering};

/// Explain why a request of a run in the lab waited
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
#[command(override_usage = "fairdisk explain [OPTIONS] <RUN> <REQUEST>\n       \
    fairdisk explain [OPTIONS] <RUN> --slowest <N>")]
#[command(after_help = "Examples:\n  \
    fairdisk explain two-groups/two-layer --slowest 5\n  \
    fairdisk explain two-groups/two-layer 117\n  \
    fairdisk explain 'satoshi-2008-05-27-test1/two-layer/#1/0' --slowest 10 --duration 20s")]
pub(crate) struct Args {
    /// The run: SPEC[/ARM[/ROW[/SEED]]]; the first arm and row and seed 0 if not given
    run: String,
    /// The request's number, as --slowest shows it
    #[arg(
        group = "what", value_parser = clap::value_parser!(u64).range(1..),
        allow_negative_numbers = true
    )]
    request: Option<u64>,
    /// List the N requests that took longest
    #[arg(
        long, value_name = "N", group = "what", value_parser = clap::value_parser!(u32).range(1..),
        allow_negative_numbers = true
    )]
    slowest: Option<u32>,
    #[command(flatten)]
    changes: Changes,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

/// One run, seen from above: what its requests went through, and who the parties are.
pub(crate) struct Story {
    name: String,
    groups: Vec<GroupLabel>,
    tasks: usize,
    entries: Vec<Entry>,
    journeys: Journeys,
}

/// Entries of a journal that still fit into memory comfortably: 2 GiB.
const ENTRIES_MAX: u64 = 40_000_000;
/// How much of the run passes between looks at the journal's length and at the stop flag.
const STEP: Span = Span::from_ms(500);

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let name = RunName::parse(&args.run)?;
    let options = Options {
        arm: name.arm.clone(),
        row: name.row.clone(),
        seeds: Some(1),
        keep_journal: true,
        ..args.changes.options()?
    };
    let plan = selection::load(&name.spec, &options)?;
    let stop = interrupt::stop_flag()?;
    let story = retell(&plan, name.seed, args.quiet, &stop)?;
    if let Some(count) = args.slowest {
        let slowest = story.journeys.slowest(count as usize);
        return show(
            args.json,
            || text::slowest_json(&story, &slowest),
            || text::slowest(&story, &slowest),
        );
    }
    let number = args.request.unwrap_or(1);
    let journey = story.journeys.get(number).ok_or_else(|| unknown(&story, number))?;
    let wait = wait::Wait::of(&story.entries, &story.journeys, journey);
    show(
        args.json,
        || text::life_json(&story, journey, &wait),
        || text::life(&story, journey, &wait),
    )
}

fn show(
    json: bool,
    value: impl Fn() -> serde_json::Value,
    words: impl Fn() -> String,
) -> Result<(), Failure> {
    let printed = if json { output::print_json(&value()) } else { output::print(&words()) };
    Ok(printed?)
}

fn unknown(story: &Story, number: u64) -> Failure {
    let count = story.journeys.len();
    Failure::BadInput(format!(
        "{} has no request {number}; its requests are numbered 1 to {count}, and --slowest 10 \
         shows the longest",
        story.name
    ))
}

/// Runs the first arm and row of `plan` again.
fn retell(plan: &Plan, seed: u32, quiet: bool, stop: &AtomicBool) -> Result<Story, Failure> {
    let (Some(arm), Some(row)) = (plan.arms.first(), plan.rows.first()) else {
        return Err(Failure::BadInput(format!("{} has nothing to run", plan.id)));
    };
    let setup = plan.setup(arm, row, seed).map_err(Failure::BadInput)?;
    let mut world = World::new(setup.machine, setup.disk);
    let length = plan.duration.unwrap_or(RUN_MAX);
    let bar =
        progress::bar(plan.duration.map_or(0, |length| length.as_ns() / 1_000_000_000), quiet);
    let (mut next, end) = (Instant::ZERO, Instant::ZERO + length);
    while next < end && !world.machine().is_done() {
        next = (next + STEP).min(end);
        world.run_until_done(next);
        bar.set_position(next.as_ns() / 1_000_000_000);
        bar.set_message("s simulated");
        check(world.machine().engine().journal().len(), next, stop)?;
    }
    bar.finish_and_clear();
    let entries = world.machine().engine().journal().entries().to_vec();
    Ok(Story {
        name: format!("{}/{}/{}/{seed}", plan.id, arm.name, row.label),
        groups: setup.groups,
        tasks: world.machine().task_reports().count(),
        journeys: Journeys::read(&entries),
        entries,
    })
}

fn check(entries: u64, now: Instant, stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted(format!("nothing to show yet after {now} of the run")));
    }
    if entries > ENTRIES_MAX {
        return Err(Failure::BadInput(format!(
            "the run is too long to keep all of it: {entries} events in its first {now}; choose a \
             shorter --duration"
        )));
    }
    Ok(())
}

//! `fairdisk schema`: what the names in JSON mean, for people and for programs that validate.

use super::ctl::StatusResults;
use super::top::TopResults;
use super::trace::TraceResults;
use super::validate::ValidateResults;
use crate::failure::Failure;
use crate::output;
use clap::ValueEnum;
use fairdisk_lab::advise::AdviceResults;
use fairdisk_lab::blame::BlameResults;
use fairdisk_lab::compare::CompareResults;
use fairdisk_lab::explain::{LifeResults, SlowestResults};
use fairdisk_lab::memory::MemoryResults;
use fairdisk_lab::outcome::RunResults;
use fairdisk_lab::printed::PublishedResults;
use fairdisk_lab::results::{Document, Partial, value};
use fairdisk_lab::sweep::SweepResults;
use fairdisk_mount::control::{GroupEntry, Status, Tunables};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// Print the JSON Schema of what a command prints with --json: all names and what they mean
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command
    command: Command,
}

/// A command with `--json`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Command {
    /// `run`
    Run,
    /// `run --sweep`
    RunSweep,
    /// `compare`
    Compare,
    /// `advise`
    Advise,
    /// `memory`
    Memory,
    /// `blame`
    Blame,
    /// `explain` of one request
    Explain,
    /// `explain --slowest`
    ExplainSlowest,
    /// `catalog published`
    CatalogPublished,
    /// `trace`
    Trace,
    /// `validate`
    Validate,
    /// `ctl list`
    CtlList,
    /// `ctl get`
    CtlGet,
    /// `ctl status`
    CtlStatus,
    /// `ctl scheduler`
    CtlScheduler,
    /// `top`, and `ctl list --since`
    Top,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let schema = match args.command {
        Command::Run => of::<Document<Partial<RunResults>>>(),
        Command::RunSweep => of::<Document<Partial<SweepResults>>>(),
        Command::Compare => of::<Document<Partial<CompareResults>>>(),
        Command::Advise => of::<Document<Partial<AdviceResults>>>(),
        Command::Memory => of::<Document<Partial<MemoryResults>>>(),
        Command::Blame => of::<Document<BlameResults>>(),
        Command::Explain => of::<Document<LifeResults>>(),
        Command::ExplainSlowest => of::<Document<SlowestResults>>(),
        Command::CatalogPublished => of::<Document<Partial<PublishedResults>>>(),
        Command::Trace => of::<Document<Partial<TraceResults<'_>>>>(),
        Command::Validate => of::<Document<ValidateResults>>(),
        Command::CtlList => of::<Status>(),
        Command::CtlGet => of::<GroupEntry>(),
        Command::CtlStatus => of::<StatusResults<'_>>(),
        Command::CtlScheduler => of::<Tunables>(),
        Command::Top => of::<TopResults<'_>>(),
    };
    Ok(output::print_json(&value(&schema))?)
}

/// The schema of what is written as `T`.
fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

//! `fairdisk validate`: is the lab right about the disk that a recording was made on?

use crate::failure::Failure;
use crate::output::SCHEMA;
use crate::results::document;
use crate::selection::Changes;
use crate::{interrupt, output, progress};
use clap::ValueHint;
use fairdisk_lab::plan::{Options, Recorded};
use fairdisk_lab::results::value;
use fairdisk_lab::run::Progress;
use fairdisk_lab::spec;
use fairdisk_lab::validate::{Limits, ValidateError, Validation, validate};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::atomic::Ordering;

/// Replay a recording in the lab, and say how far its times and parts are off
///
/// The scheduler is the one that the recording was made under. Of the device's values, those that
/// fit worst are named, and those of which the recording says nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk record /srv --for 60s -o load.fdt\n  \
    fairdisk calibrate /srv -o srv.toml\n  \
    fairdisk validate load.fdt --device srv.toml\n  \
    fairdisk calibrate --from load.fdt srv.toml -o better.toml")]
pub(crate) struct Args {
    /// The recording
    #[arg(value_hint = ValueHint::FilePath)]
    trace: String,
    #[command(flatten)]
    changes: Changes,
    /// Do not vary the device's values, which takes six replays for each of them
    #[arg(long)]
    no_values: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

/// What `validate --json` prints.
#[derive(Serialize, JsonSchema)]
pub(super) struct ValidateResults {
    /// The version of these results.
    schema: u32,
    /// The figures that are too far off, in words.
    misses: Vec<String>,
    #[serde(flatten)]
    validation: Validation,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    let options = args.changes.options()?;
    let recorded = recorded(&args.trace, &options)?;
    let stop = interrupt::stop_flag()?;
    let validate = |progress: &dyn Progress| {
        validate(&recorded, &options, !args.no_values, progress, &stop).map_err(failure)
    };
    let found = progress::of_runs(args.quiet, validate)?;
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted("nothing was compared".to_owned()));
    }
    if args.json {
        let misses = found.misses(&Limits::GOOD);
        let results = ValidateResults { schema: SCHEMA, misses, validation: found };
        return Ok(output::print_json(&value(&document(results)))?);
    }
    Ok(output::print(&found.to_text(&Limits::GOOD, output::style()))?)
}

/// The recording and its scheduler, which the lab has to have.
///
/// # Errors
/// It is no recording, is to be scaled, no device is named, or the scheduler is not known.
pub(super) fn recorded(trace: &str, options: &Options) -> Result<Recorded, Failure> {
    if !spec::is_trace(trace) {
        return Err(Failure::BadInput(format!(
            "{trace}: it is no recording; `fairdisk record` makes one"
        )));
    }
    if !options.replay.scaled.is_empty() {
        let message = "--scale: what is compared is what was recorded; leave it out";
        return Err(Failure::BadInput(message.to_owned()));
    }
    if options.device.is_none() {
        return Err(Failure::BadInput(
            "--device: name the disk that was recorded, by the file of `fairdisk calibrate` or as \
             one of `fairdisk catalog devices`"
                .to_owned(),
        ));
    }
    let recorded = Recorded::open(trace, &options.replay)?;
    if options.schedulers.is_empty() && recorded.scheduler().is_none() {
        let about = &*recorded.about.scheduler;
        let why = match about {
            "" => "does not say which scheduler it was made under".to_owned(),
            name => format!("was made under {name}, which the lab does not have"),
        };
        return Err(Failure::BadInput(format!(
            "{trace} {why}; name the nearest one with --scheduler"
        )));
    }
    Ok(recorded)
}

/// A recording that cannot be judged is bad input.
pub(super) fn failure(error: ValidateError) -> Failure {
    match error {
        ValidateError::Plan(error) => error.into(),
        error => Failure::BadInput(error.to_string()),
    }
}

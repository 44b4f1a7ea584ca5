//! `fairdisk blame`: which of the changes between a good and a bad state cost what.

mod lab;
mod state;
mod watch;

use crate::failure::Failure;
use crate::output;
use crate::time_arg;
use clap::ValueHint;
use fairdisk_core::Span;
use fairdisk_lab::blame::{
    Design, FactorSet, Findings, Halt, Measure, Metric, Report, blame, to_json, to_table,
};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread;

/// Find out which of the changes between two schedulers made a run slower
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    fairdisk blame cfq-2.6.25 mine.toml two-groups --metric share:database\n  \
    fairdisk blame cfq-2.6.25 cfq-2.6.25 two-groups \\\n      \
    --bad-set scheduler.cfq.slice_idle_ms=0 --bad-set scheduler.cfq.quantum=1")]
pub(crate) struct Args {
    /// The scheduler before the changes: a name of `fairdisk catalog schedulers`, or the path of a
    /// .toml file
    good: String,
    /// The scheduler after them, of the same family
    bad: String,
    /// The load: an experiment of `fairdisk catalog experiments`, or the path of a .toml file or of
    /// a fio job file
    spec: String,
    /// What is compared: ios and mbps (of all groups, in a second), p99 (latency in ms), or
    /// share:GROUP (of all I/Os)
    #[arg(long, default_value = "ios", value_parser = Metric::parse, value_hint = ValueHint::Other)]
    metric: Metric,
    /// Change one value of the good side, as in scheduler.cfq.quantum=1 or host.hz=1000 (may be
    /// repeated)
    #[arg(long = "good-set", value_name = "KEY=VALUE", value_hint = ValueHint::Other)]
    good_sets: Vec<String>,
    /// Change one value of the bad side (may be repeated)
    #[arg(long = "bad-set", value_name = "KEY=VALUE", value_hint = ValueHint::Other)]
    bad_sets: Vec<String>,
    /// Change one value of both sides (may be repeated)
    #[arg(long = "set", value_name = "KEY=VALUE", value_hint = ValueHint::Other)]
    sets: Vec<String>,
    /// Use this disk [default: the experiment's; of a job file, its own or hdd-7200-2007]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// A run lasts this long: 500ms, 30s, 2m [default: the experiment's]
    #[arg(
        long, value_name = "TIME", value_parser = time_arg::parse, allow_negative_numbers = true,
        allow_hyphen_values = true, value_hint = ValueHint::Other
    )]
    duration: Option<Span>,
    /// The arm whose ionice levels count, if there are several
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    arm: Option<String>,
    /// The row, if there are several
    #[arg(long, value_name = "LABEL", value_hint = ValueHint::Other)]
    row: Option<String>,
    /// Runs of each mixture
    #[arg(
        long, value_name = "N", default_value_t = 4,
        value_parser = clap::value_parser!(u32).range(1..=1000), allow_negative_numbers = true,
        value_hint = ValueHint::Other
    )]
    seeds: u32,
    /// Runs at most
    #[arg(
        long, value_name = "N", default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(2..=1_000_000), allow_negative_numbers = true,
        value_hint = ValueHint::Other
    )]
    runs: u32,
    /// Draw the orders in which changes are made from this number
    #[arg(long, value_name = "N", default_value_t = 1, value_hint = ValueHint::Other)]
    seed: u64,
    /// Keep finished runs in this file, and do not repeat those it has
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    resume: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    lab::execute(args)
}

impl Args {
    fn design(&self, factors: usize) -> Design {
        Design {
            factors,
            seeds: self.seeds,
            runs: self.runs as usize,
            seed: self.seed,
            threads: thread::available_parallelism().map_or(1, NonZero::get),
            is_real: false,
        }
    }

    /// Runs what `design` asks for. `identity` is everything that decides about a run.
    fn investigate(
        &self,
        measure: &dyn Measure,
        design: &Design,
        identity: &str,
        stop: &AtomicBool,
    ) -> Result<Findings, Failure> {
        let mut prior = Vec::new();
        let mut state = None;
        if let Some(path) = &self.resume {
            let (known, file) = state::State::open(path, identity)?;
            prior = known;
            state = Some(file);
        }
        let watch = watch::Progress::new(design.runs, self.quiet, state);
        let found = blame(measure, design, prior, &watch, stop).map_err(Failure::Run);
        watch.finish()?;
        found
    }

    /// Prints what there is, and says how it ended.
    fn show(&self, report: &Report) -> Result<(), Failure> {
        if self.json {
            output::print_json(&to_json(report))?;
        } else {
            output::print(&to_table(report, output::style()))?;
        }
        match report.findings.halt {
            Some(Halt::Interrupted) => {
                let runs = report.findings.runs;
                Err(Failure::Interrupted(format!("results are partial: {runs} runs are done")))
            }
            _ => Ok(()),
        }
    }
}

/// The bad end of so many changes.
fn all(report: usize) -> FactorSet {
    FactorSet::first(report)
}

//! `fairdisk blame`: attributes the difference between a good and a bad configuration to the
//! individual changes between them.

mod command;
mod git;
mod lab;
mod machine;
mod repository;
mod shell;
mod state;
mod watch;

use crate::failure::Failure;
use crate::number_arg::within;
use crate::output;
use crate::results::Results;
use clap::ValueHint;
use command::Switch;
use fairdisk_core::Span;
use fairdisk_lab::blame::{
    Design, FactorSet, Findings, Halt, Measure, Metric, Report, blame, to_html, to_json, to_table,
};
use fairdisk_lab::time_text;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Find out which of many changes made a run slower: in the lab, or with a command of your own
#[derive(Debug, clap::Args)]
#[command(override_usage = "fairdisk blame [OPTIONS] <GOOD> <BAD> <SPEC>\n       \
    fairdisk blame [OPTIONS] --command <CMD> --switch <NAME=GOOD,BAD>...\n       \
    fairdisk blame [OPTIONS] --git <GOOD..BAD> [--build <CMD>] --run <CMD>")]
#[command(after_help = "Examples:\n  \
    fairdisk blame cfq-2.6.25 mine.toml two-groups --metric share:database\n  \
    fairdisk blame cfq-2.6.25 cfq-2.6.25 two-groups \\\n      \
    --bad-set scheduler.cfq.slice_idle_ms=0 --bad-set scheduler.cfq.quantum=1\n  \
    fairdisk blame --command './bench.sh {ra} {sched}' \\\n      \
    --switch ra=128,4096 --switch sched=mq-deadline,none\n  \
    fairdisk blame --git v1.0..v1.1 --build 'make -s' --run './bench.sh'")]
pub(crate) struct Args {
    /// The scheduler before the changes: a name of `fairdisk catalog schedulers`, or the path of a
    /// .toml file
    #[arg(required_unless_present_any = ["command", "git"])]
    good: Option<String>,
    /// The scheduler after them, of the same family
    #[arg(required_unless_present_any = ["command", "git"])]
    bad: Option<String>,
    /// The load: an experiment of `fairdisk catalog experiments`, or the path of a .toml file or of
    /// a fio job file
    #[arg(required_unless_present_any = ["command", "git"])]
    spec: Option<String>,
    /// Run this with sh instead: each {NAME} stands for the value of a switch, which is in the
    /// environment too; the last line it prints is the number to compare
    #[arg(
        long, value_name = "CMD", value_hint = ValueHint::CommandString, requires = "switches",
        conflicts_with_all = [
            "good", "bad", "spec", "metric", "good_sets", "bad_sets", "sets", "device", "duration",
            "arm", "row",
        ]
    )]
    command: Option<String>,
    /// A switch of --command with a good and a bad value (repeated, in the order in which the
    /// changes were made)
    #[arg(
        long = "switch", value_name = "NAME=GOOD,BAD", value_parser = Switch::parse,
        value_hint = ValueHint::Other
    )]
    switches: Vec<Switch>,
    /// Find out which commits of the git repository here made --run slower: each mixture of the
    /// commits between these revisions is built in a directory of its own and measured
    #[arg(
        long, value_name = "GOOD..BAD", value_hint = ValueHint::Other, requires = "run",
        conflicts_with_all = [
            "command", "switches", "good", "bad", "spec", "metric", "good_sets", "bad_sets", "sets",
            "device", "duration", "arm", "row",
        ]
    )]
    git: Option<String>,
    /// Build what is checked out, with sh in its directory; done once for each mixture
    #[arg(long, value_name = "CMD", value_hint = ValueHint::CommandString, requires = "git")]
    build: Option<String>,
    /// Measure what is built, with sh in its directory: the last line it prints is the number to
    /// compare
    #[arg(long, value_name = "CMD", value_hint = ValueHint::CommandString, requires = "git")]
    run: Option<String>,
    /// Run --command or --run so often at each end first, and drop what it prints
    #[arg(
        long, value_name = "N", default_value_t = 0, value_parser = within::<u32>(0..=1000),
        value_hint = ValueHint::Other
    )]
    warmup: u32,
    /// A lower number of --command or --run is better
    #[arg(long)]
    lower_is_better: bool,
    /// A run of --command or --run takes at most this long [default: 10m]
    #[arg(
        long, value_name = "TIME", value_parser = time_text::parse,
        allow_negative_numbers = true, allow_hyphen_values = true, value_hint = ValueHint::Other
    )]
    timeout: Option<Span>,
    /// What is compared: ios and mbps (in a second); p50, p99, p99.9 or longest (latency in ms),
    /// also of reads, writes or fsyncs alone, as read-p99.9; wait (the longest for the disk, in
    /// ms); each of all groups, or with :GROUP of one; share:GROUP (of all I/Os); or a figure of
    /// all such as disk_await_ms
    #[arg(
        long, default_value = "ios", value_parser = Metric::parse,
        value_hint = ValueHint::Other
    )]
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
        long, value_name = "TIME", value_parser = time_text::parse, allow_negative_numbers = true,
        allow_hyphen_values = true, value_hint = ValueHint::Other
    )]
    duration: Option<Span>,
    /// The arm whose ionice levels and priorities count, if there are several; what it sets about
    /// its scheduler does not: give that with --set
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Other)]
    arm: Option<String>,
    /// The row, if there are several
    #[arg(long, value_name = "LABEL", value_hint = ValueHint::Other)]
    row: Option<String>,
    /// Runs of each mixture, 2 at least to know of chance; of --command at least so many, and more
    /// while --runs allows it [default: 2, and up to 5 where chance hides what counts, 12 where few
    /// mixtures tell of it; of --command 3]
    #[arg(
        long, value_name = "N", value_parser = within::<u32>(2..=1000),
        allow_negative_numbers = true, value_hint = ValueHint::Other
    )]
    seeds: Option<u32>,
    /// Runs at most [default: 1000; of --command 100]
    #[arg(
        long, value_name = "N", value_parser = within::<u32>(2..=1_000_000),
        allow_negative_numbers = true, value_hint = ValueHint::Other
    )]
    runs: Option<u32>,
    /// Draw the orders in which changes are made from this number
    #[arg(long, value_name = "N", default_value_t = 1, value_hint = ValueHint::Other)]
    seed: u64,
    /// Keep finished runs in this file, and do not repeat those it has
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    resume: Option<PathBuf>,
    #[command(flatten)]
    results: Results,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    args.results.demand_place()?;
    if let Some(text) = &args.command {
        return command::execute(args, text);
    }
    if let (Some(range), Some(run)) = (&args.git, &args.run) {
        return git::execute(args, range, run);
    }
    if args.warmup > 0 || args.lower_is_better {
        let message = "--warmup and --lower-is-better are for --command and --git";
        return Err(Failure::BadInput(message.to_owned()));
    }
    match (&args.good, &args.bad, &args.spec) {
        _ if !args.switches.is_empty() => {
            Err(Failure::BadInput("--switch is for --command: add --command CMD or drop it".into()))
        }
        _ if args.timeout.is_some() => Err(Failure::BadInput(
            "--timeout is for --command: in the lab --duration says how long a run is, and --runs \
             how many there are"
                .into(),
        )),
        (Some(good), Some(bad), Some(spec)) => lab::execute(args, good, bad, spec),
        _ => Err(Failure::BadInput("expected GOOD, BAD and SPEC, or --command".to_owned())),
    }
}

impl Args {
    /// What is compared, in words, if it is what a command prints.
    fn unit(&self) -> String {
        let better = if self.lower_is_better { ", lower is better" } else { "" };
        format!("what the command prints{better}")
    }

    /// Whether the user's own commands are run.
    const fn is_real(&self) -> bool {
        self.command.is_some() || self.git.is_some()
    }

    /// Runs both ends as often as the user wants before anything counts.
    fn warm_up(
        &self,
        measure: &dyn Measure,
        factors: usize,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        for seed in 0..self.warmup {
            for end in [FactorSet::EMPTY, all(factors)] {
                if stop.load(Ordering::Relaxed) {
                    return Err(Failure::Interrupted("nothing was measured yet".to_owned()));
                }
                measure.measure(end, seed).map_err(Failure::Run)?;
            }
        }
        Ok(())
    }

    fn design(&self, factors: usize) -> Design {
        let (seeds, seeds_max) = match self.seeds {
            Some(seeds) => (seeds, seeds),
            None if self.is_real() => (3, 3),
            None => (2, 5),
        };
        Design {
            factors,
            seeds,
            seeds_max,
            runs: self.runs.unwrap_or(if self.is_real() { 100 } else { 1000 }) as usize,
            seed: self.seed,
            threads: thread::available_parallelism().map_or(1, NonZero::get),
            is_real: false,
        }
    }

    /// Measures the mixtures that `design` asks for. `identity` names everything that determines
    /// the result of a run; earlier runs in the `--resume` file count only if they have the same
    /// identity. Returns the findings, and whether all runs could be saved for `--resume`.
    fn investigate(
        &self,
        measure: &dyn Measure,
        design: &Design,
        identity: &str,
        stop: &AtomicBool,
    ) -> Result<(Findings, Result<(), Failure>), Failure> {
        let least = 2 * design.seeds as usize;
        if design.runs < least {
            return Err(Failure::BadInput(format!(
                "--runs {}: both ends take {least} runs, {} each; allow more, or lower --seeds",
                design.runs, design.seeds
            )));
        }
        let mut prior = Vec::new();
        let mut state = None;
        if let Some(path) = &self.resume {
            let (known, file) = state::State::open(path, identity)?;
            prior = known;
            state = Some(file);
        }
        let watch = watch::Progress::new(design.runs, self.results.quiet, state);
        let found = blame(measure, design, prior, &watch, stop).map_err(Failure::Run);
        let kept = watch.finish();
        Ok((found?, kept))
    }

    /// Prints the report, and then returns `kept`, which tells whether all runs were saved for
    /// `--resume`, or an error if the investigation was interrupted.
    fn show(&self, report: &Report, kept: Result<(), Failure>) -> Result<(), Failure> {
        let table = || Some(to_table(report, output::style()));
        self.results.print(false, || to_json(report), table)?;
        let findings = &report.findings;
        let partial = matches!(findings.halt, Some(Halt::Interrupted))
            .then(|| format!("results are partial: {} runs are done", findings.runs));
        self.results.write_page(partial.as_deref(), |made| to_html(report, made))?;
        kept?;
        partial.map_or(Ok(()), |partial| Err(Failure::Interrupted(partial)))
    }
}

/// The set of all `factors` changes, which is the bad end.
fn all(factors: usize) -> FactorSet {
    FactorSet::first(factors)
}

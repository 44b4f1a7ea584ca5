//! `fairdisk run --sweep`: curves over the values of one key, in the lab.

use crate::failure::Failure;
use crate::kept_runs::KeptRuns;
use crate::results::Results;
use crate::{interrupt, output, progress, selection};
use clap::ValueHint;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::metric::Metric;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::sweep::{
    Forgetful, Keeper, Measured, Sweep, SweepOutcome, sweep, to_html, to_json, to_table,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The options of a sweep.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Sweeping {
    /// Run with one value of a key after another, in the lab, and show curves: KEY=FROM..TO+STEP or
    /// KEY=VALUE,VALUE,…, with any KEY of --set, as in host.memory.mib=192..384+8 or
    /// tasks.count=1,2,4
    #[arg(long, value_name = "KEY=VALUES", value_hint = ValueHint::Other)]
    sweep: Option<String>,
    /// What the curves of --sweep show: ios and mbps (of all groups, in a second), p99 (latency in
    /// ms), or share:GROUP (of all I/Os) (may be repeated) [default: all of them]
    #[arg(
        long, value_parser = Metric::parse, requires = "sweep", value_hint = ValueHint::Other
    )]
    metric: Vec<Metric>,
    /// Keep finished runs of --sweep in this file, and do not repeat those it has
    #[arg(long, value_name = "FILE", requires = "sweep", value_hint = ValueHint::FilePath)]
    resume: Option<PathBuf>,
}

impl Sweeping {
    pub(super) const fn is_asked(&self) -> bool {
        self.sweep.is_some()
    }

    /// Runs the sweep of `spec` with these options, and shows it.
    ///
    /// # Errors
    /// The sweep or a value of it is wrong, a run failed, or was interrupted.
    pub(super) fn execute(
        &self,
        spec: &str,
        options: &Options,
        results: &Results,
    ) -> Result<(), Failure> {
        let asked = Sweep::parse(self.sweep.as_deref().unwrap_or_default());
        let asked = asked.map_err(Failure::BadInput)?;
        let plans = plans(&asked, spec, options)?;
        let runs = self.resume.as_deref().map(Runs::open).transpose()?;
        let keeper: &dyn Keeper = runs.as_ref().map_or(&Forgetful, |runs| runs);
        let stop = interrupt::stop_flag()?;
        let outcome = progress::of_runs(results.quiet, |tell| {
            sweep(&asked, &plans, &self.metric, keeper, tell, &stop)
        });
        let outcome = outcome.map_err(Failure::BadInput)?;
        let kept = runs.map_or(Ok(()), |runs| runs.kept.close());
        show(&outcome, results)?;
        kept
    }
}

/// A plan for each value.
fn plans(asked: &Sweep, spec: &str, options: &Options) -> Result<Vec<Plan>, Failure> {
    let with = |change: &Override| {
        let mut options = options.clone();
        options.overrides.push(change.clone());
        let once = Override::demand_once(&options.overrides);
        once.map_err(|(_, message)| Failure::BadInput(message))?;
        selection::load(spec, &options)
    };
    asked.changes().iter().map(with).collect()
}

fn show(outcome: &SweepOutcome, results: &Results) -> Result<(), Failure> {
    let partial = outcome.partial();
    let has_some = !outcome.curves.is_empty() || !outcome.refused.is_empty();
    let table = || has_some.then(|| to_table(outcome, output::style()));
    results.print(partial.is_some(), || to_json(outcome), table)?;
    results.write_page(partial.as_deref(), |made| to_html(outcome, made))?;
    if let Some(partial) = partial {
        return Err(Failure::Interrupted(partial));
    }
    let reasons: Vec<&str> = outcome.refused.iter().map(|it| it.reason.as_str()).collect();
    super::demand_none_refused(&reasons, outcome.points[0], "point")
}

/// The runs in the file of `--resume`.
struct Runs {
    kept: KeptRuns,
    known: BTreeMap<(String, u32), Measured>,
}

impl Runs {
    fn open(path: &std::path::Path) -> Result<Self, Failure> {
        let (known, kept) = KeptRuns::open(path)?;
        let known = known.into_iter().filter_map(|(question, run)| {
            let (seed, measured) = read(&run)?;
            Some(((question, seed), measured))
        });
        Ok(Self { known: known.collect(), kept })
    }
}

/// The seed of a run and what it had.
fn read(run: &Value) -> Option<(u32, Measured)> {
    let seed = u32::try_from(run["seed"].as_u64()?).ok()?;
    let value = |value: &Value| match value {
        Value::Null => Some(None),
        value => Some(Some(value.as_str()?.parse().ok()?)),
    };
    let values = run["values"].as_array()?.iter().map(value);
    Some((seed, values.collect::<Option<Measured>>()?))
}

impl Keeper for Runs {
    fn known(&self, identity: &str, seed: u32) -> Option<Measured> {
        self.known.get(&(self.kept.question(identity), seed)).cloned()
    }

    fn keep(&self, identity: &str, seed: u32, measured: &Measured) {
        // As text, since a JSON reader may not preserve the last bit of a floating-point number.
        let values: Vec<Option<String>> =
            measured.iter().map(|value| value.map(|value| value.to_string())).collect();
        let run = json!({ "seed": seed, "values": values });
        self.kept.keep(&self.kept.question(identity), run);
    }
}

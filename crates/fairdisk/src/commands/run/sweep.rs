//! `fairdisk run --sweep`: curves over the values of one key, in the lab.

use crate::failure::Failure;
use crate::kept_figures::KeptFigures;
use crate::results::Results;
use crate::{interrupt, output, progress, selection};
use clap::ValueHint;
use fairdisk_lab::catalog::overrides::Override;
use fairdisk_lab::metric::Metric;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::sweep::{Sweep, SweepOutcome, sweep, to_html, to_json, to_table};
use std::path::PathBuf;

/// The options of a sweep.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Sweeping {
    /// Run with one value of a key after another, in the lab, and show curves: KEY=FROM..TO+STEP or
    /// KEY=VALUE,VALUE,…, with any KEY of --set, as in host.memory.mib=192..384+8 or
    /// tasks.count=1,2,4
    #[arg(long, value_name = "KEY=VALUES", value_hint = ValueHint::Other)]
    sweep: Option<String>,
    /// What the curves of --sweep show: a metric of `fairdisk blame`, such as ios, mbps, p99.9 or
    /// longest:GROUP; where memory is page by page, missed, again, memory-wait (in %) or touched
    /// (in MiB) too (may be repeated) [default: ios, mbps, p99 and each share:GROUP]
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
        let runs = KeptFigures::open(self.resume.as_deref())?;
        let stop = interrupt::stop_flag()?;
        let outcome = progress::of_runs(results.quiet, |tell| {
            sweep(&asked, &plans, &self.metric, runs.keeper(), tell, &stop)
        });
        let outcome = outcome.map_err(Failure::BadInput)?;
        let kept = runs.close();
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

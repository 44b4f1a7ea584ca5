//! `fairdisk catalog published`: all that sources print, beside what the lab has.

use crate::failure::Failure;
use crate::results::Results;
use crate::{interrupt, output, progress};
use fairdisk_lab::outcome::Outcome;
use fairdisk_lab::printed::{Printed, plans, to_html, to_json, to_table};
use fairdisk_lab::run::run_plans;
use std::sync::atomic::Ordering;

/// Runs the experiments whose sources print something, or the one with this name, and shows every
/// figure beside ours.
///
/// # Errors
/// The name is unknown, a run failed, or it was interrupted.
pub(super) fn execute(
    name: Option<&str>,
    seeds: Option<u32>,
    results: &Results,
) -> Result<(), Failure> {
    results.demand_place()?;
    let plans = plans(name, seeds).map_err(Failure::BadInput)?;
    let of_all: Vec<_> = plans.iter().collect();
    let stop = interrupt::stop_flag()?;
    let runs = progress::of_runs(results.quiet, |tell| run_plans(&of_all, tell, &stop));
    let runs = runs.map_err(Failure::BadInput)?;
    let printed = plans.iter().zip(&runs);
    let printed = printed.map(|(plan, runs)| Printed::new(Outcome::of_runs(plan, runs)));
    let printed: Vec<Printed> = printed.collect();
    let partial = stop.load(Ordering::Relaxed).then(|| "results are partial".to_owned());
    let table = || Some(to_table(&printed, output::style()));
    results.print(partial.is_some(), || to_json(&printed), table)?;
    results.write_page(partial.as_deref(), |made| to_html(&printed, made))?;
    partial.map_or(Ok(()), |partial| Err(Failure::Interrupted(partial)))
}

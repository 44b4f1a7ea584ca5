//! Blame in the lab: runs mixtures of two configurations of a scheduler under one load.

use super::{Args, all};
use crate::failure::Failure;
use crate::interrupt;
use crate::selection::overrides;
use fairdisk_lab::blame::{Between, Difference, Report, Side, divergence};
use fairdisk_lab::catalog::error::CatalogError;
use fairdisk_lab::plan::{Options, Plan};
use fairdisk_lab::spec;
use std::sync::atomic::Ordering;

pub(super) fn execute(args: &Args, good: &str, bad: &str, spec: &str) -> Result<(), Failure> {
    let stop = interrupt::stop_flag()?;
    let common = overrides("--set", &args.sets)?;
    let sides = [(good, "--good-set", &args.good_sets), (bad, "--bad-set", &args.bad_sets)];
    let [good, bad] = sides.map(|(scheduler, option, sets)| {
        let overrides = overrides(option, sets)?;
        Ok::<Side, Failure>(Side { scheduler: scheduler.to_owned(), overrides })
    });
    let difference = Difference::between(&good?, &bad?, &common)?;
    let options = Options {
        device: args.device.clone(),
        duration: args.duration,
        arms: args.arm.iter().cloned().collect(),
        rows: args.row.iter().cloned().collect(),
        overrides: common,
        ..Options::default()
    };
    // Read once, because the file may be edited while the runs last.
    let is_trace = spec::is_trace(spec);
    let jobs = match !is_trace && spec::is_job_file(spec) {
        true => Some(spec::resolve(spec, false)?),
        false => None,
    };
    let planner = |options: &Options| -> Result<Plan, CatalogError> {
        match &jobs {
            Some(jobs) => Plan::job_rows(spec, jobs, options),
            None if is_trace => Plan::trace(spec, options),
            None => Plan::experiment(spec, options),
        }
    };
    let between = Between::new(difference, args.metric.clone(), &planner, options, &stop)?;
    let design = args.design(between.difference().factors.len());
    let (findings, kept) = args.investigate(&between, &design, &between.identity(), &stop)?;
    let parted = match stop.load(Ordering::Relaxed) {
        true => None,
        false => divergence(&between, all(design.factors), 0, &stop).map_err(Failure::Run)?,
    };
    args.show(&Report::of_lab(&between, findings, parted), kept)
}

//! Mixtures of two schedulers, measured in the lab.

use super::{Difference, FactorSet, Measure, Metric, Sample};
use crate::catalog::error::CatalogError;
use crate::catalog::overrides::Override;
use crate::catalog::revision::Revision;
use crate::plan::{Options, Plan, PlannedArm};
use crate::run::run_once;
use fairdisk_core::prng::mix;
use std::sync::atomic::AtomicBool;

/// Makes a plan from options.
pub type Planner<'a> = &'a (dyn Fn(&Options) -> Result<Plan, CatalogError> + Sync);

/// Measures the mixtures between two schedulers under one load.
pub struct Between<'a> {
    difference: Difference,
    metric: Metric,
    planner: Planner<'a>,
    options: Options,
    plan: Plan,
    groups: Vec<String>,
    stop: &'a AtomicBool,
}

impl<'a> Between<'a> {
    /// Prepares to measure under the load that `planner` makes of `options`, which must have one
    /// arm and one row.
    ///
    /// # Errors
    /// Returns an error of `planner`, or an error if there are several arms or rows, or if the
    /// metric names a group that does not exist.
    pub fn new(
        mut difference: Difference,
        metric: Metric,
        planner: Planner<'a>,
        options: Options,
        stop: &'a AtomicBool,
    ) -> Result<Self, CatalogError> {
        let [good, bad] = [FactorSet::EMPTY, FactorSet::first(difference.factors.len())]
            .map(|end| difference.settings(end).unwrap_or_default());
        let options = Options { schedulers: vec![difference.good.scheduler.clone()], ..options };
        // Report bad input before any run.
        planner(&with(&options, bad))?;
        let plan = planner(&with(&options, good))?;
        // The changes that the arms make to their schedulers are replaced by the factors; their
        // `ionice` levels are not.
        let mut arms: Vec<&PlannedArm> = plan.arms.iter().collect();
        arms.dedup_by_key(|arm| arm.ionice);
        demand_one("arm", &arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>())?;
        let rows: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
        demand_one("row", &rows)?;
        let of_row = plan.rows[0].changes.iter().filter(|change| change.scope() == "scheduler");
        let of_row: Vec<Override> = of_row.cloned().collect();
        difference = difference.under_load(&of_row).map_err(|error| {
            CatalogError::unstated(format!("row `{}`: {error}", plan.rows[0].label))
        })?;
        difference.complete(|key| {
            let common = options.overrides.iter().find(|change| change.key() == key);
            common.map_or_else(|| plan.usual(key), |change| Some(change.value().clone()))
        })?;
        let groups = plan.rows[0].load.group_names();
        metric.demand_group(&groups).map_err(|message| {
            CatalogError::option(&format!("--metric {}", metric.name()), message)
        })?;
        Ok(Self { difference, metric, planner, options, plan, groups, stop })
    }

    /// The differences between the two sides.
    #[must_use]
    pub const fn difference(&self) -> &Difference {
        &self.difference
    }

    /// The load, as planned for the good end.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The metric that is compared.
    #[must_use]
    pub const fn metric(&self) -> &Metric {
        &self.metric
    }

    /// A text of everything that determines a run, apart from its mixture and seed.
    #[must_use]
    pub fn identity(&self) -> String {
        let Self { difference, metric, plan, options, .. } = self;
        format!("{difference:?} {metric:?} {plan:?} {options:?}")
    }

    fn arm(&self, plan: &Plan, set: FactorSet) -> Result<PlannedArm, CatalogError> {
        let revision: Revision = self.difference.revision(set)?;
        Ok(PlannedArm { revision, ..plan.rows[0].arm(&plan.arms[0]).clone() })
    }

    /// The plan of a mixture, if it differs from the common one.
    fn own_plan(&self, set: FactorSet) -> Result<Option<Plan>, CatalogError> {
        let settings = self.difference.settings(set);
        settings.map(|settings| (self.planner)(&with(&self.options, settings))).transpose()
    }

    /// The plan and the arm of a mixture, with the journal kept.
    ///
    /// # Errors
    /// Returns an error if the mixture is not valid.
    pub(super) fn journaled(&self, set: FactorSet) -> Result<(Plan, PlannedArm), CatalogError> {
        let settings = self.difference.settings(set).unwrap_or_default();
        let options = Options { keep_journal: true, ..with(&self.options, settings) };
        let plan = (self.planner)(&options)?;
        let arm = self.arm(&plan, set)?;
        Ok((plan, arm))
    }
}

fn with(options: &Options, settings: Vec<Override>) -> Options {
    let mut options = options.clone();
    options.overrides.extend(settings);
    options
}

fn demand_one(what: &str, names: &[&str]) -> Result<(), CatalogError> {
    if names.len() == 1 {
        return Ok(());
    }
    let message = format!("{} {what}s to choose from: {}", names.len(), names.join(", "));
    Err(CatalogError::option(&format!("--{what}"), message))
}

impl Measure for Between<'_> {
    fn measure(&self, set: FactorSet, seed: u32) -> Result<Sample, String> {
        let own = self.own_plan(set).map_err(|error| error.to_string())?;
        let plan = own.as_ref().unwrap_or(&self.plan);
        let arm = self.arm(plan, set).map_err(|error| error.to_string())?;
        let run = run_once(plan, &arm, &plan.rows[0], seed, self.stop)?;
        let value = self.metric.of(&run, &self.groups)?;
        // The journal covers only the disk, but the measured value may depend on more.
        Ok(Sample { value, trace: Some(mix(run.journal_hash) ^ value.to_bits()) })
    }

    fn effective(&self, set: FactorSet) -> FactorSet {
        self.difference.effective(set)
    }
}

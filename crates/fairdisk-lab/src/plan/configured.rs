//! A load with other settings for its groups.

use super::loaded::Loaded;
use super::setup::Load;
use super::{Plan, PlannedArm, PlannedRow};
use crate::catalog::host::Host;
use fairdisk_core::Prng;
use fairdisk_sim::GroupSpec;
use std::sync::Arc;

#[derive(Debug)]
struct Configured {
    load: Arc<dyn Load>,
    groups: Vec<GroupSpec>,
}

impl Load for Configured {
    fn build(&self, host: &Host, ionice: bool, prng: &mut Prng) -> Loaded {
        let mut loaded = self.load.build(host, ionice, prng);
        for (label, spec) in loaded.groups.iter_mut().zip(&self.groups) {
            label.spec = *spec;
        }
        loaded
    }

    fn group_names(&self) -> Vec<String> {
        self.load.group_names()
    }

    fn task_names(&self) -> Vec<String> {
        self.load.task_names()
    }

    fn has_end(&self, line: usize) -> bool {
        self.load.has_end(line)
    }
}

impl PlannedRow {
    /// The row with the settings `groups` instead of the groups' own.
    fn configured(&self, groups: &[GroupSpec]) -> Self {
        let load = Arc::new(Configured { load: Arc::clone(&self.load), groups: groups.to_vec() });
        Self { load, ..self.clone() }
    }
}

impl PlannedArm {
    /// The arm without priorities of its own for groups.
    fn without_priorities(self) -> Self {
        Self { priorities: None, ..self }
    }
}

impl Plan {
    /// The plan with other settings for the groups of its rows: for each row those that `groups`
    /// returns.
    ///
    /// # Errors
    /// Returns an error of `groups`.
    pub(crate) fn all_configured(
        &self,
        groups: impl Fn(&Loaded) -> Result<Vec<GroupSpec>, String>,
    ) -> Result<Self, String> {
        let plain = |arms: &[PlannedArm]| -> Vec<PlannedArm> {
            arms.iter().cloned().map(PlannedArm::without_priorities).collect()
        };
        let configured = |row: &PlannedRow| {
            let loaded = row.load.build(&self.rig.host, false, &mut Prng::new(0));
            let row = row.configured(&groups(&loaded)?);
            Ok(PlannedRow { own_arms: plain(&row.own_arms), ..row })
        };
        let rows = self.rows.iter().map(configured).collect::<Result<_, String>>()?;
        Ok(Self { arms: plain(&self.arms), rows, ..self.clone() })
    }

    /// A plan of only `row` under `arm`, with the settings `groups` instead of the groups' own.
    pub(crate) fn configured(
        &self,
        row: &PlannedRow,
        arm: PlannedArm,
        groups: &[GroupSpec],
    ) -> Self {
        let (arms, rows) = (vec![arm.without_priorities()], vec![row.configured(groups)]);
        Self { arms, rows, ..self.clone() }
    }
}

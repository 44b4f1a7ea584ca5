//! A load with other settings for its groups.

use super::setup::{Load, Loaded};
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

impl Plan {
    /// A plan of only `row` under `arm`, with the settings `groups` instead of the groups' own.
    pub(crate) fn configured(
        &self,
        row: &PlannedRow,
        arm: PlannedArm,
        groups: &[GroupSpec],
    ) -> Self {
        let load = Arc::new(Configured { load: Arc::clone(&row.load), groups: groups.to_vec() });
        let rows = vec![PlannedRow { load, ..row.clone() }];
        let arm = PlannedArm { priorities: None, ..arm };
        Self { arms: vec![arm], rows, ..self.clone() }
    }
}

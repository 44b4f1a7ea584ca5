//! Plans that run each group alone.

use super::loaded::Loaded;
use super::setup::{Load, START_SPREAD};
use super::{GroupNumbers, Plan, PlannedRow};
use crate::catalog::error::CatalogError;
use crate::catalog::host::Host;
use crate::catalog::revision::load as load_revision;
use crate::plan::PlannedArm;
use fairdisk_core::{GroupId, Instant, Prng, Qos};
use fairdisk_sim::device::Device as _;
use fairdisk_sim::workload::{Rates, TaskSpec};
use std::sync::Arc;

/// A load with only the tasks of one group, at their places in the full load.
#[derive(Debug)]
struct Alone {
    load: Arc<dyn Load>,
    group: usize,
}

impl Load for Alone {
    fn build(&self, host: &Host, ionice: bool, prng: &mut Prng) -> Loaded {
        let mut loaded = self.load.build(host, ionice, prng);
        let group = loaded.group_id(self.group);
        loaded.tasks.retain(|task| task.group == group);
        loaded.named.clear();
        loaded
    }

    fn group_names(&self) -> Vec<String> {
        self.load.group_names()
    }

    fn task_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn has_end(&self, line: usize) -> bool {
        self.load.has_end(line)
    }
}

impl Loaded {
    /// The number in the machine of the group with index `at`.
    pub(crate) fn group_id(&self, at: usize) -> GroupId {
        self.numbers().id(at)
    }

    /// The numbers of the groups in the machine.
    pub(crate) const fn numbers(&self) -> GroupNumbers {
        GroupNumbers { root: self.root }
    }

    /// The tasks of each group, by group index; empty for a group that has only nested groups.
    pub(crate) fn tasks_by_group(&self) -> Vec<Vec<&TaskSpec>> {
        let mut tasks: Vec<Vec<&TaskSpec>> = vec![Vec::new(); self.groups.len()];
        for task in &self.tasks {
            let place = self.numbers().place(task.group);
            if let Some(tasks) = place.and_then(|at| tasks.get_mut(at)) {
                tasks.push(task);
            }
        }
        tasks
    }
}

/// Whether the task starts late, thinks, or has a rate limit, so that it sometimes pauses however
/// fast its I/Os are.
pub(crate) fn pauses(task: &TaskSpec) -> bool {
    task.start > Instant::ZERO + START_SPREAD
        || task.think.is_some()
        || task.stream.rates != Rates::default()
}

/// A row and a group, by index, that a row of a plan of single groups stands for.
pub(crate) type Single = (usize, usize);

impl Plan {
    /// A plan that runs one group at a time under `scheduler`, once each, and which group each of
    /// its rows is. Leaves out groups that are known to keep the disk busy when alone, and rows
    /// with a single group.
    pub(crate) fn alone(&self, scheduler: &str) -> Result<(Self, Vec<Single>), CatalogError> {
        let (mut rows, mut singles) = (Vec::new(), Vec::new());
        for (at, row) in self.rows.iter().enumerate() {
            let loaded = row.load.build(&self.rig.host, false, &mut Prng::new(0));
            let tasks = loaded.tasks_by_group();
            let groups: Vec<usize> =
                (0..tasks.len()).filter(|group| !tasks[*group].is_empty()).collect();
            if groups.len() < 2 {
                continue;
            }
            let is_filled_by =
                |group: usize| self.is_filled_by(&loaded.groups[group].spec.qos, &tasks[group]);
            for group in groups.into_iter().filter(|group| !is_filled_by(*group)) {
                let load = Arc::new(Alone { load: Arc::clone(&row.load), group });
                rows.push(PlannedRow { load, ..row.clone() });
                singles.push((at, group));
            }
        }
        let arm = PlannedArm {
            name: scheduler.to_owned(),
            asked: scheduler.to_owned(),
            set: Vec::new(),
            taken: Vec::new(),
            ionice: false,
            priorities: None,
            revision: load_revision(scheduler, &[])?,
            rig: Arc::clone(&self.rig),
        };
        Ok((Self { arms: vec![arm], rows, seeds: 1, ..self.clone() }, singles))
    }

    /// Whether the disk serves one request at a time and some task of the group always has one for
    /// it.
    fn is_filled_by(&self, qos: &Qos, tasks: &[&TaskSpec]) -> bool {
        let never_pauses = |task: &&TaskSpec| {
            let limits = &task.stream.limits;
            !pauses(task)
                && !task.buffered
                && task.mapped.is_none()
                && !task.nowhere
                && limits.bytes.is_none()
                && limits.ios.is_none()
                && limits.runtime.is_none()
                && limits.passes.is_none()
        };
        // The most a group can do alone must be known if it was promised something.
        qos.floor.is_none()
            && qos.latency_p99.is_none()
            && qos.fsync_p99.is_none()
            && self.rig.device.build().depth() == 1
            && tasks.iter().any(never_pauses)
    }
}

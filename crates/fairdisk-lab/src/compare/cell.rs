//! A cell of a comparison: what each group got and asked for in one row, on one device, under one
//! arm.

use super::Parts;
use super::demand::Demands;
use super::division::{Division, work};
use super::promise::Promises;
use crate::outcome::{GroupOutcome, RowOutcome, part};
use crate::plan::Plan;
use crate::run::{Ensemble, RunEnd};
use fairdisk_core::Prng;

/// The results of one row on one device under one arm.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The id of the device.
    pub device: String,
    /// The name of the arm, usually that of its scheduler.
    pub arm: String,
    /// The scheduler.
    pub scheduler: String,
    /// The row.
    pub row: String,
    /// The number of runs.
    pub seeds: usize,
    /// The number of runs that were asked for.
    pub seeds_asked: usize,
    /// The length of a run, in seconds.
    pub duration_s: f64,
    /// Whether there are fewer runs than asked for, or a run was cut short.
    pub partial: bool,
    /// Whether a run was given up because its tasks were not done.
    pub given_up: bool,
    /// Whether in some run a group was done well before the others and used the disk no more.
    pub done_early: bool,
    /// I/Os per second over all groups.
    pub ios_per_s: f64,
    /// The standard deviation of that in single runs; `None` if there was one.
    pub ios_per_s_sd: Option<f64>,
    /// Millions of bytes per second over all groups.
    pub mb_per_s: f64,
    /// Throughput in bytes as a fraction of that of `noop` on the same device and row.
    pub of_noop: Option<f64>,
    /// Work of the disk for all groups, as a fraction of its capacity: 1 for a disk that was always
    /// fully loaded.
    pub work: f64,
    /// What the floors of all groups take at what requests cost here, as a part of what the disk
    /// did, or can do if that is more: above 1, they cannot be kept together.
    pub floors: f64,
    /// What the groups with tasks asked for and got, without the root group.
    pub groups: Vec<CellGroup>,
    /// Groups without tasks of their own, with what the groups nested in them asked for and got
    /// together.
    pub outer: Vec<CellGroup>,
}

/// The results of one group in a cell.
#[derive(Clone, Debug)]
pub struct CellGroup {
    /// Index of the group in the load.
    pub at: usize,
    /// Its parts of the groups' total work; `None` if there was none, of which nobody has a part.
    pub parts: Option<Parts>,
    /// Whether its floor, ceiling and latency target were kept.
    pub promises: Promises,
    /// The other results of the group.
    pub outcome: GroupOutcome,
}

impl Cell {
    /// The group with this index in the load, if it or a group nested in it has tasks.
    #[must_use]
    pub fn group(&self, at: usize) -> Option<&CellGroup> {
        self.groups.iter().chain(&self.outer).find(|group| group.at == at)
    }

    /// The groups with tasks, and those without that were promised something.
    pub fn reported(&self) -> impl Iterator<Item = &CellGroup> {
        let outer = self.outer.iter().filter(|group| !group.promises.are_none());
        self.groups.iter().chain(outer)
    }

    /// The name of the arm, with its scheduler if that has another name.
    #[must_use]
    pub fn name(&self) -> String {
        match self.arm == self.scheduler {
            true => self.arm.clone(),
            false => format!("{} ({})", self.arm, self.scheduler),
        }
    }

    /// The name, and what its figures lack.
    #[must_use]
    pub fn label(&self) -> String {
        match self.lack() {
            Some(lack) => format!("{}, {lack}", self.name()),
            None => self.name(),
        }
    }

    /// What the figures lack, in words; `None` if nothing.
    pub(crate) fn lack(&self) -> Option<String> {
        match (self.partial, self.given_up) {
            (true, _) if self.seeds < self.seeds_asked => {
                Some(format!("partial: {} of {} runs", self.seeds, self.seeds_asked))
            }
            (true, _) => Some("partial".to_owned()),
            (false, true) => Some("given up".to_owned()),
            (false, false) => None,
        }
    }

    /// The mean and the largest difference between what groups got and asked for, in percentage
    /// points; `None` if nothing was done for them.
    #[must_use]
    pub fn error_points(&self) -> Option<(f64, f64)> {
        let parts = self.groups.iter().filter_map(|group| group.parts);
        let errors: Vec<f64> = parts.map(|parts| parts.error_points().abs()).collect();
        let most = errors.iter().copied().reduce(f64::max)?;
        Some((errors.iter().sum::<f64>() / errors.len() as f64, most))
    }

    /// The results of `ensemble`, which ran the row called `row` of `plan`.
    pub(super) fn new(
        plan: &Plan,
        ensemble: &Ensemble,
        row: RowOutcome,
        demands: &Demands,
    ) -> Self {
        let load = &plan.rows[ensemble.row].load;
        let loaded = load.build(&plan.rig.host, false, &mut Prng::new(0));
        let division = Division::new(&loaded, ensemble, demands);
        let (groups, outer) = (division.groups(&row), division.outer(&row));
        let per_second = |amount: f64| part(amount, row.duration_s);
        let floors = division.floors / work(&division.rates).max(1.0);
        Self {
            device: plan.rig.device_id.clone(),
            arm: row.arm,
            scheduler: row.scheduler,
            row: row.row,
            seeds: row.seeds,
            seeds_asked: plan.seeds as usize,
            duration_s: row.duration_s,
            partial: row.partial,
            given_up: ensemble.end() == RunEnd::GivenUp,
            done_early: ensemble.runs.iter().any(|run| run.done_early),
            ios_per_s: per_second(row.total_ios.mean),
            ios_per_s_sd: (row.seeds > 1).then(|| per_second(row.total_ios.sd)),
            mb_per_s: per_second(row.total_bytes) / 1e6,
            of_noop: None,
            work: row.work,
            floors,
            groups,
            outer,
        }
    }
}

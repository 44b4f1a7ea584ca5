//! What a source prints for a row, beside the groups of the row.

use super::experiment_load::labels;
use crate::catalog::experiment::{Experiment, Published};

/// What the source prints for one row under one arm, and what the row's groups are to each other.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The figures.
    pub published: Published,
    /// Each group with those in it, however deep, by their places.
    members: Vec<Vec<usize>>,
    /// Which groups lie in no other.
    outermost: Vec<bool>,
    /// Which groups have tasks of their own.
    have_tasks: Vec<bool>,
}

impl Figures {
    /// Of a row of the experiment.
    pub(super) fn new(experiment: &Experiment, published: Published) -> Self {
        let row = experiment.rows.iter().find(|row| row.label == published.row);
        let groups = row.map_or(&[][..], |row| experiment.groups_of(row));
        let tasks = row.map_or(&[][..], |row| &row.tasks);
        let (numbers, labels) = labels(groups);
        Self {
            published,
            members: numbers.members(&labels),
            outermost: groups.iter().map(|group| group.parent.is_none()).collect(),
            have_tasks: groups
                .iter()
                .map(|group| tasks.iter().any(|tasks| tasks.group == group.name))
                .collect(),
        }
    }

    /// The I/Os of all groups: as printed, or what those of the groups come to.
    #[must_use]
    pub fn total(&self) -> Option<f64> {
        let Published { total, ios, .. } = &self.published;
        total.or_else(|| ios.as_ref().map(|ios| self.sum(ios)))
    }

    /// The part of the group at `at`, and of those in it, in all I/Os.
    #[must_use]
    pub fn share(&self, at: usize) -> Option<f64> {
        let parts = self.published.ios.as_ref().or(self.published.percent.as_ref())?;
        Some(parts.get(at)? / self.sum(parts))
    }

    /// The group at `at` with those in it, however deep, by their places.
    #[must_use]
    pub fn members(&self, at: usize) -> &[usize] {
        &self.members[at]
    }

    /// Whether the share of the group at `at` could be another one: some tasks are in it or in
    /// those in it, and some are not.
    #[must_use]
    pub fn is_contested(&self, at: usize) -> bool {
        let within = |group: usize| self.members[at].contains(&group);
        let busy = || (0..self.have_tasks.len()).filter(|group| self.have_tasks[*group]);
        busy().any(within) && !busy().all(within)
    }

    /// What the figures of all groups come to. That of a group includes those of the groups in it.
    fn sum(&self, figures: &[f64]) -> f64 {
        let outermost = figures.iter().zip(&self.outermost).filter(|(_, is)| **is);
        outermost.map(|(figure, _)| figure).sum()
    }
}

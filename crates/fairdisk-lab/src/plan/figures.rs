//! What a source prints for a row, beside the groups of the row.

use super::experiment_load::labels;
use crate::catalog::experiment::{Experiment, Published, PublishedChange, Quantity, Row, Subject};

/// Of whom a figure is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Of everybody together.
    All,
    /// Of a group and those in it.
    Group {
        /// Its name.
        name: String,
        /// Their places among the groups of the row.
        members: Vec<usize>,
    },
    /// Of named tasks.
    Task {
        /// Their name.
        name: String,
        /// Their place among those of the row.
        at: usize,
    },
}

impl Whom {
    /// How it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::All => "all",
            Self::Group { name, .. } | Self::Task { name, .. } => name,
        }
    }

    /// Of which kind it is.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Group { .. } => "group",
            Self::Task { .. } => "task",
        }
    }

    /// How it is called where groups stand, too, which may have the same name.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::All | Self::Group { .. } => self.name().to_owned(),
            Self::Task { name, .. } => format!("task {name}"),
        }
    }

    /// The group, named tasks or everybody of the row, by place.
    fn of(experiment: &Experiment, row: &Row, subject: Subject, at: usize) -> Self {
        match subject {
            Subject::All => Self::All,
            Subject::Groups => {
                let groups = experiment.groups_of(row);
                let (numbers, labels) = labels(groups);
                let members = numbers.members(&labels).swap_remove(at);
                Self::Group { name: groups[at].name.clone(), members }
            }
            Subject::Tasks => {
                let name = row.task_names().nth(at).unwrap_or_default();
                Self::Task { name: name.to_owned(), at }
            }
        }
    }
}

/// A figure that has no column of its own in results.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Of whom.
    pub whom: Whom,
    /// Of what.
    pub quantity: Quantity,
    /// What the source prints.
    pub published: f64,
}

/// What the source prints about one arm beside another, and of whom.
#[derive(Clone, Debug)]
pub struct ChangeFigure {
    /// What it prints.
    pub published: PublishedChange,
    /// Of whom.
    pub whom: Whom,
    /// The schedulers of both arms, where these are taken as they are.
    pub schedulers: Option<[String; 2]>,
}

impl ChangeFigure {
    pub(super) fn new(experiment: &Experiment, published: PublishedChange) -> Option<Self> {
        let row = experiment.rows.iter().find(|row| row.label == published.row)?;
        let (subject, at) = match (&published.group, &published.task) {
            (Some(group), _) => {
                let mut groups = experiment.groups_of(row).iter();
                (Subject::Groups, groups.position(|found| found.name == *group)?)
            }
            (None, Some(task)) => {
                (Subject::Tasks, row.task_names().position(|found| found == task)?)
            }
            (None, None) => (Subject::All, 0),
        };
        let whom = Whom::of(experiment, row, subject, at);
        let plain = |name: &str| {
            let arm = experiment.arms.iter().find(|arm| arm.name == name && arm.set.is_empty())?;
            Some(arm.scheduler.clone())
        };
        let schedulers = plain(&published.from).zip(plain(&published.to)).map(<[String; 2]>::from);
        Some(Self { published, whom, schedulers })
    }
}

/// What the source prints for one row under one arm, and what the row's groups are to each other.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The figures.
    pub published: Published,
    /// Those of them that have no column of their own.
    pub others: Vec<Figure>,
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
        let others = row.map_or_else(Vec::new, |row| others(experiment, row, &published));
        Self {
            published,
            others,
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

/// The figures that have no column of their own, without those that are not printed.
fn others(experiment: &Experiment, row: &Row, published: &Published) -> Vec<Figure> {
    let column = |(subject, quantity, figures): (Subject, Quantity, Vec<f64>)| {
        let figure = |(at, published): (usize, f64)| Figure {
            whom: Whom::of(experiment, row, subject, at),
            quantity,
            published,
        };
        let printed = figures.into_iter().enumerate().filter(|(_, figure)| !figure.is_nan());
        printed.map(figure).collect::<Vec<_>>()
    };
    published.columns().flat_map(column).collect()
}

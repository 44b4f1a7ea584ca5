//! Published figures of a row, related to the groups of the row.

use super::experiment_load::labels;
use crate::catalog::experiment::{
    Estimate, Experiment, Published, PublishedChange, Quantity, Row, Subject,
};

/// The subject of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Everything together.
    All,
    /// A group, with the groups nested in it.
    Group {
        /// The name of the group.
        name: String,
        /// Indices of the group and its nested groups in the row.
        members: Vec<usize>,
    },
    /// Tasks with a name.
    Task {
        /// The name of the tasks.
        name: String,
        /// Index among the named tasks of the row.
        at: usize,
    },
}

impl Whom {
    /// The name of the subject.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::All => "all",
            Self::Group { name, .. } | Self::Task { name, .. } => name,
        }
    }

    /// The kind of subject.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Group { .. } => "group",
            Self::Task { .. } => "task",
        }
    }

    /// The name of the subject, unambiguous where a group may have the same name as a task.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::All | Self::Group { .. } => self.name().to_owned(),
            Self::Task { name, .. } => format!("task {name}"),
        }
    }

    /// The subject with index `at` in the row.
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

/// A figure without a column of its own in results.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The subject.
    pub whom: Whom,
    /// The quantity.
    pub quantity: Quantity,
    /// The published figure.
    pub published: f64,
}

/// A published change between two arms, and its subject.
#[derive(Clone, Debug)]
pub struct ChangeFigure {
    /// The published change.
    pub published: PublishedChange,
    /// The subject, in each row that the change is about.
    pub whom: Vec<Whom>,
    /// The schedulers of both arms; `None` if they are not used unchanged.
    pub schedulers: Option<[String; 2]>,
}

impl ChangeFigure {
    pub(super) fn new(experiment: &Experiment, published: PublishedChange) -> Option<Self> {
        let in_row = |label: &String| {
            let row = experiment.rows.iter().find(|row| row.label == *label)?;
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
            Some(Whom::of(experiment, row, subject, at))
        };
        let whom = published.labels().iter().map(in_row).collect::<Option<Vec<Whom>>>()?;
        let plain = |name: &str| {
            let arm = experiment.arms.iter().find(|arm| arm.name == name && arm.set.is_empty())?;
            Some(arm.scheduler.clone())
        };
        let schedulers = plain(&published.from).zip(plain(&published.to)).map(<[String; 2]>::from);
        Some(Self { published, whom, schedulers })
    }
}

/// The figures that the source gives for one row under one arm, what its authors expected, and how
/// the row's groups are nested.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The figures; none of them is set if only an estimate is known.
    pub published: Published,
    /// The shares that were expected.
    pub estimate: Option<Estimate>,
    /// The figures without a column of their own.
    pub others: Vec<Figure>,
    /// For each group, the indices of the group and of all groups nested in it.
    members: Vec<Vec<usize>>,
    /// For each group, whether it is a top-level group.
    outermost: Vec<bool>,
    /// For each group, whether it has tasks of its own.
    have_tasks: Vec<bool>,
}

impl Figures {
    /// The figures of all rows under all arms for which something is published or estimated.
    pub(super) fn all(experiment: &Experiment, published: Vec<Published>) -> Vec<Self> {
        let mut all = published;
        for row in &experiment.rows {
            for Estimate { arm, .. } in
                experiment.estimates.iter().filter(|one| one.is_about(&one.arm, &row.label))
            {
                if !all.iter().any(|one| one.arm == *arm && one.row == row.label) {
                    let (arm, row) = (arm.clone(), row.label.clone());
                    all.push(Published { arm, row, ..Published::default() });
                }
            }
        }
        all.into_iter().map(|published| Self::new(experiment, published)).collect()
    }

    /// The published figures of a row of the experiment.
    fn new(experiment: &Experiment, published: Published) -> Self {
        let row = experiment.rows.iter().find(|row| row.label == published.row);
        let groups = row.map_or(&[][..], |row| experiment.groups_of(row));
        let tasks = row.map_or(&[][..], |row| &row.tasks);
        let (numbers, labels) = labels(groups);
        let others = row.map_or_else(Vec::new, |row| others(experiment, row, &published));
        let mut estimates = experiment.estimates.iter();
        let estimate = estimates.find(|one| one.is_about(&published.arm, &published.row)).cloned();
        Self {
            published,
            estimate,
            others,
            members: numbers.members(&labels),
            outermost: groups.iter().map(|group| group.parent.is_none()).collect(),
            have_tasks: groups
                .iter()
                .map(|group| tasks.iter().any(|tasks| tasks.group == group.name))
                .collect(),
        }
    }

    /// The total I/Os: as published, or the sum over the groups.
    #[must_use]
    pub fn total(&self) -> Option<f64> {
        let Published { total, ios, .. } = &self.published;
        total.or_else(|| ios.as_ref().map(|ios| self.sum(ios)))
    }

    /// The share of all I/Os of the group with index `at`, including nested groups.
    #[must_use]
    pub fn share(&self, at: usize) -> Option<f64> {
        let parts = self.published.ios.as_ref().or(self.published.percent.as_ref())?;
        Some(parts.get(at)? / self.sum(parts))
    }

    /// The share of all I/Os that was expected for the group with index `at`, including nested
    /// groups.
    #[must_use]
    pub fn expected(&self, at: usize) -> Option<f64> {
        Some(self.estimate.as_ref()?.percent.get(at)? / 100.0)
    }

    /// The indices of the group with index `at` and of all groups nested in it.
    #[must_use]
    pub fn members(&self, at: usize) -> &[usize] {
        &self.members[at]
    }

    /// Whether the share of the group with index `at` could be different: some tasks are in it or
    /// in nested groups, and some are not.
    #[must_use]
    pub fn is_contested(&self, at: usize) -> bool {
        let within = |group: usize| self.members[at].contains(&group);
        let busy = || (0..self.have_tasks.len()).filter(|group| self.have_tasks[*group]);
        busy().any(within) && !busy().all(within)
    }

    /// The sum of the figures of all groups. The figure of a group includes those of nested groups.
    fn sum(&self, figures: &[f64]) -> f64 {
        let outermost = figures.iter().zip(&self.outermost).filter(|(_, is)| **is);
        outermost.map(|(figure, _)| figure).sum()
    }
}

/// The published figures without a column of their own, except those that are not given.
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

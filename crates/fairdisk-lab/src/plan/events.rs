//! The events of a row with every name resolved.

use super::{Plan, PlannedArm, PlannedRow};
use crate::catalog::error::CatalogError;
use crate::catalog::experiment::{Deed, Event, Experiment, Row};
use crate::catalog::revision::Revision;
use crate::seconds::from_seconds;
use fairdisk_core::Span;

/// What somebody does while a row runs.
#[derive(Clone, Debug)]
pub struct PlannedEvent {
    /// When, from the beginning of the run.
    pub at: Span,
    /// What is done.
    pub deed: Deed,
    /// Index of the group that it is about.
    pub group: Option<usize>,
    /// Index of the line of the report whose tasks are ended or moved.
    pub line: Option<usize>,
    /// The scheduler that takes over, unless it is the arm's own.
    pub scheduler: Option<Revision>,
}

impl PlannedEvent {
    /// The scheduler that takes over under an arm.
    #[must_use]
    pub fn revision<'a>(&'a self, arm: &'a PlannedArm) -> &'a Revision {
        self.scheduler.as_ref().unwrap_or(&arm.revision)
    }
}

impl PlannedRow {
    /// Indices of the groups that are not there when a run begins.
    pub(super) fn made_later(&self) -> impl Iterator<Item = usize> {
        let made = self.events.iter().filter(|event| matches!(event.deed, Deed::Make(_)));
        made.filter_map(|event| event.group)
    }
}

impl Plan {
    /// Plans the events of a row.
    ///
    /// # Errors
    /// A scheduler's file is wrong.
    pub(super) fn events(
        experiment: &Experiment,
        row: &Row,
    ) -> Result<Vec<PlannedEvent>, CatalogError> {
        let groups = experiment.groups_of(row);
        let group_at = |name: &String| groups.iter().position(|group| group.name == *name);
        let plan = |event: &Event| {
            let deed = event.deed().map_err(CatalogError::unstated)?;
            let (mut group, mut line, mut scheduler) = (None, None, None);
            match &deed {
                Deed::Switch(name) => scheduler = Some(Revision::load(name)?),
                Deed::Make(name)
                | Deed::Remove(name)
                | Deed::Priority(name, _)
                | Deed::Weight(name, _) => group = group_at(name),
                Deed::End(name) => line = row.task_names().position(|found| found == name),
                Deed::Move(name, to) => {
                    line = row.task_names().position(|found| found == name);
                    group = group_at(to);
                }
                Deed::Back | Deed::DiskFails => {}
            }
            Ok(PlannedEvent { at: from_seconds(event.at_s), deed, group, line, scheduler })
        };
        row.events.iter().map(plan).collect()
    }
}

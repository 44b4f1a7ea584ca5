//! Tasks that move to another group while they run. Each stay in a group has a report of its own,
//! so that every group has what its tasks did while they were in it.

use super::{Machine, TaskReport};
use fairdisk_core::{Elevator, GroupId, Instant};

/// A task's stay in a group, of a task that has moved.
#[derive(Debug)]
pub(super) struct Stay {
    task: u32,
    group: GroupId,
    report: TaskReport,
}

impl<E: Elevator> Machine<E> {
    /// Moves a task to another group. What it asks for from now on is of that group; requests that
    /// are queued stay in the one before. An I/O counts for the group in which its task is when it
    /// completes. A task that is done moves nowhere.
    pub fn move_task(&mut self, now: Instant, index: u32, group: GroupId) {
        let task = &mut self.tasks[index as usize];
        if task.report.finished.is_some() {
            return;
        }
        let before = std::mem::replace(&mut task.group, group);
        let mut last = self.stays.iter_mut().rev().find(|stay| stay.task == index);
        if task.report.started.is_none() {
            // A task that has not begun was in no group before.
            last.into_iter().for_each(|stay| stay.group = group);
            return;
        }
        if last.is_none() {
            let report = task.report.clone();
            self.stays.push(Stay { task: index, group: before, report });
            last = self.stays.last_mut();
        }
        let Some(Stay { report, .. }) = last else { return };
        let counted_from = report.counted_from.max(now);
        report.finish(now, false);
        let report = TaskReport { started: Some(now), counted_from, ..TaskReport::default() };
        self.stays.push(Stay { task: index, group, report });
    }

    /// Counts something in the report of a task, and in that of its stay if it has moved.
    #[inline(always)]
    pub(super) fn tell(&mut self, index: u32, count: impl Fn(&mut TaskReport)) {
        count(&mut self.tasks[index as usize].report);
        if !self.stays.is_empty() {
            let last = self.stays.iter_mut().rev().find(|stay| stay.task == index);
            last.into_iter().for_each(|stay| count(&mut stay.report));
        }
    }

    /// The reports of the tasks of each group: one for each task, or for each stay of one that has
    /// moved.
    pub fn reports_by_group(&self) -> impl Iterator<Item = (GroupId, &TaskReport)> {
        let has_moved = |index: usize| self.stays.iter().any(|stay| stay.task as usize == index);
        let tasks = self.tasks.iter().enumerate().filter(move |(index, _)| !has_moved(*index));
        let tasks = tasks.map(|(_, task)| (task.group, &task.report));
        tasks.chain(self.stays.iter().map(|stay| (stay.group, &stay.report)))
    }

    /// Starts the reports of stays again.
    pub(super) fn restart_stays(&mut self, now: Instant) {
        self.stays.iter_mut().for_each(|stay| stay.report.restart(now));
    }
}

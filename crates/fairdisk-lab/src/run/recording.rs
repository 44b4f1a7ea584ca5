//! Runs whose requests are kept, as a recording has them.

use crate::plan::{GroupNumbers, Obstacle, Plan, PlannedArm, PlannedRow};
use fairdisk_core::{GroupId, Instant, IoPrio, Span, TaskId};
use fairdisk_sim::World;
use fairdisk_trace::journal::{FromJournal, Name};
use fairdisk_trace::{OriginId, Origins, Request};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a run did, request by request.
#[derive(Debug, Default)]
pub struct RunRecording {
    /// The requests, in the order in which they were asked for.
    pub requests: Vec<Request>,
    /// Who asked for them.
    pub origins: Origins,
}

/// How often events are fetched from the journal, so that it stays short.
const FETCH_EACH: Span = Span::from_ms(100);

/// Runs one arm, row and seed on the first disk, and keeps its requests.
///
/// # Errors
/// Returns an error if the load does not fit the disk, or the scheduler refuses a group's floor.
pub fn record_once(
    plan: &Plan,
    (arm, row): (&PlannedArm, &PlannedRow),
    seed: u32,
    stop: &AtomicBool,
) -> Result<RunRecording, Obstacle> {
    let mut keeping = plan.clone();
    keeping.keep_journal = true;
    let setup = keeping.setup(arm, row, seed)?;
    let groups = setup.groups.iter().map(|label| label.name.clone()).collect();
    let numbers = GroupNumbers { root: setup.root };
    let mut names = Names { groups, numbers, origins: Origins::default() };
    let mut world = World::new(setup.machine, setup.jbod);
    let end = Instant::ZERO + row.duration.unwrap_or(super::RUN_MAX);
    let (mut journal, mut requests, mut next) = (FromJournal::default(), Vec::new(), Instant::ZERO);
    while next < end && !world.machine().is_done() && !stop.load(Ordering::Relaxed) {
        next = (next + FETCH_EACH).min(end);
        world.run_until_done(next);
        for entry in world.machine_mut().drain_journal(0) {
            journal.take(&entry, &mut names, |request| requests.push(request));
        }
    }
    journal.finish(|request| requests.push(request));
    requests.sort_by_key(|request| request.queued);
    Ok(RunRecording { requests, origins: names.origins })
}

/// The names of a load's groups; its tasks are numbered.
struct Names {
    groups: Vec<String>,
    numbers: GroupNumbers,
    origins: Origins,
}

impl Name for Names {
    fn origin(&mut self, task: TaskId, group: GroupId, ioprio: IoPrio) -> OriginId {
        let group = self.numbers.place(group).map_or("/", |at| &self.groups[at]);
        self.origins.number("", group, &format!("task-{}", task.0), ioprio)
    }

    fn ended(&mut self, _task: TaskId) {}

    fn gone(&mut self, _group: GroupId) {}
}

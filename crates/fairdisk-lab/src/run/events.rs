//! Events of a row, carried out while it runs.

use crate::catalog::experiment::Deed;
use crate::plan::{GroupNumbers, PlannedArm, PlannedEvent};
use fairdisk_core::{AttachError, Change, Share, Span, Weight};
use fairdisk_sched::Scheduler;
use fairdisk_sim::World;
use std::ops::Range;

/// What came of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRun {
    /// When it was, from the beginning of the run.
    pub at: Span,
    /// What was done, in words.
    pub words: String,
    /// Why it could not be done, if it could not.
    pub refused: Option<String>,
}

/// What events of a run are about.
pub(super) struct Stage<'a> {
    pub(super) arm: &'a PlannedArm,
    pub(super) names: Vec<String>,
    pub(super) named: &'a [Range<usize>],
    pub(super) numbers: GroupNumbers,
    /// For each disk, when its ticks are.
    pub(super) tick_phases: &'a [Span],
}

impl Stage<'_> {
    /// Carries out an event.
    pub(super) fn play(&self, world: &mut World<Scheduler>, event: &PlannedEvent) -> EventRun {
        let refused = match &event.deed {
            Deed::Switch(_) | Deed::Back => self.switch(world, event),
            Deed::Make(_) => self.change(world, event, |_| None),
            Deed::Remove(_) => {
                self.change(world, event, |group| Some(Change::GroupRemoved { group }))
            }
            Deed::Priority(_, priority) => {
                let share = Share::Priority(*priority);
                self.change(world, event, |group| Some(Change::GroupShare { group, share }))
            }
            Deed::Weight(_, weight) => {
                let share = Weight::new(*weight).map_or(Share::DEFAULT, Share::Weight);
                self.change(world, event, |group| Some(Change::GroupShare { group, share }))
            }
            Deed::End(_) => {
                let tasks = event.line.and_then(|line| self.named.get(line)).cloned();
                for task in tasks.unwrap_or_default() {
                    world.machine_mut().end_task(task as u32);
                }
                None
            }
            Deed::Move(..) => {
                let tasks = event.line.and_then(|line| self.named.get(line)).cloned();
                let to = event.group.map(|group| self.numbers.id(group));
                let now = world.now();
                for (task, to) in tasks.unwrap_or_default().zip(to.into_iter().cycle()) {
                    world.machine_mut().move_task(now, task as u32, to);
                }
                None
            }
            Deed::DiskFails => {
                world.fail();
                None
            }
        };
        EventRun { at: event.at, words: event.deed.words(), refused }
    }

    /// Makes the event's group, or changes it.
    fn change(
        &self,
        world: &mut World<Scheduler>,
        event: &PlannedEvent,
        what: impl Fn(fairdisk_core::GroupId) -> Option<Change>,
    ) -> Option<String> {
        let group = self.numbers.id(event.group?);
        let now = world.now();
        let machine = world.machine_mut();
        match what(group) {
            Some(change) => machine.change_everywhere(now, change).map(|why| why.to_string()),
            None => {
                machine.make_group(now, group);
                None
            }
        }
    }

    fn switch(&self, world: &mut World<Scheduler>, event: &PlannedEvent) -> Option<String> {
        let now = world.now();
        let mut refused = None;
        for (disk, phase) in (0..).zip(self.tick_phases) {
            let spec = event.revision(self.arm).on_host(self.arm.rig.host.hz, *phase);
            let switched = world.machine_mut().switch(now, disk, spec.build());
            refused = refused.or_else(|| switched.err().map(|why| self.words(&why)));
        }
        refused
    }

    fn words(&self, why: &AttachError) -> String {
        let AttachError::StaleRecord { group } = why;
        let name = self.numbers.place(*group).and_then(|at| self.names.get(at));
        let name = name.map_or_else(|| group.0.to_string(), Clone::clone);
        format!(
            "group {name} still holds a record of a scheduler that is gone (defect D1, where the \
             kernel of 2008 crashed); the scheduler before goes on"
        )
    }
}

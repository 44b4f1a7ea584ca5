//! The end of a task: it waits for its I/O, flushes, and is finished. What it still does then takes
//! no part in its report.

use super::Machine;
use super::task::{Step, Task};
use crate::workload::{Awaited, Durable, Ends, TaskSpec};
use fairdisk_core::{Elevator, Instant};

/// What is left to do at the end of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    has_begun: bool,
    /// Flushes that are part of its time.
    flushes: u32,
    /// Whether it does the rest of its work if it is stopped before it is done.
    completes: bool,
    /// Whether it does that now.
    goes_on: bool,
    /// Flushes after its time.
    late_flushes: u32,
    /// Whether somebody has ended the task.
    is_ended: bool,
}

impl Ending {
    pub(super) const fn new(spec: &TaskSpec) -> Self {
        let TaskSpec { end_flushes, completes, late_flushes, .. } = *spec;
        Self {
            has_begun: false,
            flushes: end_flushes,
            completes,
            goes_on: false,
            late_flushes,
            is_ended: false,
        }
    }
}

/// Takes one of a number. Returns whether there was one.
const fn take(left: &mut u32) -> bool {
    let any = *left > 0;
    *left -= any as u32;
    any
}

impl Task {
    /// Ends the task from outside.
    pub(super) const fn end(&mut self) {
        self.ending.is_ended = true;
    }

    /// Whether the task does nothing until a point in time or until other tasks end.
    pub(super) fn is_asleep(&self) -> bool {
        matches!(self.step, Step::Begin | Step::Waiting(_) | Step::Exited)
            && self.outstanding == 0
            && self.dirty_bytes == 0
    }
}

impl<E: Elevator> Machine<E> {
    /// Whether the task must stop where it is, because the run ends or others have ended the task.
    #[inline]
    pub(super) fn must_stop(&self, index: u32) -> bool {
        self.stopping || self.is_ended(index)
    }

    /// Whether somebody ends the task, or another of its set has done its work.
    #[inline]
    pub(super) fn is_ended(&self, index: u32) -> bool {
        self.tasks[index as usize].ending.is_ended
            || self.phases.any_is_over()
                && self.phases.is_over(&self.config.tasks[index as usize])
                && !self.tasks[index as usize].ending.goes_on
    }

    /// Ends the task once it waits for nothing. Data it wrote to the page cache need not have
    /// reached the disk, unless the task flushes at the end.
    pub(super) fn drain(&mut self, now: Instant, index: u32) -> bool {
        let stopping = self.stopping;
        let is_cut_off = self.must_stop(index);
        let task = self.task(index);
        task.step = Step::Draining;
        task.think = None;
        if !std::mem::replace(&mut task.ending.has_begun, true) {
            self.tell(index, |report| {
                report.cut_off = is_cut_off;
                report.satisfied = Some(now);
            });
        }
        let task = self.task(index);
        if task.outstanding > 0 {
            return false;
        }
        self.end_others(now, index);
        let task = self.task(index);
        if !stopping && take(&mut task.ending.flushes) {
            return self.sync(now, index, Durable::All);
        }
        self.tell(index, |report| report.finish(now, stopping));
        let task = self.task(index);
        if !stopping && task.report.cut_off && std::mem::take(&mut task.ending.completes) {
            task.ending.goes_on = true;
            task.step = Step::Fetch;
            return true;
        }
        if !stopping && take(&mut task.ending.late_flushes) {
            return self.sync(now, index, Durable::All);
        }
        self.exit(now, index);
        false
    }

    /// Ends what a task ends that has done its work.
    fn end_others(&mut self, now: Instant, index: u32) {
        let spec = &self.config.tasks[index as usize];
        if spec.ends_with.is_none() {
            return;
        }
        let started = |task: &&mut Task| task.report.started.is_some();
        match spec.ends {
            Ends::Set => self.phases.done(spec),
            Ends::Running => self.tasks.iter_mut().filter(started).for_each(Task::end),
            Ends::All => self.tasks.iter_mut().for_each(Task::end),
        }
        self.rouse_ended(now);
    }

    /// Lets a task exit that was ended before it began.
    pub(super) fn never_begin(&mut self, now: Instant, index: u32) -> bool {
        self.tell(index, |report| {
            report.satisfied = Some(now);
            report.finish(now, true);
        });
        self.exit(now, index);
        false
    }

    fn exit(&mut self, now: Instant, index: u32) {
        self.leave_flow(index);
        self.task(index).step = Step::Exited;
        self.unmap_files(index);
        if self.reclaiming.is_some() {
            self.give_frames_back(now, index);
        }
        self.forget(now, index);
        self.stopping |= self.count_end(self.config.tasks[index as usize].awaited);
        if self.phases.ended(&self.config.tasks[index as usize]) {
            self.start_ready(now);
        }
    }

    /// Counts the end of a task awaited like this. Returns whether the remaining tasks must stop.
    fn count_end(&mut self, awaited: Awaited) -> bool {
        self.awaited -= usize::from(awaited != Awaited::No);
        match awaited {
            Awaited::Alone => true,
            Awaited::WithOthers => {
                self.awaited == 0 && self.config.tasks.iter().any(|it| it.awaited == Awaited::No)
            }
            Awaited::No => false,
        }
    }
}

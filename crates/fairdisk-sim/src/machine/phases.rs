//! Start order of tasks: the tasks of a phase start when all tasks of earlier phases have ended,
//! and a task may wait for the tasks of a job. The first of a set that has done its work ends
//! the set.

use crate::workload::TaskSpec;
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct Phases {
    /// For each phase, the tasks that have not ended.
    left: Vec<u32>,
    /// For each job, the tasks that have not ended.
    left_of_job: Vec<u32>,
    /// The sets of tasks of which one has done its work.
    over: BTreeSet<u32>,
    now: u32,
    /// Indices of the tasks that have not started.
    waiting: Vec<u32>,
}

impl Phases {
    pub(super) fn new(tasks: &[TaskSpec]) -> Self {
        let left = count(tasks, |task| task.phase);
        let left_of_job = count(tasks, |task| task.job);
        let waiting = (0..tasks.len() as u32).collect();
        let mut phases = Self { left, left_of_job, over: BTreeSet::new(), now: 0, waiting };
        phases.skip_ended();
        phases
    }

    /// Removes and returns the indices of the tasks that may start now.
    pub(super) fn start(&mut self, tasks: &[TaskSpec]) -> Vec<u32> {
        let waiting = std::mem::take(&mut self.waiting);
        let (ready, waiting) =
            waiting.into_iter().partition(|index| self.is_ready(&tasks[*index as usize]));
        self.waiting = waiting;
        ready
    }

    /// Whether the task waits for others before it begins.
    pub(super) fn is_waiting(&self, index: u32) -> bool {
        self.waiting.contains(&index)
    }

    fn is_ready(&self, task: &TaskSpec) -> bool {
        let left = |job: u32| self.left_of_job.get(job as usize).copied().unwrap_or(0);
        task.phase == self.now && task.wait_for.is_none_or(|job| left(job) == 0)
    }

    /// Whether one of any set has done its work.
    #[inline]
    pub(super) fn any_is_over(&self) -> bool {
        !self.over.is_empty()
    }

    /// Whether the task must stop because another of its set has done its work.
    pub(super) fn is_over(&self, task: &TaskSpec) -> bool {
        task.ends_with.is_some_and(|set| self.over.contains(&set))
    }

    /// Stops the other tasks of its set, as it has done its work.
    pub(super) fn done(&mut self, task: &TaskSpec) {
        self.over.extend(task.ends_with);
    }

    /// Counts a task that has ended. Returns whether others may now be ready to start.
    pub(super) fn ended(&mut self, task: &TaskSpec) -> bool {
        let of_job = &mut self.left_of_job[task.job as usize];
        *of_job -= 1;
        let job_ended = *of_job == 0;
        self.left[task.phase as usize] -= 1;
        let before = self.now;
        self.skip_ended();
        job_ended || self.now != before
    }

    fn skip_ended(&mut self) {
        while self.left[self.now as usize] == 0 && self.now as usize + 1 < self.left.len() {
            self.now += 1;
        }
    }
}

fn count(tasks: &[TaskSpec], of: impl Fn(&TaskSpec) -> u32) -> Vec<u32> {
    let mut counts = vec![0; tasks.iter().map(|task| of(task) as usize + 1).max().unwrap_or(1)];
    tasks.iter().for_each(|task| counts[of(task) as usize] += 1);
    counts
}

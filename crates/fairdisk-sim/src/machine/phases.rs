//! Phases of a workload: the tasks of one start when all of the phases before have ended.

use crate::workload::TaskSpec;

#[derive(Debug)]
pub(super) struct Phases {
    /// Tasks of each phase that have not ended.
    left: Vec<u32>,
    now: u32,
}

impl Phases {
    pub(super) fn new(tasks: &[TaskSpec]) -> Self {
        let mut left = vec![0; tasks.iter().map(|task| task.phase as usize + 1).max().unwrap_or(1)];
        tasks.iter().for_each(|task| left[task.phase as usize] += 1);
        let mut phases = Self { left, now: 0 };
        phases.skip_ended();
        phases
    }

    /// The phase whose tasks may run.
    pub(super) const fn now(&self) -> u32 {
        self.now
    }

    /// A task of `phase` has ended; the phase that begins with that, if one does.
    pub(super) fn ended(&mut self, phase: u32) -> Option<u32> {
        self.left[phase as usize] -= 1;
        let before = self.now;
        self.skip_ended();
        (self.now != before).then_some(self.now)
    }

    fn skip_ended(&mut self) {
        while self.left[self.now as usize] == 0 && self.now as usize + 1 < self.left.len() {
            self.now += 1;
        }
    }
}

//! Submission: a task that sleeps for a request slot submits nothing more until it has got one.

use super::{Event, Machine};
use fairdisk_core::{Bio, Elevator, Input, Instant, Sleeper, TaskId};
use std::collections::VecDeque;

/// The bios that a task has yet to submit.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    /// The task's bios that wait for a slot: usually one, more if some were held behind an older
    /// bio first.
    pub(super) asleep: u32,
    waiting: VecDeque<Bio>,
}

impl Backlog {
    #[cold]
    fn keep(&mut self, bio: Bio) {
        self.waiting.push_back(bio);
    }
}

impl<E: Elevator> Machine<E> {
    #[inline]
    pub(super) fn submit(&mut self, now: Instant, disk: u32, bio: Bio) {
        let backlog = &mut self.disks[disk].backlogs[bio.task.0 as usize];
        if backlog.asleep > 0 {
            backlog.keep(bio);
        } else {
            self.feed(now, disk, Input::Submit(bio));
        }
    }

    /// Schedules a woken sleeper's next try for when it gets a CPU. Tasks of the host have no CPU
    /// of their own.
    pub(super) fn wake_sleeper(&mut self, now: Instant, disk: u32, sleeper: Sleeper, task: TaskId) {
        let burst = self.cpus.spec().slot_wake;
        let mut spare = 0;
        let program = self.disks[disk].programs.get(task.0 as usize);
        let own = program.map(|index| &mut self.tasks[*index as usize].cpu);
        let at = self.cpus.run(now, own.unwrap_or(&mut spare), burst);
        self.events.push(at, Event::Retry(disk, sleeper, task));
    }

    /// Lets a task try again for a slot; once it has one, it submits the rest of its bios.
    pub(super) fn retry(&mut self, now: Instant, disk: u32, sleeper: Sleeper, task: TaskId) {
        let number = task.0 as usize;
        self.disks[disk].backlogs[number].asleep -= 1;
        self.feed(now, disk, Input::Retry(sleeper));
        while let backlog = &mut self.disks[disk].backlogs[number]
            && backlog.asleep == 0
            && let Some(bio) = backlog.waiting.pop_front()
        {
            self.feed(now, disk, Input::Submit(bio));
        }
        if let Some(program) = self.disks[disk].programs.get(number).copied() {
            self.went_to_sleep(now, program);
            self.resume_with_slot(now, program);
        } else if task < self.disks[disk].flusher {
            // A journal task waits for its log write.
            self.unplug(now, disk);
        } else {
            self.write_out(now, disk);
        }
    }
}

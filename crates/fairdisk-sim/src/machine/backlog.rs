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
    pub(super) fn submit(&mut self, now: Instant, bio: Bio) {
        let backlog = &mut self.backlogs[bio.task.0 as usize];
        if backlog.asleep > 0 {
            backlog.keep(bio);
        } else {
            self.feed(now, Input::Submit(bio));
        }
    }

    /// Schedules a woken sleeper's next try for when it gets a CPU. Tasks of the host have no CPU
    /// of their own.
    pub(super) fn wake_sleeper(&mut self, now: Instant, sleeper: Sleeper, task: TaskId) {
        let burst = self.cpus.spec().slot_wake;
        let mut spare = 0;
        let own = self.tasks.get_mut(task.0 as usize);
        let at = self.cpus.run(now, own.map_or(&mut spare, |task| &mut task.cpu), burst);
        self.events.push(at, Event::Retry(sleeper, task));
    }

    /// Lets a task try again for a slot; once it has one, it submits the rest of its bios.
    pub(super) fn retry(&mut self, now: Instant, sleeper: Sleeper, task: TaskId) {
        let task = task.0 as usize;
        self.backlogs[task].asleep -= 1;
        self.feed(now, Input::Retry(sleeper));
        while self.backlogs[task].asleep == 0
            && let Some(bio) = self.backlogs[task].waiting.pop_front()
        {
            self.feed(now, Input::Submit(bio));
        }
        if task < self.tasks.len() {
            self.went_to_sleep(now, task as u32);
            self.resume_with_slot(now, task as u32);
        } else if (task as u32) < self.flusher().0 {
            // A journal task waits for its log write.
            self.unplug(now);
        } else {
            self.write_out(now);
        }
    }
}

//! Submission: a task that sleeps for a request slot submits nothing more until it has got one.

use super::{Event, Machine};
use fairdisk_core::{Bio, Elevator, Input, Instant, Request, Sleeper, TaskId};
use std::collections::VecDeque;

/// The bios that a task has yet to submit.
#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    /// The task's bios that wait for a slot: usually one, more if some were held behind an older
    /// bio first.
    pub(super) asleep: u32,
    waiting: VecDeque<Bio>,
}

impl Outbox {
    #[cold]
    fn keep(&mut self, bio: Bio) {
        self.waiting.push_back(bio);
    }
}

impl<E: Elevator> Machine<E> {
    #[inline]
    pub(super) fn submit(&mut self, now: Instant, bio: Bio, issue: &mut Vec<Request>) {
        let outbox = &mut self.outboxes[bio.task.0 as usize];
        if outbox.asleep > 0 {
            outbox.keep(bio);
        } else {
            self.feed(now, Input::Submit(bio), issue);
        }
    }

    /// Lets tasks that were woken for a slot compete for a CPU. Tasks whose I/O has completed come
    /// first, because a request completes before its slot is freed ("Linux Device Drivers", 3rd
    /// edition, chapter 16, "Request Completion").
    #[inline(never)]
    pub(super) fn wake_sleepers(&mut self, now: Instant) {
        for (sleeper, task) in self.woken.drain(..) {
            self.events.push(now, Event::Woken(sleeper, task));
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
    pub(super) fn retry(
        &mut self,
        now: Instant,
        sleeper: Sleeper,
        task: TaskId,
        issue: &mut Vec<Request>,
    ) {
        let task = task.0 as usize;
        self.outboxes[task].asleep -= 1;
        self.feed(now, Input::Retry(sleeper), issue);
        while self.outboxes[task].asleep == 0
            && let Some(bio) = self.outboxes[task].waiting.pop_front()
        {
            self.feed(now, Input::Submit(bio), issue);
        }
        if task < self.tasks.len() {
            self.went_to_sleep(now, task as u32, issue);
            self.resume_with_slot(now, task as u32, issue);
        } else if (task as u32) < self.flusher().0 {
            // A journal task waits for its log write.
            self.unplug(now, issue);
        } else {
            self.write_out(now, issue);
        }
    }
}

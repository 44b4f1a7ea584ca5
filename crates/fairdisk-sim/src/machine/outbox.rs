//! Submitting: a task that sleeps for a request slot submits nothing more until it has one.

use super::{Event, Machine};
use fairdisk_core::{Bio, Elevator, Input, Instant, Request, Sleeper, TaskId};
use std::collections::VecDeque;

/// What a task has still to submit.
#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    /// Its bios that wait for a slot: one, or more where one was held behind an older bio first.
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

    /// Those who slept for a slot and were woken want a CPU. So does whose I/O has finished, and it
    /// was woken before: a request is done before its slot is free ("Linux Device Drivers", 3rd
    /// edition, chapter 16, "Request Completion").
    #[inline(never)]
    pub(super) fn wake_sleepers(&mut self, now: Instant) {
        for (sleeper, task) in self.woken.drain(..) {
            self.events.push(now, Event::Woken(sleeper, task));
        }
    }

    /// A woken sleeper tries again when it has a CPU. Tasks of the host have none of their own.
    pub(super) fn wake_sleeper(&mut self, now: Instant, sleeper: Sleeper, task: TaskId) {
        let burst = self.cpus.spec().slot_wake;
        let mut spare = 0;
        let own = self.tasks.get_mut(task.0 as usize);
        let at = self.cpus.run(now, own.map_or(&mut spare, |task| &mut task.cpu), burst);
        self.events.push(at, Event::Retry(sleeper, task));
    }

    /// A task that slept for a slot tries again and, awake, goes on with the rest.
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
            self.has_slots(now, task as u32, issue);
        } else if (task as u32) < self.flusher().0 {
            // A journal task waits for its log.
            self.unplug(now, issue);
        } else {
            self.write_out(now, issue);
        }
    }
}

//! Submission: a task that sleeps for a request slot submits nothing more until it has got one.

use super::{Event, Machine};
use fairdisk_core::{Bio, Elevator, Input, Instant, Segments, Sleeper, TaskId};
use std::collections::VecDeque;

/// The bios that a task has yet to submit.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    /// The task's bios that wait for a slot: usually one, more if some were held behind an older
    /// bio first.
    pub(super) asleep: u32,
    waiting: VecDeque<(Bio, Option<Segments>)>,
}

impl Backlog {
    #[cold]
    fn keep(&mut self, bio: Bio, segments: Option<Segments>) {
        self.waiting.push_back((bio, segments));
    }
}

#[inline]
fn input<E>(bio: Bio, segments: Option<Segments>) -> Input<E> {
    match segments {
        None => Input::Submit(bio),
        Some(segments) => Input::SubmitPages(bio, segments),
    }
}

impl<E: Elevator> Machine<E> {
    #[inline]
    pub(super) fn submit(&mut self, now: Instant, disk: u32, bio: Bio) {
        self.submit_pages(now, disk, bio, None);
    }

    /// Submits a bio whose pages lie in these segments, if that is known and counts.
    #[inline]
    pub(super) fn submit_pages(
        &mut self,
        now: Instant,
        disk: u32,
        bio: Bio,
        segments: Option<Segments>,
    ) {
        let backlog = &mut self.disks[disk].backlogs[bio.task.0 as usize];
        match segments {
            _ if backlog.asleep > 0 => backlog.keep(bio, segments),
            None => self.feed_here(now, disk, Input::Submit(bio)),
            Some(segments) => self.feed(now, disk, Input::SubmitPages(bio, segments)),
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
            && let Some((bio, segments)) = backlog.waiting.pop_front()
        {
            self.feed(now, disk, input(bio, segments));
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

//! Sleeps of tasks until a point in time: before they begin, for pauses, and to keep to rates and
//! parts of flows. A task whose end somebody else decides notices that in its sleep.

use super::task::{Step, Task};
use super::{Event, Machine};
use fairdisk_core::{Elevator, Instant, Span};

/// A sleep of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sleep {
    /// From when on the sleeper looks, once a [`LOOK`], whether somebody has ended it.
    pub(super) looks_from: Instant,
    pub(super) until: Instant,
}

/// How often a sleeper looks whether it has been ended. Measured with fio 3.33.
const LOOK: Span = Span::from_s(1);

impl Sleep {
    /// When a sleeper notices that it was ended at `now`.
    fn notices(&self, now: Instant) -> Instant {
        let looks = (now - self.looks_from).as_ns().div_ceil(LOOK.as_ns());
        let look = self.looks_from + Span::from_ns(looks.saturating_mul(LOOK.as_ns()));
        look.clamp(now, self.until.max(now))
    }
}

/// The state of a task's pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    None,
    Due,
    /// The pause is over, and no I/O has followed yet.
    Over,
}

impl Task {
    /// The pause that is due. As in fio, I/Os taken up while waiting for the rest to complete count
    /// for the next pause, and there is at least one I/O between two pauses.
    pub(super) fn pause(&mut self) -> Option<Span> {
        let think = self.think?;
        if self.pause == Pause::None && self.taken >= think.every {
            (self.taken, self.pause) = (0, Pause::Due);
        }
        (self.pause == Pause::Due).then_some(think.pause)
    }
}

impl<E: Elevator> Machine<E> {
    pub(super) fn think(&mut self, now: Instant, index: u32, pause: Span) -> bool {
        let task = self.task(index);
        if task.outstanding > 0 {
            task.step = Step::Settling;
            return false;
        }
        task.pause = Pause::Over;
        let until = (now + pause).min(task.stream.end());
        self.wait(index, Sleep { looks_from: now, until })
    }

    pub(super) fn wait(&mut self, index: u32, sleep: Sleep) -> bool {
        self.task(index).step = Step::Waiting(sleep);
        self.events.push(sleep.until, Event::SleepOver(index));
        false
    }

    /// Lets a task go on whose sleep is over, unless it was ended in its sleep.
    #[inline]
    pub(super) fn sleep_over(&mut self, now: Instant, index: u32) {
        let is_over = match self.tasks[index as usize].step {
            Step::Begin => true,
            Step::Waiting(sleep) => sleep.until <= now || self.must_stop(index),
            _ => false,
        };
        if is_over {
            self.run(now, index);
        }
    }

    /// Continues after a sleep, before which the task took up completed I/Os, as in fio.
    pub(super) fn go_on(&mut self, index: u32) -> bool {
        let untaken = self.task(index).untaken;
        self.take_up(index, untaken);
        self.task(index).step = Step::Fetch;
        true
    }

    /// Lets tasks that sleep notice that they have been ended. Those that have not begun and wait
    /// for others notice it when these have ended.
    pub(super) fn rouse_ended(&mut self, now: Instant) {
        for index in 0..self.tasks.len() as u32 {
            if !self.is_ended(index) {
                continue;
            }
            let at = match self.tasks[index as usize].step {
                Step::Begin if !self.phases.is_waiting(index) => now,
                Step::Waiting(sleep) => sleep.notices(now),
                _ => continue,
            };
            self.events.push(at, Event::SleepOver(index));
        }
    }
}

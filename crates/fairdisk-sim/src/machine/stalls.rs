//! What becomes of a task that has too little memory, moment by moment. It is kept where journals
//! are.

use super::Machine;
use super::reclaiming::Wakes;
use crate::host::memory::{NapEnds, Vmstat};
use fairdisk_core::{Elevator, Instant, Span, TaskId};

/// Something that happens to a task that waits for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallStep {
    /// Free memory is at the low end: the task reclaims itself.
    Began,
    /// The task has passed over the lists.
    Passed {
        /// The priority; the lower, the more is scanned.
        priority: u8,
        /// Pages scanned.
        scanned: u32,
        /// Pages freed.
        freed: u32,
    },
    /// The task has woken the flushers.
    WokeFlushers,
    /// The task has freed nothing.
    NoProgress,
    /// The task has freed pages, and there are still none above the mark.
    NoPage,
    /// What the CPUs kept was returned to the free blocks.
    Drained,
    /// The task naps, for a time at most.
    Naps(NapUntil, Span),
    /// The nap is over, because what it waited for has happened.
    Woken(NapUntil),
    /// The nap is over, because its time is.
    TimeOver,
    /// The task has its pages.
    Ended {
        /// Pages that kswapd has freed meanwhile.
        by_kswapd: u64,
        /// Pages that tasks have freed meanwhile, this one among them.
        by_tasks: u64,
    },
}

/// What ends a task's nap before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NapUntil {
    /// A write completes, on any disk.
    Write,
    /// A synchronous request completes, on any disk.
    Sync,
    /// An asynchronous request completes, on any disk.
    Async,
    /// Free memory is above the low mark.
    AboveLow,
    /// Somebody has freed pages.
    Progress,
}

impl NapUntil {
    /// What ends such a nap under a kernel whose naps for congestion end as given.
    pub(super) const fn of(wakes: Wakes, ends: NapEnds) -> Self {
        match (wakes, ends) {
            (Wakes::AboveLow, _) => Self::AboveLow,
            (Wakes::Progress | Wakes::Wake, _) => Self::Progress,
            (Wakes::Completion, NapEnds::Write) => Self::Write,
            (Wakes::Completion, NapEnds::Sync) => Self::Sync,
            (Wakes::Completion, NapEnds::Async) => Self::Async,
        }
    }
}

/// A moment of a task's wait for memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    at: Instant,
    task: u32,
    step: StallStep,
}

/// The moments of all tasks.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    moments: Vec<Moment>,
    /// What had been freed when each task began to wait.
    freed_before: Vec<Vmstat>,
}

impl Stalls {
    /// No moment, of so many tasks.
    pub(super) fn of(tasks: usize) -> Self {
        Self { moments: Vec::new(), freed_before: vec![Vmstat::default(); tasks] }
    }

    /// Begins to count what is freed again.
    pub(super) fn restart(&mut self) {
        self.freed_before.fill(Vmstat::default());
    }

    pub(super) fn tell(&mut self, at: Instant, task: u32, step: StallStep) {
        self.moments.push(Moment { at, task, step });
    }

    pub(super) fn began(&mut self, at: Instant, task: u32, vmstat: &Vmstat) {
        self.freed_before[task as usize] = *vmstat;
        self.tell(at, task, StallStep::Began);
    }

    pub(super) fn ended(&mut self, at: Instant, task: u32, vmstat: &Vmstat) {
        let before = &self.freed_before[task as usize];
        let by_kswapd = vmstat.kswapd_steal - before.kswapd_steal;
        let by_tasks = vmstat.pgsteal - before.pgsteal - by_kswapd;
        self.tell(at, task, StallStep::Ended { by_kswapd, by_tasks });
    }
}

impl<E: Elevator> Machine<E> {
    /// Takes what has become of tasks that wait for memory since the last call, of those that use a
    /// disk, under their numbers there; only if the journal is kept.
    pub fn drain_stalls(&mut self, disk: u32) -> Vec<(Instant, TaskId, StallStep)> {
        let stalls = self.reclaiming.as_mut().and_then(|it| it.stalls.as_mut());
        let moments = stalls.map(|stalls| std::mem::take(&mut stalls.moments)).unwrap_or_default();
        let on_disk = |Moment { at, task, step }: Moment| {
            let numbers = &self.tasks[task as usize].numbers;
            let number = numbers.all().find(|(on, _)| *on == disk);
            number.map(|(_, number)| (at, number, step))
        };
        moments.into_iter().filter_map(on_disk).collect()
    }

    /// Keeps a moment of a task's wait for memory, if moments are kept.
    pub(super) fn tell_stall(&mut self, at: Instant, task: u32, step: StallStep) {
        if let Some(stalls) = self.reclaiming.as_mut().and_then(|it| it.stalls.as_mut()) {
            stalls.tell(at, task, step);
        }
    }
}

//! The priority of a queue: class and level, its own and while they are raised (spec: cfq, section
//! 2.3).

use fairdisk_core::{IoClass, IoPrio};

/// The number of distinct priorities: eight levels each of real time and best effort, and idle.
pub(crate) const PRIORITIES: usize = 2 * IoPrio::LEVELS as usize + 1;

/// The index of a priority; an unset class counts as best effort.
pub(crate) const fn number(class: IoClass, level: u8) -> usize {
    let level = if matches!(class, IoClass::Idle) { 0 } else { level };
    class.rank() * IoPrio::LEVELS as usize + level as usize
}

/// The priority by which a queue is served. A change does not move the queue in its tree until it
/// is next inserted there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Priority {
    pub(crate) class: IoClass,
    pub(crate) level: u8,
    /// The queue's own class and level, in effect when nothing raises them.
    own: (IoClass, u8),
}

impl Priority {
    /// The priority of the queue of a task with this I/O priority.
    pub(crate) const fn of(ioprio: IoPrio) -> Self {
        let (class, level) = match ioprio.class {
            IoClass::None => (IoClass::BestEffort, ioprio.level),
            IoClass::Idle => (IoClass::Idle, IoPrio::LEVELS - 1),
            class => (class, ioprio.level),
        };
        Self { class, level, own: (class, level) }
    }

    /// Raises class and level while the task holds a lock that others may be waiting for, and
    /// restores the queue's own ones otherwise.
    pub(crate) fn boost(&mut self, exclusive: bool) {
        (self.class, self.level) = self.own;
        if exclusive {
            self.level = self.level.min(4);
            if self.class == IoClass::Idle {
                self.class = IoClass::BestEffort;
            }
        }
    }

    /// The queue's own level, not raised.
    pub(crate) const fn own_level(&self) -> u8 {
        self.own.1
    }

    pub(crate) const fn is_idle(&self) -> bool {
        matches!(self.class, IoClass::Idle)
    }

    pub(crate) const fn is_real_time(&self) -> bool {
        matches!(self.class, IoClass::RealTime)
    }
}

/// The shared queues for asynchronous requests, one per priority.
#[derive(Clone, Debug)]
pub(crate) struct AsyncQueues([u32; PRIORITIES]);

impl AsyncQueues {
    pub(crate) const fn new(none: u32) -> Self {
        Self([none; PRIORITIES])
    }

    /// The entry of the queue for `ioprio`; an unset priority means best effort, level 4.
    pub(crate) fn place(&mut self, ioprio: IoPrio) -> &mut u32 {
        let level = if matches!(ioprio.class, IoClass::None) { 4 } else { ioprio.level };
        &mut self.0[number(ioprio.class, level)]
    }

    /// The queues of all priorities.
    pub(crate) const fn all(&self) -> [u32; PRIORITIES] {
        self.0
    }
}

//! Class and level of a queue, its own and what raises them (spec: cfq, section 2.3).

use fairdisk_core::{IoClass, IoPrio};

/// Priorities a queue can have: real time and best effort by level, idle.
pub(crate) const PRIORITIES: usize = 2 * IoPrio::LEVELS as usize + 1;

/// The number of a priority: no class is best effort.
pub(crate) const fn number(class: IoClass, level: u8) -> usize {
    let level = if matches!(class, IoClass::Idle) { 0 } else { level };
    class.rank() * IoPrio::LEVELS as usize + level as usize
}

/// What a queue is served by. A change does not move it in its tree before it is put there next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Priority {
    pub(crate) class: IoClass,
    pub(crate) level: u8,
    /// Class and level when nothing raises them.
    own: (IoClass, u8),
}

impl Priority {
    /// What a task's priority comes to.
    pub(crate) const fn of(ioprio: IoPrio) -> Self {
        let (class, level) = match ioprio.class {
            IoClass::None => (IoClass::BestEffort, ioprio.level),
            IoClass::Idle => (IoClass::Idle, IoPrio::LEVELS - 1),
            class => (class, ioprio.level),
        };
        Self { class, level, own: (class, level) }
    }

    /// Raises class and level while the task holds a lock that others may be waiting for; else they
    /// are its own.
    pub(crate) fn boost(&mut self, exclusive: bool) {
        (self.class, self.level) = self.own;
        if exclusive {
            self.level = self.level.min(4);
            if self.class == IoClass::Idle {
                self.class = IoClass::BestEffort;
            }
        }
    }

    /// The level when nothing raises it.
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

/// The shared queues of asynchronous requests, one for each priority.
#[derive(Clone, Debug)]
pub(crate) struct AsyncQueues([u32; PRIORITIES]);

impl AsyncQueues {
    pub(crate) const fn new(none: u32) -> Self {
        Self([none; PRIORITIES])
    }

    /// The place of the queue for `ioprio`: no priority set means best effort 4.
    pub(crate) fn place(&mut self, ioprio: IoPrio) -> &mut u32 {
        let level = if matches!(ioprio.class, IoClass::None) { 4 } else { ioprio.level };
        &mut self.0[number(ioprio.class, level)]
    }

    /// Every place.
    pub(crate) const fn all(&self) -> [u32; PRIORITIES] {
        self.0
    }
}

//! What happened to the memory of a machine in one run.

use fairdisk_core::{Elevator, Instant, Span};
use fairdisk_sim::Machine;
use fairdisk_sim::host::memory::Vmstat;
use fairdisk_sim::machine::MemoryUse;

/// What happened to memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryRun {
    /// What was counted since the start.
    pub vmstat: Vmstat,
    /// Pages at the end: free, on the inactive and on the active list, and of metadata.
    pub at_end: PagesAtEnd,
    /// What all tasks had of it together.
    pub tasks: MemoryUse,
    /// The time of all tasks together, from the start of each to its end.
    pub task_time: Span,
}

/// Where pages were at the end of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct PagesAtEnd {
    /// In free blocks, and kept by CPUs.
    pub free: u64,
    /// On the inactive list, or on the way to it.
    pub inactive: u64,
    /// On the active list.
    pub active: u64,
    /// Pages of metadata among those on lists.
    pub buffers: u64,
}

impl MemoryRun {
    /// What happened to the memory of a machine, if it has it page by page.
    pub(super) fn of<E: Elevator>(machine: &Machine<E>, until: Instant) -> Option<Self> {
        let memory = machine.memory()?;
        let places = memory.places();
        let mut of_tasks = MemoryUse::default();
        machine.task_reports().for_each(|task| of_tasks.add(&task.memory));
        let elapsed = machine.task_reports().map(|task| task.elapsed(until));
        Some(Self {
            vmstat: *memory.vmstat(),
            at_end: PagesAtEnd {
                free: places.free + places.on_cpus,
                inactive: places.inactive + places.buffered,
                active: places.active,
                buffers: memory.buffers(),
            },
            tasks: of_tasks,
            task_time: elapsed.fold(Span::ZERO, |sum, time| sum + time),
        })
    }

    /// Both together.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.vmstat.add(&other.vmstat);
        self.at_end.free += other.at_end.free;
        self.at_end.inactive += other.at_end.inactive;
        self.at_end.active += other.at_end.active;
        self.at_end.buffers += other.at_end.buffers;
        self.tasks.add(&other.tasks);
        self.task_time += other.task_time;
        self
    }
}

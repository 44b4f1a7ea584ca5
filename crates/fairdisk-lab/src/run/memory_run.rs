//! What happened to the memory of a machine in one run.

use fairdisk_core::{Elevator, Instant, Span};
use fairdisk_sim::Machine;
use fairdisk_sim::host::memory::{PlaceCounts, Vmstat};
use fairdisk_sim::machine::MemoryUse;

/// What happened to memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryRun {
    /// What was counted.
    pub vmstat: Vmstat,
    /// Where the pages were at the end.
    pub places: PlaceCounts,
    /// Pages of metadata in the page cache at the end.
    pub buffers: u64,
    /// What all tasks had of it together.
    pub tasks: MemoryUse,
    /// The time of all tasks together, from the start of each to its end.
    pub task_time: Span,
}

impl MemoryRun {
    /// What happened to the memory of a machine, if it has it page by page.
    pub(super) fn of<E: Elevator>(machine: &Machine<E>, until: Instant) -> Option<Self> {
        let memory = machine.memory()?;
        let mut tasks = MemoryUse::default();
        machine.task_reports().for_each(|task| tasks.add(&task.memory));
        let elapsed = machine.task_reports().map(|task| task.elapsed(until));
        Some(Self {
            vmstat: *memory.vmstat(),
            places: memory.places(),
            buffers: memory.buffers(),
            tasks,
            task_time: elapsed.fold(Span::ZERO, |sum, time| sum + time),
        })
    }

    /// Both together.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.vmstat.add(&other.vmstat);
        self.places.add(&other.places);
        self.buffers += other.buffers;
        self.tasks.add(&other.tasks);
        self.task_time += other.task_time;
        self
    }
}

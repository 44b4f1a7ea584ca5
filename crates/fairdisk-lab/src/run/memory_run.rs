//! What happened to the memory of a machine in one run.

use crate::catalog::experiment::MemoryFigure::{self, AtEnd, Counted, Had};
use crate::seconds::in_seconds;
use fairdisk_core::{Instant, Span};
use fairdisk_sched::Scheduler;
use fairdisk_sim::Machine;
use fairdisk_sim::host::memory::{PlaceCounts, Vmstat};
use fairdisk_sim::machine::MemoryUse;

/// KiB of a page.
const PAGE_KIB: u64 = 4;

/// What happened to memory.
#[derive(Clone, Copy, Debug, Default)]
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
    pub(super) fn of(machine: &Machine<Scheduler>, until: Instant) -> Option<Self> {
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

    /// Every figure of it, and of what a subject had of it. What was counted is called as the
    /// machine calls it.
    pub(crate) fn figures(
        &self,
        by: &MemoryUse,
    ) -> impl Iterator<Item = (MemoryFigure, f64)> + use<> {
        let counted = self.vmstat.named();
        let at_end = [
            ("free", self.places.free),
            ("inactive", self.places.inactive),
            ("active", self.places.active),
            ("buffers", self.buffers),
        ];
        had(by)
            .map(|(name, amount)| (Had(name), amount))
            .chain(counted.map(|(name, count)| (Counted(name), count as f64)))
            .chain(at_end.map(|(name, pages)| (AtEnd(name), (pages * PAGE_KIB) as f64)))
    }

    /// One of the figures.
    pub(crate) fn figure(&self, wanted: MemoryFigure, by: &MemoryUse) -> Option<f64> {
        self.figures(by).find(|(figure, _)| *figure == wanted).map(|(_, amount)| amount)
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

/// The figures of what tasks had of memory, by their names.
pub(crate) fn had(by: &MemoryUse) -> impl Iterator<Item = (&'static str, f64)> + use<> {
    let &MemoryUse { hits, misses, wait } = by;
    [("hits", hits as f64), ("misses", misses as f64), ("wait_s", in_seconds(wait))].into_iter()
}

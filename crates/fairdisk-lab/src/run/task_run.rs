//! What the tasks in one line of the report did in one run.

use fairdisk_core::{Histogram, Instant, Span};
use fairdisk_sim::TaskReport;
use fairdisk_sim::machine::{MemoryUse, OpTally};
use fairdisk_sim::workload::Verdict;

/// What the tasks in one line of the report did in one run.
#[derive(Clone, Debug)]
pub struct TaskRun {
    /// Completed I/Os.
    pub ios: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Latency, from the system call to its return.
    pub latency: Histogram,
    /// Reads.
    pub read: OpTally,
    /// Writes.
    pub write: OpTally,
    /// Flushes, which are no I/Os.
    pub flush: OpTally,
    /// Trims, whose bytes are not moved.
    pub trim: OpTally,
    /// How long the tasks had a CPU, all together.
    pub cpu: Span,
    /// What the tasks had of the memory.
    pub memory: MemoryUse,
    /// Run time; of several tasks, the longest.
    pub elapsed: Span,
    /// The run time of each task.
    pub each: Vec<Span>,
    /// Whether all tasks finished.
    pub finished: bool,
    /// Whether a task got no further than its ramp, so that all it did is counted.
    pub in_ramp: bool,
    /// Why tasks ended, as far as that follows from what they measured, and after which time.
    pub verdicts: Vec<(Verdict, Span)>,
}

impl TaskRun {
    pub(super) fn of(reports: &[&TaskReport], until: Instant) -> Self {
        let each: Vec<Span> = reports.iter().map(|report| report.elapsed(until)).collect();
        let [mut read, mut write, mut flush, mut trim] = [(); 4].map(|()| OpTally::default());
        let mut memory = MemoryUse::default();
        for report in reports {
            memory.add(&report.memory);
            read.add(&report.per_op.read);
            write.add(&report.per_op.write);
            flush.add(&report.flushes);
            trim.add(&report.per_op.trim);
        }
        let verdicts =
            reports.iter().filter_map(|report| Some((report.verdict?, report.lasted()?)));
        let mut latency = Histogram::new();
        reports.iter().for_each(|report| report.add_latencies(&mut latency));
        Self {
            latency,
            ios: reports.iter().map(|report| report.ios).sum(),
            bytes: reports.iter().map(|report| report.bytes).sum(),
            read,
            write,
            flush,
            trim,
            cpu: reports.iter().fold(Span::ZERO, |sum, report| sum + report.cpu),
            memory,
            elapsed: each.iter().copied().max().unwrap_or(Span::ZERO),
            each,
            in_ramp: reports.iter().any(|report| report.is_in_ramp()),
            verdicts: verdicts.collect(),
            finished: reports.iter().all(|report| report.finished.is_some() && !report.cut_off),
        }
    }

    /// Reads, writes, flushes and trims.
    pub(crate) const fn directions(&self) -> [&OpTally; 4] {
        [&self.read, &self.write, &self.flush, &self.trim]
    }

    /// The sum with other tasks that are reported together.
    pub(super) fn with(mut self, mut other: Self) -> Self {
        self.latency.merge(&other.latency);
        self.read.add(&other.read);
        self.write.add(&other.write);
        self.flush.add(&other.flush);
        self.trim.add(&other.trim);
        self.cpu += other.cpu;
        self.memory.add(&other.memory);
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.elapsed = self.elapsed.max(other.elapsed);
        self.each.append(&mut other.each);
        self.finished &= other.finished;
        self.in_ramp |= other.in_ramp;
        self.verdicts.append(&mut other.verdicts);
        self
    }
}

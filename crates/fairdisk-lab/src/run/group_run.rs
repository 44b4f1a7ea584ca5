//! What one group did in one run.

use super::Kept;
use fairdisk_core::{Histogram, Instant, Span};
use fairdisk_sim::TaskReport;
use fairdisk_sim::host::Payer;
use fairdisk_sim::machine::{MemoryUse, OpTally};

/// What one group did in one run.
#[derive(Clone, Debug, Default)]
pub struct GroupRun {
    /// Completed I/Os.
    pub ios: u64,
    /// Reads.
    pub read: OpTally,
    /// Writes.
    pub write: OpTally,
    /// Flushes: `fsync` and `fdatasync`, which are no I/Os.
    pub flush: OpTally,
    /// Trims, whose bytes are not moved.
    pub trim: OpTally,
    /// Bytes read and written.
    pub bytes: u64,
    /// Latency, from the system call to its return.
    pub latency: Histogram,
    /// How long the disk was busy for the group, measured from one completion to the next.
    pub device_time: Span,
    /// The length of the group's turns, idle waits included; `None` if the scheduler does not
    /// charge by time.
    pub charged: Option<Span>,
    /// Work of the simulated disk for the group, in time of the whole disk; zero on real files.
    pub work: Span,
    /// The longest time a request waited for the disk, including requests still waiting at the end.
    pub wait_max: Span,
    /// How often a task had to wait for a request slot.
    pub slot_waits: u64,
    /// Failed I/Os.
    pub errors: u64,
    /// Bytes written back that each rule would have charged the group, in the order of
    /// [`Payer::ALL`]; only if the host says who pays.
    pub charged_by_rule: Option<[u64; Payer::ALL.len()]>,
    /// How long its tasks were held up because the machine had too much dirty, all together.
    pub held_up: Span,
    /// What its tasks had of the memory, all together.
    pub memory: MemoryUse,
    /// How long its tasks ran, all together.
    pub task_time: Span,
    /// How long its tasks had a CPU, all together.
    pub cpu: Span,
    /// Whether its floor and ceiling were kept; only in the lab, and if it has one.
    pub kept: Option<Kept>,
    /// When the first of its tasks started; `None` if none did.
    pub began: Option<Instant>,
    /// When the last of its finished tasks ended.
    pub ended: Option<Instant>,
    /// The number of its tasks that have not finished.
    pub unfinished: usize,
    /// Whether one of its tasks came to the end of its file and began again at the start.
    pub goes_round: bool,
}

impl GroupRun {
    /// How long the group had the disk, as the scheduler counts it, or else how long the disk was
    /// busy for it.
    #[must_use]
    pub fn disk_time(&self) -> Span {
        self.charged.unwrap_or(self.device_time)
    }

    /// Reads, writes, flushes and trims.
    pub(crate) const fn directions(&self) -> [&OpTally; 4] {
        [&self.read, &self.write, &self.flush, &self.trim]
    }

    /// The time from the start of its first task to the end of its last one, if all have finished.
    #[must_use]
    pub fn lifetime(&self) -> Option<Span> {
        (self.unfinished == 0).then_some(self.ended? - self.began?)
    }

    /// Adds the reads, writes, flushes and times from the report of one of its tasks.
    pub(super) fn add_task(&mut self, report: &TaskReport, until: Instant) {
        self.held_up += report.held_up;
        self.memory.add(&report.memory);
        self.task_time += report.elapsed(until);
        self.read.add(&report.per_op.read);
        self.cpu += report.cpu;
        self.write.add(&report.per_op.write);
        self.trim.add(&report.per_op.trim);
        self.flush.add(&report.flushes);
        let ended = report.finished.filter(|_| !report.cut_off);
        self.unfinished += usize::from(ended.is_none());
        self.add_times(report.started, ended);
    }

    fn add_times(&mut self, began: Option<Instant>, ended: Option<Instant>) {
        self.began = [self.began, began].into_iter().flatten().min();
        self.ended = self.ended.max(ended);
    }

    /// The sum over several groups of a run; empty for no group.
    pub(crate) fn together<'a>(groups: impl IntoIterator<Item = &'a Self>) -> Self {
        let both = |mut all: Self, group: Self| {
            all.add(&group);
            all
        };
        groups.into_iter().cloned().reduce(both).unwrap_or_default()
    }

    /// Adds what another group did, or the same group on another disk.
    pub(super) fn add(&mut self, other: &Self) {
        self.ios += other.ios;
        self.read.add(&other.read);
        self.write.add(&other.write);
        self.flush.add(&other.flush);
        self.trim.add(&other.trim);
        self.cpu += other.cpu;
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
        self.device_time += other.device_time;
        self.charged = self.charged.zip(other.charged).map(|(one, two)| one + two);
        self.work += other.work;
        self.wait_max = self.wait_max.max(other.wait_max);
        self.slot_waits += other.slot_waits;
        self.errors += other.errors;
        let by_rule = self.charged_by_rule.zip(other.charged_by_rule);
        let sum = by_rule.map(|(one, two)| std::array::from_fn(|rule| one[rule] + two[rule]));
        self.charged_by_rule = sum.or(self.charged_by_rule).or(other.charged_by_rule);
        self.held_up += other.held_up;
        self.memory.add(&other.memory);
        self.task_time += other.task_time;
        if let (Some(kept), Some(other)) = (&mut self.kept, &other.kept) {
            kept.add(other);
        }
        self.unfinished += other.unfinished;
        self.goes_round |= other.goes_round;
        self.add_times(other.began, other.ended);
    }
}

//! What one group did in one run.

use super::Kept;
use fairdisk_core::{Histogram, Instant, Span};
use fairdisk_sim::TaskReport;
use fairdisk_sim::machine::OpTally;

/// What one group did in one run.
#[derive(Clone, Debug, Default)]
pub struct GroupRun {
    /// Finished I/Os.
    pub ios: u64,
    /// Its reads.
    pub read: OpTally,
    /// Its writes.
    pub write: OpTally,
    /// Bytes both ways.
    pub bytes: u64,
    /// From system call to return.
    pub latency: Histogram,
    /// How long the disk was busy for the group: time from one completion to the next.
    pub device_time: Span,
    /// How long its turns were, waits for its tasks included, if the scheduler charges it by that.
    pub charged: Option<Span>,
    /// What the simulated disk did for the group, in time of the whole disk; zero on real files.
    pub work: Span,
    /// The longest a request waited for the disk, those that still wait at the end included.
    pub wait_max: Span,
    /// How often a task had to wait for a request slot.
    pub slot_waits: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// What became of its floor and ceiling; in the lab, if it has one.
    pub kept: Option<Kept>,
    /// When its first task began, if one has.
    pub began: Option<Instant>,
    /// When the last of those that are done was.
    pub ended: Option<Instant>,
    /// How many of its tasks are not done.
    pub unfinished: usize,
}

impl GroupRun {
    /// How long it had the disk, as the scheduler counts it, or the disk was busy for it.
    #[must_use]
    pub fn disk_time(&self) -> Span {
        self.charged.unwrap_or(self.device_time)
    }

    /// From when its first task began until its last one was done, if all are.
    #[must_use]
    pub fn lifetime(&self) -> Option<Span> {
        (self.unfinished == 0).then_some(self.ended? - self.began?)
    }

    /// Adds what the report on one of its tasks says of reads, of writes, and of when it was at it.
    pub(super) fn add_task(&mut self, report: &TaskReport) {
        self.read.add(&report.per_op.read);
        self.write.add(&report.per_op.write);
        let ended = report.finished.filter(|_| !report.cut_off);
        self.unfinished += usize::from(ended.is_none());
        self.add_times(report.started, ended);
    }

    fn add_times(&mut self, began: Option<Instant>, ended: Option<Instant>) {
        self.began = [self.began, began].into_iter().flatten().min();
        self.ended = self.ended.max(ended);
    }

    /// What several of a run did, or nothing of none.
    pub(crate) fn together<'a>(groups: impl IntoIterator<Item = &'a Self>) -> Self {
        let both = |mut all: Self, group: Self| {
            all.add(&group);
            all
        };
        groups.into_iter().cloned().reduce(both).unwrap_or_default()
    }

    /// Adds what another group did, or the same on another disk.
    pub(super) fn add(&mut self, other: &Self) {
        self.ios += other.ios;
        self.read.add(&other.read);
        self.write.add(&other.write);
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
        self.device_time += other.device_time;
        self.charged = self.charged.zip(other.charged).map(|(one, two)| one + two);
        self.work += other.work;
        self.wait_max = self.wait_max.max(other.wait_max);
        self.slot_waits += other.slot_waits;
        self.errors += other.errors;
        if let (Some(kept), Some(other)) = (&mut self.kept, &other.kept) {
            kept.add(other);
        }
        self.unfinished += other.unfinished;
        self.add_times(other.began, other.ended);
    }
}

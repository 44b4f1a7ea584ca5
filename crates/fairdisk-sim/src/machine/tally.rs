//! What tasks and groups have done, counted as the programs would count it: metadata and journal
//! writes are left out.

use super::Machine;
use crate::workload::{PerOp, Verdict};
use fairdisk_core::{Elevator, GroupId, Histogram, Instant, Op, Span};

/// Totals over the tasks of a group.
#[derive(Clone, Debug, Default)]
pub struct GroupTally {
    /// Completed reads.
    pub reads: u64,
    /// Completed writes.
    pub writes: u64,
    /// Completed trims.
    pub trims: u64,
    /// Bytes read by successful I/Os.
    pub read_bytes: u64,
    /// Bytes written by successful I/Os.
    pub written_bytes: u64,
    /// Bytes trimmed by successful I/Os.
    pub trimmed_bytes: u64,
    /// Failed I/Os, including read-ahead and write-back.
    pub errors: u64,
    /// Latency of I/Os, from the system call to its return.
    pub latency: Histogram,
}

impl GroupTally {
    /// Completed I/Os of every operation.
    #[must_use]
    pub const fn ios(&self) -> u64 {
        self.reads + self.writes + self.trims
    }

    /// Bytes read and written. What is trimmed is not moved.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.read_bytes + self.written_bytes
    }

    /// Adds the report of one of the group's tasks.
    fn add(&mut self, task: &TaskReport) {
        let PerOp { read, write, trim } = &task.per_op;
        self.reads += read.ios;
        self.writes += write.ios;
        self.trims += trim.ios;
        self.read_bytes += read.bytes;
        self.written_bytes += write.bytes;
        self.trimmed_bytes += trim.bytes;
        self.errors += read.errors + write.errors + trim.errors;
        task.add_latencies(&mut self.latency);
    }
}

impl<E: Elevator> Machine<E> {
    /// For each task, whether its stream came to the end of its files and went on from their start.
    pub fn rounds(&self) -> impl Iterator<Item = bool> {
        self.tasks.iter().map(|task| self.tasks[task.stream_of as usize].stream.goes_round())
    }
}

/// What a task has done since `counted_from`.
#[derive(Clone, Debug, Default)]
pub struct TaskReport {
    /// Completed I/Os.
    pub ios: u64,
    /// Completed reads, which are included in `ios`.
    pub reads: u64,
    /// Bytes read and written by successful I/Os.
    pub bytes: u64,
    /// Totals by operation.
    pub per_op: PerOp<OpTally>,
    /// Flushes.
    pub flushes: OpTally,
    /// When the task started; `None` if it has not.
    pub started: Option<Instant>,
    /// The time from which its I/Os are counted.
    pub counted_from: Instant,
    /// Whether its ramp is not over. A task that ends within its ramp is counted from its start.
    pub(super) in_ramp: bool,
    /// When the task ended; `None` if it has not.
    pub finished: Option<Instant>,
    /// Whether the task was stopped before it had finished.
    pub cut_off: bool,
    /// Why it ended, if that follows from what it measured.
    pub verdict: Option<Verdict>,
    /// When the task had no more to ask for and began to wait for its last I/Os.
    pub(super) satisfied: Option<Instant>,
    /// The time for which it had a CPU.
    pub cpu: Span,
    /// What it had of the memory, where that is page by page.
    pub memory: MemoryUse,
    /// The time it slept because the machine had too much dirty and it had nothing to write back.
    pub held_up: Span,
}

/// What tasks had of a memory that is page by page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Uses of pages that were in memory, and had been used since they were read or written.
    pub hits: u64,
    /// Uses of pages that were read from the disk for this, at once or ahead.
    pub misses: u64,
    /// The time they reclaimed memory themselves, or waited for it.
    pub wait: Span,
}

impl MemoryUse {
    /// Adds what others had.
    pub fn add(&mut self, other: &Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.wait += other.wait;
    }
}

/// Totals of a task for one operation.
#[derive(Clone, Debug, Default)]
pub struct OpTally {
    /// Completed I/Os.
    pub ios: u64,
    /// Bytes transferred by successful I/Os.
    pub bytes: u64,
    /// Failed I/Os, including read-ahead and write-back.
    pub errors: u64,
    latency: Option<Box<Histogram>>,
}

impl TaskReport {
    /// Whether what completes at `now` is counted.
    #[inline(always)]
    pub(super) fn counts(&self, now: Instant) -> bool {
        now >= self.counted_from && self.finished.is_none()
    }

    /// Ends the report, if it has not ended, of a task that is stopped here or not.
    pub(super) fn finish(&mut self, now: Instant, is_stopped: bool) {
        if self.finished.is_none() {
            self.finished = Some(now);
            self.cut_off |= is_stopped;
        }
    }

    #[inline(always)]
    pub(super) fn count(&mut self, op: Op, bytes: u64, latency: Span, failed: bool) {
        self.ios += 1;
        self.reads += u64::from(op == Op::Read);
        self.bytes += if failed || op == Op::Discard { 0 } else { bytes };
        self.per_op.of_mut(op).count(bytes, latency, failed);
    }

    /// The time during which the task has been counted, up to its end or `now`.
    #[must_use]
    pub fn elapsed(&self, now: Instant) -> Span {
        let end = self.finished.unwrap_or(now);
        self.started.map_or(Span::ZERO, |started| end - started.max(self.counted_from))
    }

    /// How long it ran, its ramp included; `None` if it has not ended.
    #[must_use]
    pub fn lasted(&self) -> Option<Span> {
        Some(self.finished? - self.started?)
    }

    /// Whether its ramp is not over, or it ended before, so that all it did is counted.
    #[must_use]
    pub const fn is_in_ramp(&self) -> bool {
        self.in_ramp
    }

    /// Counts uses of pages, the misses among them.
    pub(super) fn count_uses(&mut self, now: Instant, uses: u64, misses: u64) {
        debug_assert!(misses <= uses, "{misses} of {uses} uses are misses");
        if self.counts(now) {
            self.memory.hits += uses - misses;
            self.memory.misses += misses;
        }
    }

    /// Counts a wait for memory that ends now, as far as it lies in the time that is counted.
    pub(super) fn count_memory_wait(&mut self, since: Instant, now: Instant) {
        if self.counts(now) {
            self.memory.wait += now - since.max(self.counted_from);
        }
    }

    /// Adds the latencies of all of the task's I/Os to a histogram.
    pub fn add_latencies(&self, to: &mut Histogram) {
        let PerOp { read, write, trim } = &self.per_op;
        let known = [read, write, trim].into_iter().filter_map(OpTally::latency);
        known.for_each(|latency| to.merge(latency));
    }

    pub(super) fn restart(&mut self, now: Instant) {
        let Self { started, finished, cut_off, verdict, counted_from, in_ramp, satisfied, .. } =
            *self;
        let counted_from = counted_from.max(now);
        *self = Self {
            started,
            finished,
            cut_off,
            verdict,
            satisfied,
            counted_from,
            in_ramp,
            ..Self::default()
        };
    }

    /// Forgets what the task did in its ramp, which is over, if it has not ended.
    pub(super) fn pass_ramp(&mut self, now: Instant) {
        if self.finished.is_none() {
            self.in_ramp = false;
            self.restart(now);
        }
    }
}

impl OpTally {
    /// Latency of I/Os, from the system call to its return; `None` if there were none.
    #[must_use]
    pub fn latency(&self) -> Option<&Histogram> {
        self.latency.as_deref()
    }

    /// Adds the totals of another task.
    pub fn add(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.errors += other.errors;
        if let Some(latency) = other.latency() {
            self.latency.get_or_insert_default().merge(latency);
        }
    }

    #[inline]
    pub(super) fn count(&mut self, bytes: u64, latency: Span, failed: bool) {
        self.ios += 1;
        self.bytes += if failed { 0 } else { bytes };
        self.errors += u64::from(failed);
        match &mut self.latency {
            Some(all) => all.record(latency),
            None => self.begin_with(latency),
        }
    }

    #[cold]
    fn begin_with(&mut self, latency: Span) {
        self.latency.get_or_insert_default().record(latency);
    }
}

impl<E: Elevator> Machine<E> {
    /// The numbers of all groups.
    pub fn group_ids(&self) -> impl Iterator<Item = GroupId> + use<E> {
        (0..self.config.group_count() as u32).map(GroupId)
    }

    /// The totals of each group, indexed by group number.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupTally> {
        let mut groups = vec![GroupTally::default(); self.config.group_count()];
        for (group, report) in self.reports_by_group() {
            groups[group.0 as usize].add(report);
        }
        groups
    }

    /// The length of the group's turns on all disks while counting, if the elevators charge groups
    /// by time.
    #[must_use]
    pub fn charged(&self, group: GroupId) -> Option<Span> {
        self.disks.iter().try_fold(Span::ZERO, |sum, disk| Some(sum + disk.charged(group)?))
    }

    /// Starts all counting again from now, for example after a warm-up.
    pub fn restart_tallies(&mut self, now: Instant) {
        let restarted = self.disks.iter_mut().map(|disk| disk.restart_accounts(now));
        let now: Vec<Instant> = restarted.collect();
        for task in &mut self.tasks {
            task.report.restart(now[task.numbers.home as usize]);
        }
        self.restart_stays(now.iter().copied().max().unwrap_or_default());
        if let Some(ownership) = self.write_back.as_mut().and_then(|it| it.ownership.as_mut()) {
            ownership.restart();
        }
        if let Some(memory) = self.pages.memory() {
            memory.restart_counts();
        }
        if let Some(stalls) = self.reclaiming.as_mut().and_then(|it| it.stalls.as_mut()) {
            stalls.restart();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_moved_nothing_and_trims_are_no_writes() {
        let (mut group, mut task) = (GroupTally::default(), TaskReport::default());
        let all = [Op::Read, Op::Write, Op::Discard];
        for (op, failed) in all.map(|op| (op, false)).into_iter().chain([(Op::Write, true)]) {
            task.count(op, 4096, Span::ZERO, failed);
        }
        group.add(&task);
        assert_eq!((group.reads, group.writes, group.trims, group.errors), (1, 2, 1, 1));
        assert_eq!((group.written_bytes, group.trimmed_bytes, group.bytes()), (4096, 4096, 8192));
        assert_eq!((group.ios(), task.ios, task.bytes), (4, 4, 8192));
        assert_eq!((task.per_op.write.bytes, task.per_op.trim.bytes), (4096, 4096));
    }
}

//! What tasks and groups have done, as the programs themselves would count it: metadata and
//! journal writes do not count.

use fairdisk_core::{Histogram, Instant, Op, Span};

/// What the tasks of a group have done.
#[derive(Clone, Debug, Default)]
pub struct GroupTally {
    /// Finished reads.
    pub reads: u64,
    /// Finished writes and trims.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// From the system call to its return.
    pub latency: Histogram,
}

impl GroupTally {
    /// Finished I/Os.
    #[must_use]
    pub const fn ios(&self) -> u64 {
        self.reads + self.writes
    }

    /// Bytes both ways.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.read_bytes + self.written_bytes
    }

    pub(super) fn count(&mut self, op: Op, bytes: u64, latency: Span, failed: bool) {
        if op == Op::Read {
            self.reads += 1;
            self.read_bytes += bytes;
        } else {
            self.writes += 1;
            self.written_bytes += bytes;
        }
        self.errors += u64::from(failed);
        self.latency.record(latency);
    }
}

/// What a task has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaskReport {
    /// Finished I/Os.
    pub ios: u64,
    /// Of these, reads.
    pub reads: u64,
    /// Bytes both ways.
    pub bytes: u64,
    /// When it began.
    pub started: Instant,
    /// When it ended, if it has.
    pub finished: Option<Instant>,
}

impl TaskReport {
    pub(super) const fn restart(&mut self) {
        self.ios = 0;
        self.reads = 0;
        self.bytes = 0;
    }
}

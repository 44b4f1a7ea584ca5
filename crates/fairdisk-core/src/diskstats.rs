//! What a disk did, as `/proc/diskstats` counts it: requests that completed, bios that were merged
//! into others, and how long requests were in its queue or at the device.
//!
//! Source of what is counted: the kernel's documentation, "I/O statistics fields". Flushes are no
//! I/Os there; they keep the disk busy and are counted by themselves.

use crate::request::{Op, Request};
use crate::time::{Instant, Span};

/// The requests of one kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpStats {
    /// Requests that completed.
    pub requests: u64,
    /// Bios and requests that joined an adjoining request.
    pub merged: u64,
    /// Sectors of the requests that completed.
    pub sectors: u64,
    /// How long the requests that completed took, from when they were queued, all together.
    pub time: Span,
}

/// What a disk did since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Reads.
    pub reads: OpStats,
    /// Writes, of zeroes, too.
    pub writes: OpStats,
    /// Discards.
    pub discards: OpStats,
    /// Flushes that completed.
    pub flushes: u64,
    /// How long there was a request in the queue or at the device.
    pub busy: Span,
    /// The time that requests were in the queue or at the device, all together.
    pub queued: Span,
    /// The time for which was counted.
    pub elapsed: Span,
}

impl OpStats {
    fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            merged: self.merged + other.merged,
            sectors: self.sectors + other.sectors,
            time: self.time + other.time,
        }
    }

    fn minus(self, earlier: Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            merged: self.merged - earlier.merged,
            sectors: self.sectors - earlier.sectors,
            time: self.time - earlier.time,
        }
    }
}

impl DiskStats {
    /// Reads, writes and discards together.
    #[must_use]
    pub fn ios(&self) -> OpStats {
        self.reads.plus(self.writes).plus(self.discards)
    }

    /// Requests of every kind that completed.
    #[must_use]
    pub fn completions(&self) -> u64 {
        self.ios().requests + self.flushes
    }

    /// Both together: what is a rate or a part of the time becomes a mean of both.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self {
            reads: self.reads.plus(other.reads),
            writes: self.writes.plus(other.writes),
            discards: self.discards.plus(other.discards),
            flushes: self.flushes + other.flushes,
            busy: self.busy + other.busy,
            queued: self.queued + other.queued,
            elapsed: self.elapsed + other.elapsed,
        }
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.minus(earlier.reads),
            writes: self.writes.minus(earlier.writes),
            discards: self.discards.minus(earlier.discards),
            flushes: self.flushes - earlier.flushes,
            busy: self.busy - earlier.busy,
            queued: self.queued - earlier.queued,
            elapsed: self.elapsed - earlier.elapsed,
        }
    }

    fn of(&mut self, op: Op) -> Option<&mut OpStats> {
        match op {
            Op::Read => Some(&mut self.reads),
            Op::Write | Op::WriteZeroes => Some(&mut self.writes),
            Op::Discard => Some(&mut self.discards),
            Op::Flush => None,
        }
    }
}

/// Counts what a disk does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiskCounter {
    /// Since the disk is there; without the request time of those that are present.
    all: DiskStats,
    /// What had been counted when counting was restarted.
    before: DiskStats,
    /// Since when there is a request.
    busy_since: Instant,
}

impl DiskCounter {
    /// The first request has come to an idle disk.
    #[inline]
    pub(crate) const fn busy(&mut self, now: Instant) {
        self.busy_since = now;
    }

    /// The last request has left.
    #[inline]
    pub(crate) fn idle(&mut self, now: Instant) {
        self.all.busy += now - self.busy_since;
    }

    /// A bio has joined a request.
    #[inline]
    pub(crate) fn merged(&mut self, op: Op) {
        if let Some(stats) = self.all.of(op) {
            stats.merged += 1;
        }
    }

    /// A request that was there since `arrived` has joined another one, or was withdrawn.
    pub(crate) fn left(&mut self, arrived: Instant, now: Instant) {
        self.all.queued += now - arrived;
    }

    /// A request has completed.
    #[inline]
    pub(crate) fn completed(&mut self, now: Instant, request: &Request) {
        let took = now - request.arrived;
        match self.all.of(request.op) {
            Some(stats) => {
                stats.requests += 1;
                stats.sectors += u64::from(request.sectors.0);
                stats.time += took;
                self.all.queued += took;
            }
            None => self.all.flushes += 1,
        }
    }

    /// Starts counting again, with these requests present.
    pub(crate) fn restart<'a>(&mut self, now: Instant, present: impl Iterator<Item = &'a Request>) {
        self.before = self.total(now, present);
    }

    /// What was counted since the restart, with these requests present.
    pub(crate) fn at<'a>(
        &self,
        now: Instant,
        present: impl Iterator<Item = &'a Request>,
    ) -> DiskStats {
        self.total(now, present).since(&self.before)
    }

    fn total<'a>(&self, now: Instant, present: impl Iterator<Item = &'a Request>) -> DiskStats {
        let (mut all, mut is_busy) = (self.all, false);
        for request in present {
            is_busy = true;
            if request.op != Op::Flush {
                all.queued += now - request.arrived;
            }
        }
        if is_busy {
            all.busy += now - self.busy_since;
        }
        all.elapsed = now - Instant::ZERO;
        all
    }
}

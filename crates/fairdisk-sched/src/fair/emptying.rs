//! Emptying the device's write cache now and then, to see what reads take without it.
//!
//! Some disks work on their cache only while they have nothing to read. If a group has one read
//! after another, they do so in each gap, and each read is delayed by a write. While there is always
//! something left to write, all reads of the group look alike, and none shows that it is late.
//!
//! So the cache is flushed before such a group begins a turn. Until the next write, its reads are
//! undisturbed. Everybody waits for the flush, so it may take only a small part of all time. It is
//! charged to the group with the most writes left.

use super::{Fair, Step};
use fairdisk_core::{GroupId, Instant, Span, Why};

/// At most one in 32 parts of the time is spent on flushes, but for the first.
const TIME_PARTS: u64 = 32;
/// Flushes are at least a second apart, however little there was to write.
const APART: Span = Span::from_ms(1000);

/// Whether and when the cache is emptied.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Emptying {
    /// Whether the device may be flushed.
    pub(super) is_flushable: bool,
    /// The group on whose account the device is being flushed.
    of: Option<GroupId>,
    /// Whether nothing has been written since the last time.
    pub(super) is_empty: bool,
    /// Whether it was ever emptied.
    pub(super) has_been: bool,
    /// Not again before this instant.
    due: Instant,
}

impl Emptying {
    /// Whether the device is being flushed.
    pub(super) const fn is_under_way(&self) -> bool {
        self.of.is_some()
    }

    /// Notes that a write is dispatched.
    pub(super) const fn writes(&mut self) {
        self.is_empty = false;
    }

    fn end(&mut self, now: Instant, took: Span, ok: bool) -> Option<GroupId> {
        let pause = Span::from_ns(took.as_ns().saturating_mul(TIME_PARTS));
        self.due = now + pause.max(APART);
        self.is_empty = ok;
        self.has_been |= ok;
        self.of.take()
    }
}

impl Fair {
    /// Empties the cache before a turn that begins with this request, if it is time. Everything at
    /// the device is waited for.
    pub(super) fn empty_cache(&mut self, now: Instant, at: u32) -> Option<Step> {
        let (rq, emptying) = (&self.requests[at], &self.cache.emptying);
        if !emptying.is_flushable || now < emptying.due || rq.op.is_write() {
            return None;
        }
        let reader = self.queues[rq.queue].group;
        // With more reads than one, a disk that picks among them has no gap.
        let has_gaps = self.device.is_serial() || self.groups[reader as usize].waiting == 1;
        if !has_gaps || !self.device.is_told() || !self.empties_cache() || self.has_promises() {
            return None;
        }
        let writer = self.cache.writer_beside(reader, &self.groups)?;
        if self.is_busy() {
            return Some(Step::WaitCompletion(Why::EmptiesCache));
        }
        self.cache.emptying.of = Some(GroupId(writer));
        Some(Step::Flush(GroupId(writer), Why::EmptiesCache))
    }

    /// Accounts for the flush.
    pub(super) fn cache_emptied(&mut self, now: Instant, device_time: Span, ok: bool) {
        if let Some(GroupId(writer)) = self.cache.emptying.end(now, device_time, ok) {
            self.charge_flushed(now, writer, device_time);
        }
    }
}

//! Emptying the device's write cache now and then, to see what reads take without it.
//!
//! Some disks work on their cache only while they have nothing to read. If a group has one read
//! after another, they do so in each gap, and each read is delayed by a write. While there is
//! always something left to write, all reads of the group look alike, and none shows that it is
//! late.
//!
//! So the cache is flushed before such a group begins a turn. Until the next write, its reads are
//! undisturbed. Everybody waits for the flush, so it may take only a small part of all time, or no
//! more than the delays it spares. It is charged to the group with the most writes left.

use super::{Fair, NIL, Step};
use fairdisk_core::{GroupId, Instant, Span, Why};

/// At most one in 32 parts of the time is spent on flushes, but for the first and for those that
/// spare as much.
const TIME_PARTS: u64 = 32;
/// Flushes are at least a second apart, however little there was to write.
const APART: Span = Span::from_ms(1000);
/// What was learned is used for four times as long as until the next flush is due: not for ever,
/// as there may be no other.
const KNOWN_PARTS: u64 = 4;

/// Whether and when the cache is emptied.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Emptying {
    /// Whether the device may be flushed, and no flush has failed.
    pub(super) is_flushable: bool,
    is_under_way: bool,
    /// The group on whose account the device is being flushed, or `NIL` if that is gone.
    of: u32,
    /// Whether nothing has been written since the last time.
    pub(super) is_empty: bool,
    /// Not again before this instant, unless others are delayed for longer than the last took.
    due: Instant,
    /// What was learned is used until then.
    known_until: Instant,
    /// How long the last flush took.
    took: Span,
    /// How long others have been delayed since by what it would have done.
    delays: Span,
}

impl Emptying {
    /// Whether the device is being flushed.
    pub(super) const fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// Whether what reads took undisturbed may still hold.
    pub(super) fn is_known(&self, now: Instant) -> bool {
        now < self.known_until
    }

    /// Whether the device may be flushed before or while the next request arrives.
    pub(super) const fn may_intervene(&self) -> bool {
        self.is_flushable || self.is_under_way
    }

    fn is_due(&self, now: Instant) -> bool {
        now >= self.due || self.delays > self.took
    }

    /// Notes that somebody was delayed by what a flush would have done.
    pub(super) fn delayed(&mut self, by: Span) {
        self.delays += by;
    }

    /// Notes that a write is dispatched.
    pub(super) const fn writes(&mut self) {
        self.is_empty = false;
    }

    /// Notes that the device or its costs changed.
    pub(super) const fn device_changed(&mut self) {
        self.known_until = Instant::ZERO;
    }

    pub(super) const fn forget_group(&mut self, group: u32) {
        if self.of == group {
            self.of = NIL;
        }
    }

    const fn begin(&mut self, of: u32) {
        (self.of, self.is_under_way) = (of, true);
    }

    /// Ends it and returns whose it was. A device that fails to flush is not asked again.
    fn end(&mut self, now: Instant, took: Span, ok: bool) -> Option<u32> {
        let ns = took.as_ns().saturating_mul(TIME_PARTS).max(APART.as_ns());
        self.due = now + Span::from_ns(ns);
        (self.is_under_way, self.is_empty) = (false, ok);
        (self.took, self.delays) = (took, Span::ZERO);
        match ok {
            true => self.known_until = now + Span::from_ns(ns.saturating_mul(KNOWN_PARTS)),
            false => self.is_flushable = false,
        }
        Some(core::mem::replace(&mut self.of, NIL)).filter(|of| *of != NIL)
    }
}

impl Fair {
    /// Empties the cache before a turn that begins with this request, if it is time. Everything at
    /// the device is waited for.
    pub(super) fn empty_cache(&mut self, now: Instant, at: u32) -> Option<Step> {
        let (rq, emptying) = (&self.requests[at], &self.cache.emptying);
        if !emptying.is_flushable
            || !self.params.rules.emptying
            || !emptying.is_due(now)
            || rq.may_be_cached
            || self.cache.flushes > 0
        {
            return None;
        }
        let by = self.queues[rq.queue].group;
        let reader = &self.groups[by as usize];
        // With more reads than one, a disk that picks among them has no gap.
        let has_gaps = self.device.is_serial() || reader.waiting + reader.in_flight == 1;
        if !has_gaps
            || !self.device.is_told()
            || !self.empties_cache()
            || !self.floors.is_empty()
            || !self.targets.is_empty()
            || self.barred.has_ceilings()
        {
            return None;
        }
        let writer = self.cache.writer_beside(by, &self.groups)?;
        if self.in_flight > 0 {
            return Some(Step::WaitCompletion(Why::EmptiesCache));
        }
        self.cache.emptying.begin(writer);
        Some(Step::Flush(GroupId(writer), Why::EmptiesCache))
    }

    /// Accounts for the flush.
    pub(super) fn cache_emptied(&mut self, now: Instant, device_time: Span, ok: bool) {
        self.tree.pass(now);
        let writer = self.cache.emptying.end(now, device_time, ok);
        if let Some(writer) = writer {
            // All of it: this is what writes take, and flushes take a small part of the time.
            self.charge_flush(writer, device_time, ok);
        }
        self.note_flushed(now, device_time, ok);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Instant {
        Instant::from_ns(1_000_000 * ms)
    }

    /// A device that was flushed until 1000 ms, which took 100.
    fn flushed(ok: bool) -> Emptying {
        let mut emptying = Emptying { is_flushable: true, ..Emptying::default() };
        assert!(emptying.is_due(Instant::ZERO));
        emptying.begin(7);
        assert!(emptying.is_under_way());
        assert_eq!(emptying.end(at(1000), Span::from_ms(100), ok), Some(7));
        assert!(!emptying.is_under_way());
        emptying
    }

    #[test]
    fn flushes_take_a_thirty_second_of_the_time() {
        let emptying = flushed(true);
        assert_eq!([4199, 4200].map(|ms| emptying.is_due(at(ms))), [false, true]);
        // However little there was to write, not within a second.
        let mut emptying = flushed(true);
        emptying.end(at(2000), Span::from_us(1), true);
        assert_eq!([2999, 3000].map(|ms| emptying.is_due(at(ms))), [false, true]);
    }

    #[test]
    fn a_flush_that_spares_longer_delays_is_due() {
        let mut emptying = flushed(true);
        emptying.delayed(Span::from_ms(100));
        assert!(!emptying.is_due(at(1001)));
        emptying.delayed(Span::from_ms(1));
        assert!(emptying.is_due(at(1001)));
    }

    #[test]
    fn what_was_learned_lapses() {
        let mut emptying = flushed(true);
        assert_eq!([13_799, 13_800].map(|ms| emptying.is_known(at(ms))), [true, false]);
        emptying.device_changed();
        assert!(!emptying.is_known(at(1001)));
    }

    #[test]
    fn a_flush_that_failed_teaches_nothing_and_is_the_last() {
        let emptying = flushed(false);
        assert!(!emptying.is_known(at(1001)) && !emptying.is_empty && !emptying.may_intervene());
        assert!(flushed(true).is_empty);
    }

    #[test]
    fn a_flush_that_outlives_its_group_is_nobodys() {
        let mut emptying = flushed(true);
        emptying.begin(7);
        emptying.forget_group(7);
        assert!(emptying.is_under_way());
        assert_eq!(emptying.end(at(2000), Span::from_ms(1), true), None);
    }
}

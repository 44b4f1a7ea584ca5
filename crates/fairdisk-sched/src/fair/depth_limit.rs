//! The depth limit: how much work of others may be at a device, whose costs are not told, while a
//! group that is behind is there or expected.
//!
//! With more work there a device does more, and each request takes longer: a group with few
//! requests in flight then falls behind its share, however soon each is dispatched. So there is a
//! limit that is best for all, and it is searched for: [looks](super::looks) with a somewhat lower
//! and a somewhat higher limit take turns, and the limit moves to the better one.

use super::Fair;
use super::looks::{Looks, Of, RATE_TIME};
use super::ways::{Ways, logarithm};
use fairdisk_core::{Instant, Span};

/// A look covers at least 128 requests and 2 ms: so little that both looks of most pairs find the
/// host as busy.
const LOOK: (Span, u32) = (Span::from_ms(2), 128);
/// In one look the limit is an eighth lower, in the other an eighth higher: two or three requests
/// of those that keep a solid-state disk busy.
const TRIED_PARTS: u64 = 8;
/// It then moves by a quarter of itself.
const STEP_PARTS: u64 = 4;
/// The limit is at least a thirty-second of what is there at most.
const LIMIT_PARTS_MOST: u64 = 32;
/// With each look the highest throughput, and the most work that was there, decay by a
/// sixty-fourth, so that an old extreme fades within some hundred looks.
const DECAY_PARTS: u64 = 64;

/// The search for the limit.
#[derive(Debug, Default)]
pub(super) struct DepthLimit {
    pub(super) looks: Looks,
    /// The most work that was at the device.
    peak: Span,
    /// Whether the limit mattered in this look.
    is_contended: bool,
    /// The highest throughput, as the cost done in `RATE_TIME`.
    most: Span,
    /// How much work may be at the device before groups are held back; zero while unknown.
    limit: Span,
    /// A somewhat lower limit, and a somewhat higher one.
    ways: Ways<false>,
}

impl DepthLimit {
    /// Notes that a group is ahead of one for which it makes room.
    pub(super) const fn contend(&mut self) {
        self.is_contended = true;
    }

    /// How long the whole device takes for this cost at its highest throughput, if that is known.
    pub(super) fn time_of(&self, cost: Span) -> Option<Span> {
        let most = self.most.as_ns();
        (most > 0).then(|| cost.scaled(RATE_TIME.as_ns(), most))
    }

    /// Whether requests of this total cost at the device have reached the limit.
    pub(super) fn is_reached(&self, at_work: Span) -> bool {
        let step = self.limit / TRIED_PARTS;
        let tried = if self.ways.is_second() { self.limit + step } else { self.limit - step };
        self.limit > Span::ZERO && at_work >= tried
    }

    /// Begins a look in place of the current one, and of its pair.
    pub(super) fn begin_anew(&mut self, now: Instant) {
        self.ways.break_off();
        self.is_contended = false;
        self.looks.next(now);
    }

    /// Ends a look that was as good as `good`, if that is known.
    fn end_look(&mut self, now: Instant, elapsed: Span, good: Option<i64>) {
        let done = self.looks.cost.scaled(RATE_TIME.as_ns(), elapsed.as_ns());
        let is_held_back = self.looks.is_held_back;
        let forgotten = if is_held_back { Span::ZERO } else { self.most / DECAY_PARTS };
        self.most = (self.most - forgotten).max(done);
        match good.filter(|_| self.is_contended && !is_held_back) {
            Some(good) => self.compare(good),
            None => self.ways.break_off(),
        }
        self.peak = self.peak - self.peak / DECAY_PARTS;
        self.is_contended = false;
        self.looks.next(now);
    }

    /// Accounts for a look in which the limit mattered.
    fn compare(&mut self, good: i64) {
        if self.limit == Span::ZERO {
            self.limit = self.peak;
            return;
        }
        let better = self.ways.compare(good);
        self.ways.end_look_of_close(better);
        if let Some(better) = self.ways.better() {
            let step = self.limit / STEP_PARTS;
            self.limit = if better > 0 { self.limit + step } else { self.limit - step };
            self.ways.forget();
        }
        self.limit = self.limit.clamp(self.peak / LIMIT_PARTS_MOST, self.peak);
    }
}

impl Fair {
    /// Accounts for a completed request of the group in the search for the depth limit.
    pub(super) fn look_at_depth(&mut self, now: Instant, group: u32, cost: Span) {
        let limit = &mut self.device.depth_limit;
        limit.peak = limit.peak.max(self.load.at_work);
        if let Some(elapsed) = self.note_in_look(now, Of::DepthLimit, (group, cost), LOOK) {
            let good = self.how_good(elapsed);
            self.device.depth_limit.end_look(now, elapsed, good);
        }
    }

    /// How good a look of this length was; `None` if nobody was there.
    fn how_good(&mut self, elapsed: Span) -> Option<i64> {
        let (mut sum, mut parts, mut all) = (0_i64, 0_i64, Span::ZERO);
        for (group, cost) in self.there_in_look(Of::DepthLimit) {
            let rate = cost.scaled(RATE_TIME.as_ns(), elapsed.as_ns());
            let part = self.part_in_look(group);
            all += rate;
            sum += part * logarithm(rate.as_ns().max(1));
            parts += part;
        }
        (parts > 0).then(|| sum / parts - logarithm(all.as_ns().max(1)) / 2)
    }
}

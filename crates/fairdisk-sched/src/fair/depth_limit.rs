//! The depth limit: how much work of others may be at a device, whose costs are not told, while a
//! group that is behind is there or expected.
//!
//! With more work there a device does more, and each request takes longer: a group with few
//! requests in flight then falls behind its share, however soon each is dispatched. So there is a
//! limit that is best for all, and it is searched for: *looks* with a somewhat lower and a somewhat
//! higher limit take turns, and the limit moves to the better one.
//!
//! The better one is more proportionally fair (Kelly, Maulloo, Tan, "Rate control for communication
//! networks", 1998): the sum of the logarithms of what each group gets, each times its weight, is
//! larger. So a group gains a tenth at the cost of a tenth for another of the same weight, and a
//! device that does a tenth less is worth it for a group with all but a little of the weight.

use super::Fair;
use alloc::vec::Vec;
use fairdisk_core::{Instant, Span};

/// A look covers at least 128 requests and 2 ms: many more than are there from before, and so little
/// that both looks of most pairs find the host as busy.
const LOOK_REQUESTS: u32 = 128;
const LOOK_TIME: Span = Span::from_ms(2);
/// In one look the limit is an eighth lower, in the other an eighth higher: two or three requests
/// of those that keep a solid-state disk busy.
const TRIED_PARTS: u64 = 8;
/// It then moves by a quarter of itself.
const STEP_PARTS: u64 = 4;
/// A pair counts with an eighth at most: a larger difference is of the host.
const DIFFERENCE_MOST: i64 = ONE / 8;
/// One of the two is better once the sum of the differences exceeds twice what it is by chance, the
/// root of the sum of their squares: after four pairs at the least.
const CHANCE_FACTOR: i64 = 2;
/// Pairs after which all of them count half.
const PAIRS: u32 = 64;
/// The limit is at least a thirty-second of what is there at most.
const LIMIT_PARTS_MOST: u64 = 32;
/// With each look the highest throughput, and the most work that was there, decay by a
/// sixty-fourth, so that an old extreme fades within some hundred looks.
const DECAY_PARTS: u64 = 64;
/// The time over which throughput is stated, about a millisecond: fine enough for any cost.
const THROUGHPUT_TIME: Span = Span::from_ns(1 << 20);
/// So many groups are looked at. A limit on work.
const GROUPS_MOST: usize = 64;
/// The unit of logarithms.
const ONE: i64 = 1 << 10;

/// Which limit is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tried {
    #[default]
    Lower,
    Higher,
}

/// The search for the limit.
#[derive(Debug, Default)]
pub(super) struct DepthLimit {
    began: Instant,
    requests: u32,
    /// The total cost of the requests completed in this look, and the most that was at the device.
    cost: Span,
    peak: Span,
    /// Whether the limit mattered in this look.
    is_contended: bool,
    /// Whether groups were held back in this look for another reason, so that it shows neither what
    /// the device can do nor which limit is better.
    is_held_back: bool,
    /// The highest throughput, as the cost done in `THROUGHPUT_TIME`.
    most: Span,
    /// How much work may be at the device before groups are held back; zero while unknown.
    limit: Span,
    tried: Tried,
    /// How good the first look of the pair was, if there was one.
    first: Option<i64>,
    /// By how much the higher limit was better: the sum over all pairs, and that of the squares.
    better: i64,
    squares: i64,
    pairs: u32,
    /// The number of the look, and the groups that had something done in it.
    look: u32,
    groups: Vec<u32>,
}

/// What a group had done in the look with this number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    look: u32,
    cost: Span,
}

impl DepthLimit {
    /// Notes that a group is ahead of one for which it makes room.
    pub(super) const fn contend(&mut self) {
        self.is_contended = true;
    }

    /// Notes that a group is held back for another reason.
    pub(super) const fn hold_back(&mut self) {
        self.is_held_back = true;
    }

    /// How long the whole device takes for this cost at its highest throughput, if that is known.
    pub(super) fn time_of(&self, cost: Span) -> Option<Span> {
        let most = self.most.as_ns();
        (most > 0).then(|| cost.scaled(THROUGHPUT_TIME.as_ns(), most))
    }

    /// Whether requests of this total cost at the device have reached the limit.
    pub(super) fn is_reached(&self, at_work: Span) -> bool {
        let tried = match self.tried {
            Tried::Lower => self.limit - self.limit / TRIED_PARTS,
            Tried::Higher => self.limit + self.limit / TRIED_PARTS,
        };
        self.limit > Span::ZERO && at_work >= tried
    }

    /// Accounts for a completed request of the given cost, while work of the cost `at_work` was at
    /// the device with it. Returns for how long the look has lasted if it is over.
    pub(super) fn completed(&mut self, now: Instant, cost: Span, at_work: Span) -> Option<Span> {
        self.requests += 1;
        self.cost += cost;
        self.peak = self.peak.max(at_work);
        let elapsed = now.since(self.began);
        (self.requests >= LOOK_REQUESTS && elapsed >= LOOK_TIME).then_some(elapsed)
    }

    /// Ends a look that was as good as `good`, if that is known.
    fn end_look(&mut self, now: Instant, elapsed: Span, good: Option<i64>) {
        let done = self.cost.scaled(THROUGHPUT_TIME.as_ns(), elapsed.as_ns());
        let forgotten = if self.is_held_back { Span::ZERO } else { self.most / DECAY_PARTS };
        self.most = (self.most - forgotten).max(done);
        match good.filter(|_| self.is_contended && !self.is_held_back) {
            Some(good) => self.compare(good),
            None => self.first = None,
        }
        self.peak = self.peak - self.peak / DECAY_PARTS;
        (self.began, self.requests, self.cost) = (now, 0, Span::ZERO);
        (self.is_contended, self.is_held_back) = (false, false);
        self.look = self.look.wrapping_add(1);
    }

    /// Accounts for a look in which the limit mattered.
    fn compare(&mut self, good: i64) {
        if self.limit == Span::ZERO {
            self.limit = self.peak;
            return;
        }
        let Some(first) = self.first.take() else {
            self.first = Some(good);
            self.tried = self.tried.other();
            return;
        };
        // The next pair begins with the limit that this one ends with.
        let higher = if self.tried == Tried::Higher { good - first } else { first - good };
        let higher = higher.clamp(-DIFFERENCE_MOST, DIFFERENCE_MOST);
        (self.better, self.squares) = (self.better + higher, self.squares + higher * higher);
        self.pairs += 1;
        if self.better * self.better >= CHANCE_FACTOR * CHANCE_FACTOR * self.squares.max(1) {
            let step = self.limit / STEP_PARTS;
            self.limit = if self.better > 0 { self.limit + step } else { self.limit - step };
            (self.better, self.squares, self.pairs) = (0, 0, 0);
        } else if self.pairs == PAIRS {
            (self.better, self.squares, self.pairs) = (self.better / 2, self.squares / 4, 0);
        }
        self.limit = self.limit.clamp(self.peak / LIMIT_PARTS_MOST, self.peak);
    }
}

impl Tried {
    const fn other(self) -> Self {
        match self {
            Self::Lower => Self::Higher,
            Self::Higher => Self::Lower,
        }
    }
}

impl Fair {
    /// Accounts for a completed request of the group in the search for the depth limit.
    pub(super) fn look_at_depth(&mut self, now: Instant, group: u32, cost: Span) {
        let limit = &mut self.device.depth_limit;
        let done = &mut self.groups[group as usize].done_in_look;
        if done.look != limit.look || done.cost == Span::ZERO {
            *done = Done { look: limit.look, cost: Span::ZERO };
            if limit.groups.len() < GROUPS_MOST && !limit.groups.contains(&group) {
                limit.groups.push(group);
            }
        }
        done.cost += cost;
        if let Some(elapsed) = limit.completed(now, cost, self.at_work) {
            let good = self.how_good(elapsed);
            self.device.depth_limit.end_look(now, elapsed, good);
        }
    }

    /// How proportionally fair a look of this length was: the mean logarithm of what groups had
    /// done, each by its weight. Forgets the groups that neither had anything done nor want it.
    fn how_good(&mut self, elapsed: Span) -> Option<i64> {
        let look = self.device.depth_limit.look;
        let (mut sum, mut parts) = (0_i64, 0_i64);
        let groups = &self.groups;
        let is_there = |group: &u32| {
            let entry = &groups[*group as usize];
            entry.done_in_look.look == look || entry.waiting > 0
        };
        self.device.depth_limit.groups.retain(is_there);
        for group in &self.device.depth_limit.groups {
            let Done { look: of, cost } = self.groups[*group as usize].done_in_look;
            let cost = if of == look { cost } else { Span::ZERO };
            let rate = cost.scaled(THROUGHPUT_TIME.as_ns(), elapsed.as_ns());
            let part = (self.tree.part(*group) >> 16) as i64;
            sum += part * logarithm(rate.as_ns().max(1));
            parts += part;
        }
        (parts > 0).then(|| sum / parts)
    }
}

/// The natural logarithm, in parts of `ONE`, within six thousandths.
fn logarithm(of: u64) -> i64 {
    let whole = of.ilog2();
    let rest = ((u128::from(of) << 10 >> whole) as i64) - ONE;
    // The binary logarithm of 1 + x is about x + 0.344 x (1 - x).
    let binary = i64::from(whole) * ONE + rest + 352 * (rest * (ONE - rest) / ONE) / ONE;
    binary * 710 / ONE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_as_exact_as_looks() {
        for of in [1, 2, 3, 5, 7, 10, 100, 1000, 12345, 1 << 40] {
            let exact = (of as f64).ln();
            let ours = logarithm(of) as f64 / ONE as f64;
            assert!((ours - exact).abs() < 0.006 + exact * 0.0005, "{of}: {ours} {exact}");
        }
    }
}

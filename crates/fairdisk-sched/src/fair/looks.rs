//! Looks: what groups had done for a while, while something is tried, and by how much one of two
//! ways is better.
//!
//! What groups get is compared by logarithms, so that units and the speed of the device do not
//! matter: groups by the mean of their logarithms, by weight, which is largest if each has its
//! share; and the device by half of the logarithm of all that was done. Counted alike, the two
//! would be proportional fairness (Kelly, Maulloo, Tan, "Rate control for communication networks",
//! 1998); but shares are what was asked for.

use super::Fair;
use alloc::vec::Vec;
use fairdisk_core::{Instant, Span};

/// So many groups are looked at. A limit on work.
const GROUPS_MOST: usize = 64;
/// The time over which rates are stated, about a millisecond: fine enough for any cost.
pub(super) const RATE_TIME: Span = Span::from_ns(1 << 20);
/// The unit of logarithms.
pub(super) const ONE: i64 = 1 << 10;

/// The looks at one thing that is tried.
#[derive(Debug, Default)]
pub(super) struct Looks {
    began: Instant,
    number: u32,
    requests: u32,
    /// The cost of all that was completed in this look.
    pub(super) cost: Span,
    /// The groups that had something done in this look or want it.
    groups: Vec<u32>,
    /// Whether groups were held back in this look for a promise to another, so that it shows
    /// neither what the device can do nor which way is better.
    pub(super) is_held_back: bool,
}

/// Which looks: they last for different times.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    DepthLimit,
    Sharing,
}

/// What a group had done in the look with this number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    look: u32,
    cost: Span,
}

impl Looks {
    /// Counts a request. Returns for how long the look has lasted if it is over: after this time,
    /// and many more requests than were there from before.
    fn completed(
        &mut self,
        now: Instant,
        cost: Span,
        (time, requests): (Span, u32),
    ) -> Option<Span> {
        self.requests += 1;
        self.cost += cost;
        let elapsed = now.since(self.began);
        (self.requests >= requests && elapsed >= time).then_some(elapsed)
    }

    /// The groups that had something done in this look or want it.
    pub(super) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The number of looks before this one.
    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// Begins the next look.
    pub(super) fn next(&mut self, now: Instant) {
        (self.began, self.requests, self.cost) = (now, 0, Span::ZERO);
        self.number = self.number.wrapping_add(1);
        self.is_held_back = false;
    }
}

/// By how much one of two ways is better, from pairs of looks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Better {
    /// The sum over all pairs, and that of the squares.
    pub(super) sum: i64,
    squares: i64,
    pairs: u32,
}

/// A pair of looks counts with an eighth at most: a larger difference is of the host.
const DIFFERENCE_MOST: i64 = ONE / 8;
/// Which one is better is known once the sum exceeds twice what it is by chance, the root of the
/// sum of the squares: after four pairs at the least.
const CHANCE_FACTOR: i64 = 2;
/// Pairs after which all of them count half.
const PAIRS: u32 = 64;

impl Better {
    pub(super) fn note_pair(&mut self, by: i64) {
        let by = by.clamp(-DIFFERENCE_MOST, DIFFERENCE_MOST);
        (self.sum, self.squares, self.pairs) =
            (self.sum + by, self.squares + by * by, self.pairs + 1);
        if self.pairs == PAIRS {
            (self.sum, self.squares, self.pairs) = (self.sum / 2, self.squares / 4, 0);
        }
    }

    pub(super) const fn is_known(&self) -> bool {
        let by_chance = CHANCE_FACTOR * CHANCE_FACTOR * self.squares;
        self.squares > 0 && self.sum * self.sum >= by_chance
    }
}

impl Fair {
    fn looks(&mut self, of: Of) -> &mut Looks {
        match of {
            Of::DepthLimit => &mut self.device.depth_limit.looks,
            Of::Sharing => &mut self.device.sharing.looks,
        }
    }

    /// Counts a completed request of the group in a look. Returns for how long that has lasted if
    /// it is over.
    pub(super) fn note_in_look(
        &mut self,
        now: Instant,
        of: Of,
        (group, cost): (u32, Span),
        least: (Span, u32),
    ) -> Option<Span> {
        let number = self.looks(of).number;
        let done = &mut self.groups[group as usize].done_in_look[of as usize];
        let is_new = done.look != number || done.cost == Span::ZERO;
        if is_new {
            *done = Done { look: number, cost: Span::ZERO };
        }
        done.cost += cost;
        let looks = self.looks(of);
        if is_new && looks.groups.len() < GROUPS_MOST && !looks.groups.contains(&group) {
            looks.groups.push(group);
        }
        looks.completed(now, cost, least)
    }

    /// Forgets the groups that neither had anything done in the look nor want it, and returns the
    /// others, with what each had done.
    pub(super) fn there_in_look(&mut self, of: Of) -> Vec<(u32, Span)> {
        let number = self.looks(of).number;
        let there = core::mem::take(&mut self.looks(of).groups);
        let done = |group: u32| {
            let entry = &self.groups[group as usize];
            let done = entry.done_in_look[of as usize];
            let cost = if done.look == number { done.cost } else { Span::ZERO };
            (cost > Span::ZERO || entry.waiting > 0).then_some((group, cost))
        };
        let found: Vec<(u32, Span)> = there.into_iter().filter_map(done).collect();
        self.looks(of).groups.extend(found.iter().map(|(group, _)| *group));
        found
    }

    /// Notes that groups are held back for a promise to another.
    pub(super) const fn hold_back_in_look(&mut self) {
        self.device.sharing.looks.is_held_back = true;
        self.device.depth_limit.looks.is_held_back = true;
    }

    /// By how much a group counts, which is its part beside all that are there.
    pub(super) fn part_in_look(&self, group: u32) -> i64 {
        (self.tree.part_beside_all(group) >> 16) as i64
    }
}

/// The natural logarithm, in parts of `ONE`, within six thousandths.
pub(super) fn logarithm(of: u64) -> i64 {
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

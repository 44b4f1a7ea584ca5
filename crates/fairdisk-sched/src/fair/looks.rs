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

    /// Begins the next look.
    pub(super) fn next(&mut self, now: Instant) {
        (self.began, self.requests, self.cost) = (now, 0, Span::ZERO);
        self.number = self.number.wrapping_add(1);
        self.is_held_back = false;
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
        let done = &mut self.groups[group as usize].past.done_in_look[of as usize];
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

    /// Returns the groups that had something done in the look or want it, with what each had done.
    /// Forgets those that were not there in the look before either: a group that comes and goes
    /// makes no new set of groups each time.
    pub(super) fn there_in_look(&mut self, of: Of) -> Vec<(u32, Span)> {
        let number = self.looks(of).number;
        let there = core::mem::take(&mut self.looks(of).groups);
        let (mut found, mut kept) = (Vec::new(), Vec::new());
        for group in there {
            let entry = &self.groups[group as usize];
            let done = entry.past.done_in_look[of as usize];
            let cost = if done.look == number { done.cost } else { Span::ZERO };
            let is_there = cost > Span::ZERO || entry.waiting > 0;
            if is_there {
                found.push((group, cost));
            }
            if is_there || done.look == number.wrapping_sub(1) {
                kept.push(group);
            }
        }
        self.looks(of).groups = kept;
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

//! The order in which claims are served: start-time fair queueing (Goyal, Vin, Cheng, "Start-time
//! fair queueing", 1996). Groups, the own tasks of a group and the queues of tasks are claims
//! alike.
//!
//! Every claim has a *start*: the service it has received, divided by its weight. In a *line* the
//! claim with the smallest start is next, and the service that it receives advances its start.
//! *Virtual time* is how far the line has come. A claim is *ahead* of it or *behind*; the latter is
//! its lag. What it is ahead by it owes to the others of its line.

use crate::groups::{VirtualTime, service, virtual_time};
use fairdisk_core::Span;
use fairdisk_core::tree::{Forest, Tree};

/// A group, the own tasks of one, or a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) start: VirtualTime,
    pub(super) weight: u64,
}

impl Claim {
    /// A claim that has received nothing.
    pub(super) const fn new(weight: u64) -> Self {
        Self { start: 0, weight }
    }

    /// Replaces a charge of `charged` by `cost`.
    #[inline]
    pub(super) const fn charge(&mut self, charged: Span, cost: Span) {
        self.start += virtual_time(cost, self.weight);
        if charged.as_ns() > 0 {
            self.start = self.start.saturating_sub(virtual_time(charged, self.weight));
        }
    }

    /// By how much service the claim is behind another one; `None` if it is not.
    #[inline]
    pub(super) fn behind(&self, other: &Self) -> Option<Span> {
        let gap = other.start.checked_sub(self.start).filter(|gap| *gap > 0)?;
        Some(service(gap, self.weight))
    }
}

/// The claims of one level that want the disk.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// They, by start.
    pub(super) tree: Tree,
    /// Virtual time: the smallest start in the line when a claim was last served, or a smaller one.
    pub(super) reached: VirtualTime,
}

impl Line {
    pub(super) const EMPTY: Self = Self { tree: Tree::new(), reached: 0 };

    /// The claim that is next.
    #[inline]
    pub(super) fn first(&self, order: &Forest<VirtualTime>) -> Option<u32> {
        order.first(&self.tree)
    }

    /// Lets a claim come in. It catches up on what it is behind by, but for no more than `lag`;
    /// what it owes remains.
    #[inline]
    pub(super) fn let_in(&self, claim: &mut Claim, lag: VirtualTime) {
        claim.start = claim.start.max(self.reached.saturating_sub(lag));
    }

    /// Advances virtual time to the start of who is next, `least`.
    #[inline]
    pub(super) fn reach(&mut self, least: VirtualTime) {
        self.reached = self.reached.max(least);
    }

    /// Whether the claim owes the others more than `debt`.
    #[inline]
    pub(super) const fn owes_more_than(&self, claim: &Claim, debt: Span) -> bool {
        claim.start > self.reached + virtual_time(debt, claim.weight)
    }

    /// The start of a claim that owes the others `debt`.
    #[inline]
    pub(super) const fn owing(&self, debt: VirtualTime) -> VirtualTime {
        self.reached.saturating_add(debt)
    }

    /// Charges the claim `cost`, of which it owes the others no more than `debt`. What it owed
    /// before remains.
    pub(super) fn charge_within(&self, claim: &mut Claim, cost: Span, debt: VirtualTime) {
        let most = claim.start.max(self.owing(debt));
        claim.charge(Span::ZERO, cost);
        claim.start = claim.start.min(most);
    }

    /// Gives the claim another weight. What it is ahead or behind by stays the same service.
    pub(super) fn reweigh(&self, claim: &mut Claim, weight: u64) {
        let (old, new) = (VirtualTime::from(claim.weight), VirtualTime::from(weight));
        let rescaled = |gap: VirtualTime| gap.saturating_mul(old) / new;
        claim.start = match claim.start.checked_sub(self.reached) {
            Some(ahead) => self.owing(rescaled(ahead)),
            None => self.reached.saturating_sub(rescaled(self.reached - claim.start)),
        };
        claim.weight = weight;
    }

    /// Lets the claim, which is in another line, be as far ahead in this one.
    pub(super) const fn take_over(&self, claim: &mut Claim, from: &Self) {
        claim.start = self.owing(claim.start.saturating_sub(from.reached));
    }
}

//! Screening: which changes have any effect, found by walks from the good end to the bad one.
//!
//! A walk makes all changes one after another and measures at some points on the way. A stretch
//! whose ends differ is divided, down to the change that made the difference. A stretch whose ends
//! do not differ may hide two changes that cancel each other, so every walk starts with several
//! stretches, and any two changes are in different stretches of some walk. Of two changes that act
//! only together, a walk finds the later one; hence each order is walked in both directions.
//! Finally, each change is undone alone in the bad end, the first check that anyone who suspects it
//! would do.

use super::noise::Noise;
use super::runs::{Halt, Runs};
use super::{Design, FactorSet};
use fairdisk_core::Prng;

/// Stretches of the first walk.
const STRETCHES: usize = 8;
/// Stretches for the changes without a known effect, in later walks.
const PARTS: usize = 4;
/// Undoing each change alone may use up to this fraction (1/n) of the remaining runs.
const EACH_PART: usize = 4;
/// The most random orders to walk.
const ORDERS_MAX: u32 = 8;

/// The state of the search.
pub(super) struct Screen {
    factors: usize,
    active: FactorSet,
    /// Determines the position of changes in random orders.
    ranks: Vec<usize>,
    prng: Prng,
}

/// A stretch of a walk: the changes made one after another, starting from a mixture.
#[derive(Clone, Debug)]
struct Stretch {
    from: FactorSet,
    changes: Vec<usize>,
}

impl Stretch {
    fn to(&self) -> FactorSet {
        self.from.union(self.changes.iter().copied().collect())
    }

    fn halves(&self) -> [Self; 2] {
        let (first, second) = self.changes.split_at(self.changes.len() / 2);
        let first = Self { from: self.from, changes: first.to_vec() };
        let second = Self { from: first.to(), changes: second.to_vec() };
        [first, second]
    }
}

impl Screen {
    /// A search without results yet.
    pub(super) fn new(design: &Design) -> Self {
        let mut prng = Prng::new(design.seed).fork(1);
        let mut ranks: Vec<usize> = (0..design.factors).collect();
        prng.shuffle(&mut ranks);
        Self { factors: design.factors, active: FactorSet::EMPTY, ranks, prng }
    }

    /// The changes with a known effect.
    pub(super) const fn active(&self) -> FactorSet {
        self.active
    }

    /// Searches until nothing new is found.
    pub(super) fn search(&mut self, runs: &mut Runs<'_>) -> Result<(), Halt> {
        runs.tell("search");
        let history: Vec<usize> = (0..self.factors).collect();
        let size = self.factors.div_ceil(STRETCHES);
        let mut parts: Vec<Vec<usize>> = history.chunks(size).map(<[usize]>::to_vec).collect();
        self.walk_both_ways(runs, &mut parts)?;
        self.undo_each(runs)?;
        // The number of digits in which any two changes differ.
        let digits = self.factors.max(2).ilog(PARTS) + 1;
        for order in 0..ORDERS_MAX {
            let before = self.active;
            let mut parts = self.random_order(order % digits);
            self.walk_both_ways(runs, &mut parts)?;
            self.look_at_rest(runs)?;
            if self.active == before && order + 1 >= digits {
                break;
            }
        }
        Ok(())
    }

    /// The changes with a known effect one by one and the others in a few parts, in random order.
    /// One digit of a change's rank determines its part.
    fn random_order(&mut self, digit: u32) -> Vec<Vec<usize>> {
        let mut parts = vec![Vec::new(); PARTS];
        for (factor, rank) in self.ranks.iter().enumerate() {
            if self.active.contains(factor) {
                parts.push(vec![factor]);
            } else {
                parts[rank / PARTS.pow(digit) % PARTS].push(factor);
            }
        }
        parts.retain(|part| !part.is_empty());
        parts.iter_mut().for_each(|part| self.prng.shuffle(part));
        self.prng.shuffle(&mut parts);
        parts
    }

    fn walk_both_ways(
        &mut self,
        runs: &mut Runs<'_>,
        parts: &mut [Vec<usize>],
    ) -> Result<(), Halt> {
        self.walk(runs, FactorSet::EMPTY, parts)?;
        parts.reverse();
        parts.iter_mut().for_each(|part| part.reverse());
        self.walk(runs, FactorSet::EMPTY, parts)
    }

    /// Undoes each change without a known effect alone in the bad end, if the budget allows. This
    /// finds changes that act only together with several others, which few orders show.
    fn undo_each(&mut self, runs: &mut Runs<'_>) -> Result<(), Halt> {
        let bad = FactorSet::first(self.factors);
        let rest = bad.minus(self.active);
        let undone: Vec<FactorSet> = rest.iter().map(|change| bad.without(change)).collect();
        if runs.cost(&undone) > runs.left() / EACH_PART {
            return Ok(());
        }
        let each = rest.iter().zip(undone);
        let each = each.map(|(change, from)| Stretch { from, changes: vec![change] });
        self.divide(runs, each.collect())
    }

    /// Compares both ends with and without all changes that have no known effect. A difference
    /// means that one of them has an effect.
    fn look_at_rest(&mut self, runs: &mut Runs<'_>) -> Result<(), Halt> {
        let rest = FactorSet::first(self.factors).minus(self.active);
        let mut changes: Vec<usize> = rest.iter().collect();
        self.prng.shuffle(&mut changes);
        let active = self.active;
        for from in [FactorSet::EMPTY, active] {
            self.walk(runs, from, std::slice::from_ref(&changes))?;
        }
        Ok(())
    }

    /// Walks from a mixture over the parts, and divides those that make a difference.
    fn walk(
        &mut self,
        runs: &mut Runs<'_>,
        from: FactorSet,
        parts: &[Vec<usize>],
    ) -> Result<(), Halt> {
        let mut at = from;
        let mut stretches: Vec<Stretch> = Vec::new();
        for changes in parts.iter().filter(|part| !part.is_empty()) {
            stretches.push(Stretch { from: at, changes: changes.clone() });
            at = stretches.last().map_or(at, Stretch::to);
        }
        self.divide(runs, stretches)
    }

    /// Divides stretches whose ends differ, down to single changes.
    fn divide(&mut self, runs: &mut Runs<'_>, mut stretches: Vec<Stretch>) -> Result<(), Halt> {
        while !stretches.is_empty() {
            self.keep_those_that_differ(runs, &mut stretches)?;
            let (single, longer): (Vec<_>, Vec<_>) =
                stretches.into_iter().partition(|stretch| stretch.changes.len() == 1);
            let found = single.iter().flat_map(|stretch| &stretch.changes).copied();
            self.active = self.active.union(found.collect());
            stretches = longer.iter().flat_map(Stretch::halves).collect();
        }
        Ok(())
    }

    fn keep_those_that_differ(
        &self,
        runs: &mut Runs<'_>,
        stretches: &mut Vec<Stretch>,
    ) -> Result<(), Halt> {
        // Most changes have no effect. One run shows it if everything in it happens as in another
        // mixture, whose other runs then stand for both.
        let ends = stretches.iter().flat_map(|stretch| [stretch.from, stretch.to()]);
        runs.need_single(&ends.map(|end| (end, 0)).collect::<Vec<_>>())?;
        let ends = |stretch: &Stretch| [stretch.from, stretch.to()].map(|end| runs.alike(end));
        let alike: Vec<_> = stretches.iter().map(ends).collect();
        let differ = alike.iter().filter(|[from, to]| from != to);
        runs.need(&differ.flatten().copied().collect::<Vec<_>>())?;
        let noise = Noise::of(runs, FactorSet::first(self.factors));
        let mut alike = alike.into_iter();
        stretches.retain(|_| {
            let Some([from, to]) = alike.next() else { return false };
            let differences = runs.differences(from, to);
            differences.is_some_and(|differences| noise.is_exceeded(&differences))
        });
        Ok(())
    }
}

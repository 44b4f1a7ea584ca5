//! Which changes do anything: walks from the good end to the bad one.
//!
//! A walk makes all changes one after the other, and measures at some places on the way. Where the
//! ends of a stretch differ it is divided, down to the change that made the difference. A stretch
//! whose ends do not differ may hide two changes that cancel each other, so every walk has several
//! stretches from the start, and any two changes lie in different ones in some walk. Of two changes
//! that act only together a walk finds the later one; hence each order is walked both ways.
//! And each change is undone by itself in the bad end, as whoever suspects it would do first.

use super::noise::Noise;
use super::runs::{Halt, Runs};
use super::{Design, FactorSet};
use fairdisk_core::Prng;

/// Stretches of the first walk.
const STRETCHES: usize = 8;
/// Stretches of the changes not known to do anything, in the walks after the first.
const PARTS: usize = 4;
/// Undoing each change alone may take this part of the runs that are left.
const EACH_PART: usize = 4;
/// Random orders at most.
const ORDERS_MAX: u32 = 8;

/// The search for changes that do anything.
pub(super) struct Screen {
    factors: usize,
    active: FactorSet,
    /// Decides where the changes lie in random orders.
    ranks: Vec<usize>,
    prng: Prng,
}

/// A stretch of a walk: from a mixture, over these changes.
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
    /// Nothing is known yet.
    pub(super) fn new(design: &Design) -> Self {
        let mut prng = Prng::new(design.seed).fork(1);
        let mut ranks: Vec<usize> = (0..design.factors).collect();
        prng.shuffle(&mut ranks);
        Self { factors: design.factors, active: FactorSet::EMPTY, ranks, prng }
    }

    /// The changes that were seen to do something.
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
        // Any two changes differ in one of so many digits.
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

    /// The changes that do something one by one, the others in a few parts, in random order. Who
    /// goes into which part depends on one digit of its rank.
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

    /// Those not known to do anything, each undone by itself in the bad end, if the budget has room
    /// for it. What one change takes back of what several do only together shows in few orders.
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

    /// Those not known to do anything, all at once, at both ends: they make no difference, unless
    /// one of them does something.
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

    /// Divides stretches whose ends differ down to the changes that make the difference.
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
        // Most changes do nothing. One run shows it, if all happens in it as in another mixture,
        // whose other runs stand for both.
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

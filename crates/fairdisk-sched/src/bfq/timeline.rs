//! B-WF2Q+ for the entities of one class in one node: which of them is served next (Valente and
//! Checconi 2010; Valente and Andreolini 2012).
//!
//! An entity that wants `budget` sectors has a virtual start S and a virtual finish F = S + budget
//! / weight. It is eligible once virtual time has reached S, and the eligible entity with the
//! smallest F is served first. BFQ keeps one tree ordered by F and augmented with the smallest S
//! below each node. Here, entities that are not yet eligible wait in a tree ordered by S and move
//! to one ordered by F when virtual time reaches their start, once per service. The choice is the
//! same, in amortised O(log n) time.

use crate::groups::VirtualTime;
use fairdisk_core::tree::{Forest, Tree};

/// A point in virtual time: sectors per unit of weight, in fixed point.
pub(super) type Virtual = VirtualTime;

/// Fractional bits of virtual time; enough for one sector at the highest weight to count.
const FRACTION: u32 = 20;

/// The virtual time that `sectors` are worth to an entity of this weight.
pub(super) const fn worth(sectors: u64, weight: u64) -> Virtual {
    ((sectors << FRACTION) / weight) as Virtual
}

/// The nodes of the trees of all timelines.
#[derive(Debug)]
pub(super) struct Trees {
    by_start: Forest<Virtual>,
    by_finish: Forest<Virtual>,
}

impl Trees {
    pub(super) const fn new() -> Self {
        Self { by_start: Forest::new(), by_finish: Forest::new() }
    }

    /// Reserves memory for an entity in both trees, so that later insertions do not allocate.
    pub(super) fn make_room(&mut self, entity: u32) {
        let mut tree = Tree::new();
        for forest in [&mut self.by_start, &mut self.by_finish] {
            forest.insert(&mut tree, entity, 0);
            forest.remove(&mut tree, entity);
        }
    }
}

/// A set of entities that compete with each other.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    /// Virtual time: the service that an ideal server would have given to each unit of weight.
    pub(super) now: Virtual,
    weights: u64,
    waiting: Tree,
    eligible: Tree,
}

impl Timeline {
    pub(super) const fn new() -> Self {
        Self { now: 0, weights: 0, waiting: Tree::new(), eligible: Tree::new() }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.eligible.is_empty()
    }

    /// Adds an entity that wants service from virtual `start` to `finish`.
    pub(super) fn insert(
        &mut self,
        trees: &mut Trees,
        entity: u32,
        (start, finish): (Virtual, Virtual),
        weight: u64,
    ) {
        self.weights += weight;
        if start <= self.now {
            trees.by_finish.insert(&mut self.eligible, entity, finish);
        } else {
            trees.by_start.insert(&mut self.waiting, entity, start);
        }
    }

    /// Removes an entity of the given weight.
    pub(super) fn remove(&mut self, trees: &mut Trees, entity: u32, weight: u64) {
        self.weights -= weight;
        if trees.by_finish.contains(entity) {
            trees.by_finish.remove(&mut self.eligible, entity);
        } else {
            trees.by_start.remove(&mut self.waiting, entity);
        }
    }

    /// Advances virtual time after one of the entities got `sectors` of service.
    pub(super) const fn advance(&mut self, sectors: u64) {
        if self.weights > 0 {
            self.now += worth(sectors, self.weights);
        }
    }

    /// The eligible entity with the smallest virtual finish, as given by `finish`. If no entity is
    /// eligible, virtual time first advances to the earliest start.
    pub(super) fn next(
        &mut self,
        trees: &mut Trees,
        finish: impl Fn(u32) -> Virtual,
    ) -> Option<u32> {
        let first = trees.by_start.first(&self.waiting);
        if self.eligible.is_empty() {
            self.now = self.now.max(trees.by_start.key(first?));
        }
        while let Some(entity) = trees.by_start.first(&self.waiting)
            && trees.by_start.key(entity) <= self.now
        {
            trees.by_start.remove(&mut self.waiting, entity);
            trees.by_finish.insert(&mut self.eligible, entity, finish(entity));
        }
        trees.by_finish.first(&self.eligible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Serves entities with these weights and budgets, all permanently backlogged, and returns the
    /// sectors each got.
    fn serve(entities: &[(u64, u64)], turns: usize) -> Vec<u64> {
        let (mut trees, mut line) = (Trees::new(), Timeline::new());
        let mut finish: Vec<Virtual> = Vec::new();
        for (at, (weight, budget)) in entities.iter().enumerate() {
            finish.push(worth(*budget, *weight));
            line.insert(&mut trees, at as u32, (0, finish[at]), *weight);
        }
        let mut served = alloc::vec![0; entities.len()];
        for _ in 0..turns {
            let at = line.next(&mut trees, |entity| finish[entity as usize]).unwrap();
            let (weight, budget) = entities[at as usize];
            served[at as usize] += budget;
            line.advance(budget);
            line.remove(&mut trees, at, weight);
            let start = finish[at as usize];
            finish[at as usize] = start + worth(budget, weight);
            line.insert(&mut trees, at, (start, finish[at as usize]), weight);
        }
        served
    }

    #[test]
    fn service_is_in_proportion_to_weights_whatever_the_budgets() {
        let served = serve(&[(100, 64), (100, 512), (200, 32), (400, 256)], 20_000);
        let whole: u64 = served.iter().sum();
        for (served, weight) in served.iter().zip([100, 100, 200, 400]) {
            let expected = whole * weight / 800;
            assert!(served.abs_diff(expected) <= 1024, "{served} instead of {expected}");
        }
    }

    #[test]
    fn a_line_that_has_served_all_that_fits_goes_on() {
        let (mut trees, mut line) = (Trees::new(), Timeline::new());
        line.insert(&mut trees, 0, (0, 1), 1);
        (0..3).for_each(|_| line.advance(1 << 43));
        line.insert(&mut trees, 1, (line.now, line.now), 1);
        assert_eq!(line.next(&mut trees, |_| 0), Some(0));
    }

    /// The worst case for a scheduler that looks at finish times only: one heavy entity and many
    /// light ones.
    #[test]
    fn nobody_is_served_before_its_start() {
        let mut entities = alloc::vec![(10, 8)];
        entities.resize(11, (1, 8));
        let served = serve(&entities, 11);
        assert!((5..=6).contains(&(served[0] / 8)), "not all at once: {served:?}");
    }
}

//! What was found out.

use super::attribute::Attributed;
use super::noise::{Noise, is_certain, mean};
use super::{Bisection, FactorSet, Halt, Runs};
use crate::outcome::Spread;

/// What was found out. What a halt left open is empty.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// What was measured at both ends.
    pub ends: Option<Ends>,
    /// What chance does.
    pub noise: Noise,
    /// Changes that were seen to make a difference in some mixture.
    pub suspects: FactorSet,
    /// Whether the search for them came to its end.
    pub is_searched: bool,
    /// How the whole was attributed.
    pub method: Option<Method>,
    /// The suspects' parts, the largest first.
    pub effects: Vec<Effect>,
    /// What all other changes make together.
    pub rest: Option<Rest>,
    /// Pairs of suspects, the strongest first.
    pub pairs: Vec<Pair>,
    /// What to undo.
    pub undo: Option<Undo>,
    /// What a bisection would have answered.
    pub bisection: Option<Bisection>,
    /// Runs of each mixture.
    pub seeds: u32,
    /// How many runs it took.
    pub runs: usize,
    /// Why there were no more.
    pub halt: Option<Halt>,
}

/// What was measured at both ends, seed by seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ends {
    /// At the good end.
    pub good: Vec<f64>,
    /// At the bad end.
    pub bad: Vec<f64>,
    /// Whether they differ by more than chance.
    pub differ: bool,
}

impl Ends {
    /// The good end's mean.
    #[must_use]
    pub fn good_mean(&self) -> f64 {
        mean(&self.good)
    }

    /// The bad end's mean.
    #[must_use]
    pub fn bad_mean(&self) -> f64 {
        mean(&self.bad)
    }

    /// How much more the bad end measures.
    #[must_use]
    pub fn whole(&self) -> f64 {
        self.bad_mean() - self.good_mean()
    }
}

/// How the whole was attributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// From every mixture of the suspects.
    Exact {
        /// How many those are.
        mixtures: usize,
    },
    /// From some orders and their reverses.
    Sampled {
        /// How many.
        pairs_of_orders: usize,
    },
}

/// One change's part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The change.
    pub factor: usize,
    /// Its part of the whole, with the spread over seeds.
    pub part: Spread,
    /// What it does made last: undone in the bad end, with the sign of the change; if measured.
    pub last: Option<f64>,
    /// What it does made before the other suspects; if measured.
    pub first: Option<f64>,
    /// Neither the part nor an interaction is more than chance: nothing is claimed.
    pub is_noise: bool,
}

/// What all changes that are no suspects make together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// The changes.
    pub factors: FactorSet,
    /// Their part.
    pub part: Spread,
    /// It is no more than chance.
    pub is_noise: bool,
}

/// Two changes that do something else together than alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The changes.
    pub factors: [usize; 2],
    /// How much more one adds when the other one is there.
    pub interaction: Spread,
    /// It is no more than chance.
    pub is_noise: bool,
}

/// What to undo in the bad end to get back most of what was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Undo {
    /// The changes.
    pub factors: FactorSet,
    /// What is measured without them.
    pub value: Spread,
    /// How much of the whole comes back, 1 for all of it.
    pub recovers: f64,
    /// Whether that is as much as was asked for.
    pub is_enough: bool,
    /// Whether every smaller set of suspects was run and is not enough.
    pub is_smallest: bool,
}

impl Findings {
    pub(super) fn look_at_ends(&mut self, runs: &Runs<'_>, bad: FactorSet) {
        let ends = (runs.values(FactorSet::EMPTY), runs.values(bad));
        let (Some(good), Some(bad_values)) = ends else { return };
        self.noise = Noise::of(runs, bad);
        self.seeds = runs.seeds();
        let differences = runs.differences(FactorSet::EMPTY, bad).unwrap_or_default();
        let differ = self.noise.is_exceeded(&differences);
        self.ends = Some(Ends { good, bad: bad_values, differ });
    }

    pub(super) fn take(&mut self, runs: &Runs<'_>, found: Attributed) {
        let seeds = runs.seeds();
        let [of_value, of_pair] =
            found.squared_weights.map(|weight| self.noise.limit(seeds, weight));
        // What the sample of orders leaves open is the same in each seed.
        let is_noise = |values: &[f64], of_seeds: f64, of_orders: f64| {
            let size = mean(values).abs();
            size <= of_orders.max(TINY) || size <= of_seeds && !is_certain(values)
        };
        self.method = found.method;
        let [of_orders, of_orders_in_pairs] = &found.order_errors;
        let off = |errors: &[f64], at: usize| ORDER_ERRORS * errors.get(at).copied().unwrap_or(0.0);
        let pair = |(at, (first, second, values)): (usize, &(usize, usize, Vec<f64>))| Pair {
            factors: [*first, *second],
            interaction: Spread::of(values),
            is_noise: is_noise(values, of_pair, off(of_orders_in_pairs, at)),
        };
        self.pairs = found.pairs.iter().enumerate().map(pair).collect();
        let acts_in_pair =
            |factor| self.pairs.iter().any(|pair| !pair.is_noise && pair.factors.contains(&factor));
        let all: FactorSet =
            found.changes.iter().copied().collect::<FactorSet>().union(found.others);
        let mean_of = |from, to| runs.differences(from, to).map(|values| mean(&values));
        let effect = |(at, (factor, values)): (usize, (&usize, &Vec<f64>))| Effect {
            factor: *factor,
            part: Spread::of(values),
            last: mean_of(all.without(*factor), all),
            first: mean_of(found.others, found.others.with(*factor)),
            is_noise: is_noise(values, of_value, off(of_orders, at)) && !acts_in_pair(*factor),
        };
        self.effects = found.changes.iter().zip(&found.values).enumerate().map(effect).collect();
        self.effects.sort_by(|one, other| larger_first(one.part, other.part));
        self.pairs.sort_by(|one, other| larger_first(one.interaction, other.interaction));
        self.rest = (!found.others.is_empty()).then(|| Rest {
            factors: found.others,
            part: Spread::of(&found.rest),
            is_noise: is_noise(&found.rest, self.noise.limit(seeds, 1.0), 0.0),
        });
    }

    /// The changes that are to blame: whose part or interaction is more than chance.
    #[must_use]
    pub fn culprits(&self) -> FactorSet {
        let real = self.effects.iter().filter(|effect| !effect.is_noise);
        real.map(|effect| effect.factor).collect()
    }
}

/// As many standard errors of the sampled orders are chance.
const ORDER_ERRORS: f64 = 4.0;
/// What rounding makes.
const TINY: f64 = 1e-9;

fn larger_first(one: Spread, other: Spread) -> std::cmp::Ordering {
    other.mean.abs().total_cmp(&one.mean.abs())
}

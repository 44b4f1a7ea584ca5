//! The findings of an investigation.

use super::attribute::Attributed;
use super::noise::{Noise, is_certain, mean};
use super::{Bisection, FactorSet, Halt, Runs};
use crate::outcome::Spread;
use schemars::JsonSchema;
use serde::Serialize;

/// The findings of an investigation. Parts that a halt left open are empty.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The measurements at both ends.
    pub ends: Option<Ends>,
    /// The noise of the measurements.
    pub noise: Noise,
    /// Changes that made a difference in some mixture.
    pub suspects: FactorSet,
    /// Whether the search for suspects was completed.
    pub is_searched: bool,
    /// The method of attribution.
    pub method: Option<Method>,
    /// The effects of the suspects, largest first.
    pub effects: Vec<Effect>,
    /// The joint effect of all other changes.
    pub rest: Option<Rest>,
    /// Pairs of suspects, strongest interaction first.
    pub pairs: Vec<Pair>,
    /// The changes to undo.
    pub undo: Option<Undo>,
    /// What a bisection would have answered.
    pub bisection: Option<Bisection>,
    /// The mixtures that were run, each with its values seed by seed.
    pub mixtures: Vec<(FactorSet, Vec<f64>)>,
    /// The number of runs of each mixture.
    pub seeds: u32,
    /// The number of runs in total.
    pub runs: usize,
    /// Why the investigation stopped early; `None` if it did not.
    pub halt: Option<Halt>,
}

/// The measurements at both ends, seed by seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ends {
    /// Values at the good end.
    pub good: Vec<f64>,
    /// Values at the bad end.
    pub bad: Vec<f64>,
    /// Whether the ends differ by more than noise.
    pub differ: bool,
}

impl Ends {
    /// The mean at the good end.
    #[must_use]
    pub fn good_mean(&self) -> f64 {
        mean(&self.good)
    }

    /// The mean at the bad end.
    #[must_use]
    pub fn bad_mean(&self) -> f64 {
        mean(&self.bad)
    }

    /// The whole difference: the mean at the bad end minus that at the good end.
    #[must_use]
    pub fn whole(&self) -> f64 {
        self.bad_mean() - self.good_mean()
    }
}

/// The method of attribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum Method {
    /// Exact: every mixture of the suspects was run.
    Exact {
        /// The number of mixtures.
        mixtures: usize,
    },
    /// Sampled: some orders and their reverses were run.
    Sampled {
        /// The number of pairs of an order and its reverse.
        pairs_of_orders: usize,
    },
}

/// The effect of one change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The change.
    pub factor: usize,
    /// The change's part of the whole, with its spread over seeds.
    pub part: Spread,
    /// The change's effect when made last, from undoing it in the bad end; `None` if not measured.
    pub last: Option<f64>,
    /// The change's effect when made before the other suspects; `None` if not measured.
    pub first: Option<f64>,
    /// Whether neither the part nor any interaction exceeds noise, so that nothing is claimed.
    pub is_noise: bool,
}

impl Effect {
    /// What undoing the change alone does; `None` if not measured.
    pub(super) fn undone(&self) -> Option<f64> {
        // Nothing has no minus, which a negation would give it.
        self.last.map(|last| 0.0 - last)
    }
}

/// The joint effect of all changes that are not suspects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// The changes.
    pub factors: FactorSet,
    /// Their part of the whole.
    pub part: Spread,
    /// Whether the part does not exceed noise.
    pub is_noise: bool,
}

/// Two changes whose joint effect differs from the sum of their separate effects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The two changes.
    pub factors: [usize; 2],
    /// How much more one change adds when the other is present.
    pub interaction: Spread,
    /// Whether the interaction does not exceed noise.
    pub is_noise: bool,
}

/// The changes to undo in the bad end to recover most of the loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Undo {
    /// The changes.
    pub factors: FactorSet,
    /// The measured value without them.
    pub value: Spread,
    /// The fraction of the whole that is recovered; 1 for all of it.
    pub recovers: f64,
    /// Whether that is enough.
    pub is_enough: bool,
    /// Whether every smaller set of suspects was run and found not to be enough.
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
        // The error from sampling orders is the same in each seed.
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

    /// Pairs of changes that act only together: neither does anything alone, and undoing either of
    /// them undoes what both do. Those that need a third one as well are not among them.
    pub fn together(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(move |pair| {
            let size = pair.interaction.mean.abs();
            let is_of_pairs = |factor: usize| {
                let effect = self.effects.iter().find(|one| one.factor == factor);
                effect.is_some_and(|effect| self.acts_in_pairs(effect, size))
            };
            !pair.is_noise && pair.factors.iter().all(|factor| is_of_pairs(*factor))
        })
    }

    /// Whether a change does nothing alone and nothing in threes, beside a pair of this size. Of
    /// what a pair does each has half; of what three do together each has a third, where the means
    /// of its two pairs would give it a half.
    fn acts_in_pairs(&self, effect: &Effect, size: f64) -> bool {
        let pairs = self.pairs.iter().filter(|pair| !pair.is_noise);
        let own = pairs.filter(|pair| pair.factors.contains(&effect.factor));
        let halves: f64 = own.map(|pair| pair.interaction.mean / 2.0).sum();
        effect.first.is_some_and(|alone| {
            alone.abs() <= ALONE * size
                && (effect.part.mean - alone - halves).abs() <= IN_PAIRS * size
        })
    }

    /// The changes to blame: those with a part or an interaction that exceeds noise.
    #[must_use]
    pub fn culprits(&self) -> FactorSet {
        let real = self.effects.iter().filter(|effect| !effect.is_noise);
        real.map(|effect| effect.factor).collect()
    }
}

/// A change acts only together with another one if it does less than this part of their interaction
/// by itself.
const ALONE: f64 = 0.1;
/// A change acts in pairs only if what it does differs from the halves of its interactions by less
/// than this part of one. In threes it differs by a third.
const IN_PAIRS: f64 = 0.2;
/// Effects within this many standard errors from sampling orders count as noise.
const ORDER_ERRORS: f64 = 4.0;
/// Differences up to this size result from rounding.
const TINY: f64 = 1e-9;

fn larger_first(one: Spread, other: Spread) -> std::cmp::Ordering {
    other.mean.abs().total_cmp(&one.mean.abs())
}

//! Attribution of the loss to changes, by Shapley values.
//!
//! The Shapley value of a change is what it adds on average over all orders in which the changes
//! could have been made. The values of all changes sum to the whole difference. The interaction of
//! two changes is how much more one adds when the other is present. Changes without a known effect
//! are made first, all at once.

use super::noise::mean;
use super::runs::{Halt, Runs};
use super::{Design, FactorSet, Findings, Method};
use crate::outcome::Spread;
use fairdisk_core::Prng;

/// The most orders to sample, in pairs of an order and its reverse.
const PAIRS_OF_ORDERS_MAX: usize = 12;
/// The most changes for which values are computed exactly.
const EXACT_MAX: usize = 12;

/// Results for the changes that have an effect, seed by seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributed {
    pub(super) method: Option<Method>,
    /// The changes, by number.
    pub(super) changes: Vec<usize>,
    /// The value of each change in each seed.
    pub(super) values: Vec<Vec<f64>>,
    /// The interaction of each pair of changes in each seed; the smaller change number is first.
    pub(super) pairs: Vec<(usize, usize, Vec<f64>)>,
    /// What all other changes add beforehand, in each seed.
    pub(super) rest: Vec<f64>,
    /// The other changes.
    pub(super) others: FactorSet,
    /// Standard errors of values and of interactions that result from sampling orders.
    pub(super) order_errors: [Vec<f64>; 2],
    /// Sums of the squared weights of the differences that make up a value and an interaction.
    pub(super) squared_weights: [f64; 2],
}

/// Measures what is needed, and attributes the whole to the changes in `active` and to the others.
pub(super) fn attribute(
    runs: &mut Runs<'_>,
    design: &Design,
    active: FactorSet,
) -> Result<Attributed, Halt> {
    let game = Game::new(design, active);
    let mixtures = 1_usize << game.changes.len().min(EXACT_MAX + 1);
    let sets: Vec<FactorSet> = match game.changes.len() {
        0..=EXACT_MAX => (0..mixtures).map(|mask| game.set(mask)).collect(),
        _ => Vec::new(),
    };
    // The rest of the budget is kept for what to undo and for bisections.
    let affordable = runs.cost(&sets) <= runs.left() * 9 / 10;
    if affordable && !sets.is_empty() {
        runs.need(&sets)?;
        return Ok(game.exact(runs));
    }
    let orders = game.sample(runs, design)?;
    Ok(game.sampled(runs, &orders))
}

/// The attribution recomputed from what has been measured.
pub(super) fn again(runs: &Runs<'_>, design: &Design, findings: &Findings) -> Attributed {
    let game = Game::new(design, findings.suspects);
    match findings.method {
        Some(Method::Sampled { pairs_of_orders }) => {
            game.sampled(runs, &game.orders(design, pairs_of_orders))
        }
        _ => game.exact(runs),
    }
}

/// The changes between the mixture with all other changes made and the bad end.
struct Game {
    changes: Vec<usize>,
    others: FactorSet,
}

impl Game {
    fn new(design: &Design, active: FactorSet) -> Self {
        let others = FactorSet::first(design.factors).minus(active);
        Self { changes: active.iter().collect(), others }
    }

    /// The mixture with the changes whose bits are set in `mask`.
    fn set(&self, mask: usize) -> FactorSet {
        let made = self.changes.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1);
        made.fold(self.others, |set, (_, change)| set.with(*change))
    }

    fn rest(&self, runs: &Runs<'_>) -> Vec<f64> {
        runs.differences(FactorSet::EMPTY, self.others).unwrap_or_default()
    }

    // ---- exactly -------------------------------------------------------------------------------

    fn exact(&self, runs: &Runs<'_>) -> Attributed {
        let count = self.changes.len();
        let seeds = runs.seeds() as usize;
        let table: Vec<Vec<f64>> =
            (0..1 << count).map(|mask| runs.values(self.set(mask)).unwrap_or_default()).collect();
        // The fraction of all orders in which a given change comes after `n` given others.
        let weights: Vec<f64> =
            (0..count).map(|n| 1.0 / (count as f64 * choose(count - 1, n))).collect();
        let of_pair: Vec<f64> = (0..count.max(1) - 1)
            .map(|n| 1.0 / ((count - 1) as f64 * choose(count - 2, n)))
            .collect();
        let mut attributed = self.nothing(runs, Method::Exact { mixtures: 1 << count });
        for first in 0..count {
            let mut value = vec![0.0; seeds];
            for mask in (0..1_usize << count).filter(|mask| mask >> first & 1 == 0) {
                let weight = weights[mask.count_ones() as usize];
                add(&mut value, weight, &table[mask | 1 << first], &table[mask]);
            }
            attributed.values.push(value);
            for second in first + 1..count {
                let both = 1 << first | 1 << second;
                let mut value = vec![0.0; seeds];
                for mask in (0..1_usize << count).filter(|mask| mask & both == 0) {
                    let weight = of_pair[mask.count_ones() as usize];
                    add(&mut value, weight, &table[mask | both], &table[mask | 1 << first]);
                    add(&mut value, weight, &table[mask], &table[mask | 1 << second]);
                }
                attributed.pairs.push((self.changes[first], self.changes[second], value));
            }
        }
        let squares = |weights: &[f64], n: usize| -> f64 {
            weights.iter().enumerate().map(|(at, weight)| weight * weight * choose(n, at)).sum()
        };
        attributed.squared_weights =
            [squares(&weights, count.max(1) - 1), 2.0 * squares(&of_pair, count.max(2) - 2)];
        attributed
    }

    fn nothing(&self, runs: &Runs<'_>, method: Method) -> Attributed {
        Attributed {
            method: Some(method),
            changes: self.changes.clone(),
            rest: self.rest(runs),
            others: self.others,
            squared_weights: [1.0; 2],
            ..Attributed::default()
        }
    }

    // ---- from sampled orders -------------------------------------------------------------------

    /// This many random orders, each followed by its reverse.
    fn orders(&self, design: &Design, pairs: usize) -> Vec<Vec<usize>> {
        let mut prng = Prng::new(design.seed).fork(3);
        let pair = |_| {
            let mut order: Vec<usize> = (0..self.changes.len()).collect();
            prng.shuffle(&mut order);
            let reversed = order.iter().rev().copied().collect();
            [order, reversed]
        };
        (0..pairs).flat_map(pair).collect()
    }

    /// The mixtures along an order, including both ends.
    fn steps(&self, order: &[usize]) -> Vec<FactorSet> {
        let mut set = self.others;
        let mut steps = vec![set];
        for change in order {
            set = set.with(self.changes[*change]);
            steps.push(set);
        }
        steps
    }

    /// Measures orders while the budget lasts, and at least one pair of them.
    fn sample(&self, runs: &mut Runs<'_>, design: &Design) -> Result<Vec<Vec<usize>>, Halt> {
        let orders = self.orders(design, PAIRS_OF_ORDERS_MAX);
        // The rest of the budget checks what to undo, but a single pair does not show the sampling
        // error.
        let kept = runs.left() / 3;
        let mut measured = Vec::new();
        for (at, pair) in orders.chunks(2).enumerate() {
            let sets: Vec<FactorSet> = pair.iter().flat_map(|order| self.steps(order)).collect();
            let kept = if at > 1 { kept } else { 0 };
            if at > 0 && runs.cost(&sets) > runs.left().saturating_sub(kept) {
                break;
            }
            runs.need(&sets)?;
            measured.extend_from_slice(pair);
        }
        Ok(measured)
    }

    fn sampled(&self, runs: &Runs<'_>, orders: &[Vec<usize>]) -> Attributed {
        let whole = self.of_orders(runs, orders);
        // The error follows from how much the pairs of an order and its reverse differ; with a
        // single pair, from how much its two orders differ.
        let is_alone = orders.len() == 2;
        let parts = orders.chunks(if is_alone { 1 } else { 2 });
        let parts: Vec<Attributed> = parts.map(|part| self.of_orders(runs, part)).collect();
        let error = |of: &dyn Fn(&Attributed) -> f64| {
            let estimates: Vec<f64> = parts.iter().map(of).collect();
            Spread::of(&estimates).sd / (parts.len() as f64).sqrt()
        };
        let values = (0..whole.values.len()).map(|at| error(&|part| mean(&part.values[at])));
        // An interaction shows only in both orders of a pair, so a single pair gives no error for
        // it.
        let pairs = (0..whole.pairs.len()).map(|at| match is_alone {
            true => f64::INFINITY,
            false => error(&|part| mean(&part.pairs[at].2)),
        });
        let order_errors = [values.collect(), pairs.collect()];
        Attributed { order_errors, ..whole }
    }

    /// The estimates from these orders; an order and its reverse are always together.
    fn of_orders(&self, runs: &Runs<'_>, orders: &[Vec<usize>]) -> Attributed {
        let (count, seeds) = (self.changes.len(), runs.seeds() as usize);
        let method = Method::Sampled { pairs_of_orders: orders.len() / 2 };
        let mut attributed = self.nothing(runs, method);
        attributed.values = vec![vec![0.0; seeds]; count];
        let part = 1.0 / orders.len() as f64;
        // What a change adds with another one already present, and without it; an order and its
        // reverse have one case each.
        let mut given = vec![vec![vec![0.0; seeds]; count]; count];
        for order in orders {
            let steps = self.steps(order);
            for (at, change) in order.iter().enumerate() {
                let Some(adds) = runs.differences(steps[at], steps[at + 1]) else { continue };
                let none = vec![0.0; seeds];
                add(&mut attributed.values[*change], part, &adds, &none);
                for (when, other) in order.iter().enumerate().filter(|other| *other.1 != *change) {
                    let sign = if when < at { 2.0 } else { -2.0 };
                    add(&mut given[*change][*other], sign * part, &adds, &none);
                }
            }
        }
        for (second, beside) in given.iter().enumerate() {
            for (first, other) in beside.iter().enumerate().take(second) {
                let both = other.iter().zip(&given[first][second]);
                let value = both.map(|(one, other)| (one + other) / 2.0).collect();
                attributed.pairs.push((self.changes[first], self.changes[second], value));
            }
        }
        attributed.squared_weights = [part, 4.0 * part];
        attributed
    }
}

/// Adds the weighted difference, seed by seed.
fn add(sum: &mut [f64], weight: f64, plus: &[f64], minus: &[f64]) {
    for (sum, (plus, minus)) in sum.iter_mut().zip(plus.iter().zip(minus)) {
        *sum += weight * (plus - minus);
    }
}

/// The binomial coefficient: ways to choose `k` out of `n`.
fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64)
}

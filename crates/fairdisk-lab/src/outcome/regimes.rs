//! Regimes: whether the runs of a row fall into two kinds, so that their mean is a figure that no
//! run had.
//!
//! The runs are split at the largest gap between neighbouring values. They are two regimes if that
//! gap is much wider than what lies on either side of it, if neither side is a few outliers, and if
//! the gap is large enough to matter. Of runs that scatter evenly or normally, one ensemble in 150
//! of eight runs is taken for two regimes, one in 800 of ten, and fewer of more.

use schemars::JsonSchema;
use serde::Serialize;

/// The fewest runs of which regimes are told; of fewer, chance makes gaps like that.
const RUNS_MIN: usize = 8;
/// The fewest runs of a regime, and the part of all runs it has at least, as one in so many.
const REGIME_RUNS_MIN: usize = 2;
const REGIME_PART: usize = 10;
/// How many times as wide as the wider regime the gap between them is at least.
const GAP_WIDTHS: f64 = 3.0;
/// How large a part of the mean the gap is at least.
const GAP_OF_MEAN: f64 = 0.1;

/// The runs of one regime.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Regime {
    /// The number of its runs.
    pub runs: usize,
    /// Its lowest value.
    pub min: f64,
    /// Its highest value.
    pub max: f64,
    /// The mean of its values.
    pub mean: f64,
}

/// The two regimes of an ensemble; the one with more runs first, of equal ones the one with the
/// higher values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regimes(pub [Regime; 2]);

impl Regime {
    fn of(sorted: &[f64]) -> Option<Self> {
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        Some(Self { runs: sorted.len(), min, max, mean })
    }

    fn width(&self) -> f64 {
        self.max - self.min
    }

    /// Its values, as one number if they look like one.
    fn words(&self, number: &impl Fn(f64) -> String) -> String {
        let [min, max] = [self.min, self.max].map(number);
        if min == max { min } else { format!("{min} to {max}") }
    }
}

impl Regimes {
    /// The regimes of the values of an ensemble's runs, if they fall into two.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < RUNS_MIN || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let gap = |at: usize| sorted[at] - sorted[at - 1];
        let at = (1..sorted.len()).max_by(|one, two| gap(*one).total_cmp(&gap(*two)))?;
        let (low, high) = (Regime::of(&sorted[..at])?, Regime::of(&sorted[at..])?);
        let runs_min = REGIME_RUNS_MIN.max(values.len().div_ceil(REGIME_PART));
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let is_split = low.runs.min(high.runs) >= runs_min
            && gap(at) >= GAP_WIDTHS * low.width().max(high.width())
            && gap(at) > GAP_OF_MEAN * mean.abs();
        is_split.then_some(match low.runs > high.runs {
            true => Self([low, high]),
            false => Self([high, low]),
        })
    }

    /// Both in words, such as "1909 MB/s in 13 of 20 runs, 640 to 665 in 7".
    #[must_use]
    pub fn words(&self, unit: &str, number: impl Fn(f64) -> String) -> String {
        let [first, second] = &self.0;
        let all = first.runs + second.runs;
        let gap = if unit.is_empty() { "" } else { " " };
        format!(
            "{}{gap}{unit} in {} of {all} runs, {} in {}",
            first.words(&number),
            first.runs,
            second.words(&number),
            second.runs
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;

    /// So many runs from one value to another.
    fn runs(from: f64, to: f64, count: u32) -> Vec<f64> {
        let step = (to - from) / f64::from(count.max(2) - 1);
        (0..count).map(|at| from + step * f64::from(at)).collect()
    }

    #[test]
    fn two_regimes_are_told_and_nothing_else_is() {
        let both = |one: Vec<f64>, two: Vec<f64>| [one, two].concat();
        let table = [
            ("far apart", both(runs(1909.0, 1909.0, 13), runs(640.0, 665.0, 7)), Some([13, 7])),
            ("half and half", both(runs(10.0, 11.0, 4), runs(20.0, 21.0, 4)), Some([4, 4])),
            ("a tenth of many", both(runs(90.0, 100.0, 18), runs(40.0, 50.0, 2)), Some([18, 2])),
            ("none or some", both(runs(0.0, 0.0, 5), runs(3.0, 3.0, 5)), Some([5, 5])),
            ("losses and gains", both(runs(-52.0, -50.0, 5), runs(1.0, 2.0, 4)), Some([5, 4])),
            ("all alike", runs(7.0, 7.0, 20), None),
            ("all nothing", runs(0.0, 0.0, 20), None),
            ("evenly spread", runs(100.0, 200.0, 20), None),
            ("one outlier", both(runs(100.0, 110.0, 19), vec![900.0]), None),
            ("two of thirty", both(runs(100.0, 110.0, 28), runs(900.0, 910.0, 2)), None),
            ("too few runs", both(runs(10.0, 10.0, 4), runs(20.0, 20.0, 3)), None),
            ("a gap like the spread", both(runs(10.0, 20.0, 10), runs(40.0, 50.0, 10)), None),
            ("of no account", both(runs(100.0, 100.0, 10), runs(101.0, 101.0, 10)), None),
            ("not a number", both(runs(1.0, 1.0, 10), vec![f64::NAN; 10]), None),
            ("nothing", Vec::new(), None),
        ];
        for (name, values, expected) in table {
            let found = Regimes::of(&values).map(|both| both.0.map(|regime| regime.runs));
            assert_eq!(found, expected, "{name}: {values:?}");
            let mut mixed = values.clone();
            Prng::new(1).shuffle(&mut mixed);
            assert_eq!(Regimes::of(&mixed), Regimes::of(&values), "{name}: in any order");
        }
    }

    /// The rates that are stated above, and in the documents.
    #[test]
    fn chance_is_seldom_taken_for_regimes() {
        let mut prng = Prng::new(43);
        let mut even = || prng.below(1 << 32) as f64 / (1u64 << 32) as f64;
        for (runs, one_in) in [(8, 150), (10, 800)] {
            let ensembles = 50_000;
            let found = (0..ensembles)
                .filter(|_| Regimes::of(&(0..runs).map(|_| even()).collect::<Vec<_>>()).is_some())
                .count();
            let (most, least) = (ensembles / one_in * 13 / 10, ensembles / one_in / 3);
            assert!((least..=most).contains(&found), "{found} of {ensembles} of {runs} runs");
        }
    }

    #[test]
    fn regimes_are_worded_as_figures_and_runs() {
        let values = [vec![1909.2; 13], runs(640.0, 665.0, 7)].concat();
        let regimes = Regimes::of(&values).expect("there are two");
        let words = regimes.words("MB/s", |value| format!("{value:.0}"));
        assert_eq!(words, "1909 MB/s in 13 of 20 runs, 640 to 665 in 7");
    }
}

//! Noise: how large a difference between two mixtures can be by chance.

use super::{FactorSet, Runs};
use crate::outcome::Spread;

/// The noise of differences between mixtures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Variance of the difference between two mixtures in one seed.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub freedom: f64,
    /// The smallest difference of interest, whether it is noise or not.
    pub least: f64,
}

/// Differences of interest are at least this fraction of the larger end.
const LEAST: f64 = 0.01;
/// Differences of interest are at least this fraction of the difference between the ends.
const LEAST_OF_WHOLE: f64 = 0.03;
/// The least number of values that show their own spread.
const OWN_LEAST: f64 = 5.0;
/// The quantile of the normal distribution that one of 50,000 differences exceeds by chance.
const QUANTILE: f64 = 4.26;

impl Noise {
    /// Estimates the noise from all runs: the residuals after subtracting the mean of each mixture
    /// and the common effect of each seed.
    #[must_use]
    pub fn of(runs: &Runs<'_>, bad: FactorSet) -> Self {
        let [from, to] = [FactorSet::EMPTY, bad].map(|set| runs.mean(set).unwrap_or(0.0));
        let least = LEAST * from.abs().max(to.abs());
        let least = least.max(LEAST_OF_WHOLE * (to - from).abs());
        let mixtures: Vec<Vec<f64>> = runs.distinct().into_iter().map(around_mean).collect();
        let seeds = runs.seeds() as usize;
        let freedom = (mixtures.len().saturating_sub(1) * (seeds - 1)) as f64;
        let squares = |seed: usize| -> f64 {
            let values: Vec<f64> = mixtures.iter().map(|mixture| mixture[seed]).collect();
            around_mean(values).iter().map(|value| value.powi(2)).sum()
        };
        let squares: f64 = (0..seeds).map(squares).sum();
        let variance = if freedom > 0.0 { 2.0 * squares / freedom } else { 0.0 };
        Self { variance, freedom, least }
    }

    /// The standard deviation of one run.
    #[must_use]
    pub fn of_one_run(&self) -> f64 {
        (self.variance / 2.0).sqrt()
    }

    /// The standard error of the difference between two mixtures with `seeds` runs each.
    #[must_use]
    pub fn error(&self, seeds: u32) -> f64 {
        (self.variance / f64::from(seeds)).sqrt()
    }

    /// The size below which a weighted sum of differences is noise, given the sum of the squared
    /// weights and that each difference is the mean of `seeds` runs.
    #[must_use]
    pub fn limit(&self, seeds: u32, squared_weights: f64) -> f64 {
        match self.freedom {
            0.0 => f64::INFINITY,
            freedom => quantile(freedom) * self.error(seeds) * squared_weights.sqrt(),
        }
    }

    /// Whether these differences between two mixtures, seed by seed, are significant and of
    /// interest.
    #[must_use]
    pub fn is_exceeded(&self, differences: &[f64]) -> bool {
        let (size, limit) = (mean(differences).abs(), self.limit(differences.len() as u32, 1.0));
        size > self.least && (size > limit || is_certain(differences))
    }
}

/// Whether these values, one per seed, are significant by their own spread alone. If some mixtures
/// are far noisier than others, the common variance hides what the others show.
pub(super) fn is_certain(values: &[f64]) -> bool {
    let (n, Spread { mean, sd }) = (values.len() as f64, Spread::of(values));
    n >= OWN_LEAST && mean.abs() > quantile(n - 1.0) * sd / n.sqrt()
}

/// The deviations of the values from their mean.
fn around_mean(values: Vec<f64>) -> Vec<f64> {
    let mean = mean(&values);
    values.iter().map(|value| value - mean).collect()
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Quantiles of Student's distribution for 3, 4, … degrees of freedom.
const QUANTILES_OF_FEW: [f64; 6] = [47.93, 23.33, 15.55, 12.03, 10.10, 8.907];
const FEWEST: f64 = 3.0;

/// The quantile of Student's distribution, for many degrees of freedom by the Cornish–Fisher
/// expansion. For one or two degrees of freedom, that of three is used: otherwise no search could
/// start with two runs of each end, and more runs follow before much is claimed. Without any, the
/// noise is unknown and could be of any size.
fn quantile(freedom: f64) -> f64 {
    if freedom < 1.0 {
        return f64::INFINITY;
    }
    if let Some(quantile) = QUANTILES_OF_FEW.get((freedom.max(FEWEST) - FEWEST) as usize) {
        return *quantile;
    }
    let (z, n) = (QUANTILE, freedom);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / n.powi(2) + third / n.powi(3)
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // The two-sided 0.00002 quantile, for infinite, 20 and 10 degrees of freedom.
        assert!((quantile(1e9) - 4.26).abs() < 0.01);
        assert!((quantile(20.0) - 5.6).abs() < 0.2, "{}", quantile(20.0));
        assert!((quantile(10.0) - 7.5).abs() < 0.5, "{}", quantile(10.0));
        assert!((quantile(9.0) - 8.1).abs() < 0.2, "{}", quantile(9.0));
        assert!((quantile(8.0) - 8.9).abs() < 0.1 && (quantile(3.0) - 47.9).abs() < 0.1);
        assert_eq!(quantile(1.0), quantile(3.0));
        assert!(quantile(0.0).is_infinite(), "nothing is known of chance");
    }
}

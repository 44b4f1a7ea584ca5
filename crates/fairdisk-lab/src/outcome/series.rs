//! A figure of the runs of a row, one value for each seed.

use super::{Regimes, Spread};

/// A figure of each run of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; 0 for a single run.
    pub sd: f64,
    /// The figure of each run, in order of seeds; empty where single runs are not known.
    pub each: Vec<f64>,
}

impl Series {
    /// The figures of runs.
    #[must_use]
    pub fn of(each: Vec<f64>) -> Self {
        let Spread { mean, sd } = Spread::of(&each);
        Self { mean, sd, each }
    }

    /// Only a mean; what single runs had is not known.
    pub(crate) const fn of_mean(mean: f64) -> Self {
        Self { mean, sd: 0.0, each: Vec::new() }
    }

    /// The two regimes that the runs fall into, if they do.
    #[must_use]
    pub fn regimes(&self) -> Option<Regimes> {
        Regimes::of(&self.each)
    }
}

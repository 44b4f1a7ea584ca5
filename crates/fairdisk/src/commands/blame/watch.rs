//! Progress of an investigation: a bar with an estimate, and the saving of finished runs.

use super::state::State;
use crate::failure::Failure;
use crate::progress;
use fairdisk_lab::blame::{FactorSet, Sample, Watch};
use indicatif::{HumanDuration, ProgressBar};

/// Shows progress, and saves each run in the `--resume` file, if there is one.
pub(super) struct Progress {
    bar: ProgressBar,
    state: Option<State>,
}

impl Progress {
    /// A progress of at most `runs` runs.
    pub(super) fn new(runs: usize, quiet: bool, state: Option<State>) -> Self {
        Self { bar: progress::bar(runs as u64, quiet), state }
    }

    /// Removes the bar.
    ///
    /// # Errors
    /// A run could not be saved.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        self.state.map_or(Ok(()), State::close)
    }
}

impl Watch for Progress {
    fn measured(&self, set: FactorSet, seed: u32, sample: Sample) {
        if let Some(state) = &self.state {
            state.keep(set, seed, sample);
        }
    }

    fn progress(&self, done: usize, expected: usize, what: &str) {
        progress::show(&self.bar, done as u64, expected as u64);
        let left = HumanDuration(self.bar.eta());
        self.bar.set_message(format!("runs at most: {what}, {left:#} left at most"));
    }
}

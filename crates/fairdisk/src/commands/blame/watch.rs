//! Progress of an investigation: a bar with an estimate, and the saving of finished runs.

use super::state::State;
use crate::progress;
use fairdisk_lab::blame::{FactorSet, Sample, Watch};
use indicatif::{HumanDuration, ProgressBar};
use std::io;
use std::sync::{Mutex, PoisonError};

/// Shows progress, and saves each run in the `--resume` file, if there is one.
pub(super) struct Progress {
    bar: ProgressBar,
    state: Option<State>,
    /// The error of the first run that could not be saved.
    failed: Mutex<Option<io::Error>>,
}

impl Progress {
    /// A progress of at most `runs` runs.
    pub(super) fn new(runs: usize, quiet: bool, state: Option<State>) -> Self {
        Self { bar: progress::bar(runs as u64, quiet), state, failed: Mutex::default() }
    }

    /// Removes the bar.
    ///
    /// # Errors
    /// A run could not be saved.
    pub(super) fn finish(self) -> io::Result<()> {
        self.bar.finish_and_clear();
        self.failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

impl Watch for Progress {
    fn measured(&self, set: FactorSet, seed: u32, sample: Sample) {
        let Some(Err(error)) = self.state.as_ref().map(|state| state.keep(set, seed, sample))
        else {
            return;
        };
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn progress(&self, done: usize, expected: usize, what: &str) {
        progress::show(&self.bar, done as u64, expected as u64);
        let left = HumanDuration(self.bar.eta());
        self.bar.set_message(format!("runs at most: {what}, {left:#} left at most"));
    }
}

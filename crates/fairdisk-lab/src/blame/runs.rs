//! The runs of an investigation. Each mixture is measured once with each seed, on all cores and
//! within a budget. Decisions never depend on the order in which runs were done.

use super::{Design, FACTORS_MAX, FactorSet};
use crate::threads::on_threads;
use fairdisk_core::Prng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Something that can be measured in any mixture.
pub trait Measure: Sync {
    /// Runs the mixture in which the factors of `set` have their bad value.
    ///
    /// # Errors
    /// Returns an error if the mixture cannot be measured.
    fn measure(&self, set: FactorSet, seed: u32) -> Result<Sample, String>;

    /// The smallest mixture that behaves like `set`: a change whose prerequisite is missing has no
    /// effect.
    fn effective(&self, set: FactorSet) -> FactorSet {
        set
    }
}

/// The result of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The measured value.
    pub value: f64,
    /// A hash of everything that happened, if there is one. Runs with equal hashes did the same.
    pub trace: Option<u64>,
}

/// A listener that is told about the progress.
pub trait Watch: Sync {
    /// Reports a new run.
    fn measured(&self, set: FactorSet, seed: u32, sample: Sample);
    /// Reports how many runs are done, about how many will be needed, and what they are for.
    fn progress(&self, done: usize, expected: usize, what: &str);
}

/// Why no more runs are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The budget is used up.
    Budget,
    /// The user interrupted.
    Interrupted,
    /// A run failed, with this message.
    Failed(String),
}

/// All runs so far.
pub struct Runs<'a> {
    measure: &'a dyn Measure,
    watch: &'a dyn Watch,
    stop: &'a AtomicBool,
    known: BTreeMap<(FactorSet, u32), Sample>,
    prior: BTreeMap<(FactorSet, u32), Sample>,
    seeds: u32,
    limit: usize,
    threads: usize,
    shuffle: Option<Prng>,
    what: &'static str,
}

impl<'a> Runs<'a> {
    /// No runs yet, except those of `prior`, which need not be done.
    pub fn new(
        measure: &'a dyn Measure,
        design: &Design,
        prior: Vec<(FactorSet, u32, Sample)>,
        watch: &'a dyn Watch,
        stop: &'a AtomicBool,
    ) -> Self {
        assert!(design.factors <= FACTORS_MAX && design.seeds > 0, "{design:?}");
        Self {
            measure,
            watch,
            stop,
            known: BTreeMap::new(),
            prior: prior.into_iter().map(|(set, seed, sample)| ((set, seed), sample)).collect(),
            seeds: design.seeds,
            limit: design.runs,
            threads: design.threads.max(1),
            shuffle: design.is_real.then(|| Prng::new(design.seed).fork(2)),
            what: "",
        }
    }

    /// Limits the total number of runs.
    pub(super) const fn limit(&mut self, runs: usize) {
        self.limit = runs;
    }

    /// Announces what the next runs are for.
    pub(super) fn tell(&mut self, what: &'static str) {
        self.what = what;
        self.watch.progress(self.used(), self.limit.max(self.used()), what);
    }

    /// The number of runs done.
    #[must_use]
    pub fn used(&self) -> usize {
        self.known.len()
    }

    /// The number of runs left in the budget.
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.used())
    }

    /// The number of runs of each mixture.
    pub(super) const fn seeds(&self) -> u32 {
        self.seeds
    }

    /// The number of runs needed to know all of `sets`.
    pub(super) fn cost(&self, sets: &[FactorSet]) -> usize {
        self.missing(&self.all_seeds(sets)).len()
    }

    /// Runs these mixtures with all seeds, as far as they have not been run.
    pub(super) fn need(&mut self, sets: &[FactorSet]) -> Result<(), Halt> {
        self.need_single(&self.all_seeds(sets))
    }

    fn all_seeds(&self, sets: &[FactorSet]) -> Vec<(FactorSet, u32)> {
        // Seed by seed, so that changes over time affect all mixtures alike.
        (0..self.seeds).flat_map(|seed| sets.iter().map(move |set| (*set, seed))).collect()
    }

    /// The wanted runs that have not been done, each once.
    fn missing(&self, wanted: &[(FactorSet, u32)]) -> Vec<(FactorSet, u32)> {
        let mut seen = BTreeMap::new();
        let effective = wanted.iter().map(|(set, seed)| (self.measure.effective(*set), *seed));
        effective
            .filter(|run| !self.known.contains_key(run) && seen.insert(*run, ()).is_none())
            .collect()
    }

    /// Runs these mixtures with these seeds, as far as they have not been run.
    pub(super) fn need_single(&mut self, wanted: &[(FactorSet, u32)]) -> Result<(), Halt> {
        let mut missing = self.missing(wanted);
        if missing.len() > self.left() {
            return Err(Halt::Budget);
        }
        missing.retain(|run| match self.prior.get(run) {
            Some(sample) => self.known.insert(*run, *sample).is_some(),
            None => true,
        });
        if let Some(prng) = &mut self.shuffle {
            let blocks = missing.chunk_by_mut(|one, next| one.1 == next.1);
            blocks.for_each(|block| prng.shuffle(block));
        }
        self.run_all(&missing)
    }

    fn run_all(&mut self, jobs: &[(FactorSet, u32)]) -> Result<(), Halt> {
        let results = Mutex::new(vec![None; jobs.len()]);
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(self.used()));
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(&(set, seed)) = jobs.get(at) else { return };
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                let result = self.measure.measure(set, seed);
                // A run that was interrupted has no result.
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(sample) = &result {
                    self.watch.measured(set, seed, *sample);
                }
                let failed = result.is_err();
                results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                self.watch.progress(done, self.limit, self.what);
                if failed {
                    next.store(jobs.len(), Ordering::Relaxed);
                }
            }
        };
        on_threads(self.threads.min(jobs.len()), work);
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.take(jobs, results)
    }

    fn take(
        &mut self,
        jobs: &[(FactorSet, u32)],
        results: Vec<Option<Result<Sample, String>>>,
    ) -> Result<(), Halt> {
        let mut halt = Ok(());
        for (job, result) in jobs.iter().zip(results) {
            match result {
                Some(Ok(sample)) => {
                    self.known.insert(*job, sample);
                }
                Some(Err(message)) => return Err(Halt::Failed(message)),
                None => halt = Err(Halt::Interrupted),
            }
        }
        halt
    }

    /// Does one more run of each fully measured mixture, if the budget allows. Returns whether it
    /// did.
    pub(super) fn more_seeds(&mut self) -> Result<bool, Halt> {
        let last = self.seeds - 1;
        let sets = self.known.keys().filter(|run| run.1 == last).map(|run| run.0);
        let sets: Vec<FactorSet> = sets.filter(|set| self.values(*set).is_some()).collect();
        let runs: Vec<_> = sets.iter().map(|set| (*set, self.seeds)).collect();
        if self.missing(&runs).len() > self.left() {
            return Ok(false);
        }
        self.need_single(&runs)?;
        self.seeds += 1;
        Ok(true)
    }

    /// Reduces the number of runs of each mixture to what all of `sets` have, if they have any: the
    /// other mixtures are no longer needed.
    pub(super) fn settle_for_less(&mut self, sets: &[FactorSet]) {
        let has = |seed: &u32| sets.iter().all(|set| self.sample(*set, *seed).is_some());
        let seeds = (0..self.seeds).take_while(has).count() as u32;
        self.seeds = if seeds > 0 { seeds } else { self.seeds };
    }

    /// The value of one run.
    #[must_use]
    pub fn value(&self, set: FactorSet, seed: u32) -> Option<f64> {
        self.sample(set, seed).map(|sample| sample.value)
    }

    fn sample(&self, set: FactorSet, seed: u32) -> Option<&Sample> {
        self.known.get(&(self.measure.effective(set), seed))
    }

    /// The mixtures that were run, each with its values seed by seed.
    pub(super) fn mixtures(&self) -> Vec<(FactorSet, Vec<f64>)> {
        let mut mixtures: BTreeMap<FactorSet, Vec<f64>> = BTreeMap::new();
        for ((set, _), sample) in &self.known {
            mixtures.entry(*set).or_default().push(sample.value);
        }
        mixtures.into_iter().collect()
    }

    /// The values of all runs of a mixture, seed by seed; `None` if one is missing.
    #[must_use]
    pub fn values(&self, set: FactorSet) -> Option<Vec<f64>> {
        (0..self.seeds).map(|seed| self.value(set, seed)).collect()
    }

    /// The mean of a mixture's runs.
    #[must_use]
    pub fn mean(&self, set: FactorSet) -> Option<f64> {
        let values = self.values(set)?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The difference between `to` and `from`, seed by seed.
    pub(super) fn differences(&self, from: FactorSet, to: FactorSet) -> Option<Vec<f64>> {
        let (from, to) = (self.values(from)?, self.values(to)?);
        Some(from.iter().zip(&to).map(|(from, to)| to - from).collect())
    }

    /// A mixture that did the same as `set` in its first run: preferably a fully measured one, else
    /// the first. `set` itself if nothing is known.
    pub(super) fn alike(&self, set: FactorSet) -> FactorSet {
        let effective = self.measure.effective(set);
        let Some(trace) = self.sample(set, 0).and_then(|sample| sample.trace) else {
            return effective;
        };
        let same = |(run, sample): (&(FactorSet, u32), &Sample)| {
            (run.1 == 0 && sample.trace == Some(trace)).then_some(run.0)
        };
        let same: Vec<FactorSet> = self.known.iter().filter_map(same).collect();
        let whole = same.iter().find(|set| self.values(**set).is_some());
        whole.or(same.first()).copied().unwrap_or(effective)
    }

    /// The values of all fully measured mixtures; of those that did the same, only one.
    pub(super) fn distinct(&self) -> Vec<Vec<f64>> {
        let mut seen = BTreeSet::new();
        let first = self.known.keys().filter(|run| run.1 == 0).map(|run| run.0);
        let mut is_new = |set: &FactorSet| {
            let trace = |seed| self.sample(*set, seed).and_then(|sample| sample.trace);
            let traces: Option<Vec<u64>> = (0..self.seeds).map(trace).collect();
            traces.is_none_or(|traces| seen.insert(traces))
        };
        first.filter(|set| is_new(set)).filter_map(|set| self.values(set)).collect()
    }
}

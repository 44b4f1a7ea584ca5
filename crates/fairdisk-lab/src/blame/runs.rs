//! The runs: each mixture and seed is measured once, on all cores, within a budget. What is decided
//! from them never depends on which of them was done first.

use super::{Design, FACTORS_MAX, FactorSet};
use fairdisk_core::Prng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What a run of a mixture comes to.
pub trait Measure: Sync {
    /// Runs the mixture in which the factors of `set` have their bad value.
    ///
    /// # Errors
    /// It cannot be measured.
    fn measure(&self, set: FactorSet, seed: u32) -> Result<Sample, String>;

    /// The smallest mixture that does the same as `set`: a change whose prerequisite is missing
    /// does nothing.
    fn effective(&self, set: FactorSet) -> FactorSet {
        set
    }
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// What was measured.
    pub value: f64,
    /// A hash of everything that happened, if there is one: two runs with the same did the same.
    pub trace: Option<u64>,
}

/// Whoever is told how it goes on.
pub trait Watch: Sync {
    /// A run is done that had not been done before.
    fn measured(&self, set: FactorSet, seed: u32, sample: Sample);
    /// So many runs are done, and about so many will be needed; what they are for.
    fn progress(&self, done: usize, expected: usize, what: &str);
}

/// Why no more runs are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The budget is used up.
    Budget,
    /// Somebody interrupted.
    Interrupted,
    /// A run failed.
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
    /// None yet, but those of `prior` need not be done.
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

    /// From now on no more than so many, of all.
    pub(super) const fn limit(&mut self, runs: usize) {
        self.limit = runs;
    }

    /// What the next ones are for.
    pub(super) fn tell(&mut self, what: &'static str) {
        self.what = what;
        self.watch.progress(self.used(), self.limit.max(self.used()), what);
    }

    /// How many there are.
    #[must_use]
    pub fn used(&self) -> usize {
        self.known.len()
    }

    /// How many more there may be.
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.used())
    }

    /// Runs of each mixture.
    pub(super) const fn seeds(&self) -> u32 {
        self.seeds
    }

    /// How many runs it takes to know all of `sets`.
    pub(super) fn cost(&self, sets: &[FactorSet]) -> usize {
        self.missing(&self.all_seeds(sets)).len()
    }

    /// Runs these mixtures with all seeds, as far as that has not been done.
    pub(super) fn need(&mut self, sets: &[FactorSet]) -> Result<(), Halt> {
        self.need_single(&self.all_seeds(sets))
    }

    fn all_seeds(&self, sets: &[FactorSet]) -> Vec<(FactorSet, u32)> {
        // Seed by seed: what changes with time is then the same for all mixtures.
        (0..self.seeds).flat_map(|seed| sets.iter().map(move |set| (*set, seed))).collect()
    }

    /// Those not yet done, each once.
    fn missing(&self, wanted: &[(FactorSet, u32)]) -> Vec<(FactorSet, u32)> {
        let mut seen = BTreeMap::new();
        let effective = wanted.iter().map(|(set, seed)| (self.measure.effective(*set), *seed));
        effective
            .filter(|run| !self.known.contains_key(run) && seen.insert(*run, ()).is_none())
            .collect()
    }

    /// Runs these mixtures with these seeds, as far as that has not been done.
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
                // A run that was interrupted has measured nothing.
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
        thread::scope(|scope| {
            (1..self.threads.min(jobs.len())).for_each(|_| {
                scope.spawn(work);
            });
            work();
        });
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

    /// One more run of each mixture that has all of its runs, if the budget allows it.
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

    /// Takes as many runs of each mixture as there are of all of `sets`, if there are any: nobody
    /// waits for the others.
    pub(super) fn settle_for_less(&mut self, sets: &[FactorSet]) {
        let has = |seed: &u32| sets.iter().all(|set| self.sample(*set, *seed).is_some());
        let seeds = (0..self.seeds).take_while(has).count() as u32;
        self.seeds = if seeds > 0 { seeds } else { self.seeds };
    }

    /// What one run came to.
    #[must_use]
    pub fn value(&self, set: FactorSet, seed: u32) -> Option<f64> {
        self.sample(set, seed).map(|sample| sample.value)
    }

    fn sample(&self, set: FactorSet, seed: u32) -> Option<&Sample> {
        self.known.get(&(self.measure.effective(set), seed))
    }

    /// What all runs of a mixture came to, seed by seed; `None` if one is missing.
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

    /// How much more `to` measures than `from`, seed by seed.
    pub(super) fn differences(&self, from: FactorSet, to: FactorSet) -> Option<Vec<f64>> {
        let (from, to) = (self.values(from)?, self.values(to)?);
        Some(from.iter().zip(&to).map(|(from, to)| to - from).collect())
    }

    /// A mixture that did the same in its first run: of those that did, one with all of its runs,
    /// if there is one, the first of them; itself where nobody knows.
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

    /// What all runs of each mixture came to, of those that did the same only once.
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

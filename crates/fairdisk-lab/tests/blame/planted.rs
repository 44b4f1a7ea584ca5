//! Regressions with planted causes: the measured value is a sum of terms, each of which is present
//! when all of its changes are made, plus noise.

use fairdisk_core::Prng;
use fairdisk_lab::blame::{
    Design, FactorSet, Findings, Measure, Sample, Watch, blame as investigate,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The measured value without any change.
pub(crate) const BASE: f64 = 1000.0;

/// An artificial regression.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planted {
    pub(crate) factors: usize,
    /// The terms: changes, and what is added, as a fraction of the base, when all of them are made.
    pub(crate) terms: Vec<(FactorSet, f64)>,
    /// The standard deviation of a run, as a fraction of the base.
    pub(crate) noise: f64,
    /// Whether runs have a trace, so that mixtures that differ only in idle changes have equal
    /// traces.
    pub(crate) traced: bool,
    /// Pairs of changes of which the second has no effect without the first.
    pub(crate) needs: Vec<(usize, usize)>,
}

impl Planted {
    /// The changes that have an effect.
    pub(crate) fn causes(&self) -> FactorSet {
        self.terms.iter().fold(FactorSet::EMPTY, |all, term| all.union(term.0))
    }

    fn noise(&self, set: FactorSet, seed: u32) -> (f64, u64) {
        let relevant = if self.traced { set.minus(set.minus(self.causes())) } else { set };
        let start = relevant
            .iter()
            .fold(u64::from(seed) << 32, |hash, factor| Prng::new(hash ^ factor as u64).next_u64());
        let mut prng = Prng::new(start);
        // The sum of twelve uniform numbers is approximately normal.
        let sum: f64 = (0..12).map(|_| prng.below(1 << 32) as f64 / (1_u64 << 32) as f64).sum();
        (BASE * self.noise * (sum - 6.0), start)
    }
}

impl Measure for Planted {
    fn measure(&self, set: FactorSet, seed: u32) -> Result<Sample, String> {
        let made = |changes: &FactorSet| changes.minus(set).is_empty();
        let parts = self.terms.iter().filter(|(changes, _)| made(changes));
        let sum: f64 = parts.map(|(_, part)| part).sum();
        let (noise, trace) = self.noise(set, seed);
        Ok(Sample { value: BASE * (1.0 + sum) + noise, trace: self.traced.then_some(trace) })
    }

    fn effective(&self, set: FactorSet) -> FactorSet {
        let idle = self.needs.iter().filter(|(needed, _)| !set.contains(*needed));
        idle.fold(set, |set, (_, factor)| set.without(*factor))
    }
}

/// Records the measurements it is told of.
#[derive(Debug, Default)]
pub(crate) struct Log(pub(crate) Mutex<Vec<(FactorSet, u32, Sample)>>);

impl Watch for Log {
    fn measured(&self, set: FactorSet, seed: u32, sample: Sample) {
        self.0.lock().unwrap().push((set, seed, sample));
    }

    fn progress(&self, done: usize, expected: usize, what: &str) {
        assert!(done <= expected && !what.is_empty(), "{done} of {expected}, {what}");
    }
}

/// Interrupts after this many runs.
pub(crate) struct Interrupter<'a>(pub(crate) usize, pub(crate) &'a AtomicBool, pub(crate) Log);

impl Watch for Interrupter<'_> {
    fn measured(&self, set: FactorSet, seed: u32, sample: Sample) {
        self.2.measured(set, seed, sample);
        if self.2.0.lock().unwrap().len() >= self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }

    fn progress(&self, _: usize, _: usize, _: &str) {}
}

pub(crate) fn design(factors: usize) -> Design {
    Design { factors, seeds: 2, seeds_max: 5, runs: 1000, seed: 1, threads: 1, is_real: false }
}

pub(crate) fn blame(planted: &Planted, design: &Design) -> Findings {
    let stop = AtomicBool::new(false);
    investigate(planted, design, Vec::new(), &Log::default(), &stop).unwrap()
}

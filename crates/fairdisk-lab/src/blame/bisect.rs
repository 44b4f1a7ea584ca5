//! What a bisection would have answered: a walk along the order of the changes, in which each run
//! is called good or bad by whether it lies above or below the middle of both ends.

use super::runs::{Halt, Runs};
use super::{FactorSet, Findings};

/// As many are done at least, each with a seed of its own: one alone looks as if it were sure.
const BISECTIONS_MIN: u32 = 3;

/// What bisections answer, one for each seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    /// The way of each of them.
    pub ways: Vec<Vec<Step>>,
    /// The change each of them names.
    pub answers: Vec<usize>,
    /// How much of the whole comes back when an answer is undone in the bad end, for each different
    /// answer, in order.
    pub recovers: Vec<(usize, f64)>,
    /// The run nearest to the middle: how far it was off, in standard deviations of one run; `None`
    /// if runs do not differ.
    pub nearest_sd: Option<f64>,
}

/// One run of a bisection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// So many changes were made.
    pub changes: usize,
    /// What was measured.
    pub value: f64,
    /// Whether it was called bad.
    pub is_bad: bool,
}

/// A bisection that is under way.
struct Way {
    seed: u32,
    /// Good with so many changes, bad with so many.
    bounds: [usize; 2],
    steps: Vec<Step>,
}

/// Bisects with each seed. `None` if there is nothing to bisect.
pub(super) fn bisect(
    runs: &mut Runs<'_>,
    factors: usize,
    findings: &Findings,
) -> Result<Option<Bisection>, Halt> {
    let Some(ends) = findings.ends.as_ref().filter(|ends| ends.differ && factors > 0) else {
        return Ok(None);
    };
    let middle = (ends.good_mean() + ends.bad_mean()) / 2.0;
    let is_bad = |value: f64| (value > middle) == (ends.whole() > 0.0);
    let mut ways: Vec<Way> = (0..runs.seeds().max(BISECTIONS_MIN))
        .map(|seed| Way { seed, bounds: [0, factors], steps: Vec::new() })
        .collect();
    loop {
        let next: Vec<(FactorSet, u32)> = ways
            .iter()
            .filter(|way| way.bounds[1] - way.bounds[0] > 1)
            .map(|way| (FactorSet::first(way.middle()), way.seed))
            .collect();
        if next.is_empty() {
            break;
        }
        runs.need_single(&next)?;
        for way in ways.iter_mut().filter(|way| way.bounds[1] - way.bounds[0] > 1) {
            let changes = way.middle();
            let Some(value) = runs.value(FactorSet::first(changes), way.seed) else { continue };
            let bad = is_bad(value);
            way.bounds[usize::from(bad)] = changes;
            way.steps.push(Step { changes, value, is_bad: bad });
        }
    }
    let answers: Vec<usize> = ways.iter().map(|way| way.bounds[0]).collect();
    let recovers = undone(runs, factors, findings, &answers)?;
    let off = |step: &Step| (step.value - middle).abs() / findings.noise.of_one_run();
    let nearest = ways.iter().flat_map(|way| &way.steps).map(off).min_by(f64::total_cmp);
    Ok(Some(Bisection {
        answers,
        recovers,
        nearest_sd: nearest.filter(|off| off.is_finite()),
        ways: ways.into_iter().map(|way| way.steps).collect(),
    }))
}

impl Way {
    const fn middle(&self) -> usize {
        usize::midpoint(self.bounds[0], self.bounds[1])
    }
}

/// What comes back when each of the answers is undone alone.
fn undone(
    runs: &mut Runs<'_>,
    factors: usize,
    findings: &Findings,
    answers: &[usize],
) -> Result<Vec<(usize, f64)>, Halt> {
    let bad = FactorSet::first(factors);
    let different: Vec<usize> = answers.iter().copied().collect::<FactorSet>().iter().collect();
    let sets: Vec<FactorSet> = different.iter().map(|answer| bad.without(*answer)).collect();
    runs.need(&sets)?;
    let whole = findings.ends.as_ref().map_or(0.0, super::Ends::whole);
    let back = |set: &FactorSet| Some((runs.mean(*set)? - runs.mean(bad)?) / -whole);
    Ok(different.into_iter().zip(&sets).filter_map(|(at, set)| Some((at, back(set)?))).collect())
}

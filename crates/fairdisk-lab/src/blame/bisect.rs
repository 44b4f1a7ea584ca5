//! Simulated bisections: what a bisection would have answered. It walks along the changes in order
//! and calls each run good or bad by its side of the midpoint between both ends.

use super::runs::{Halt, Runs};
use super::{FactorSet, Findings};
use schemars::JsonSchema;
use serde::Serialize;

/// The least number of bisections, each with its own seed: a single one would look certain.
const BISECTIONS_MIN: u32 = 3;

/// The answers of bisections, one per seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    /// The steps of each bisection.
    pub ways: Vec<Vec<Step>>,
    /// The change that each bisection names.
    pub answers: Vec<usize>,
    /// For each distinct answer, in order: the change, and the fraction of the whole that is
    /// recovered by undoing it in the bad end.
    pub recovers: Vec<(usize, f64)>,
    /// The distance of the closest run from the midpoint, in standard deviations of one run; `None`
    /// if runs do not vary.
    pub nearest_sd: Option<f64>,
}

/// One run of a bisection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// The number of changes made.
    #[serde(rename = "changes_made")]
    pub changes: usize,
    /// The measured value.
    pub value: f64,
    /// Whether the run was called bad.
    #[serde(rename = "bad")]
    pub is_bad: bool,
}

/// A bisection in progress.
struct Way {
    seed: u32,
    /// The largest number of changes called good, and the smallest called bad.
    bounds: [usize; 2],
    steps: Vec<Step>,
}

/// Runs a bisection with each seed; `None` if there is nothing to bisect.
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

/// The fraction recovered by undoing each of the answers alone.
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

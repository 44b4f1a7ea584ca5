//! The smallest set of changes to undo in the bad end to recover most of the loss.

use super::runs::{Halt, Runs};
use super::{Ends, FactorSet, Findings, Undo};
use crate::outcome::Spread;

/// The fraction of the whole that must be recovered.
const ENOUGH: f64 = 0.95;
/// A recovery lower by up to this many standard errors still counts as enough,
const ERRORS: f64 = 2.0;
/// but lower by no more than this fraction of the whole.
const LESS_MAX: f64 = 0.05;
/// The most sets of one size to run.
const SETS_MAX: usize = 400;

/// Searches among the suspects, smallest sets first, and records the result.
pub(super) fn undo(
    runs: &mut Runs<'_>,
    bad: FactorSet,
    findings: &mut Findings,
) -> Result<(), Halt> {
    let Some(ends) = findings.ends.clone().filter(|ends| ends.differ) else { return Ok(()) };
    let suspects: Vec<usize> = findings.effects.iter().map(|effect| effect.factor).collect();
    if suspects.is_empty() {
        return Ok(());
    }
    let everything = [suspects.iter().copied().collect::<FactorSet>()];
    runs.need(&everything.map(|set| bad.minus(set)))?;
    let chance = ERRORS * findings.noise.error(runs.seeds()) / ends.whole().abs();
    let chance = chance.min(LESS_MAX);
    let best = |runs: &Runs<'_>, sets: &[FactorSet]| best(runs, bad, &ends, sets, chance);
    findings.undo = best(runs, &everything);
    if findings.undo.as_ref().is_none_or(|undo| !undo.is_enough) {
        return Ok(());
    }
    for size in 1..suspects.len() {
        let sets = subsets(&suspects, size);
        let mixtures: Vec<FactorSet> = sets.iter().map(|set| bad.minus(*set)).collect();
        if sets.len() > SETS_MAX || runs.cost(&mixtures) > runs.left() * 9 / 10 {
            let start = findings.undo.clone();
            findings.undo = reduce(runs, bad, &suspects, &best, start)?;
            return Ok(());
        }
        runs.need(&mixtures)?;
        if let Some(undo) = best(runs, &sets).filter(|undo| undo.is_enough) {
            findings.undo = Some(Undo { is_smallest: true, ..undo });
            return Ok(());
        }
    }
    if let Some(undo) = &mut findings.undo {
        undo.is_smallest = true;
    }
    Ok(())
}

/// Reduces a sufficient set when not all sets can be run: removes the suspects with the smallest
/// parts one by one, as long as the rest suffices.
fn reduce(
    runs: &mut Runs<'_>,
    bad: FactorSet,
    suspects: &[usize],
    best: &dyn Fn(&Runs<'_>, &[FactorSet]) -> Option<Undo>,
    start: Option<Undo>,
) -> Result<Option<Undo>, Halt> {
    let Some(mut found) = start else { return Ok(None) };
    // Suspects are sorted by part.
    for suspect in suspects.iter().rev() {
        let fewer = [found.factors.without(*suspect)];
        if runs.cost(&fewer.map(|set| bad.minus(set))) > runs.left() {
            break;
        }
        runs.need(&fewer.map(|set| bad.minus(set)))?;
        if let Some(undo) = best(runs, &fewer).filter(|undo| undo.is_enough) {
            found = undo;
        }
    }
    Ok(Some(found))
}

/// The set whose undoing recovers most.
fn best(
    runs: &Runs<'_>,
    bad: FactorSet,
    ends: &Ends,
    sets: &[FactorSet],
    chance: f64,
) -> Option<Undo> {
    let tried = sets.iter().filter_map(|set| {
        let value = Spread::of(&runs.values(bad.minus(*set))?);
        let recovers = (value.mean - ends.bad_mean()) / -ends.whole();
        let is_enough = recovers + chance >= ENOUGH;
        Some(Undo { factors: *set, value, recovers, is_enough, is_smallest: false })
    });
    tried.reduce(|best, next| if next.recovers > best.recovers { next } else { best })
}

/// All subsets of this size, or one more than [`SETS_MAX`] of them.
fn subsets(items: &[usize], size: usize) -> Vec<FactorSet> {
    let mut found = Vec::new();
    collect(items, size, FactorSet::EMPTY, &mut found);
    found
}

fn collect(items: &[usize], size: usize, set: FactorSet, found: &mut Vec<FactorSet>) {
    if size == 0 {
        found.push(set);
        return;
    }
    for (at, item) in items.iter().enumerate() {
        if found.len() > SETS_MAX || items.len() - at < size {
            return;
        }
        collect(&items[at + 1..], size - 1, set.with(*item), found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_are_all_there_up_to_a_limit() {
        let sets = subsets(&[3, 5, 9, 11], 2);
        assert_eq!(sets.len(), 6);
        assert!(sets.iter().all(|set| set.len() == 2));
        let many: Vec<usize> = (0..30).collect();
        assert_eq!(subsets(&many, 5).len(), SETS_MAX + 1);
    }
}

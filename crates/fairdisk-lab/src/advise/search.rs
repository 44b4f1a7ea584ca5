//! The search strategy: which configuration to try after one that does not grant every wish.

use super::wish::{Kind, Wish, weight};
use super::{Party, Tried};
use crate::compare::Cell;
use fairdisk_core::{Rates, Share, Weight};
use fairdisk_sim::GroupSpec;
use std::num::NonZeroU64;

/// Rounds in which weights are raised before ceilings are tried.
const WEIGHT_ROUNDS: u32 = 2;
/// The factor by which a weight is raised in one round.
const GROWTH: u32 = 3;
/// The fraction of its rate that a group without wishes keeps in a round of ceilings.
const LEFT: f64 = 0.6;

/// The settings to try after `one`; `None` if nothing is left to try.
///
/// A floor that is missed, and takes from others the share they wish for, is dropped: it is in
/// vain. Otherwise the weights of groups whose wishes were not granted are raised first. After
/// that, if a latency target or a floor is missed, the other groups get ceilings, because weights
/// do not shorten the queue inside a disk, and a scheduler may know ceilings and no weights.
pub(super) fn next(one: &Tried, wishes: &[Wish], parties: &[Party]) -> Option<Vec<GroupSpec>> {
    let Tried { round, honours, groups: specs, verdicts, cell, .. } = one;
    // Of a floor that was dropped nothing more is expected.
    let is_dropped =
        |wish: &Wish| wish.kind == Kind::Floor && specs[wish.group].qos.floor.is_none();
    let missed = || {
        let missed = wishes.iter().zip(verdicts).filter(|(_, verdict)| !verdict.met);
        missed.filter(|(wish, _)| !is_dropped(wish))
    };
    let mut changed = specs.clone();
    if honours.floors && missed().any(|(_, verdict)| verdict.contradicts.is_some()) {
        for (wish, _) in missed().filter(|(wish, _)| wish.kind == Kind::Floor) {
            changed[wish.group].qos.floor = Rates::NONE;
        }
        if changed != *specs {
            return Some(changed);
        }
    }
    if *round < WEIGHT_ROUNDS && honours.shares {
        let is_seen = |at: usize| parties[at].is_seen(&specs[at], honours);
        // No weight gets a group beyond what other wishes leave it.
        let grows = missed().filter(|(_, verdict)| verdict.contradicts.is_none());
        let grows = grows.map(|(wish, _)| wish);
        let grows = grows.filter(|wish| wish.kind != Kind::Ceiling && is_seen(wish.group));
        let mut groups: Vec<usize> = grows.map(|wish| wish.group).collect();
        groups.sort_unstable();
        groups.dedup();
        if let Some(raised) = raised(specs, &groups, honours.weights) {
            return Some(raised);
        }
    }
    let needs_room = |wish: &Wish| matches!(wish.kind, Kind::Latency | Kind::Fsync | Kind::Floor);
    if honours.ceilings && missed().any(|(wish, _)| needs_room(wish)) {
        let wishes_much =
            |at: usize| wishes.iter().any(|wish| wish.group == at && wish.kind != Kind::Share);
        for (at, spec) in changed.iter_mut().enumerate().filter(|(at, _)| !wishes_much(*at)) {
            let Some(rate) = rate(cell, at) else { continue };
            spec.qos.ceiling.iops = NonZeroU64::new((rate * LEFT) as u64).or(NonZeroU64::new(1));
        }
    }
    (changed != *specs).then_some(changed)
}

/// The settings with the weights of `groups` raised; `None` if a scheduler that tells weights from
/// `least` to `most` apart would see no difference. Where a raised weight would lie beyond, all
/// weights become smaller in proportion.
fn raised(
    specs: &[GroupSpec],
    groups: &[usize],
    [least, most]: [u32; 2],
) -> Option<Vec<GroupSpec>> {
    let mut weights: Vec<u32> = specs.iter().map(weight).collect();
    for at in groups {
        weights[*at] *= GROWTH;
    }
    let heaviest = weights.iter().copied().max().unwrap_or(most).max(most);
    let mut changed = specs.to_vec();
    let mut is_seen = false;
    for (spec, raised) in changed.iter_mut().zip(weights) {
        let fits = (u64::from(raised) * u64::from(most) / u64::from(heaviest)) as u32;
        let (before, after) = (weight(spec), fits.clamp(least, most));
        is_seen |= after != before.clamp(least, most);
        if after != before {
            spec.share = Weight::new(after).map_or(Share::DEFAULT, Share::Weight);
        }
    }
    is_seen.then_some(changed)
}

/// The settings with only this part of the floor of the group with index `at`; without it if that
/// is less than one I/O a second. `None` if the group has no floor.
pub(super) fn lowered(specs: &[GroupSpec], at: usize, part: f64) -> Option<Vec<GroupSpec>> {
    let mut changed = specs.to_vec();
    let floor = &mut changed.get_mut(at)?.qos.floor;
    if floor.is_none() {
        return None;
    }
    // Rounded down twice, the scheduler's sum and this one, the part may be refused once more; then
    // what is left is one less, and in the end there is none.
    let less = |rate: NonZeroU64| {
        let fits = ((rate.get() as f64 * part) as u64).min(rate.get() - 1);
        NonZeroU64::new(fits)
    };
    floor.iops = floor.iops.and_then(less);
    floor.bytes_per_s = floor.bytes_per_s.and_then(less);
    Some(changed)
}

/// I/Os per second of the group with index `at`; `None` if it has no tasks, since cells leave out
/// groups without tasks.
fn rate(cell: &Cell, at: usize) -> Option<f64> {
    let group = cell.groups.iter().find(|group| group.at == at)?;
    Some(group.outcome.ios.mean / cell.duration_s.max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights after each of three rounds in which the wish of the first group is not granted.
    fn rounds(weights: [u32; 2], range: [u32; 2]) -> Vec<[u32; 2]> {
        let group = |weight| {
            let share = Share::Weight(Weight::new(weight).expect("it is one"));
            GroupSpec { share, ..GroupSpec::default() }
        };
        let mut specs = weights.map(group).to_vec();
        let mut out = Vec::new();
        while let Some(next) = (out.len() < 3).then(|| raised(&specs, &[0], range)).flatten() {
            out.push([weight(&next[0]), weight(&next[1])]);
            specs = next;
        }
        out
    }

    #[test]
    fn a_weight_grows_and_beyond_the_range_the_others_become_smaller() {
        let wide = rounds([400, 100], [1, 10_000]);
        assert_eq!(wide, [[1200, 100], [3600, 100], [10_000, 92]]);
        assert_eq!(rounds([400, 100], [1, 1000]), [[1000, 83], [1000, 27], [1000, 9]]);
        // Nothing is tried again that the scheduler cannot tell from what was tried.
        assert_eq!(rounds([400, 100], [20, 200]), [[200, 20]]);
    }
}

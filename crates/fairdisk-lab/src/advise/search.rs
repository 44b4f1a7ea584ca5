//! The search strategy: which configuration to try after one that does not grant every wish.

use super::wish::{Kind, Wish, weight};
use super::{Party, Tried};
use crate::compare::Cell;
use fairdisk_core::{Share, Weight};
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
/// First, the weights of groups whose wishes were not granted are raised. After that, if a latency
/// target is missed, the other groups get ceilings, because weights do not shorten the queue inside
/// a disk.
pub(super) fn next(one: &Tried, wishes: &[Wish], parties: &[Party]) -> Option<Vec<GroupSpec>> {
    let Tried { round, honours, groups: specs, verdicts, cell, .. } = one;
    let missed = || wishes.iter().zip(verdicts).filter(|(_, verdict)| !verdict.met);
    let is_seen = |at: usize| parties[at].is_seen(&specs[at], honours);
    let mut changed = specs.clone();
    if *round < WEIGHT_ROUNDS && honours.shares {
        let of_weight = |wish: &Wish| wish.kind != Kind::Ceiling && is_seen(wish.group);
        for (wish, _) in missed().filter(|(wish, _)| of_weight(wish)) {
            let grown = (weight(&specs[wish.group]) * GROWTH).min(Weight::MAX);
            changed[wish.group].share = Weight::new(grown).map_or(Share::DEFAULT, Share::Weight);
        }
    } else if honours.ceilings && missed().any(|(wish, _)| wish.kind == Kind::Latency) {
        let wishes_much =
            |at: usize| wishes.iter().any(|wish| wish.group == at && wish.kind != Kind::Share);
        for (at, spec) in changed.iter_mut().enumerate().filter(|(at, _)| !wishes_much(*at)) {
            let Some(rate) = rate(cell, at) else { continue };
            spec.qos.ceiling.iops = NonZeroU64::new((rate * LEFT) as u64).or(NonZeroU64::new(1));
        }
    }
    (changed != *specs).then_some(changed)
}

/// I/Os per second of the group with index `at`; `None` if it has no tasks, since cells leave out
/// groups without tasks.
fn rate(cell: &Cell, at: usize) -> Option<f64> {
    let group = cell.groups.iter().find(|group| group.at == at)?;
    Some(group.outcome.ios / cell.duration_s.max(1e-9))
}

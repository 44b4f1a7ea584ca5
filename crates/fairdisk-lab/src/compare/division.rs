//! The division of a disk's work: what part each group is entitled to, and what part it got.

use super::CellGroup;
use super::demand::{Demands, Rate};
use super::entitled::{Claim, entitlements};
use super::promise::Promises;
use crate::outcome::{GroupOutcome, RowOutcome, part};
use crate::plan::{GroupLabel, Loaded, pauses};
use crate::run::Ensemble;
use fairdisk_core::{Rates, WeightMap};

/// Fractions of the total work of all groups.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// The part that a group is entitled to.
    pub asked: f64,
    /// The part that it would be entitled to if no group had a floor.
    pub but_for_floors: f64,
    /// The part that it would be entitled to if no group had a floor or a ceiling.
    pub by_weight: f64,
    /// The part that it got.
    pub got: f64,
}

impl Parts {
    /// The difference between what the group got and what it asked for, in percentage points.
    #[must_use]
    pub fn error_points(&self) -> f64 {
        (self.got - self.asked) * 100.0
    }

    /// What the group got as a part of what it asked for: 1 if that is the same; `None` if it asked
    /// for nothing.
    #[must_use]
    pub fn got_of_asked(&self) -> Option<f64> {
        (self.asked > 0.0).then(|| self.got / self.asked)
    }
}

/// The work of an ensemble's runs, as its groups are entitled to it and as they got it.
pub(super) struct Division<'a> {
    loaded: &'a Loaded,
    ensemble: &'a Ensemble,
    demands: &'a Demands,
    /// What each group got.
    pub(super) rates: Vec<Rate>,
    /// What each group is entitled to, in work per second: by all that it asks for, without any
    /// floors, and without any floors and ceilings.
    asked: [Vec<f64>; 3],
    /// What the floors of all groups take, in work per second.
    pub(super) floors: f64,
    has_tasks: Vec<bool>,
}

impl<'a> Division<'a> {
    pub(super) fn new(loaded: &'a Loaded, ensemble: &'a Ensemble, demands: &'a Demands) -> Self {
        let rates: Vec<Rate> = (0..loaded.groups.len())
            .map(|at| Rate::of(&ensemble.runs, |run| &run.groups[at]))
            .collect();
        let claims = claims(loaded, &rates, &|at| demands.of(ensemble.row, at));
        let amount = work(&rates);
        let entitled = |claims: &[Claim]| match claims.len() {
            // A single group is entitled to everything, whatever it asks for.
            1 => vec![amount],
            _ => entitlements(claims, amount),
        };
        let but_for_floors: Vec<Claim> =
            claims.iter().map(|claim| Claim { floor: 0.0, ..claim.clone() }).collect();
        let uncapped = |claim: &Claim| Claim { ceiling: f64::INFINITY, ..claim.clone() };
        let by_weight: Vec<Claim> = but_for_floors.iter().map(uncapped).collect();
        let asked = [&claims, &but_for_floors, &by_weight].map(|claims| entitled(claims));
        let has_tasks = claims.iter().map(|claim| claim.demand.is_some()).collect();
        let floors = floors(&claims);
        Self { loaded, ensemble, demands, rates, asked, floors, has_tasks }
    }

    /// The groups with tasks.
    pub(super) fn groups(&self, row: &RowOutcome) -> Vec<CellGroup> {
        let groups = row.groups.iter().take(self.rates.len()).cloned().enumerate();
        let groups = groups.filter(|(at, _)| self.has_tasks[*at]);
        groups.map(|(at, outcome)| self.group(at, outcome, &[at])).collect()
    }

    /// The parts of the groups with tasks, in the order of the load.
    pub(super) fn parts_of_each(&self) -> Vec<Option<Parts>> {
        let parts = |at: usize| self.has_tasks[at].then(|| self.parts(&[at])).flatten();
        (0..self.rates.len()).map(parts).collect()
    }

    /// The groups without tasks in which others lie.
    pub(super) fn outer(&self, row: &RowOutcome) -> Vec<CellGroup> {
        let members = self.loaded.numbers().members(&self.loaded.groups);
        let outer = (0..self.rates.len()).filter(|at| !self.has_tasks[*at]).filter_map(|at| {
            let inner = members[at].iter().copied().filter(|member| self.has_tasks[*member]);
            let inner: Vec<usize> = inner.collect();
            let parts = inner.iter().map(|member| &row.groups[*member]);
            let outcome = GroupOutcome::together(&self.loaded.groups[at].name, parts)?;
            Some(self.group(at, outcome, &inner))
        });
        outer.collect()
    }

    /// The group with this index, to which its `members` with tasks belong.
    fn group(&self, at: usize, outcome: GroupOutcome, members: &[usize]) -> CellGroup {
        let promises = Promises::new(
            &self.loaded.groups[at].spec.qos,
            &self.ensemble.runs,
            at,
            [&outcome.latency, &outcome.directions.flush.latency],
            self.demands.of(self.ensemble.row, at),
        );
        CellGroup { at, parts: self.parts(members), promises, outcome }
    }

    /// The parts of all work that these groups have together; `None` if there was none.
    fn parts(&self, members: &[usize]) -> Option<Parts> {
        let amount = work(&self.rates);
        let [asked, but_for_floors, by_weight] = [0, 1, 2].map(|at| {
            let all = &self.asked[at];
            part(members.iter().map(|member| all[*member]).sum(), all.iter().sum())
        });
        let got = part(members.iter().map(|member| self.rates[*member].work).sum(), amount);
        (amount > 0.0).then_some(Parts { asked, but_for_floors, by_weight, got })
    }
}

/// What groups got together, in work per second.
pub(super) fn work(rates: &[Rate]) -> f64 {
    rates.iter().map(|rate| rate.work).sum()
}

/// What each group asks for, in work per second.
fn claims(loaded: &Loaded, rates: &[Rate], alone: &dyn Fn(usize) -> Option<Rate>) -> Vec<Claim> {
    let all_members = loaded.numbers().members(&loaded.groups);
    let all_tasks = loaded.tasks_by_group();
    let claim = |(at, label): (usize, &GroupLabel)| {
        let spec = &label.spec;
        let members = &all_members[at];
        // The cost of the group's requests here; if none was served here, their cost when alone.
        let here = sum(members.iter().map(|member| rates[*member]));
        let served = match here.ios > 0.0 {
            true => here,
            false => sum(members.iter().filter_map(|member| alone(*member))),
        };
        // Without any served request, the cost is unknown. If there were some, it may well be
        // nothing: a write cache that took all of them had no work with them yet.
        let cost = (served.ios > 0.0).then(|| served.cost());
        let worth = |rates: &Rates| rate_work(rates, cost?);
        let tasks = &all_tasks[at];
        let demand = (!tasks.is_empty()).then(|| {
            let pauses = tasks.iter().all(|task| pauses(task));
            alone(at).map_or(f64::INFINITY, |alone| demand(&rates[at], &alone, pauses))
        });
        let (floor, ceiling) = (worth(&spec.qos.floor), worth(&spec.qos.ceiling));
        Claim {
            weight: spec.share.weight(WeightMap::LinearHigh0).get().into(),
            parent: spec.parent.and_then(|group| loaded.numbers().place(group)),
            demand,
            floor: floor.map_or(0.0, |[least, most]| least.max(most)),
            ceiling: ceiling.map_or(f64::INFINITY, |[least, _]| least),
        }
    };
    loaded.groups.iter().enumerate().map(claim).collect()
}

/// The work that the floors of all groups take together. Those inside a group are part of its own.
fn floors(claims: &[Claim]) -> f64 {
    let mut all: Vec<f64> = claims.iter().map(|claim| claim.floor).collect();
    let depth = |at: usize| {
        core::iter::successors(claims[at].parent, |outer| claims[*outer].parent).count()
    };
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_by_key(|at| core::cmp::Reverse(depth(*at)));
    let mut inside = vec![0.0; claims.len()];
    let mut outermost = 0.0;
    for at in order {
        all[at] = all[at].max(inside[at]);
        match claims[at].parent {
            Some(outer) => inside[outer] += all[at],
            None => outermost += all[at],
        }
    }
    outermost
}

/// The work that a group can use, given what it got `here` and its rate when `alone`: as many I/Os
/// as when alone, at their cost here. If it does not always pause, it may do more I/Os where they
/// cost less. It can use at least what it got.
fn demand(here: &Rate, alone: &Rate, pauses: bool) -> f64 {
    let [cost, _] = if here.ios > 0.0 { here.cost() } else { alone.cost() };
    let of_ios = alone.ios * cost;
    let most = if pauses { of_ios } else { of_ios.max(alone.work) };
    most.max(here.work)
}

/// The work that a rate of I/Os and a rate of bytes are worth, smaller one first; `None` if neither
/// rate is set.
fn rate_work(rates: &Rates, [of_io, of_byte]: [f64; 2]) -> Option<[f64; 2]> {
    let ios = rates.iops.map(|rate| rate.get() as f64 * of_io);
    let bytes = rates.bytes_per_s.map(|rate| rate.get() as f64 * of_byte);
    let (one, other) = (ios.or(bytes)?, bytes.or(ios)?);
    Some([one.min(other), one.max(other)])
}

fn sum(rates: impl Iterator<Item = Rate>) -> Rate {
    rates.fold(Rate::default(), |sum, rate| Rate {
        ios: sum.ios + rate.ios,
        bytes: sum.bytes + rate.bytes,
        work: sum.work + rate.work,
        p99_ms: None,
        fsync_p99_ms: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_group_can_use_is_what_it_does_alone_at_what_that_costs_here() {
        let rate = |ios: f64, work: f64| Rate { ios, work, ..Rate::default() };
        let alone = rate(30.0, 0.3);
        let used = |here: Rate| [false, true].map(|pauses| demand(&here, &alone, pauses));
        let same = |[one, two]: [f64; 2], [other, last]: [f64; 2]| {
            assert!((one - other).abs() < 1e-9 && (two - last).abs() < 1e-9, "{one} {two}");
        };
        // At half the cost, a group that pauses does no more I/Os.
        same(used(rate(20.0, 0.1)), [0.3, 0.15]);
        same(used(rate(20.0, 0.4)), [0.6, 0.6]);
        // A group that got more here than when alone can use that.
        same(used(rate(90.0, 0.45)), [0.45, 0.45]);
        // No I/O of the group was done here.
        same(used(rate(0.0, 0.0)), [0.3, 0.3]);
    }
}

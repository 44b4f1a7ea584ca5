//! A cell of a comparison: what each group got and asked for in one row, on one device, under one
//! arm.

use super::demand::{Demands, Rate};
use super::entitled::{Claim, entitlements};
use super::promise::Promises;
use crate::outcome::{GroupOutcome, RowOutcome, part};
use crate::plan::{GroupLabel, Loaded, Plan, pauses};
use crate::run::{Ensemble, RunEnd, RunResult};
use fairdisk_core::{Prng, Rates, WeightMap};

/// The results of one row on one device under one arm.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The id of the device.
    pub device: String,
    /// The name of the arm, usually that of its scheduler.
    pub arm: String,
    /// The scheduler.
    pub scheduler: String,
    /// The row.
    pub row: String,
    /// The number of runs.
    pub seeds: usize,
    /// The number of runs that were asked for.
    pub seeds_asked: usize,
    /// The length of a run, in seconds.
    pub duration_s: f64,
    /// Whether there are fewer runs than asked for, or a run was cut short.
    pub partial: bool,
    /// Whether a run was given up because its tasks were not done.
    pub given_up: bool,
    /// Whether in some run a group was done well before the others and used the disk no more.
    pub done_early: bool,
    /// I/Os per second over all groups.
    pub ios_per_s: f64,
    /// Millions of bytes per second over all groups.
    pub mb_per_s: f64,
    /// Throughput in bytes as a fraction of that of `noop` on the same device and row.
    pub of_noop: Option<f64>,
    /// Work of the disk for all groups, as a fraction of its capacity: 1 for a disk that was always
    /// fully loaded.
    pub work: f64,
    /// What the floors of all groups take at what requests cost here, as a part of what the disk
    /// did, or can do if that is more: above 1, they cannot be kept together.
    pub floors: f64,
    /// What the groups with tasks asked for and got, without the root group.
    pub groups: Vec<CellGroup>,
    /// Groups without tasks of their own, with what the groups nested in them asked for and got
    /// together.
    pub outer: Vec<CellGroup>,
}

/// The results of one group in a cell.
#[derive(Clone, Debug)]
pub struct CellGroup {
    /// Index of the group in the load.
    pub at: usize,
    /// Its parts of the groups' total work; `None` if there was none, of which nobody has a part.
    pub parts: Option<Parts>,
    /// Whether its floor, ceiling and latency target were kept.
    pub promises: Promises,
    /// The other results of the group.
    pub outcome: GroupOutcome,
}

/// Fractions of the total work of all groups.
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

impl Cell {
    /// The group with this index in the load, if it or a group nested in it has tasks.
    #[must_use]
    pub fn group(&self, at: usize) -> Option<&CellGroup> {
        self.groups.iter().chain(&self.outer).find(|group| group.at == at)
    }

    /// The groups with tasks, and those without that were promised something.
    pub fn reported(&self) -> impl Iterator<Item = &CellGroup> {
        let outer = self.outer.iter().filter(|group| !group.promises.are_none());
        self.groups.iter().chain(outer)
    }

    /// The name of the arm, with its scheduler if that has another name.
    #[must_use]
    pub fn name(&self) -> String {
        match self.arm == self.scheduler {
            true => self.arm.clone(),
            false => format!("{} ({})", self.arm, self.scheduler),
        }
    }

    /// The name, and what its figures lack.
    #[must_use]
    pub fn label(&self) -> String {
        match self.lack() {
            Some(lack) => format!("{}, {lack}", self.name()),
            None => self.name(),
        }
    }

    /// What the figures lack, in words; `None` if nothing.
    pub(crate) fn lack(&self) -> Option<String> {
        match (self.partial, self.given_up) {
            (true, _) if self.seeds < self.seeds_asked => {
                Some(format!("partial: {} of {} runs", self.seeds, self.seeds_asked))
            }
            (true, _) => Some("partial".to_owned()),
            (false, true) => Some("given up".to_owned()),
            (false, false) => None,
        }
    }

    /// The mean and the largest difference between what groups got and asked for, in percentage
    /// points; `None` if nothing was done for them.
    #[must_use]
    pub fn error_points(&self) -> Option<(f64, f64)> {
        let parts = self.groups.iter().filter_map(|group| group.parts);
        let errors: Vec<f64> = parts.map(|parts| parts.error_points().abs()).collect();
        let most = errors.iter().copied().reduce(f64::max)?;
        Some((errors.iter().sum::<f64>() / errors.len() as f64, most))
    }

    /// The results of `ensemble`, which ran the row called `row` of `plan`.
    pub(super) fn new(
        plan: &Plan,
        ensemble: &Ensemble,
        row: RowOutcome,
        demands: &Demands,
    ) -> Self {
        let load = &plan.rows[ensemble.row].load;
        let loaded = load.build(&plan.rig.host, false, &mut Prng::new(0));
        let division = Division::new(&loaded, ensemble, demands);
        let (groups, outer) = (division.groups(&row), division.outer(&row));
        let per_second = |amount: f64| part(amount, row.duration_s);
        let floors = division.floors / work(&division.rates).max(1.0);
        Self {
            device: plan.rig.device_id.clone(),
            arm: row.arm,
            scheduler: row.scheduler,
            row: row.row,
            seeds: row.seeds,
            seeds_asked: plan.seeds as usize,
            duration_s: row.duration_s,
            partial: row.partial,
            given_up: ensemble.end() == RunEnd::GivenUp,
            done_early: ensemble.runs.iter().any(|run| run.done_early),
            ios_per_s: per_second(row.total_ios.mean),
            mb_per_s: per_second(row.total_bytes) / 1e6,
            of_noop: None,
            work: all_work(&ensemble.runs) / f64::from(plan.rig.array.disks),
            floors,
            groups,
            outer,
        }
    }
}

/// The work of an ensemble's runs, as its groups are entitled to it and as they got it.
struct Division<'a> {
    loaded: &'a Loaded,
    ensemble: &'a Ensemble,
    demands: &'a Demands,
    /// What each group got.
    rates: Vec<Rate>,
    /// What each group is entitled to, in work per second: by all that it asks for, without any
    /// floors, and without any floors and ceilings.
    asked: [Vec<f64>; 3],
    /// What the floors of all groups take, in work per second.
    floors: f64,
    has_tasks: Vec<bool>,
}

impl<'a> Division<'a> {
    fn new(loaded: &'a Loaded, ensemble: &'a Ensemble, demands: &'a Demands) -> Self {
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
    fn groups(&self, row: &RowOutcome) -> Vec<CellGroup> {
        let groups = row.groups.iter().take(self.rates.len()).cloned().enumerate();
        let groups = groups.filter(|(at, _)| self.has_tasks[*at]);
        groups.map(|(at, outcome)| self.group(at, outcome, &[at])).collect()
    }

    /// The groups without tasks in which others lie.
    fn outer(&self, row: &RowOutcome) -> Vec<CellGroup> {
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
fn work(rates: &[Rate]) -> f64 {
    rates.iter().map(|rate| rate.work).sum()
}

/// The disk's work per second, including that for journals.
fn all_work(runs: &[RunResult]) -> f64 {
    let work = |run: &RunResult| -> u64 {
        run.groups.iter().chain([&run.root]).map(|group| group.work.as_ns()).sum()
    };
    let ns: u64 = runs.iter().map(|run| run.elapsed.as_ns()).sum();
    part(runs.iter().map(work).sum::<u64>() as f64, ns as f64)
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

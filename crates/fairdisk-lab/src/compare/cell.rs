//! One row on one device under one arm: who got what, beside what they asked for.

use super::demand::{Demands, Rate};
use super::entitled::{Claim, entitlements};
use super::promise::Promises;
use crate::outcome::{GroupOutcome, RowOutcome};
use crate::plan::{GroupLabel, Loaded, Plan};
use crate::run::{Ensemble, RunResult};
use fairdisk_core::{Prng, Rates, WeightMap};

/// One row on one device under one arm.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The disk's id.
    pub device: String,
    /// What the arm is called: most of the time the scheduler.
    pub arm: String,
    /// Its scheduler.
    pub scheduler: String,
    /// The row.
    pub row: String,
    /// Number of runs, and length of one in seconds.
    pub seeds: usize,
    /// See `seeds`.
    pub duration_s: f64,
    /// Whether it has fewer runs than asked for, or one was cut short.
    pub partial: bool,
    /// I/Os a second, of all groups.
    pub ios_per_s: f64,
    /// Million bytes a second, of all groups.
    pub mb_per_s: f64,
    /// Throughput in bytes as part of that of `noop` on the same device and row.
    pub of_noop: Option<f64>,
    /// What the disk did, for whomever, as part of what it can do: 1 for a disk that always had as
    /// much to do as it could.
    pub work: f64,
    /// What the groups that have tasks asked for and got; without the root group.
    pub groups: Vec<CellGroup>,
}

/// One group of a cell.
#[derive(Clone, Debug)]
pub struct CellGroup {
    /// Its place among the groups of the load.
    pub at: usize,
    /// The part it is entitled to of the work that the groups got.
    pub asked: f64,
    /// The part of that work it got.
    pub got: f64,
    /// What became of what it was promised.
    pub promises: Promises,
    /// What else is known of it.
    pub outcome: GroupOutcome,
}

impl CellGroup {
    /// How far it is from what it asked for, in percentage points.
    #[must_use]
    pub fn error_points(&self) -> f64 {
        (self.got - self.asked) * 100.0
    }
}

impl Cell {
    /// The arm, and its scheduler if that has another name.
    #[must_use]
    pub fn label(&self) -> String {
        let partial = if self.partial { ", partial" } else { "" };
        match self.arm == self.scheduler {
            true => format!("{}{partial}", self.arm),
            false => format!("{} ({}){partial}", self.arm, self.scheduler),
        }
    }

    /// The distances of its groups from what they asked for, in percentage points: the mean, and
    /// the largest.
    #[must_use]
    pub fn error_points(&self) -> (f64, f64) {
        let errors = self.groups.iter().map(|group| group.error_points().abs());
        let count = self.groups.len().max(1) as f64;
        (errors.clone().sum::<f64>() / count, errors.fold(0.0, f64::max))
    }

    /// What `ensemble` of `plan` came to, which is `row` in words.
    pub(super) fn new(
        plan: &Plan,
        ensemble: &Ensemble,
        row: RowOutcome,
        demands: &Demands,
    ) -> Self {
        let load = &plan.rows[ensemble.row].load;
        let loaded = load.build(&plan.host, false, &mut Prng::new(0));
        let rates: Vec<Rate> = (0..loaded.groups.len())
            .map(|at| Rate::of(&ensemble.runs, |run| &run.groups[at]))
            .collect();
        let alone = |at: usize| demands.of(ensemble.row, at);
        let amount: f64 = rates.iter().map(|rate| rate.work).sum();
        let claims = claims(&loaded, &rates, &alone);
        let asked = match claims.len() {
            // What one group alone asks for, and who would be asked, is plain.
            1 => vec![amount],
            _ => entitlements(&claims, amount),
        };
        let asked_sum: f64 = asked.iter().sum();
        let groups = row.groups.into_iter().take(rates.len()).enumerate();
        let groups =
            groups.filter(|(at, _)| loaded.has_tasks(*at)).map(|(at, outcome)| CellGroup {
                at,
                asked: part(asked[at], asked_sum),
                got: part(rates[at].work, amount),
                promises: Promises::new(&loaded.groups[at].spec.qos, &ensemble.runs, at, alone(at)),
                outcome,
            });
        let per_second = |amount: f64| part(amount, row.duration_s);
        Self {
            device: plan.device_id.clone(),
            arm: row.arm,
            scheduler: row.scheduler,
            row: row.row,
            seeds: row.seeds,
            duration_s: row.duration_s,
            partial: row.partial,
            ios_per_s: per_second(row.total_ios.mean),
            mb_per_s: per_second(row.total_bytes) / 1e6,
            of_noop: None,
            work: all_work(&ensemble.runs) / f64::from(plan.array.disks),
            groups: groups.collect(),
        }
    }
}

fn part(amount: f64, whole: f64) -> f64 {
    if whole > 0.0 { amount / whole } else { 0.0 }
}

/// What the disk did in a second, the journals' work included.
fn all_work(runs: &[RunResult]) -> f64 {
    let work = |run: &RunResult| -> u64 {
        run.groups.iter().chain([&run.root]).map(|group| group.work.as_ns()).sum()
    };
    let ns: u64 = runs.iter().map(|run| run.elapsed.as_ns()).sum();
    part(runs.iter().map(work).sum::<u64>() as f64, ns as f64)
}

/// What the groups ask for, all of it as work in a second.
fn claims(loaded: &Loaded, rates: &[Rate], alone: &dyn Fn(usize) -> Option<Rate>) -> Vec<Claim> {
    let number = |at: usize| loaded.group_id(at);
    let claim = |(at, label): (usize, &GroupLabel)| {
        let spec = &label.spec;
        let members = members(loaded, at);
        // What its requests cost here; where none was served, what they cost alone.
        let here = sum(members.iter().map(|member| rates[*member]));
        let cost = match here.ios > 0.0 {
            true => here.cost(),
            false => sum(members.iter().filter_map(|member| alone(*member))).cost(),
        };
        let worth = |rates: &Rates| rate_work(rates, cost);
        let demand = loaded.has_tasks(at).then(|| {
            let cost = rates[at].cost()[0];
            // As many I/Os as it did alone, at what they cost here.
            alone(at).map_or(f64::INFINITY, |alone| alone.work.max(alone.ios * cost))
        });
        let (floor, ceiling) = (worth(&spec.qos.floor), worth(&spec.qos.ceiling));
        Claim {
            weight: spec.share.weight(WeightMap::LinearHigh0).get().into(),
            parent: spec.parent.and_then(|group| (0..rates.len()).find(|at| number(*at) == group)),
            demand,
            floor: floor.map_or(0.0, |[least, most]| least.max(most)),
            ceiling: ceiling.map_or(f64::INFINITY, |[least, _]| least),
        }
    };
    loaded.groups.iter().enumerate().map(claim).collect()
}

/// What a rate of I/Os and a rate of bytes are worth as work, the smaller and the larger; `None`
/// without a rate.
fn rate_work(rates: &Rates, [of_io, of_byte]: [f64; 2]) -> Option<[f64; 2]> {
    let ios = rates.iops.map(|rate| rate.get() as f64 * of_io);
    let bytes = rates.bytes_per_s.map(|rate| rate.get() as f64 * of_byte);
    let (one, other) = (ios.or(bytes)?, bytes.or(ios)?);
    Some([one.min(other), one.max(other)])
}

/// A group and those in it.
fn members(loaded: &Loaded, outer: usize) -> Vec<usize> {
    let parent = |at: usize| loaded.groups[at].spec.parent;
    let mut members = vec![outer];
    let mut next = 0;
    while let Some(member) = members.get(next).copied() {
        let id = loaded.group_id(member);
        members.extend((0..loaded.groups.len()).filter(|at| parent(*at) == Some(id)));
        next += 1;
    }
    members
}

fn sum(rates: impl Iterator<Item = Rate>) -> Rate {
    rates.fold(Rate::default(), |sum, rate| Rate {
        ios: sum.ios + rate.ios,
        bytes: sum.bytes + rate.bytes,
        work: sum.work + rate.work,
        p99_ms: None,
    })
}

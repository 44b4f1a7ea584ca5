//! What one group did in one run, flat: the row of every table of results.

use fairdisk_core::{Histogram, Share, Span};
use fairdisk_lab::plan::{Plan, PlannedArm, PlannedRow};
use fairdisk_lab::run::{GroupRun, PlanRuns, RunEnd, RunResult};
use serde::{Deserialize, Serialize};

/// What one group did in one run, or why there is no such run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The id of the load. Equal runs of files with other names are kept once, so that it is not
    /// kept.
    #[serde(skip)]
    pub experiment: String,
    /// The name of the arm.
    pub arm: String,
    /// The scheduler of the arm.
    pub scheduler: String,
    /// The id of the device.
    pub device: String,
    /// The label of the row.
    pub row: String,
    /// The seed.
    pub seed: u32,
    /// Why there are no figures: the scheduler refused the load, or the load cannot be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The figures; `None` if there was no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
}

/// The figures of one group in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The name of the group.
    pub group: String,
    /// Its weight, if it asks by weight.
    pub weight: Option<u32>,
    /// Its priority, 0 (high) to 7 (low), if it asks by priority.
    pub priority: Option<u8>,
    /// How the run ended: `planned`, `given-up`, `interrupted` or `failed`.
    pub end: String,
    /// How long was measured, in seconds.
    pub duration_s: f64,
    /// Completed I/Os.
    pub ios: u64,
    /// The group's share of the I/Os of all groups, in percent.
    pub share_percent: Option<f64>,
    /// Bytes read and written.
    pub bytes: u64,
    /// What the disk did for the group, in percent of what it can do.
    pub work_percent: f64,
    /// How long the group had the disk, in seconds.
    pub disk_time_s: f64,
    /// The longest time that a request waited for the disk, in ms.
    pub wait_max_ms: f64,
    /// How often a task waited for a request slot.
    pub slot_waits: u64,
    /// Failed I/Os.
    pub errors: u64,
    /// Reads and writes together.
    pub latency: Latency,
    /// Reads.
    pub read: Latency,
    /// Writes.
    pub write: Latency,
    /// `fsync` and `fdatasync`.
    pub flush: Latency,
    /// The hash of the journals of all disks, in hexadecimal digits; the same for all groups.
    pub journal_hash: String,
}

/// How many operations there were, and how long they took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The number of operations.
    pub count: u64,
    /// The 50th, 90th, 99th and 99.9th percentile and the longest, in ms; `None` if there is none.
    pub ms: Option<[f64; 5]>,
    /// The mean, in ms; `None` if there is none.
    pub mean_ms: Option<f64>,
    /// The upper ends of the buckets that are not empty, in ms.
    pub to_ms: Vec<f64>,
    /// The operations in each of these buckets.
    pub counts: Vec<u64>,
}

impl Latency {
    /// The percentiles of [`ms`](Self::ms), in parts of a thousand.
    const PER_MILLE: [u32; 4] = [500, 900, 990, 999];

    fn of(latency: Option<&Histogram>) -> Self {
        let Some(latency) = latency.filter(|it| it.count() > 0) else { return Self::default() };
        let [p50, p90, p99, p999] = Self::PER_MILLE.map(|part| ms(latency.quantile(part)));
        let counted = latency.buckets().filter(|(_, count)| *count > 0);
        let (to_ms, counts) = counted.map(|(to, count)| (ms(to), count)).unzip();
        let ms = Some([p50, p90, p99, p999, ms(latency.max())]);
        let mean_ms = Some(self::ms(latency.sum()) / latency.count() as f64);
        Self { count: latency.count(), ms, mean_ms, to_ms, counts }
    }
}

fn ms(span: Span) -> f64 {
    span.as_ns() as f64 / 1e6
}

fn seconds(span: Span) -> f64 {
    span.as_ns() as f64 / 1e9
}

const fn end(end: RunEnd) -> &'static str {
    match end {
        RunEnd::Planned => "planned",
        RunEnd::GivenUp => "given-up",
        RunEnd::Interrupted => "interrupted",
        RunEnd::Failed => "failed",
    }
}

/// A record without figures.
pub(crate) fn empty(plan: &Plan, arm: &PlannedArm, row: &PlannedRow, seed: u32) -> Record {
    Record {
        experiment: plan.id.clone(),
        arm: arm.name.clone(),
        scheduler: arm.revision.id.clone(),
        device: arm.rig.device_id.clone(),
        row: row.label.clone(),
        seed,
        ..Record::default()
    }
}

/// The records of a run, one for each group.
#[must_use]
pub fn of_run(
    plan: &Plan,
    (arm, row): (&PlannedArm, &PlannedRow),
    seed: u32,
    run: &RunResult,
) -> Vec<Record> {
    let all: u64 = run.groups.iter().map(|group| group.ios).sum();
    let claims = claims(row, arm);
    let record = |(at, (name, group)): (usize, (String, &GroupRun))| {
        let claim = claims.get(at).copied();
        let figures = Figures {
            group: name,
            weight: claim.and_then(|claim| match claim {
                Share::Weight(weight) => Some(weight.get()),
                Share::Priority(_) => None,
            }),
            priority: claim.and_then(|claim| match claim {
                Share::Weight(_) => None,
                Share::Priority(priority) => Some(priority),
            }),
            end: end(run.end).to_owned(),
            duration_s: seconds(run.elapsed),
            ios: group.ios,
            share_percent: (all > 0).then(|| 100.0 * group.ios as f64 / all as f64),
            bytes: group.bytes,
            work_percent: percent(group.work, run, arm),
            disk_time_s: seconds(group.disk_time()),
            wait_max_ms: ms(group.wait_max),
            slot_waits: group.slot_waits,
            errors: group.errors,
            latency: Latency::of(Some(&group.latency)),
            read: Latency::of(group.read.latency()),
            write: Latency::of(group.write.latency()),
            flush: Latency::of(group.flush.latency()),
            journal_hash: format!("{:016x}", run.journal_hash),
        };
        Record { figures: Some(figures), ..empty(plan, arm, row, seed) }
    };
    row.load.group_names().into_iter().zip(&run.groups).enumerate().map(record).collect()
}

fn percent(work: Span, run: &RunResult, arm: &PlannedArm) -> f64 {
    let all = run.elapsed.as_ns() as f64 * f64::from(arm.rig.array.disks);
    if all > 0.0 { 100.0 * work.as_ns() as f64 / all } else { 0.0 }
}

/// What each group of a row asks for.
fn claims(row: &PlannedRow, arm: &PlannedArm) -> Vec<Share> {
    let mut random = fairdisk_core::Prng::new(0);
    let mut loaded = row.load.build(&arm.rig.host, false, &mut random);
    arm.prioritize(&mut loaded.groups);
    loaded.groups.iter().map(|group| group.spec.share).collect()
}

/// The records of the runs of a plan: arm by arm, row by row, seed by seed and group by group. What
/// a scheduler refused is one record with the reason.
#[must_use]
pub fn of_runs(plan: &Plan, runs: &PlanRuns) -> Vec<Record> {
    let mut records = Vec::new();
    for ensemble in &runs.ensembles {
        let cell = plan.cell(ensemble.arm, ensemble.row);
        for (seed, run) in ensemble.runs.iter().enumerate() {
            records.extend(of_run(plan, cell, seed as u32, run));
        }
    }
    for refused in &runs.refused {
        let (arm, row) = plan.cell(refused.arm, refused.row);
        let error = Some(refused.reason.clone());
        records.push(Record { error, ..empty(plan, arm, row, 0) });
    }
    records
}

//! A comparison as JSON.

use super::{Cell, CellGroup, Comparison, Floor, RefusedCell, Target};
use crate::outcome::{ArmOutcome, part};
use crate::results::{Claim, Counted, FlushAmount, LatencyMs, SCHEMA, is_false, value};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What `fairdisk compare` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompareResults {
    /// Another number if a name changes its meaning.
    schema: u32,
    /// The id of the experiment, or the name of the job file.
    experiment: String,
    /// One line about it.
    title: String,
    /// Each arm as it was resolved in its first row.
    arms: Vec<ArmOutcome>,
    /// One for each device, row and arm; `noop` first.
    cells: Vec<CellResults>,
    /// What schedulers refused.
    refused: Vec<RefusedCell>,
    /// What to know before reading the figures.
    note: Option<&'static str>,
    /// What groups and tasks ask for that a scheduler ignores, or that does not count for all.
    caveats: Vec<String>,
}

/// A row under an arm on a device.
#[derive(Debug, Serialize, JsonSchema)]
struct CellResults {
    /// The id of the device.
    device: String,
    /// The name of the arm.
    arm: String,
    /// The scheduler.
    scheduler: String,
    /// The label of the row.
    row: String,
    /// The number of runs.
    seeds: usize,
    /// The length of a run.
    duration_s: f64,
    /// I/Os of all groups a second.
    ios_per_s: f64,
    /// The standard deviation of single runs; null of one.
    ios_per_s_sd: Option<f64>,
    /// Millions of bytes of all groups a second.
    mb_per_s: f64,
    /// That as a part of what `noop` moves on the same device and row; null if that is nothing.
    of_noop: Option<f64>,
    /// What the disk did as a part of what its model says it can do; a little more than 1 where
    /// mixed loads suit it better than those the model was measured with.
    work: f64,
    /// Distance of what groups got from what they asked for; null if nothing was done.
    error_points: Option<ErrorPoints>,
    /// The groups with tasks, then those that were promised something together with those in them.
    groups: Vec<Group>,
    /// Whether runs are missing or were cut short.
    #[serde(skip_serializing_if = "is_false")]
    partial: bool,
    /// Whether a run was given up after 24 hours of simulated time.
    #[serde(skip_serializing_if = "is_false")]
    given_up: bool,
}

/// Distances in percentage points.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorPoints {
    mean: f64,
    max: f64,
}

/// A group.
#[derive(Debug, Serialize, JsonSchema)]
struct Group {
    /// Its name.
    name: String,
    /// The part of the disk's work to which it is entitled, 0 to 1; null if nothing was done.
    asked: Option<f64>,
    /// The part that it got.
    got: Option<f64>,
    /// What it got over what it asked for.
    got_of_asked: Option<f64>,
    /// I/Os in a run.
    ios: f64,
    latency_ms: LatencyMs,
    latency_histogram: Option<Counted>,
    flush_histogram: Option<Counted>,
    ios_per_s: f64,
    mb_per_s: f64,
    flush: Option<FlushAmount>,
    /// The longest time a request waited for the disk.
    wait_max_ms: f64,
    #[serde(flatten)]
    claim: Claim,
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<FloorResults>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ceiling: Option<CeilingResults>,
    /// Of reads and writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_target: Option<TargetResults>,
    /// Of flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    fsync_target: Option<TargetResults>,
}

/// A floor.
#[derive(Debug, Serialize, JsonSchema)]
struct FloorResults {
    /// Seconds in which the group wanted it.
    seconds: u32,
    /// Seconds of these without it.
    below: u32,
    /// Whether the group could use it if it had the disk to itself.
    usable: bool,
    /// Whether it was kept.
    kept: bool,
}

/// A ceiling.
#[derive(Debug, Serialize, JsonSchema)]
struct CeilingResults {
    /// In which time the ceiling allows what was done beyond it.
    over_ms: f64,
    /// Whether it was kept.
    kept: bool,
}

/// A latency target.
#[derive(Debug, Serialize, JsonSchema)]
struct TargetResults {
    /// The target.
    asked_ms: f64,
    /// What 99 of 100 did not exceed.
    p99_ms: Option<f64>,
    /// Whether it was met.
    met: bool,
}

/// The comparison as a JSON object.
#[must_use]
pub fn to_json(comparison: &Comparison) -> Value {
    value(&CompareResults {
        schema: SCHEMA,
        experiment: comparison.experiment.clone(),
        title: comparison.title.clone(),
        arms: comparison.arms.clone(),
        cells: comparison.cells.iter().map(CellResults::from).collect(),
        refused: comparison.refused.clone(),
        note: comparison.note(),
        caveats: comparison.caveats().map(ToOwned::to_owned).collect(),
    })
}

impl From<&Cell> for CellResults {
    fn from(cell: &Cell) -> Self {
        Self {
            device: cell.device.clone(),
            arm: cell.arm.clone(),
            scheduler: cell.scheduler.clone(),
            row: cell.row.clone(),
            seeds: cell.seeds,
            duration_s: cell.duration_s,
            ios_per_s: cell.ios_per_s,
            ios_per_s_sd: cell.ios_per_s_sd,
            mb_per_s: cell.mb_per_s,
            of_noop: cell.of_noop,
            work: cell.work,
            error_points: cell.error_points().map(|(mean, max)| ErrorPoints { mean, max }),
            groups: cell.reported().map(|one| Group::of(one, cell.duration_s)).collect(),
            partial: cell.partial,
            given_up: cell.given_up,
        }
    }
}

impl Group {
    fn of(group: &CellGroup, duration_s: f64) -> Self {
        let CellGroup { outcome, parts, promises, .. } = group;
        Self {
            name: outcome.name.clone(),
            asked: parts.map(|parts| parts.asked),
            got: parts.map(|parts| parts.got),
            got_of_asked: parts.and_then(|parts| parts.got_of_asked()),
            ios: outcome.ios.mean,
            latency_ms: (&outcome.latency).into(),
            latency_histogram: Counted::of(&outcome.latency),
            flush_histogram: Counted::of(&outcome.directions.flush.latency),
            ios_per_s: part(outcome.ios.mean, duration_s),
            mb_per_s: part(outcome.bytes, duration_s) / 1e6,
            flush: FlushAmount::of(&outcome.directions.flush),
            wait_max_ms: outcome.wait_max_ms,
            claim: outcome.claim.into(),
            floor: promises.floor.map(|floor| {
                let Floor { seconds, below, usable } = floor;
                FloorResults { seconds, below, usable, kept: floor.is_kept() }
            }),
            ceiling: promises
                .ceiling
                .map(|it| CeilingResults { over_ms: it.over_ms, kept: it.is_kept() }),
            latency_target: promises.latency.map(TargetResults::from),
            fsync_target: promises.fsync.map(TargetResults::from),
        }
    }
}

impl From<Target> for TargetResults {
    fn from(target: Target) -> Self {
        let Target { asked_ms, p99_ms } = target;
        Self { asked_ms, p99_ms, met: target.is_met() }
    }
}

//! The results of a row under an arm.

use super::Backend;
use crate::catalog::experiment::Quantity;
use crate::outcome::payers::WriteBack;
use crate::outcome::{
    Child, FigureOutcome, GroupOutcome, MemoryOutcome, MemoryShare, PayersOutcome, PublishedGroup,
    Regime, RowOutcome, TaskOutcome, Throughput, part,
};
use crate::results::{Claim, Counted, Each, Figures, FlushAmount, IoAmount, LatencyMs, is_false};
use crate::run::{EventRun, RunEnd};
use crate::seconds::in_seconds;
use schemars::JsonSchema;
use serde::Serialize;

/// A row under an arm.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Row {
    /// The name of the arm.
    arm: String,
    /// The scheduler.
    scheduler: String,
    /// The id of the device.
    device: String,
    /// The label of the row.
    row: String,
    /// The number of runs.
    seeds: usize,
    /// The length of a run.
    duration_s: f64,
    total: Total,
    /// What the disk did as a part of what it can do, 0 to 1; on a file, its busy time.
    work: f64,
    groups: Vec<Group>,
    /// The named tasks.
    tasks: Vec<Task>,
    /// What the source gives of all together.
    published: Option<PublishedTotal>,
    /// The hash of the journal of the first run.
    journal_hash: String,
    requests: Requests,
    /// Failed I/Os.
    errors: u64,
    /// The figures of each disk, by name.
    disks: Vec<Figures>,
    /// Those of all disks together, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    disks_together: Option<Figures>,
    /// What was dirty in memory at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    dirty_bytes: Option<f64>,
    /// What happened to memory, where it is page by page.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Figures>,
    /// Who pays for buffered writes by each rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    write_back: Option<WriteBack>,
    /// The lines of iozone's own report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    throughput: Vec<Test>,
    /// Published figures without a name of their own, beside ours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    figures: Vec<Figure>,
    /// What came of events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<Event>,
    /// On a real file, how it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) backend: Option<Backend>,
    /// Whether a run was given up.
    #[serde(skip_serializing_if = "is_false")]
    given_up: bool,
    /// Whether runs are missing or were cut short.
    #[serde(skip_serializing_if = "is_false")]
    partial: bool,
}

/// All groups together.
#[derive(Debug, Serialize, JsonSchema)]
struct Total {
    /// I/Os in a run.
    ios: f64,
    /// The standard deviation between runs.
    ios_sd: f64,
    /// Bytes in a run.
    bytes: f64,
    /// I/Os a second over the whole run.
    ios_per_s: f64,
    /// Millions of bytes a second, over the whole run.
    mb_per_s: f64,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ios_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    ios_regimes: Option<[Regime; 2]>,
}

/// What a source gives of all groups together.
#[derive(Debug, Serialize, JsonSchema)]
struct PublishedTotal {
    /// I/Os of all groups together.
    total_ios: f64,
}

/// Requests of the queue with metadata and journal, all seeds together. Submitted are completed
/// and in flight; failed ones are completed.
#[derive(Debug, Serialize, JsonSchema)]
struct Requests {
    submitted: u64,
    completed: u64,
    in_flight: u64,
}

/// A group.
#[derive(Debug, Serialize, JsonSchema)]
struct Group {
    /// Its name.
    name: String,
    /// I/Os in a run.
    ios: f64,
    /// Its part of all I/Os, 0 to 1.
    share: f64,
    /// The standard deviation between runs.
    share_sd: f64,
    /// Bytes in a run.
    bytes: f64,
    /// Millions of bytes a second, over the whole run.
    mb_per_s: f64,
    /// I/Os a second over the whole run.
    ios_per_s: f64,
    /// The part of the disk's work to which it is entitled, 0 to 1; null where that is unknown.
    asked: Option<f64>,
    /// The part that it got.
    got: f64,
    /// What it got over what it asked for.
    got_of_asked: Option<f64>,
    /// Its part of the disk's busy time.
    time_share: f64,
    /// The part of its I/Os that are reads.
    read_share: Option<f64>,
    latency_ms: LatencyMs,
    latency_histogram: Option<Counted>,
    flush_histogram: Option<Counted>,
    read: Option<IoAmount>,
    write: Option<IoAmount>,
    flush: Option<FlushAmount>,
    trim: Option<IoAmount>,
    /// The longest time a request waited for the disk; one that still waits at the end counts.
    wait_max_ms: f64,
    /// How often a task had to wait for a request slot.
    slot_waits: f64,
    /// What the source gives.
    published: Option<Published>,
    /// What the source expects.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Expected>,
    #[serde(flatten)]
    claim: Claim,
    /// What it had of the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Figures>,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ios_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    ios_regimes: Option<[Regime; 2]>,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    share_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    share_regimes: Option<[Regime; 2]>,
}

/// What a source gives of a group.
#[derive(Debug, Serialize, JsonSchema)]
struct Published {
    ios: Option<f64>,
    share: Option<f64>,
    read_share: Option<f64>,
}

/// What authors expected of a group.
#[derive(Debug, Serialize, JsonSchema)]
struct Expected {
    share: f64,
}

/// A named task.
#[derive(Debug, Serialize, JsonSchema)]
struct Task {
    /// Its name.
    name: String,
    /// I/Os in a run.
    ios: f64,
    /// How long it ran.
    seconds: f64,
    /// The standard deviation between runs.
    seconds_sd: f64,
    /// Millions of bytes a second, while it ran.
    mb_per_s: f64,
    latency_ms: LatencyMs,
    read: Option<IoAmount>,
    write: Option<IoAmount>,
    flush: Option<FlushAmount>,
    trim: Option<IoAmount>,
    /// Whether it finished in every run.
    finished: bool,
    /// What the source gives.
    published: Option<PublishedTask>,
    /// What it had of the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Figures>,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_regimes: Option<[Regime; 2]>,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    mb_per_s_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    mb_per_s_regimes: Option<[Regime; 2]>,
}

/// What a source gives of a task.
#[derive(Debug, Serialize, JsonSchema)]
struct PublishedTask {
    seconds: Option<f64>,
    /// Millions of bytes a second, while it ran.
    mb_per_s: Option<f64>,
}

/// A test of iozone, under the names of the lines of its report.
#[derive(Debug, Serialize, JsonSchema)]
struct Test {
    test: String,
    processes: usize,
    children_kb_per_s: f64,
    parent_kb_per_s: f64,
    min_kb_per_s: f64,
    max_kb_per_s: f64,
    avg_kb_per_s: f64,
    min_xfer_kb: f64,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    children_kb_per_s_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    children_kb_per_s_regimes: Option<[Regime; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Child>,
}

/// A published figure beside ours.
#[derive(Debug, Serialize, JsonSchema)]
struct Figure {
    /// What `of` is: a group, a task or something else.
    kind: String,
    /// The name of what it is about.
    of: String,
    /// The name of the figure.
    figure: String,
    /// Our mean; null if a run does not have it.
    ours: Option<f64>,
    /// The standard deviation between runs.
    ours_sd: Option<f64>,
    /// What the source gives.
    published: f64,
    /// The distance in percentage points, of a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_points: Option<Option<f64>>,
    /// The distance in percent of the published figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_percent: Option<Option<f64>>,
    /// Of each run, in order of seeds; with several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ours_each: Option<Vec<f64>>,
    /// The two kinds that runs fall into, the larger first.
    #[serde(skip_serializing_if = "Option::is_none")]
    ours_regimes: Option<[Regime; 2]>,
}

/// An event of a run.
#[derive(Debug, Serialize, JsonSchema)]
struct Event {
    /// When it was.
    at_s: f64,
    /// The event in words.
    what: String,
    /// Why it was refused, if it was.
    refused: Option<String>,
}

impl From<&RowOutcome> for Row {
    fn from(row: &RowOutcome) -> Self {
        let Each { each: ios_each, regimes: ios_regimes } = Each::of(Some(&row.total_ios));
        Self {
            arm: row.arm.clone(),
            scheduler: row.scheduler.clone(),
            device: row.device.clone(),
            row: row.row.clone(),
            seeds: row.seeds,
            duration_s: row.duration_s,
            total: Total {
                ios: row.total_ios.mean,
                ios_sd: row.total_ios.sd,
                bytes: row.total_bytes,
                ios_per_s: part(row.total_ios.mean, row.duration_s),
                mb_per_s: part(row.total_bytes, row.duration_s) / 1e6,
                ios_each,
                ios_regimes,
            },
            work: row.work,
            groups: row.groups.iter().map(|one| Group::of(one, row.duration_s)).collect(),
            tasks: row.tasks.iter().map(Task::from).collect(),
            published: row.published_total.map(|total_ios| PublishedTotal { total_ios }),
            journal_hash: format!("{:016x}", row.journal_hash),
            requests: Requests {
                submitted: row.submitted,
                completed: row.completed,
                in_flight: row.in_flight,
            },
            errors: row.errors,
            disks: row.disks.each(),
            disks_together: row.disks.all(),
            dirty_bytes: Some(row.dirty_bytes).filter(|bytes| *bytes > 0.0),
            memory: row.memory.as_ref().map(MemoryOutcome::figures),
            write_back: row.payers.as_ref().map(PayersOutcome::results),
            throughput: row.throughput.iter().map(Test::from).collect(),
            figures: row.figures.iter().map(Figure::from).collect(),
            events: row.events.iter().map(Event::from).collect(),
            given_up: row.end == RunEnd::GivenUp,
            backend: None,
            partial: row.partial,
        }
    }
}

impl Group {
    fn of(group: &GroupOutcome, duration_s: f64) -> Self {
        let Each { each: ios_each, regimes: ios_regimes } = Each::of(Some(&group.ios));
        let Each { each: share_each, regimes: share_regimes } = Each::of(Some(&group.share));
        let directions = &group.directions;
        let published = group.published.as_ref();
        let expected = published.and_then(|published| published.expected);
        Self {
            name: group.name.clone(),
            ios: group.ios.mean,
            share: group.share.mean,
            share_sd: group.share.sd,
            bytes: group.bytes,
            mb_per_s: part(group.bytes, duration_s) / 1e6,
            ios_per_s: part(group.ios.mean, duration_s),
            asked: group.disk.asked,
            got: group.disk.got,
            got_of_asked: group.disk.got_of_asked(),
            time_share: group.disk.time_share,
            read_share: group.read_share,
            latency_ms: (&group.latency).into(),
            latency_histogram: Counted::of(&group.latency),
            flush_histogram: Counted::of(&directions.flush.latency),
            read: IoAmount::of(&directions.read),
            write: IoAmount::of(&directions.write),
            flush: FlushAmount::of(&directions.flush),
            trim: IoAmount::of(&directions.trim),
            wait_max_ms: group.wait_max_ms,
            slot_waits: group.slot_waits,
            published: published.filter(|it| it.is_published()).map(Published::from),
            estimate: expected.map(|share| Expected { share }),
            claim: group.claim.into(),
            memory: group.memory.map(MemoryShare::figures),
            ios_each,
            ios_regimes,
            share_each,
            share_regimes,
        }
    }
}

impl From<&PublishedGroup> for Published {
    fn from(published: &PublishedGroup) -> Self {
        let PublishedGroup { ios, share, read_share, .. } = *published;
        Self { ios, share, read_share }
    }
}

impl From<&TaskOutcome> for Task {
    fn from(task: &TaskOutcome) -> Self {
        let is_published = task.published_mb_per_s.is_some() || task.published_seconds.is_some();
        let Each { each: seconds_each, regimes: seconds_regimes } = Each::of(Some(&task.seconds));
        let Each { each: mb_per_s_each, regimes: mb_per_s_regimes } =
            Each::of(Some(&task.mb_per_s));
        Self {
            name: task.name.clone(),
            ios: task.ios,
            seconds: task.seconds.mean,
            seconds_sd: task.seconds.sd,
            mb_per_s: task.mb_per_s.mean,
            latency_ms: (&task.latency).into(),
            read: IoAmount::of(&task.directions.read),
            write: IoAmount::of(&task.directions.write),
            flush: FlushAmount::of(&task.directions.flush),
            trim: IoAmount::of(&task.directions.trim),
            finished: task.finished,
            published: is_published.then_some(PublishedTask {
                seconds: task.published_seconds,
                mb_per_s: task.published_mb_per_s,
            }),
            memory: task.memory.map(MemoryShare::figures),
            seconds_each,
            seconds_regimes,
            mb_per_s_each,
            mb_per_s_regimes,
        }
    }
}

impl From<&Throughput> for Test {
    fn from(test: &Throughput) -> Self {
        let Each { each, regimes } = Each::of(Some(&test.children_kb_per_s));
        Self {
            test: test.name.to_owned(),
            processes: test.processes,
            children_kb_per_s: test.children_kb_per_s.mean,
            parent_kb_per_s: test.parent_kb_per_s,
            min_kb_per_s: test.min_kb_per_s,
            max_kb_per_s: test.max_kb_per_s,
            avg_kb_per_s: test.avg_kb_per_s,
            min_xfer_kb: test.min_xfer_kb,
            children_kb_per_s_each: each,
            children_kb_per_s_regimes: regimes,
            children: test.each.clone(),
        }
    }
}

impl From<&FigureOutcome> for Figure {
    fn from(figure: &FigureOutcome) -> Self {
        let Each { each: ours_each, regimes: ours_regimes } = Each::of(figure.ours.as_ref());
        let [error_points, error_percent] = by_unit(figure.quantity, figure.error());
        Self {
            kind: figure.whom.kind().to_owned(),
            of: figure.whom.name().to_owned(),
            figure: figure.quantity.key().to_string(),
            ours: figure.ours.as_ref().map(|ours| ours.mean),
            ours_sd: figure.ours.as_ref().map(|ours| ours.sd),
            published: figure.published,
            error_points,
            error_percent,
            ours_each,
            ours_regimes,
        }
    }
}

/// A distance as points or as percent, whichever a quantity has.
pub(super) fn by_unit<T>(quantity: Quantity, distance: T) -> [Option<T>; 2] {
    if quantity.is_percent() { [Some(distance), None] } else { [None, Some(distance)] }
}

impl From<&EventRun> for Event {
    fn from(event: &EventRun) -> Self {
        let EventRun { at, words, refused } = event;
        Self { at_s: in_seconds(*at), what: words.clone(), refused: refused.clone() }
    }
}

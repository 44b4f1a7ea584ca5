//! What an experiment came to: means and spreads beside the published figures.

mod change;
mod directions;
mod figure;
mod html;
mod json;
mod score;
mod table;

pub use change::ChangeOutcome;
pub use directions::{Amount, Directions};
pub use figure::FigureOutcome;
pub use html::to_html;
pub(crate) use html::write_notes;
pub use json::to_json;
pub(crate) use json::{latency_ms, published_change};
pub use score::Score;
pub use table::{Style, to_table};
pub(crate) use table::{notes, runs, widest};

use crate::plan::{Figures, Plan, ROOT_GROUP};
use crate::run::{Ensemble, GroupRun, PlanRuns, Refused, RunEnd, RunResult};
use fairdisk_core::Histogram;

/// A mean and the standard deviation of single runs around it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; 0 for a single run.
    pub sd: f64,
}

impl Spread {
    /// Of these values.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / n;
        if values.len() == 1 {
            return Self { mean, sd: 0.0 };
        }
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Self { mean, sd: (squares / (n - 1.0)).sqrt() }
    }
}

/// Where a result was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// In the simulation.
    Lab,
    /// On a file.
    File,
}

impl Shell {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lab => "lab",
            Self::File => "file",
        }
    }
}

/// What an experiment came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The experiment's id.
    pub experiment: String,
    /// One line about it.
    pub title: String,
    /// What it asks.
    pub question: String,
    /// Where its figures come from.
    pub source: String,
    /// What to know before reading the figures.
    pub caveats: Vec<String>,
    /// What was tried as the cause of a difference from what the source prints, and is none.
    pub excluded: Vec<String>,
    /// Where it was run.
    pub shell: Shell,
    /// The disk's id.
    pub device: String,
    /// Runs of each row, if nothing ends them early.
    pub seeds: u32,
    /// The rows, arm by arm.
    pub rows: Vec<RowOutcome>,
    /// What schedulers refused to run.
    pub refused: Vec<RefusedRow>,
    /// Arms beside each other, where the source prints something about that.
    pub changes: Vec<ChangeOutcome>,
}

/// A row that the scheduler of an arm does not take.
#[derive(Clone, Debug)]
pub struct RefusedRow {
    /// The arm.
    pub arm: String,
    /// The row.
    pub row: String,
    /// Why.
    pub reason: String,
}

/// One row under one arm.
#[derive(Clone, Debug)]
pub struct RowOutcome {
    /// The arm.
    pub arm: String,
    /// Its scheduler.
    pub scheduler: String,
    /// The id of its disk.
    pub device: String,
    /// What its machine was asked for as, if it is not that of the others.
    pub own_host: Option<String>,
    /// The row.
    pub row: String,
    /// Number of runs.
    pub seeds: usize,
    /// Whether it has fewer runs than asked for, or one was cut short.
    pub partial: bool,
    /// How its runs ended, the worst of them.
    pub end: RunEnd,
    /// Length of a run, in seconds.
    pub duration_s: f64,
    /// I/Os of all groups.
    pub total_ios: Spread,
    /// Bytes of all groups.
    pub total_bytes: f64,
    /// The groups.
    pub groups: Vec<GroupOutcome>,
    /// The named tasks.
    pub tasks: Vec<TaskOutcome>,
    /// What the source prints that has no column of its own.
    pub figures: Vec<FigureOutcome>,
    /// I/Os the source prints.
    pub published_total: Option<f64>,
    /// The journal's hash of the first seed.
    pub journal_hash: u64,
    /// Bios submitted to, finished by and still in the request queue, all seeds together.
    pub submitted: u64,
    /// See `submitted`.
    pub completed: u64,
    /// See `submitted`.
    pub in_flight: u64,
    /// What was dirty in memory at the end.
    pub dirty_bytes: f64,
    /// I/Os that failed.
    pub errors: u64,
}

/// One group of a row.
#[derive(Clone, Debug)]
pub struct GroupOutcome {
    /// Its name.
    pub name: String,
    /// I/Os.
    pub ios: f64,
    /// Its part of all I/Os.
    pub share: Spread,
    /// Bytes.
    pub bytes: f64,
    /// Its part of the disk's busy time.
    pub time_share: f64,
    /// Its reads, as part of its I/Os; `None` without I/Os.
    pub read_share: Option<f64>,
    /// Latencies of all seeds.
    pub latency: Histogram,
    /// Reads and writes by themselves.
    pub directions: Directions,
    /// How often a task had to wait for a request slot.
    pub slot_waits: f64,
    /// The longest a request waited for the disk, in ms; one that still waits at the end counts.
    pub wait_max_ms: f64,
    /// What the source prints.
    pub published: Option<PublishedGroup>,
}

impl GroupOutcome {
    /// The part it has in all I/Os, as it is compared: where something is published, with those of
    /// the groups in it.
    #[must_use]
    pub fn compared_share(&self) -> Spread {
        let published = self.published.filter(|published| published.share.is_some());
        published.map_or(self.share, |published| published.ours)
    }

    /// What several groups came to, under one name; `None` of no group. Spreads are not known.
    pub(crate) fn together<'a>(name: &str, groups: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let add = |one: Self, other: Self| {
            let reads = |group: &Self| group.read_share.map_or(0.0, |share| share * group.ios);
            let ios = one.ios + other.ios;
            let mut latency = one.latency.clone();
            latency.merge(&other.latency);
            Self {
                share: Spread { mean: one.share.mean + other.share.mean, sd: 0.0 },
                bytes: one.bytes + other.bytes,
                time_share: one.time_share + other.time_share,
                read_share: (ios > 0.0).then(|| (reads(&one) + reads(&other)) / ios),
                latency,
                directions: one.directions.with(&other.directions),
                slot_waits: one.slot_waits + other.slot_waits,
                wait_max_ms: one.wait_max_ms.max(other.wait_max_ms),
                name: one.name,
                ios,
                published: None,
            }
        };
        let all = groups.cloned().reduce(add)?;
        Some(Self { name: name.to_owned(), published: None, ..all })
    }
}

/// What the source prints for a group, with the groups in it.
#[derive(Clone, Copy, Debug)]
pub struct PublishedGroup {
    /// I/Os.
    pub ios: Option<f64>,
    /// Part of all I/Os.
    pub share: Option<f64>,
    /// Reads as part of its I/Os.
    pub read_share: Option<f64>,
    /// What `share` is compared with: the part that the group and those in it have in all I/Os.
    pub ours: Spread,
    /// Whether that could be another one: not where one group has all tasks.
    pub is_contested: bool,
}

/// One named task of a row.
#[derive(Clone, Debug)]
pub struct TaskOutcome {
    /// Its name.
    pub name: String,
    /// How long it ran, in seconds.
    pub seconds: Spread,
    /// I/Os.
    pub ios: f64,
    /// Its rate over its lifetime, in million bytes per second.
    pub mb_per_s: Spread,
    /// Latencies of all seeds.
    pub latency: Histogram,
    /// Reads and writes by themselves.
    pub directions: Directions,
    /// Whether it came to its end in every run.
    pub finished: bool,
    /// Whether it has one of its own.
    pub has_end: bool,
    /// The rate the source prints.
    pub published_mb_per_s: Option<f64>,
    /// The seconds the source prints.
    pub published_seconds: Option<f64>,
}

impl TaskOutcome {
    /// How much faster it was than the source prints, as a part; from its seconds where no rate is
    /// printed.
    #[must_use]
    pub fn rate_error(&self) -> Option<f64> {
        match (self.published_mb_per_s, self.published_seconds) {
            (Some(published), _) => Some(self.mb_per_s.mean / published - 1.0),
            (None, Some(seconds)) => {
                (self.seconds.mean > 0.0).then(|| seconds / self.seconds.mean - 1.0)
            }
            (None, None) => None,
        }
    }
}

impl Outcome {
    /// What the ensembles of `plan` came to.
    #[must_use]
    pub fn new(plan: &Plan, shell: Shell, ensembles: &[Ensemble]) -> Self {
        let unheeded = plan.unheeded(plan.arms.iter());
        Self {
            experiment: plan.id.clone(),
            title: plan.title.clone(),
            question: plan.question.clone(),
            source: plan.source.clone(),
            caveats: plan.caveats.iter().cloned().chain(unheeded).collect(),
            excluded: plan.excluded.clone(),
            shell,
            device: plan.rig.device_id.clone(),
            seeds: plan.seeds,
            rows: ensembles.iter().map(|ensemble| row(plan, ensemble)).collect(),
            refused: Vec::new(),
            changes: change::changes(plan, ensembles),
        }
    }

    /// What the runs of `plan` in the lab came to.
    #[must_use]
    pub fn of_runs(plan: &Plan, runs: &PlanRuns) -> Self {
        let refused = |refused: &Refused| RefusedRow {
            arm: plan.arms[refused.arm].name.clone(),
            row: plan.rows[refused.row].label.clone(),
            reason: refused.reason.clone(),
        };
        let refused = runs.refused.iter().map(refused).collect();
        Self { refused, ..Self::new(plan, Shell::Lab, &runs.ensembles) }
    }
}

fn row(plan: &Plan, ensemble: &Ensemble) -> RowOutcome {
    let (arm, row) = plan.cell(ensemble.arm, ensemble.row);
    let runs = &ensemble.runs;
    let published = plan.published(&arm.name, &row.label);
    let n = runs.len().max(1) as f64;
    let sum = |value: &dyn Fn(&RunResult) -> u64| runs.iter().map(value).sum::<u64>();
    let totals: Vec<f64> = runs.iter().map(|run| total_ios(run) as f64).collect();
    let bytes = sum(&|run| run.groups.iter().map(|group| group.bytes).sum());
    RowOutcome {
        arm: arm.name.clone(),
        scheduler: arm.revision.id.clone(),
        device: arm.rig.device_id.clone(),
        own_host: Some(arm.rig.host_name.clone()).filter(|name| *name != plan.rig.host_name),
        row: row.label.clone(),
        seeds: runs.len(),
        partial: !ensemble.is_complete(plan),
        end: ensemble.end(),
        duration_s: sum(&|run| run.elapsed.as_ns()) as f64 / n / 1e9,
        total_ios: Spread::of(&totals),
        total_bytes: bytes as f64 / n,
        groups: groups(plan, ensemble, published),
        tasks: tasks(plan, ensemble, published),
        figures: figure::figures(
            row.load.as_ref(),
            ensemble,
            published.map_or(&[], |figures| &figures.others),
        ),
        published_total: published.and_then(Figures::total),
        journal_hash: runs.first().map_or(0, |run| run.journal_hash),
        submitted: sum(&|run| run.submitted),
        completed: sum(&|run| run.completed),
        in_flight: sum(&|run| run.in_flight),
        dirty_bytes: sum(&|run| run.dirty_bytes) as f64 / n,
        errors: sum(&|run| run.groups.iter().map(|group| group.errors).sum()),
    }
}

fn total_ios(run: &RunResult) -> u64 {
    run.groups.iter().map(|group| group.ios).sum()
}

/// A part of a whole, 0 of nothing.
pub(crate) fn part(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// What the root group is called, and what if tasks have a group of that name.
const ROOT: [&str; 2] = [ROOT_GROUP, "/ (root)"];

/// The smallest part of the disk's time that the table has a digit for. The commits of a journal
/// are far less.
const TIME_SHOWN: f64 = 0.0005;

/// The groups of the load and, if the disk was busy for it, the root group.
fn groups(plan: &Plan, ensemble: &Ensemble, published: Option<&Figures>) -> Vec<GroupOutcome> {
    let names = plan.rows[ensemble.row].load.group_names();
    let root_name = ROOT[usize::from(names.iter().any(|name| name == ROOT[0]))];
    let mut groups: Vec<GroupOutcome> = names
        .into_iter()
        .enumerate()
        .map(|(at, name)| {
            let published = published.and_then(|figures| published_group(figures, at, ensemble));
            GroupOutcome { published, ..group(ensemble, name, &|run| &run.groups[at]) }
        })
        .collect();
    let root = group(ensemble, root_name.to_owned(), &|run| &run.root);
    groups.extend(Some(root).filter(|root| root.time_share >= TIME_SHOWN));
    groups
}

fn published_group(figures: &Figures, at: usize, ensemble: &Ensemble) -> Option<PublishedGroup> {
    let read_share = figures.published.read_percent.as_ref().map(|list| list[at] / 100.0);
    let ios = figures.published.ios.as_ref().map(|list| list[at]);
    let share = figures.share(at);
    let members = figures.members(at);
    let ours = |run: &RunResult| {
        let ios = members.iter().map(|member| run.groups[*member].ios).sum::<u64>();
        part(ios as f64, total_ios(run) as f64)
    };
    (share.is_some() || read_share.is_some()).then(|| PublishedGroup {
        ios,
        share,
        read_share,
        ours: Spread::of(&ensemble.runs.iter().map(ours).collect::<Vec<f64>>()),
        is_contested: figures.is_contested(at),
    })
}

/// How long the disk was busy, for whomever.
fn busy(run: &RunResult) -> f64 {
    let groups = run.groups.iter().chain([&run.root]);
    groups.map(|group| group.device_time.as_ns() as f64).sum()
}

fn group(
    ensemble: &Ensemble,
    name: String,
    find: &dyn Fn(&RunResult) -> &GroupRun,
) -> GroupOutcome {
    let runs = &ensemble.runs;
    let n = runs.len().max(1) as f64;
    let sum = |value: &dyn Fn(&GroupRun) -> u64| {
        runs.iter().map(|run| value(find(run)) as f64).sum::<f64>()
    };
    let ios = sum(&|group| group.ios);
    let shares: Vec<f64> =
        runs.iter().map(|run| part(find(run).ios as f64, total_ios(run) as f64)).collect();
    let mut latency = Histogram::new();
    runs.iter().for_each(|run| latency.merge(&find(run).latency));
    let wait_max = runs.iter().map(|run| find(run).wait_max.as_ns()).max().unwrap_or(0);
    GroupOutcome {
        name,
        ios: ios / n,
        share: Spread::of(&shares),
        bytes: sum(&|group| group.bytes) / n,
        time_share: part(
            sum(&|group| group.device_time.as_ns()),
            runs.iter().map(busy).sum::<f64>(),
        ),
        read_share: (ios > 0.0).then(|| sum(&|group| group.read.ios) / ios),
        latency,
        directions: Directions::of(runs.iter().map(find).map(|it| [&it.read, &it.write])),
        slot_waits: sum(&|group| group.slot_waits) / n,
        wait_max_ms: wait_max as f64 / 1e6,
        published: None,
    }
}

fn tasks(plan: &Plan, ensemble: &Ensemble, figures: Option<&Figures>) -> Vec<TaskOutcome> {
    let published = figures.map(|figures| &figures.published);
    let load = &plan.rows[ensemble.row].load;
    let names = load.task_names();
    let figure = |list: Option<&Vec<f64>>, at: usize| {
        list.and_then(|list| list.get(at)).copied().filter(|it| !it.is_nan())
    };
    let outcome = |(at, name): (usize, String)| {
        let runs: Vec<_> = ensemble.runs.iter().filter_map(|run| run.tasks.get(at)).collect();
        let seconds: Vec<f64> = runs.iter().map(|task| task.elapsed.as_ns() as f64 / 1e9).collect();
        let rates: Vec<f64> = runs
            .iter()
            .zip(&seconds)
            .map(|(task, seconds)| part(task.bytes as f64 / 1e6, *seconds))
            .collect();
        // The rate of a task that was cut off compares with nothing.
        let finished = runs.iter().all(|task| task.finished);
        let mut latency = Histogram::new();
        runs.iter().for_each(|task| latency.merge(&task.latency));
        let has_end = load.has_end(at);
        let rate = published.filter(|_| finished || !has_end);
        let published = published.filter(|_| finished);
        TaskOutcome {
            name,
            ios: runs.iter().map(|task| task.ios as f64).sum::<f64>() / runs.len().max(1) as f64,
            seconds: Spread::of(&seconds),
            mb_per_s: Spread::of(&rates),
            latency,
            directions: Directions::of(runs.iter().map(|task| [&task.read, &task.write])),
            finished,
            has_end,
            published_mb_per_s: rate.and_then(|published| published.mb_per_s(at)),
            published_seconds: figure(published.and_then(|p| p.seconds.as_ref()), at),
        }
    };
    names.into_iter().enumerate().map(outcome).collect()
}

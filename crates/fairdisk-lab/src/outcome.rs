//! The outcome of an experiment: means and spreads beside the published figures.

mod change;
mod directions;
mod disk_part;
mod disks;
mod figure;
mod host_limits;
mod html;
mod json;
mod memory;
mod payers;
mod published;
mod ramps;
mod regimes;
mod rounds;
mod score;
mod series;
mod split;
mod table;
mod task;
mod throughput;
mod trims;
mod verdicts;

pub use change::ChangeOutcome;
pub use directions::{Amount, Directions};
pub use disk_part::DiskPart;
pub use disks::DisksOutcome;
pub use figure::FigureOutcome;
pub(crate) use figure::measure;
pub use html::{film, to_html};
pub(crate) use json::ScoreResults;
pub use json::{Backend, LatenessMs, RunResults, to_json};
pub use memory::{Mean, MemoryOutcome, MemoryShare};
pub use payers::PayersOutcome;
pub use published::PublishedGroup;
pub use regimes::{Regime, Regimes};
pub use score::Score;
pub use series::Series;
pub(crate) use split::TWO_REGIMES;
pub use table::{Style, to_table};
pub(crate) use table::{
    digits, milliseconds, notes, or_dash, runs, score_lines, widest, write_grid,
};
pub use task::TaskOutcome;
pub use throughput::{Child, Throughput};

use crate::catalog::experiment::Estimate;
use crate::catalog::host::Host;
use crate::plan::{Figures, Plan, ROOT_GROUP};
use crate::run::{Ensemble, EventRun, GroupRun, PlanRuns, Refused, RunEnd, RunResult};
use crate::watched::Watched;
use fairdisk_core::{Histogram, Prng, Share};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toml::Table;

/// A mean, and the standard deviation of single runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; 0 for a single run.
    pub sd: f64,
}

impl Spread {
    /// The mean and the standard deviation of these values.
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

/// Where a result was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// In the simulation.
    Lab,
    /// On a real file.
    File,
}

impl Shell {
    /// The shell's name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lab => "lab",
            Self::File => "file",
        }
    }
}

/// The outcome of an experiment.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The experiment's id.
    pub experiment: String,
    /// One line about the experiment.
    pub title: String,
    /// The question that the experiment answers.
    pub question: String,
    /// The source of the published figures.
    pub source: String,
    /// What to know before reading the figures.
    pub caveats: Vec<String>,
    /// Causes of a difference from the source's figures that were examined and excluded.
    pub excluded: Vec<String>,
    /// The shares that authors expected of the arms that were run.
    pub estimates: Vec<Estimate>,
    /// Where the results were measured.
    pub shell: Shell,
    /// The id of the device.
    pub device: String,
    /// The number of runs of each row, unless stopped early.
    pub seeds: u32,
    /// The rows, arm by arm.
    pub rows: Vec<RowOutcome>,
    /// Rows that schedulers refused to run.
    pub refused: Vec<RefusedRow>,
    /// Changes between arms for which the source gives a figure.
    pub changes: Vec<ChangeOutcome>,
    /// The arms as they were resolved, in their first row.
    pub arms: Vec<ArmOutcome>,
    /// Stretches of single runs for the time lines of pages; none if nobody asked for them.
    pub watched: Vec<Watched>,
}

/// What an arm was run with: files of the catalogue with what they inherit and all changes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ArmOutcome {
    /// The name of the arm.
    pub name: String,
    /// The scheduler.
    #[schemars(with = "Map<String, Value>")]
    pub scheduler: Table,
    /// The device.
    #[schemars(with = "Map<String, Value>")]
    pub device: Table,
    /// The host.
    #[schemars(with = "Map<String, Value>")]
    pub host: Host,
}

/// A row that the scheduler of an arm refuses to run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RefusedRow {
    /// The name of the arm.
    pub arm: String,
    /// The label of the row.
    pub row: String,
    /// The reason for the refusal.
    pub reason: String,
}

/// The results of one row under one arm.
#[derive(Clone, Debug)]
pub struct RowOutcome {
    /// The name of the arm.
    pub arm: String,
    /// The scheduler of the arm.
    pub scheduler: String,
    /// The id of the device.
    pub device: String,
    /// The host as it was asked for, if it differs from that of other arms.
    pub own_host: Option<String>,
    /// The label of the row.
    pub row: String,
    /// The number of runs.
    pub seeds: usize,
    /// Whether there are fewer runs than asked for, or a run was cut short.
    pub partial: bool,
    /// How the runs ended; the worst of them.
    pub end: RunEnd,
    /// The length of a run, in seconds.
    pub duration_s: f64,
    /// I/Os of all groups together.
    pub total_ios: Series,
    /// Bytes of all groups together.
    pub total_bytes: f64,
    /// What the disk did as a part of what it can do, 0 to 1; on a real file, its busy time.
    pub work: f64,
    /// The results of each group.
    pub groups: Vec<GroupOutcome>,
    /// The results of each named task.
    pub tasks: Vec<TaskOutcome>,
    /// The tests of iozone, as it reports them.
    pub throughput: Vec<Throughput>,
    /// Published figures without a column of their own, beside the measured ones.
    pub figures: Vec<FigureOutcome>,
    /// The total I/Os that the source gives.
    pub published_total: Option<f64>,
    /// The hash of the journal of the first seed.
    pub journal_hash: u64,
    /// Bios submitted to the request queue, over all seeds.
    pub submitted: u64,
    /// Bios completed by the request queue, over all seeds.
    pub completed: u64,
    /// Bios still in the request queue at the end, over all seeds.
    pub in_flight: u64,
    /// Bytes that were dirty in memory at the end.
    pub dirty_bytes: f64,
    /// What happened to memory, where the host has it page by page.
    pub memory: Option<MemoryOutcome>,
    /// Who pays for buffered writes by each rule, where the host says who does.
    pub payers: Option<PayersOutcome>,
    /// What each disk did.
    pub disks: DisksOutcome,
    /// What came of events, in the first run.
    pub events: Vec<EventRun>,
    /// Failed I/Os.
    pub errors: u64,
}

/// The results of one group in a row.
#[derive(Clone, Debug)]
pub struct GroupOutcome {
    /// The group's name.
    pub name: String,
    /// Its weight, or its priority, among the groups beside it; `None` for the root group.
    pub claim: Option<Share>,
    /// I/Os per run.
    pub ios: Series,
    /// The group's share of all I/Os.
    pub share: Series,
    /// Mean bytes per run.
    pub bytes: f64,
    /// What the group got of the disk.
    pub disk: DiskPart,
    /// The fraction of the group's I/Os that are reads; `None` without I/Os.
    pub read_share: Option<f64>,
    /// Latencies over all seeds.
    pub latency: Histogram,
    /// Reads, writes and flushes separately.
    pub directions: Directions,
    /// How often a task had to wait for a request slot.
    pub slot_waits: f64,
    /// What it had of the memory, where the host has it page by page.
    pub memory: Option<MemoryShare>,
    /// The longest time a request waited for the disk, in ms, including requests still waiting at
    /// the end.
    pub wait_max_ms: f64,
    /// The figures that the source gives or expects.
    pub published: Option<PublishedGroup>,
}

impl GroupOutcome {
    /// The group's share of all I/Os as it is compared: if a share is published or expected, it
    /// includes nested groups.
    #[must_use]
    pub fn compared_share(&self) -> &Series {
        let published = self.published.as_ref();
        let published = published.filter(|it| it.share.or(it.expected).is_some());
        published.map_or(&self.share, |published| &published.ours)
    }

    /// The results of several groups under one name; `None` if there is no group. Spreads are not
    /// known.
    pub(crate) fn together<'a>(name: &str, groups: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let add = |one: Self, other: Self| {
            let reads = |group: &Self| group.read_share.map_or(0.0, |share| share * group.ios.mean);
            let ios = one.ios.mean + other.ios.mean;
            let mut latency = one.latency.clone();
            latency.merge(&other.latency);
            Self {
                share: Series::of_mean(one.share.mean + other.share.mean),
                bytes: one.bytes + other.bytes,
                disk: one.disk.with(other.disk),
                read_share: (ios > 0.0).then(|| (reads(&one) + reads(&other)) / ios),
                latency,
                directions: one.directions.with(&other.directions),
                slot_waits: one.slot_waits + other.slot_waits,
                memory: one.memory.zip(other.memory).map(|(one, other)| one.with(other)),
                wait_max_ms: one.wait_max_ms.max(other.wait_max_ms),
                name: one.name,
                claim: None,
                ios: Series::of_mean(ios),
                published: None,
            }
        };
        let all = groups.cloned().reduce(add)?;
        Some(Self { name: name.to_owned(), published: None, ..all })
    }
}

impl Outcome {
    /// The outcome of the ensembles of `plan`.
    #[must_use]
    pub fn new(plan: &Plan, shell: Shell, ensembles: &[Ensemble]) -> Self {
        let unheeded = plan.unheeded(plan.arms.iter());
        let rounds =
            rounds::notes(plan, ensembles).into_iter().chain(memory::note(plan, ensembles));
        let rounds = rounds.chain(ramps::note(plan, ensembles));
        let rounds = rounds.chain(verdicts::notes(plan, ensembles));
        // A file is trimmed as it is.
        let trims = (shell == Shell::Lab).then(|| trims::note(plan, ensembles)).flatten();
        let rounds = rounds.chain(trims);
        let rounds = rounds.chain(host_limits::note(plan, ensembles));
        Self {
            experiment: plan.id.clone(),
            title: plan.title.clone(),
            question: plan.question.clone(),
            source: plan.source.clone(),
            caveats: plan.caveats.iter().cloned().chain(unheeded).chain(rounds).collect(),
            excluded: plan.excluded.clone(),
            estimates: estimates(plan, ensembles),
            shell,
            device: plan.rig.device_id.clone(),
            seeds: plan.seeds,
            rows: ensembles.iter().map(|ensemble| row(plan, ensemble)).collect(),
            refused: Vec::new(),
            changes: change::changes(plan, ensembles),
            arms: arms(plan, ensembles),
            watched: Vec::new(),
        }
    }

    /// The disk, and where it was: in the lab, or a file at its pace or its own.
    pub(crate) fn place(&self) -> String {
        match (self.shell, self.device == OWN_PACE) {
            (Shell::File, true) => "the file as it is (file)".to_owned(),
            (Shell::File, false) => format!("a file at the pace of {} (file)", self.device),
            (Shell::Lab, _) => format!("{} (lab)", self.device),
        }
    }

    /// How many runs the figures of a row are the mean of.
    pub(crate) fn runs(&self) -> String {
        match self.rows.iter().any(|row| row.partial) && self.seeds > 1 {
            true => format!("mean of up to {} runs", self.seeds),
            false => runs(self.seeds as usize),
        }
    }

    /// The outcome of the runs of `plan` in the lab.
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

/// Each arm that was run, as it was in its first row.
fn arms(plan: &Plan, ensembles: &[Ensemble]) -> Vec<ArmOutcome> {
    let mut arms: Vec<ArmOutcome> = Vec::new();
    for ensemble in ensembles {
        let arm = plan.cell(ensemble.arm, ensemble.row).0;
        if arms.iter().all(|known| known.name != arm.name) {
            arms.push(ArmOutcome {
                name: arm.name.clone(),
                scheduler: arm.revision.resolved.clone(),
                device: arm.rig.device_resolved.clone(),
                host: arm.rig.host.clone(),
            });
        }
    }
    arms
}

/// The estimates that are about something that was run.
fn estimates(plan: &Plan, ensembles: &[Ensemble]) -> Vec<Estimate> {
    let is_run = |estimate: &&Estimate| {
        ensembles.iter().any(|ensemble| {
            let (arm, row) = plan.cell(ensemble.arm, ensemble.row);
            estimate.is_about(&arm.name, &row.label)
        })
    };
    plan.estimates.iter().filter(is_run).cloned().collect()
}

fn row(plan: &Plan, ensemble: &Ensemble) -> RowOutcome {
    let (arm, row) = plan.cell(ensemble.arm, ensemble.row);
    let runs = &ensemble.runs;
    let published = plan.published(&arm.name, &row.label);
    let n = runs.len().max(1) as f64;
    let sum = |value: &dyn Fn(&RunResult) -> u64| runs.iter().map(value).sum::<u64>();
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
        total_ios: Series::of(runs.iter().map(|run| total_ios(run) as f64).collect()),
        total_bytes: bytes as f64 / n,
        work: disk_part::load(runs, arm.rig.array.disks),
        groups: groups(plan, ensemble, published),
        tasks: task::tasks(plan, ensemble, published),
        throughput: Throughput::all(row.load.as_ref(), ensemble),
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
        memory: MemoryOutcome::of(runs),
        payers: PayersOutcome::of(&arm.rig.host, row.load.group_names(), runs),
        disks: DisksOutcome::of(runs),
        events: runs.first().map_or_else(Vec::new, |run| run.events.clone()),
        errors: sum(&|run| run.groups.iter().map(|group| group.errors).sum()),
    }
}

fn total_ios(run: &RunResult) -> u64 {
    run.groups.iter().map(|group| group.ios).sum()
}

/// A part as a fraction of a whole; 0 if the whole is 0.
pub(crate) fn part(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The name of the device of a real file that is measured as it is.
pub const OWN_PACE: &str = "none";

/// The name of the root group, and its name if the load has a group of that name.
const ROOT: [&str; 2] = [ROOT_GROUP, "/ (root)"];

/// The smallest share of the disk's time that is visible in the table. The commits of a journal
/// take far less.
const TIME_SHOWN: f64 = 0.0005;

/// The groups of the load and, if the disk was busy for it, the root group.
fn groups(plan: &Plan, ensemble: &Ensemble, published: Option<&Figures>) -> Vec<GroupOutcome> {
    let names = plan.rows[ensemble.row].load.group_names();
    let root_name = ROOT[usize::from(names.iter().any(|name| name == ROOT[0]))];
    let (arm, planned) = plan.cell(ensemble.arm, ensemble.row);
    let loaded = planned.load.build(&arm.rig.host, false, &mut Prng::new(0));
    let mut groups: Vec<GroupOutcome> = names
        .into_iter()
        .enumerate()
        .map(|(at, name)| {
            let published = published.and_then(|figures| PublishedGroup::of(figures, at, ensemble));
            let claim = loaded.groups.get(at).map(|label| label.spec.share);
            GroupOutcome { published, claim, ..group(ensemble, name, &|run| &run.groups[at]) }
        })
        .collect();
    let root = group(ensemble, root_name.to_owned(), &|run| &run.root);
    groups.extend(Some(root).filter(|root| root.disk.time_share >= TIME_SHOWN));
    groups
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
    let ios: Vec<f64> = runs.iter().map(|run| find(run).ios as f64).collect();
    let all: f64 = ios.iter().sum();
    let shares = runs.iter().zip(&ios).map(|(run, ios)| part(*ios, total_ios(run) as f64));
    let mut latency = Histogram::new();
    runs.iter().for_each(|run| latency.merge(&find(run).latency));
    let wait_max = runs.iter().map(|run| find(run).wait_max.as_ns()).max().unwrap_or(0);
    GroupOutcome {
        name,
        claim: None,
        share: Series::of(shares.collect()),
        ios: Series::of(ios),
        bytes: sum(&|group| group.bytes) / n,
        disk: DiskPart::of(runs, find),
        read_share: (all > 0.0).then(|| sum(&|group| group.read.ios) / all),
        latency,
        directions: Directions::of(runs.iter().map(find).map(GroupRun::directions)),
        slot_waits: sum(&|group| group.slot_waits) / n,
        memory: MemoryShare::of(runs, runs.iter().map(|run| &find(run).memory)),
        wait_max_ms: wait_max as f64 / 1e6,
        published: None,
    }
}

//! Running plans: every arm, row and seed, on all cores, with the same results on any number of
//! them.

mod events;
mod group_run;
mod memory_run;
mod ramp;
mod recording;
mod task_run;
mod watch;

pub use events::EventRun;
use events::Stage;
pub use group_run::GroupRun;
pub use memory_run::MemoryRun;
pub(crate) use memory_run::had;
pub use recording::{RunRecording, record_once};
pub use task_run::TaskRun;
pub use watch::Kept;

use crate::plan::{GroupNumbers, Obstacle, Plan, PlannedArm, PlannedRow, Setup};
use crate::threads::on_cores;
pub use crate::threads::{Progress, Silent};
use fairdisk_core::{Accounts, DiskStats, GroupId, Instant, Prng, Span};
use fairdisk_sched::Scheduler;
use fairdisk_sim::device::Device as _;
use fairdisk_sim::{Machine, World};
use ramp::demand_left;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use watch::Watch;

/// How a run ended, from best to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunEnd {
    /// As planned: after its time, or with its tasks.
    #[default]
    Planned,
    /// Given up, because its tasks were not done after [`RUN_MAX`].
    GivenUp,
    /// Interrupted by the user.
    Interrupted,
    /// Failed, because a request failed.
    Failed,
}

/// The result of one run.
#[derive(Clone, Debug, Default)]
pub struct RunResult {
    /// How long was measured.
    pub elapsed: Span,
    /// How the run ended.
    pub end: RunEnd,
    /// Whether all tasks were done.
    pub done: bool,
    /// Whether a group was done well before the end and used the disk no more.
    pub done_early: bool,
    /// The groups, without the root group.
    pub groups: Vec<GroupRun>,
    /// The root group, to which journals belong and, with D5, write-back. It has no tasks, unless
    /// the load has a group `/`, which is then one of `groups`.
    pub root: GroupRun,
    /// The lines of the report on tasks.
    pub tasks: Vec<TaskRun>,
    /// The hash of the journals of all disks.
    pub journal_hash: u64,
    /// Bios submitted to the request queue, including metadata and journal.
    pub submitted: u64,
    /// Bios completed.
    pub completed: u64,
    /// Bios in the request queue at the end.
    pub in_flight: u64,
    /// Bytes that were dirty in memory or being written back at the end.
    pub dirty_bytes: u64,
    /// How often an inode got another owner.
    pub owner_changes: u64,
    /// What happened to memory, where the host has it page by page.
    pub memory: Option<MemoryRun>,
    /// Whether memory that is an amount was too little for what was read through it.
    pub memory_was_full: bool,
    /// What each disk did.
    pub disks: Vec<DiskStats>,
    /// What came of the row's events.
    pub events: Vec<EventRun>,
}

impl RunResult {
    /// Adds the result of another disk, which ran on a machine of its own.
    fn add(&mut self, other: &Self) {
        self.elapsed = self.elapsed.max(other.elapsed);
        self.end = self.end.max(other.end);
        self.done &= other.done;
        self.done_early |= other.done_early;
        for (group, other) in self.groups.iter_mut().zip(&other.groups) {
            group.add(other);
        }
        self.root.add(&other.root);
        self.tasks.extend(other.tasks.iter().cloned());
        self.journal_hash = joined_hash(self.journal_hash, other.journal_hash);
        self.submitted += other.submitted;
        self.completed += other.completed;
        self.in_flight += other.in_flight;
        self.dirty_bytes += other.dirty_bytes;
        self.owner_changes += other.owner_changes;
        let memory = self.memory.zip(other.memory).map(|(one, two)| one.with(two));
        self.memory = memory.or(self.memory);
        self.memory_was_full |= other.memory_was_full;
        self.disks.extend_from_slice(&other.disks);
        for (event, other) in self.events.iter_mut().zip(&other.events) {
            event.refused = event.refused.take().or_else(|| other.refused.clone());
        }
    }

    /// What a disk did on average; `None` if the run was given up, after which nothing can be
    /// compared.
    pub(crate) fn disk(&self) -> Option<DiskStats> {
        let disks = self.disks.iter().copied().filter(|_| self.end != RunEnd::GivenUp);
        disks.reduce(|one, other| one.with(&other))
    }

    /// Records the disks' work for each group of the machine, the first of which is the root group.
    fn note_work(&mut self, root_at: Option<usize>, before: &[Span], after: &[Span]) {
        let mut work = before.iter().zip(after).map(|(before, after)| *after - *before);
        let root = work.next().unwrap_or_default();
        for (group, work) in self.groups.iter_mut().zip(work) {
            group.work = work;
        }
        match root_at.and_then(|at| self.groups.get_mut(at)) {
            Some(group) => group.work = root,
            None => self.root.work = root,
        }
    }

    /// Combines the lines that stand for the same tasks on several partitions.
    fn gather_lines(&mut self, lines: usize) {
        let line = |at: usize| {
            let tasks = self.tasks.iter().skip(at).step_by(lines);
            tasks.cloned().reduce(TaskRun::with)
        };
        self.tasks = (0..lines).filter_map(line).collect();
    }
}

/// A run in the lab that lasts until its tasks are done is given up after this time.
pub const RUN_MAX: Span = Span::from_s(24 * 3600);
/// The simulated time between checks of the stop flag.
const STOP_CHECK: Span = Span::from_s(10);

/// Runs one arm, row and seed in the lab: all disks on one machine if they run together, else one
/// after another, each on its own.
///
/// # Errors
/// Returns an error if the load does not fit the disk, if the scheduler refuses a group's floor, or
/// if all tasks, or those of a line of the report, are done before anything is measured.
pub fn run_once(
    plan: &Plan,
    arm: &PlannedArm,
    row: &PlannedRow,
    seed: u32,
    stop: &AtomicBool,
) -> Result<RunResult, Obstacle> {
    let mut result: Option<RunResult> = None;
    for disks in arm.rig.machines() {
        let setup = plan.assemble(arm, row, seed, disks)?;
        let of_machine = run_machine(plan, (arm, row), setup, stop)?;
        match &mut result {
            Some(result) => result.add(&of_machine),
            None => result = Some(of_machine),
        }
    }
    let mut result = result.unwrap_or_default();
    result.gather_lines(row.load.task_names().len());
    Ok(result)
}

fn run_machine(
    plan: &Plan,
    (arm, row): (&PlannedArm, &PlannedRow),
    setup: Setup,
    stop: &AtomicBool,
) -> Result<RunResult, Obstacle> {
    let Setup { named, root, tick_phases, .. } = setup;
    let (names, numbers) = (row.load.group_names(), GroupNumbers { root });
    let stage = Stage { arm, names, named: &named, numbers, tick_phases: &tick_phases };
    let mut world = World::new(setup.machine, setup.jbod);
    let end = Instant::ZERO + row.duration.unwrap_or(RUN_MAX);
    if plan.ramp > Span::ZERO {
        world.run_until(Instant::ZERO + plan.ramp);
        demand_left(plan, row, &named, world.machine())?;
        world.machine_mut().restart_tallies(Instant::ZERO + plan.ramp);
    }
    let before = work(&world);
    let began = Instant::ZERO + plan.ramp;
    let watch = |_| Watch::new(&setup.groups, GroupNumbers { root }, began);
    let mut watches: Vec<Watch> = world.machine().engines().map(watch).collect();
    let is_idle = watches.iter().all(Watch::is_idle);
    let step = if is_idle { STOP_CHECK } else { watch::LOOK };
    let mut next = began;
    let (mut coming, mut events) = (row.events.iter().peekable(), Vec::new());
    while next < end && !world.machine().is_done() && !stop.load(Ordering::Relaxed) {
        let event = coming.peek().map_or(end, |event| Instant::ZERO + event.at);
        next = (next + step).min(end).min(event);
        world.run_until_done(next);
        while let Some(event) = coming.next_if(|event| Instant::ZERO + event.at <= next) {
            events.push(stage.play(&mut world, event));
        }
        if !is_idle {
            let each = watches.iter_mut().zip(world.machine().engines());
            each.for_each(|(watch, engine)| watch.look(world.now(), engine));
        }
    }
    let until = if world.machine().is_done() { world.now() } else { next };
    let mut result = collect(world.machine(), &named, root, began, until);
    result.events = events;
    watches.into_iter().for_each(|watch| watch.finish(&mut result.groups));
    result.note_work(root, &before, &work(&world));
    if row.duration.is_none() && !world.machine().is_done() {
        result.end = RunEnd::GivenUp;
    }
    Ok(result)
}

/// The work of all disks so far for each group of the machine.
fn work(world: &World<Scheduler>) -> Vec<Span> {
    let sum = |group| {
        let disks = world.jbod().disks().iter();
        disks.fold(Span::ZERO, |sum, disk| sum + disk.work(group))
    };
    world.machine().group_ids().map(sum).collect()
}

/// Collects the result of a run from a machine, over all of its disks. `root_at` is the index of
/// the root group in the load, if tasks of the load are in it.
pub fn collect(
    machine: &Machine<Scheduler>,
    named: &[Range<usize>],
    root_at: Option<usize>,
    began: Instant,
    until: Instant,
) -> RunResult {
    let accounts: Vec<Accounts> =
        machine.engines().map(|engine| engine.accounts_at(until)).collect();
    let mut groups: Vec<GroupRun> = machine
        .group_ids()
        .zip(machine.groups())
        .map(|(group, tally)| {
            let mut run = GroupRun {
                ios: tally.ios(),
                bytes: tally.bytes(),
                latency: tally.latency,
                charged: machine.charged(group),
                charged_by_rule: machine.charged_by_rule(group),
                errors: tally.errors,
                ..GroupRun::default()
            };
            for account in accounts.iter().filter_map(|disk| disk.group(group)) {
                run.device_time += account.device_time;
                run.wait_max = run.wait_max.max(account.wait_max());
                run.slot_waits += account.slot_waits;
            }
            run
        })
        .collect();
    for (group, report) in machine.reports_by_group() {
        groups[group.0 as usize].add_task(report, until);
    }
    for ((group, _), goes_round) in machine.task_ends().zip(machine.rounds()) {
        groups[group.0 as usize].goes_round |= goes_round;
    }
    let mut root = groups.remove(0);
    if let Some(group) = root_at.and_then(|at| groups.get_mut(at)) {
        std::mem::swap(group, &mut root);
    }
    let reports: Vec<_> = machine.task_reports().collect();
    let hashes = machine.engines().map(|engine| engine.journal().hash());
    RunResult {
        elapsed: until - began,
        end: RunEnd::Planned,
        done: machine.is_done(),
        done_early: is_done_early(machine, began, until),
        groups,
        root,
        tasks: named
            .iter()
            .filter_map(|tasks| reports.get(tasks.clone()))
            .map(|reports| TaskRun::of(reports, until))
            .collect(),
        journal_hash: hashes.reduce(joined_hash).unwrap_or_default(),
        submitted: accounts.iter().map(|disk| disk.submitted).sum(),
        completed: accounts.iter().map(|disk| disk.completed).sum(),
        in_flight: accounts.iter().map(Accounts::in_flight).sum(),
        dirty_bytes: machine.dirty_bytes(),
        owner_changes: machine.owner_changes(),
        memory: MemoryRun::of(machine, until),
        memory_was_full: machine.memory_was_full(),
        disks: machine.engines().map(|engine| engine.disk_stats_at(until)).collect(),
        events: Vec::new(),
    }
}

/// The hash of the journals of several disks and of one more.
fn joined_hash(disks: u64, disk: u64) -> u64 {
    Prng::new(disks).fork(disk).next_u64()
}

/// Whether a group all of whose tasks are done wanted nothing more before the last part of the time
/// in which others did. How long their last I/Os take says nothing about that.
fn is_done_early(machine: &Machine<Scheduler>, began: Instant, until: Instant) -> bool {
    let last_part = (until - began) / 20;
    let mut done: BTreeMap<GroupId, Option<Instant>> = BTreeMap::new();
    for (group, satisfied) in machine.task_needs() {
        let last = done.entry(group).or_insert(Some(Instant::ZERO));
        *last = last.zip(satisfied).map(|(one, other)| one.max(other));
    }
    let all = done.values().copied().reduce(|one, other| Some(one?.max(other?))).flatten();
    let wanted_until = all.unwrap_or(until);
    done.values().flatten().any(|last| *last + last_part < wanted_until)
}

/// The runs of one arm and row, one per seed.
#[derive(Clone, Debug)]
pub struct Ensemble {
    /// Index of the arm in the plan.
    pub arm: usize,
    /// Index of the row in the plan.
    pub row: usize,
    /// The runs, in order of seeds.
    pub runs: Vec<RunResult>,
}

impl Ensemble {
    /// Whether every run that `plan` asks for is there and ended.
    #[must_use]
    pub fn is_complete(&self, plan: &Plan) -> bool {
        self.runs.len() == plan.seeds as usize && self.end() <= RunEnd::GivenUp
    }

    /// How the runs ended; the worst of them.
    #[must_use]
    pub fn end(&self) -> RunEnd {
        self.runs.iter().map(|run| run.end).max().unwrap_or_default()
    }
}

/// Runs the whole plan. Setting `stop` ends early with the runs that are complete.
///
/// # Errors
/// Returns the first load that cannot be run, or that a scheduler refuses.
pub fn run_plan(
    plan: &Plan,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Vec<Ensemble>, String> {
    let runs = run_all(plan, progress, stop)?;
    match runs.refused.into_iter().next() {
        Some(Refused { reason, .. }) => Err(reason),
        None => Ok(runs.ensembles),
    }
}

/// Runs everything in the plan that schedulers accept. Setting `stop` ends early with the runs that
/// are complete.
///
/// # Errors
/// Returns the first load that cannot be run under any scheduler.
pub fn run_all(plan: &Plan, to: &dyn Progress, stop: &AtomicBool) -> Result<PlanRuns, String> {
    Ok(run_plans(&[plan], to, stop)?.pop().unwrap_or_default())
}

/// One run to do.
#[derive(Clone, Copy, Debug)]
struct Job {
    plan: usize,
    arm: usize,
    row: usize,
    seed: u32,
}

fn jobs(plans: &[&Plan]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (plan, planned) in plans.iter().enumerate() {
        for arm in 0..planned.arms.len() {
            for row in 0..planned.rows.len() {
                jobs.extend((0..planned.seeds).map(|seed| Job { plan, arm, row, seed }));
            }
        }
    }
    jobs
}

/// The runs of a plan.
#[derive(Debug, Default)]
pub struct PlanRuns {
    /// The ensembles, by arm, then row.
    pub ensembles: Vec<Ensemble>,
    /// Rows that schedulers refused to run.
    pub refused: Vec<Refused>,
}

/// A row that the scheduler of an arm refuses to run.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Index of the arm in the plan.
    pub arm: usize,
    /// Index of the row in the plan.
    pub row: usize,
    /// The reason for the refusal.
    pub reason: String,
}

/// Runs several plans at once and returns the runs of each. Setting `stop` ends early with the runs
/// that are complete.
///
/// # Errors
/// Returns the first load that cannot be run under any scheduler.
pub fn run_plans(
    plans: &[&Plan],
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Vec<PlanRuns>, String> {
    let jobs = jobs(plans);
    let cell = |job: &Job| plans[job.plan].cell_name(job.arm, job.row);
    let results = on_cores(&jobs, cell, progress, stop, |&Job { plan, arm, row, seed }| {
        let plan = plans[plan];
        let (arm, row) = plan.cell(arm, row);
        run_once(plan, arm, row, seed, stop)
    });
    gather(plans.len(), &jobs, results)
}

/// Collects the runs by plan, arm and row. Of an ensemble that was cut short, the completed runs
/// are kept.
fn gather(
    plans: usize,
    jobs: &[Job],
    results: Vec<Option<Result<RunResult, Obstacle>>>,
) -> Result<Vec<PlanRuns>, String> {
    let mut gathered: Vec<PlanRuns> = (0..plans).map(|_| PlanRuns::default()).collect();
    for (&Job { plan, arm, row, seed }, result) in jobs.iter().zip(results) {
        let PlanRuns { ensembles, refused } = &mut gathered[plan];
        if seed == 0 {
            ensembles.push(Ensemble { arm, row, runs: Vec::new() });
        }
        match (result, ensembles.last_mut()) {
            (Some(Ok(result)), Some(ensemble)) => ensemble.runs.push(result),
            (Some(Err(Obstacle::Load(why))), _) => return Err(why),
            // A scheduler that refuses a row refuses it with every seed.
            (Some(Err(Obstacle::Refusal { reason, .. })), _) if seed == 0 => {
                refused.push(Refused { arm, row, reason });
            }
            _ => {}
        }
    }
    for runs in &mut gathered {
        runs.ensembles.retain(|ensemble| !ensemble.runs.is_empty());
    }
    Ok(gathered)
}

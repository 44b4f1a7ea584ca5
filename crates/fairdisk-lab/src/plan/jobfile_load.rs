//! The load of a fio job file: its jobs as tasks on a disk.
//!
//! Jobs without a group of their own are in the root group `/`, like tasks that were never moved.
//! `/a/b` is nested in `/a`, which exists even if no job is in it.

use super::jobfile_files::{Layout, Worker};
use super::jobfile_notes::keeps_runtime;
use super::jobfile_stream::stream;
use super::jobfile_watch::{ends, flow, watch};
use super::loaded::{Children, GroupLabel, Loaded};
use super::setup::{Load, Written};
use super::{GroupNumbers, ROOT_GROUP, Rig};
use crate::catalog::error::Where;
use crate::catalog::host::Host;
use crate::jobfile::{
    Caching, Dropped, FileSystem, GroupSetting, GroupShare, Hint, IoPrio as JobPrio, Job, JobRow,
    Mix, Order, Place, SubmissionClass, Target, WriteSync,
};
use fairdisk_core::{GroupId, Instant, IoClass, IoPrio, Prng, Share, Span, Weight};
use fairdisk_sim::GroupSpec;
use fairdisk_sim::host::Advice;
use fairdisk_sim::workload::{Drops, TaskSpec, Think};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const GIB: u64 = 1 << 30;

/// The load of a job file.
#[derive(Debug)]
pub(super) struct JobFileLoad {
    jobs: Vec<Job>,
    disk_bytes: u64,
    /// The number of disks of the array.
    disks: u32,
    /// The lines of the table for each test of iozone.
    children: Vec<Children>,
    /// The groups in the order in which jobs name them, followed by those that have only nested
    /// groups.
    groups: Vec<GroupLabel>,
    numbers: GroupNumbers,
    /// The group of each job.
    group_of: Vec<GroupId>,
    /// The groups with floors, and where those are written.
    floors: BTreeMap<String, Place>,
    /// The jobs that keep their `runtime` although the caller says how long to run.
    timed: Vec<String>,
}

impl Load for JobFileLoad {
    fn build(&self, host: &Host, _ionice: bool, prng: &mut Prng) -> Loaded {
        let workers: Vec<Worker<'_>> =
            self.clones().map(|(_, job, clone)| self.worker(job, clone, prng)).collect();
        let layout = Layout::new(&workers, host);
        let disk_of = |(_, job, _): (usize, &Job, u32)| self.disk_of(job);
        let disk_of = self.clones().map(disk_of).collect();
        let jobs = self.clones().map(|(at, ..)| at);
        let task = |(worker, at): (&Worker<'_>, usize)| TaskSpec {
            job: at as u32,
            wait_for: self.waited_for(&self.jobs[at]),
            ends_with: self.jobs[at].ends.map(|_| self.jobs[at].report_group),
            ..task(worker, self.group_of[at], layout.of(worker), prng)
        };
        Loaded {
            groups: self.groups.clone(),
            volumes: layout.volumes(),
            files: layout.place(self.disk_bytes),
            tasks: workers.iter().zip(jobs).map(task).collect(),
            named: self.lines().into_iter().map(|(_, tasks)| tasks).collect(),
            root: self.numbers.root,
            disk_of,
        }
    }

    fn identity(&self) -> String {
        let Self { jobs, disk_bytes, disks, children, groups, numbers, .. } = self;
        let Self { group_of, floors, timed, .. } = self;
        let floors: Vec<_> = floors.iter().map(|(group, place)| (group, place.line)).collect();
        let load = (jobs, disk_bytes, disks, children, groups, numbers);
        format!("{load:?} {group_of:?} {floors:?} {timed:?}")
    }

    fn notes(&self) -> Vec<String> {
        keeps_runtime(&self.timed).into_iter().collect()
    }

    fn children(&self) -> &[Children] {
        &self.children
    }

    fn group_names(&self) -> Vec<String> {
        self.groups.iter().map(|group| group.name.clone()).collect()
    }

    fn place(&self, what: Written) -> Where {
        let Written::Group(at, _) = what else { return Where::Unstated };
        self.floors.get(&self.groups[at].name).map_or(Where::Unstated, Where::from)
    }

    fn has_end(&self, line: usize) -> bool {
        let lines = self.lines();
        let ends = |job: &Job| !job.schedule.time_based || job.schedule.runtime_ns.is_some();
        let tasks = lines.get(line).map_or(0..0, |(_, tasks)| tasks.clone());
        self.clones().skip(tasks.start).take(tasks.len()).all(|(_, job, _)| ends(job))
    }

    fn task_names(&self) -> Vec<String> {
        self.lines().into_iter().map(|(name, _)| name).collect()
    }
}

impl JobFileLoad {
    pub(super) fn new(row: &JobRow, disk_bytes: u64, disks: u32) -> Self {
        let (resolved, children) = (&row.jobs, row.children.clone());
        let (jobs, floors) = (resolved.jobs.clone(), resolved.floors.clone());
        let mut groups: Vec<GroupLabel> = Vec::new();
        let mut index: BTreeMap<&str, usize> = BTreeMap::new();
        let mut place_of = Vec::new();
        // Jobs without a group get the settings that other jobs give to `/`.
        let mut named = jobs.iter().filter_map(|job| job.group.as_ref());
        let root = named.find(|group| group.path == ROOT_GROUP);
        for job in &jobs {
            let group = job.group.as_ref().or(root);
            let name = group.map_or(ROOT_GROUP, |group| &group.path);
            let at = *index.entry(name).or_insert(groups.len());
            if at == groups.len() {
                let spec = group.map_or_else(GroupSpec::default, spec);
                groups.push(GroupLabel { name: name.to_owned(), spec });
            }
            place_of.push(at);
        }
        let numbers = GroupNumbers { root: index.get(ROOT_GROUP).copied() };
        nest(&mut groups, numbers);
        let group_of = place_of.into_iter().map(|at| numbers.id(at)).collect();
        Self {
            jobs,
            disk_bytes,
            disks,
            children,
            groups,
            numbers,
            group_of,
            floors,
            timed: Vec::new(),
        }
    }

    /// Why the jobs cannot run on a disk of this size: they need more, or a clone would have
    /// nothing to work on.
    pub(super) fn obstacle(&self, rig: &Rig) -> Option<String> {
        let device = &rig.device_id;
        let last = self.jobs.iter().find(|job| self.disk_of(job) >= Some(self.disks));
        if let Some(job) = last {
            return Some(format!(
                "job `{}` is on a disk that device `{device}` does not have, its disks are 1 to \
                 {}; set device.jbod",
                job.name, self.disks
            ));
        }
        let mut prng = Prng::new(0);
        let workers: Vec<Worker<'_>> =
            self.clones().map(|(_, job, clone)| self.worker(job, clone, &mut prng)).collect();
        let needed = Layout::new(&workers, &rig.host).bytes();
        if needed > self.disk_bytes {
            return Some(format!(
                "the files take {}, device `{device}` has {}; lower size, or choose a larger \
                 --device",
                size(needed),
                size(self.disk_bytes),
            ));
        }
        let idle = workers.iter().find(|worker| worker.region.total() == 0)?;
        Some(format!(
            "clone {} of job `{}` would begin at byte {} of {}; lower offset or \
             offset_increment, or choose a larger --device",
            idle.clone + 1,
            idle.job.name,
            idle.region.offset,
            idle.region.shortest(),
        ))
    }

    /// Lets jobs run until the end of the run, whatever their `runtime`. Those that another waits
    /// for keep it, as the other would never begin.
    pub(super) fn lift_runtimes(&mut self) {
        let last = self.jobs.iter().map(|job| job.phase).max();
        let awaited: BTreeSet<String> =
            self.jobs.iter().filter_map(|job| job.wait_for.clone()).collect();
        for job in self.jobs.iter_mut().filter(|job| job.schedule.runtime_ns.is_some()) {
            if Some(job.phase) < last || awaited.contains(&job.name) {
                self.timed.push(job.name.clone());
            } else {
                job.schedule.runtime_ns = None;
            }
        }
    }

    /// The number of the disk on which alone the job works. Without an array all are on one.
    fn disk_of(&self, job: &Job) -> Option<u32> {
        job.disk.filter(|_| self.disks > 1).map(|disk| disk.get() - 1)
    }

    /// The number of the job that `job` waits for.
    fn waited_for(&self, job: &Job) -> Option<u32> {
        let name = job.wait_for.as_ref()?;
        self.jobs.iter().position(|other| other.name == *name).map(|at| at as u32)
    }

    fn worker<'a>(&self, job: &'a Job, clone: u32, prng: &mut Prng) -> Worker<'a> {
        Worker::new(job, clone, (self.disk_of(job), self.disk_bytes), prng)
    }

    /// Every clone of every job, in file order, with the number of its job.
    fn clones(&self) -> impl Iterator<Item = (usize, &Job, u32)> {
        let jobs = self.jobs.iter().enumerate();
        jobs.flat_map(|(at, job)| (0..job.clones.get()).map(move |clone| (at, job, clone)))
    }

    /// The lines of the table: a name and its tasks. With `group_reporting`, the clones of a job
    /// and the jobs of its report group share a line, as in fio.
    fn lines(&self) -> Vec<(String, Range<usize>)> {
        let mut lines: Vec<(String, Range<usize>)> = Vec::new();
        let mut group = None;
        for (task, (_, job, clone)) in self.clones().enumerate() {
            match lines.last_mut() {
                Some((name, tasks)) if job.group_reporting && group == Some(job.report_group) => {
                    tasks.end = task + 1;
                    if clone == 0 {
                        *name = format!("{name}+{}", job.name);
                    }
                }
                _ if job.clones.get() == 1 || job.group_reporting => {
                    lines.push((job.name.clone(), task..task + 1));
                }
                _ => lines.push((format!("{}#{}", job.name, clone + 1), task..task + 1)),
            }
            group = Some(job.report_group);
        }
        lines
    }
}

/// Nests groups as their paths say, adding missing parents.
fn nest(groups: &mut Vec<GroupLabel>, numbers: GroupNumbers) {
    let mut index: BTreeMap<String, usize> =
        groups.iter().enumerate().map(|(at, group)| (group.name.clone(), at)).collect();
    let mut at = 0;
    while at < groups.len() {
        if let Some((outer, _)) =
            groups[at].name.rsplit_once('/').filter(|(outer, _)| !outer.is_empty())
        {
            let name = outer.to_owned();
            let outer = *index.entry(name.clone()).or_insert(groups.len());
            if outer == groups.len() {
                groups.push(GroupLabel { name, spec: GroupSpec::default() });
            }
            groups[at].spec.parent = Some(numbers.id(outer));
        }
        at += 1;
    }
}

fn task(worker: &Worker<'_>, group: GroupId, files: Vec<u32>, prng: &mut Prng) -> TaskSpec {
    let job = worker.job;
    let delay = job.schedule.start_delay;
    let start = prng.between(delay.min_ns, delay.max_ns.max(delay.min_ns));
    let flushes = |wanted: bool| {
        let wanted = wanted && job.pattern.mix.uses().write;
        if wanted { files.len() as u32 } else { 0 }
    };
    let mut task = TaskSpec {
        group,
        ioprio: ioprio(job.priority.io, job.priority.nice),
        end_flushes: flushes(job.flush.at_end),
        late_flushes: flushes(job.flush.at_close),
        completes: job.completes,
        files,
        buffered: job.caching == Caching::Buffered,
        file_advice: match job.submission.hint {
            Hint::Nothing => Advice::Normal,
            Hint::Pattern => pattern(job),
            Hint::Random => Advice::Random,
            Hint::Sequential => Advice::Sequential,
        },
        drops: match job.submission.dropped {
            Dropped::Nothing => Drops::Nothing,
            Dropped::Data => Drops::Data,
            Dropped::Everything => Drops::Everything,
        },
        creates_files: creates_files(job),
        write_through: job.flush.write_sync != WriteSync::None,
        think: job.pace.think.map(|think| Think {
            pause: Span::from_ns(think.pause_ns),
            every: think.every_ios.get(),
        }),
        phase: job.phase,
        start: Instant::from_ns(start),
        ramp: Span::from_ns(job.schedule.ramp_ns),
        ends: ends(job),
        watch: watch(job),
        flow: flow(job),
        stream: stream(worker),
        ..TaskSpec::default()
    };
    match job.submission.class {
        SubmissionClass::Sync => {}
        SubmissionClass::Mapped => {
            task.mapped = Some(match job.submission.hint {
                Hint::Nothing => Advice::Normal,
                Hint::Pattern | Hint::Random | Hint::Sequential => pattern(job),
            });
            // fio synchronises a mapping with msync, and after each write only when bypassing the
            // cache.
            task.write_through = job.caching == Caching::Direct;
        }
        SubmissionClass::Null => task.nowhere = true,
        SubmissionClass::Async(queue) => {
            (task.depth, task.batch, task.refill_at) = (queue.depth, queue.batch, queue.low);
        }
    }
    task
}

/// Whether files are new with a job: it only writes, and none before it has made them.
fn creates_files(job: &Job) -> bool {
    let Target { filesystem, overwrites, .. } = job.target;
    let only_writes = job.pattern.mix == Mix::Write && job.phase == 0;
    only_writes && filesystem == FileSystem::Ext2 && !overwrites
}

/// The advice that matches the job's access pattern.
const fn pattern(job: &Job) -> Advice {
    match job.pattern.order {
        Order::Sequential { .. } => Advice::Sequential,
        Order::Random(_) => Advice::Random,
    }
}

fn spec(group: &GroupSetting) -> GroupSpec {
    let share = match group.share {
        GroupShare::Default => Share::DEFAULT,
        GroupShare::IoPrio(priority) => Share::Priority(priority),
        other => Weight::new(u32::from(other.weight())).map_or(Share::DEFAULT, Share::Weight),
    };
    GroupSpec { share, qos: group.limits.qos(), ..GroupSpec::default() }
}

pub(super) fn ioprio(priority: JobPrio, nice: i8) -> IoPrio {
    match priority {
        JobPrio::FromNice => IoPrio::from_nice(nice),
        JobPrio::RealTime { level } => IoPrio { class: IoClass::RealTime, level },
        JobPrio::BestEffort { level } => IoPrio::best_effort(level),
        JobPrio::Idle => IoPrio { class: IoClass::Idle, level: IoPrio::LEVELS - 1 },
    }
}
/// A size in GiB, or in MiB if it is no whole number of GiB below 100.
fn size(bytes: u64) -> String {
    if bytes.is_multiple_of(GIB) || bytes >= 100 * GIB {
        return format!("{} GiB", bytes / GIB);
    }
    format!("{} MiB", bytes >> 20)
}

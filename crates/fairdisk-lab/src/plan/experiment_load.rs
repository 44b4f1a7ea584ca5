//! The load of one row of an experiment, laid out on the disk.

use super::loaded::{GroupLabel, Loaded};
use super::setup::{Load, Written, start};
use super::{GroupNumbers, ROOT_GROUP};
use crate::catalog::error::Where;
use crate::catalog::experiment::{
    Experiment, Group, IoniceClass, OpMix, Row, Task, TaskAdvice, TaskOrder, TaskStream, Tasks,
    Until, Volume, VolumeType,
};
use crate::catalog::host::Host;
use crate::catalog::library::Document;
use crate::catalog::source::Source;
use crate::seconds::from_seconds;
use fairdisk_core::{IoClass, IoPrio, Lba, Prng, Share, Span, Weight};
use fairdisk_sim::GroupSpec;
use fairdisk_sim::host::{
    Advice, FileSpec, JournalSpec, VolumeKind, VolumeSpec, ext_bytes_on_disk,
};
use fairdisk_sim::workload::{
    Awaited, Blocks, Direction, Drops, FlushEvery, IoOrder, Limits, Rates, StreamSpec, TaskSpec,
};
use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// The load of one row of an experiment.
#[derive(Debug)]
pub(super) struct ExperimentLoad {
    pub(super) experiment: Experiment,
    pub(super) row: usize,
    /// The experiment's file, to locate faults.
    pub(super) document: Arc<Document>,
    /// The `--set` that changes the size or the place of volumes, if one does.
    pub(super) extent: Option<Where>,
}

/// The files of a volume in the machine, and those that are unused; the next one is last.
struct Files {
    name: String,
    first: u32,
    count: u32,
    bytes: u64,
    unused: Vec<u32>,
}

impl Files {
    /// The next unused file, or a random one if all are in use.
    fn pick(&mut self, prng: &mut Prng) -> u32 {
        let any = || self.first + prng.below(u64::from(self.count)) as u32;
        self.unused.pop().unwrap_or_else(any)
    }
}

/// The numbers of groups in the machine.
fn numbers(groups: &[Group]) -> GroupNumbers {
    GroupNumbers { root: groups.iter().position(|group| group.name == ROOT_GROUP) }
}

/// The numbers of the groups in the machine, and their settings.
pub(super) fn labels(groups: &[Group]) -> (GroupNumbers, Vec<GroupLabel>) {
    let numbers = numbers(groups);
    (numbers, groups.iter().map(|group| label(groups, numbers, group)).collect())
}

/// Whether a change, beginning with its key, affects the size or the place of volumes.
pub(super) fn is_extent(set: &str) -> bool {
    let key = set.split('=').next().unwrap_or_default().trim().strip_prefix("volume.");
    key.is_some_and(|key| ["start_gib", "size_gib", "files", "file_mib"].contains(&key))
}

/// The number of the first file in the inode table, after the file system's own inodes. Inodes are
/// numbered from 1, the first ten are reserved, and the eleventh is `lost+found` (documentation of
/// ext4, "special inodes").
const FIRST_FILE: u32 = 11;

impl Load for ExperimentLoad {
    fn build(&self, host: &Host, ionice: bool, prng: &mut Prng) -> Loaded {
        let row = &self.experiment.rows[self.row];
        let groups = self.experiment.groups_of(row);
        let (GroupNumbers { root }, labels) = labels(groups);
        let mut loaded = Loaded { groups: labels, root, ..Loaded::default() };
        let mut files: Vec<Files> = self
            .experiment
            .volumes
            .iter()
            .map(|volume| lay_out(volume, host, &mut loaded, prng))
            .collect();
        self.set_apart(row, &mut files);
        self.add_tasks(row, groups, ionice, &mut files, &mut loaded, prng);
        loaded
    }

    fn place(&self, what: Written) -> Where {
        if let (Written::Volume(_), Some(extent)) = (&what, &self.extent) {
            return extent.clone();
        }
        let row = &self.experiment.rows[self.row];
        let own_groups = !row.groups.is_empty();
        let key = match what {
            // A row's changes to all volumes take precedence over the volumes' own keys.
            Written::Volume(at) => match row.set.iter().rposition(|set| is_extent(set)) {
                Some(change) => format!("row.{}.set.{change}", self.row),
                None => format!("volume.{at}"),
            },
            Written::Group(at, key) if own_groups => format!("row.{}.groups.{at}.{key}", self.row),
            Written::Group(at, key) => format!("group.{at}.{key}"),
        };
        Source::of(&self.document).error_at_key(&key, "").place
    }

    fn identity(&self) -> String {
        let Self { experiment, row, document, extent } = self;
        let experiment = Experiment { id: String::new(), ..experiment.clone() };
        let Document { id: _, path: _, text, written } = &**document;
        format!("{experiment:?} {row} {text:?} {written:?} {extent:?}")
    }

    fn document(&self) -> Option<&Document> {
        Some(&self.document)
    }

    fn group_names(&self) -> Vec<String> {
        let groups = self.experiment.groups_of(&self.experiment.rows[self.row]);
        groups.iter().map(|group| group.name.clone()).collect()
    }

    fn task_names(&self) -> Vec<String> {
        self.named().filter_map(|tasks| tasks.name.clone()).collect()
    }

    fn has_end(&self, line: usize) -> bool {
        self.named().nth(line).is_none_or(|tasks| self.experiment.task(tasks).has_end())
    }
}

impl ExperimentLoad {
    /// The tasks that are reported separately.
    fn named(&self) -> impl Iterator<Item = &Tasks> {
        let tasks = self.experiment.rows[self.row].tasks.iter();
        tasks.filter(|tasks| tasks.name.is_some())
    }

    /// Excludes files that tasks name from being given to other tasks.
    fn set_apart(&self, row: &Row, files: &mut [Files]) {
        for place in files {
            let on_it = |tasks: &&Tasks| self.experiment.task(tasks).volume == place.name;
            let named: BTreeSet<u32> =
                row.tasks.iter().filter(on_it).filter_map(|tasks| tasks.file).collect();
            place.unused.retain(|file| !named.contains(&(file - place.first)));
        }
    }

    fn add_tasks(
        &self,
        row: &Row,
        groups: &[Group],
        ionice: bool,
        files: &mut [Files],
        loaded: &mut Loaded,
        prng: &mut Prng,
    ) {
        // Index of the first task of each line.
        let mut firsts: Vec<usize> = Vec::new();
        for (line, tasks) in row.tasks.iter().enumerate() {
            firsts.push(loaded.tasks.len());
            let task = self.experiment.task(tasks);
            let Some(place) = files.iter_mut().find(|place| place.name == task.volume) else {
                continue;
            };
            if tasks.name.is_some() {
                let first = loaded.tasks.len();
                loaded.named.push(first..first + tasks.count as usize);
            }
            let of_line = self.task_of_line(row, groups, ionice, line);
            let theirs = line_of(row, &tasks.files_of);
            for at in 0..tasks.count as usize {
                // A shared stream uses one file; others may use the files of their counterparts.
                let same = match theirs {
                    _ if at > 0 && task.stream != TaskStream::Own => Some(firsts[line]),
                    Some(line) => Some(firsts[line] + at % row.tasks[line].count as usize),
                    None => None,
                };
                let of_other = same.map(|other| loaded.tasks[other].files[0]);
                let file = of_other.unwrap_or_else(|| file_of(tasks, place, prng));
                loaded.tasks.push(TaskSpec {
                    files: vec![file],
                    start: start(prng) + from_seconds(tasks.start_s.unwrap_or(0.0)),
                    stream: stream(&task, place.bytes, (at as u64, u64::from(tasks.count))),
                    ..of_line.clone()
                });
            }
        }
    }

    /// What all tasks of a line have in common, in groups with these settings.
    fn task_of_line(&self, row: &Row, groups: &[Group], ionice: bool, line: usize) -> TaskSpec {
        let tasks = &row.tasks[line];
        let task = self.experiment.task(tasks);
        let group = groups.iter().position(|group| group.name == tasks.group).unwrap_or(0);
        let of_group = &groups[group];
        let class = tasks.ionice_class.or(of_group.ionice_class);
        let ioprio = match tasks.ionice.or(of_group.ionice) {
            level if ionice => ioprio(class, level),
            _ => IoPrio::UNSET,
        };
        let awaited = match self.experiment.until {
            _ if tasks.background => Awaited::No,
            Some(Until::First) if task.has_end() => Awaited::Alone,
            _ => Awaited::WithOthers,
        };
        TaskSpec {
            group: numbers(groups).id(group),
            ioprio,
            depth: task.depth,
            think: task.think,
            buffered: !task.direct,
            drops: if task.keeps_cache { Drops::Nothing } else { Drops::Data },
            creates_files: tasks.new,
            mapped: task.mapped.then(|| advice(&task)),
            write_through: task.sync,
            end_flushes: u32::from(task.end_fsync),
            awaited,
            job: line as u32,
            wait_for: line_of(row, &tasks.after).map(|line| line as u32),
            shares_stream: task.stream == TaskStream::Shared,
            ..TaskSpec::default()
        }
    }
}

/// The line of the tasks with this name.
fn line_of(row: &Row, name: &Option<String>) -> Option<usize> {
    row.tasks.iter().position(|tasks| name.is_some() && tasks.name == *name)
}

/// The I/O priority that `ionice` sets for a class and a level; level 4 if none is given.
fn ioprio(class: Option<IoniceClass>, level: Option<u8>) -> IoPrio {
    let class = match (class, level) {
        (None, None) => return IoPrio::UNSET,
        (Some(IoniceClass::RealTime), _) => IoClass::RealTime,
        (None | Some(IoniceClass::BestEffort), _) => IoClass::BestEffort,
        (Some(IoniceClass::Idle), _) => IoClass::Idle,
    };
    IoPrio { class, level: level.unwrap_or(4) }
}

fn file_of(tasks: &Tasks, place: &mut Files, prng: &mut Prng) -> u32 {
    match tasks.file {
        Some(file) => place.first + file,
        None => place.pick(prng),
    }
}

/// The stream of the task with index `at` out of `count` in its line.
fn stream(task: &Task, file_bytes: u64, (at, count): (u64, u64)) -> StreamSpec {
    let (at, count) = match task.stream {
        TaskStream::Interleaved => (at, count),
        TaskStream::Own | TaskStream::Shared => (0, 1),
    };
    let begin = task.stride().saturating_mul(at);
    let skipped = task.stride().saturating_mul(count) - task.block_bytes;
    StreamSpec {
        direction: match task.op {
            OpMix::Read => Direction::Read,
            OpMix::Write => Direction::Write,
            OpMix::Mixed => Direction::Mixed(task.read_percent),
        },
        order: match task.order {
            TaskOrder::Sequential if skipped > 0 => IoOrder::Strided(skipped),
            TaskOrder::Sequential => IoOrder::Sequential,
            TaskOrder::Random => IoOrder::Random,
        },
        blocks: Blocks::fixed(task.block_bytes),
        offset: task.offset + begin,
        bytes: task.size.unwrap_or(file_bytes).saturating_sub(begin),
        limits: Limits { bytes: task.bytes, ios: task.ios, ..Limits::default() },
        rates: rates(task),
        flush: FlushEvery { fsync: task.fsync_every, fdatasync: task.fdatasync_every },
        ..StreamSpec::default()
    }
}

/// Reads and writes of a mix each get their part of the rate.
fn rates(task: &Task) -> Rates {
    let part = |percent: u8| {
        let rate = u128::from(task.bytes_per_s?.get()) * u128::from(percent) / 100;
        NonZeroU64::new(u64::try_from(rate).unwrap_or(u64::MAX))
    };
    let read = match task.op {
        OpMix::Read => 100,
        OpMix::Write => 0,
        OpMix::Mixed => task.read_percent,
    };
    Rates { read: part(read), write: part(100 - read), trim: None }
}

const fn advice(task: &Task) -> Advice {
    match task.advice {
        TaskAdvice::None => Advice::Normal,
        TaskAdvice::Random => Advice::Random,
        TaskAdvice::Sequential => Advice::Sequential,
    }
}

fn label(groups: &[Group], numbers: GroupNumbers, group: &Group) -> GroupLabel {
    let share = match (group.priority, group.weight().and_then(Weight::new)) {
        (Some(priority), _) => Share::Priority(priority),
        (None, Some(weight)) => Share::Weight(weight),
        (None, None) => Share::DEFAULT,
    };
    let outer = group.parent.as_ref().and_then(|parent| {
        let at = groups.iter().position(|one| one.name == *parent)?;
        Some(numbers.id(at))
    });
    let spec = GroupSpec { share, parent: outer, qos: group.qos() };
    GroupLabel { name: group.name.clone(), spec }
}

/// The space that a volume takes up.
struct Space {
    /// The number of files.
    count: u32,
    /// The size of each file in bytes.
    bytes: u64,
    /// The first sector of the first file.
    data: u64,
    /// The distance between the starts of two files, in sectors.
    stride: u64,
    /// All sectors of the volume.
    all: Range<u64>,
}

impl Space {
    fn of(volume: &Volume, host: &Host) -> Self {
        let start = volume.start_bytes() / 512;
        let bytes = volume.file_bytes();
        let (count, data, stride) = match volume.kind {
            VolumeType::Raw => (1, start, bytes / 512),
            VolumeType::Ext2 | VolumeType::Ext3 => {
                let data = start + u64::from(host.journal.blocks) * 8;
                (volume.files.unwrap_or(0), data, ext_bytes_on_disk(bytes) / 512)
            }
        };
        Self { count, bytes, data, stride, all: start..data + u64::from(count) * stride }
    }
}

/// Checks that no two volumes of the experiment overlap. The error is the key and what is wrong.
pub(super) fn demand_apart(volumes: &[Volume], host: &Host) -> Result<(), (String, String)> {
    let mut spaces: Vec<(usize, Range<u64>)> =
        volumes.iter().map(|volume| Space::of(volume, host).all).enumerate().collect();
    spaces.sort_by_key(|(_, space)| space.start);
    for pair in spaces.windows(2) {
        let [(below, space), (above, next)] = pair else { continue };
        if next.start < space.end {
            let [one, other] = [*below, *above].map(|at| &volumes[at].name);
            let end = space.end as f64 / f64::from(1 << 21);
            let message = format!(
                "volume `{other}` begins within `{one}`, which takes up the disk to {end:.3} GiB"
            );
            return Err((format!("volume.{above}.start_gib"), message));
        }
    }
    Ok(())
}

/// Lays out a volume and its files on the disk.
fn lay_out(volume: &Volume, host: &Host, loaded: &mut Loaded, prng: &mut Prng) -> Files {
    let index = loaded.volumes.len() as u32;
    let start = Lba(volume.start_bytes() / 512);
    let kind = match volume.kind {
        VolumeType::Raw => VolumeKind::Raw,
        VolumeType::Ext2 => VolumeKind::Ext2,
        VolumeType::Ext3 => VolumeKind::Ext3,
    };
    let journal =
        (kind == VolumeKind::Ext3 && volume.journal.unwrap_or(true)).then_some(JournalSpec {
            start,
            blocks: host.journal.blocks,
            commit_interval: Span::from_ms(host.journal.commit_interval_ms),
            inodes_per_block: host.journal.inodes_per_block,
            second_phase: Span::ZERO,
            nice: host.journal.nice as i8,
        });
    loaded.volumes.push(VolumeSpec {
        disk: 0,
        kind,
        start,
        warm: volume.cached.unwrap_or(false),
        journal,
    });
    let first = loaded.files.len() as u32;
    let Space { count, bytes, data, stride, .. } = Space::of(volume, host);
    for file in 0..count {
        loaded.files.push(FileSpec {
            volume: index,
            start: Lba(data + u64::from(file) * stride),
            bytes,
            inode: FIRST_FILE + file,
        });
    }
    // A partition is shared by all its tasks.
    let own = if kind == VolumeKind::Raw { 0 } else { count };
    let mut unused: Vec<u32> = (first..first + own).collect();
    if volume.shuffled.unwrap_or(true) {
        prng.shuffle(&mut unused);
    } else {
        unused.reverse();
    }
    Files { name: volume.name.clone(), first, count, bytes, unused }
}

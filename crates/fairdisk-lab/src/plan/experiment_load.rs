//! A row of an experiment, laid out on the disk.

use super::setup::{GroupLabel, Load, Loaded, start};
use crate::catalog::experiment::{
    Experiment, Group, OpMix, Row, Task, TaskAdvice, TaskOrder, Tasks, Volume, VolumeType,
};
use crate::catalog::host::Host;
use fairdisk_core::{GroupId, IoPrio, Lba, Prng, Share, Span, Weight};
use fairdisk_sim::GroupSpec;
use fairdisk_sim::host::{
    Advice, FileSpec, JournalSpec, VolumeKind, VolumeSpec, ext_bytes_on_disk,
};
use fairdisk_sim::workload::{Blocks, Direction, IoOrder, Limits, Mapped, StreamSpec, TaskSpec};

/// One row of an experiment.
#[derive(Debug)]
pub(super) struct ExperimentLoad {
    pub(super) experiment: Experiment,
    pub(super) row: usize,
}

/// A volume's files in the machine, and which of them are still unused.
struct Files {
    name: String,
    first: u32,
    bytes: u64,
    unused: Vec<u32>,
}

impl Files {
    /// A file nobody uses yet, or any if all are in use.
    fn pick(&mut self, prng: &mut Prng, count: u32) -> u32 {
        let fallback = || self.first + prng.below(u64::from(count)) as u32;
        self.unused.pop().unwrap_or_else(fallback)
    }
}

/// The group that is there without being made: of tasks that nobody put into another.
const ROOT: &str = "/";

/// The number of a group in the machine.
fn group_id(groups: &[Group], at: usize) -> GroupId {
    if groups[at].name == ROOT { GroupId::ROOT } else { GroupId(at as u32 + 1) }
}

/// Inode numbers below are the file system's own.
const FIRST_INODE: u32 = 12;

impl Load for ExperimentLoad {
    fn build(&self, host: &Host, ionice: bool, prng: &mut Prng) -> Loaded {
        let row = &self.experiment.rows[self.row];
        let groups = self.experiment.groups_of(row);
        let root = groups.iter().position(|group| group.name == ROOT);
        let labels = groups.iter().map(|group| label(groups, group)).collect();
        let mut loaded = Loaded { groups: labels, root, ..Loaded::default() };
        let mut files: Vec<Files> = self
            .experiment
            .volumes
            .iter()
            .map(|volume| lay_out(volume, host, &mut loaded, prng))
            .collect();
        self.add_tasks(row, groups, ionice, &mut files, &mut loaded, prng);
        loaded
    }

    fn group_names(&self) -> Vec<String> {
        let groups = self.experiment.groups_of(&self.experiment.rows[self.row]);
        groups.iter().map(|group| group.name.clone()).collect()
    }

    fn task_names(&self) -> Vec<String> {
        let named = |tasks: &Tasks| {
            let name = tasks.name.clone()?;
            Some(std::iter::repeat_n(name, tasks.count as usize))
        };
        self.experiment.rows[self.row].tasks.iter().filter_map(named).flatten().collect()
    }
}

impl ExperimentLoad {
    fn add_tasks(
        &self,
        row: &Row,
        groups: &[Group],
        ionice: bool,
        files: &mut [Files],
        loaded: &mut Loaded,
        prng: &mut Prng,
    ) {
        for tasks in &row.tasks {
            let task = self.experiment.task(tasks);
            let group = groups.iter().position(|group| group.name == tasks.group).unwrap_or(0);
            let level = tasks.ionice.or(groups[group].ionice).filter(|_| ionice);
            let ioprio = level.map_or(IoPrio::UNSET, IoPrio::best_effort);
            let Some(place) = files.iter_mut().find(|place| place.name == task.volume) else {
                continue;
            };
            for _ in 0..tasks.count {
                let file = file_of(tasks, place, prng);
                if tasks.name.is_some() {
                    loaded.named.push(loaded.tasks.len()..loaded.tasks.len() + 1);
                }
                loaded.tasks.push(TaskSpec {
                    group: group_id(groups, group),
                    ioprio,
                    files: vec![file],
                    depth: task.depth,
                    think: task.think,
                    buffered: !task.direct,
                    mapped: task.mapped.then(|| mapped(&task)),
                    start: start(prng),
                    stream: stream(&task, place.bytes),
                    ..TaskSpec::default()
                });
            }
        }
    }
}

fn file_of(tasks: &Tasks, place: &mut Files, prng: &mut Prng) -> u32 {
    match tasks.file {
        Some(file) => place.first + file,
        None => {
            let count = place.unused.len().max(1) as u32;
            place.pick(prng, count)
        }
    }
}

fn stream(task: &Task, file_bytes: u64) -> StreamSpec {
    StreamSpec {
        direction: match task.op {
            OpMix::Read => Direction::Read,
            OpMix::Write => Direction::Write,
            OpMix::Mixed => Direction::Mixed(task.read_percent),
        },
        order: match task.order {
            TaskOrder::Sequential => IoOrder::Sequential,
            TaskOrder::Random => IoOrder::Random,
        },
        blocks: Blocks::fixed(task.block_bytes),
        bytes: file_bytes,
        limits: Limits { bytes: task.bytes, ..Limits::default() },
        ..StreamSpec::default()
    }
}

const fn mapped(task: &Task) -> Mapped {
    let advice = match task.advice {
        TaskAdvice::None => Advice::Normal,
        TaskAdvice::Random => Advice::Random,
        TaskAdvice::Sequential => Advice::Sequential,
    };
    Mapped { advice, file_advice: Advice::Normal }
}

fn label(groups: &[Group], group: &Group) -> GroupLabel {
    let share = match (group.priority, group.weight.and_then(Weight::new)) {
        (Some(priority), _) => Share::Priority(priority),
        (None, Some(weight)) => Share::Weight(weight),
        (None, None) => Share::DEFAULT,
    };
    let outer = group.parent.as_ref().and_then(|parent| {
        let at = groups.iter().position(|one| one.name == *parent)?;
        Some(group_id(groups, at))
    });
    let spec = GroupSpec { share, parent: outer, qos: group.qos() };
    GroupLabel { name: group.name.clone(), spec }
}

const GIB: f64 = (1u64 << 30) as f64;

/// Puts a volume and its files on the disk.
fn lay_out(volume: &Volume, host: &Host, loaded: &mut Loaded, prng: &mut Prng) -> Files {
    let index = loaded.volumes.len() as u32;
    let start = Lba((volume.start_gib * GIB) as u64 / 4096 * 8);
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
        });
    loaded.volumes.push(VolumeSpec { kind, start, warm: volume.cached.unwrap_or(false), journal });
    let first = loaded.files.len() as u32;
    let (count, bytes, stride) = match kind {
        VolumeKind::Raw => {
            let bytes = (volume.size_gib.unwrap_or(0.0) * GIB) as u64 / 4096 * 4096;
            (1, bytes, bytes)
        }
        VolumeKind::Ext2 | VolumeKind::Ext3 => {
            let bytes = volume.file_mib.unwrap_or(0) << 20;
            (volume.files.unwrap_or(0), bytes, ext_bytes_on_disk(bytes))
        }
    };
    let data = match kind {
        VolumeKind::Raw => start.0,
        VolumeKind::Ext2 | VolumeKind::Ext3 => start.0 + u64::from(host.journal.blocks) * 8,
    };
    for file in 0..count {
        loaded.files.push(FileSpec {
            volume: index,
            start: Lba(data + u64::from(file) * stride / 512),
            bytes,
            inode: FIRST_INODE + file,
        });
    }
    let mut unused: Vec<u32> = (first..first + count).collect();
    prng.shuffle(&mut unused);
    if kind == VolumeKind::Raw {
        // A partition is shared by all its tasks.
        unused.clear();
    }
    Files { name: volume.name.clone(), first, bytes, unused }
}

//! A load laid out on a disk, and put together with others on a machine.

use fairdisk_core::Lba;
use fairdisk_sim::GroupSpec;
use fairdisk_sim::host::{FileSpec, VolumeSpec};
use fairdisk_sim::workload::TaskSpec;
use std::collections::BTreeSet;
use std::ops::Range;

/// A load laid out on a disk.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The groups, without the root group.
    pub groups: Vec<GroupLabel>,
    /// The file systems and partitions.
    pub volumes: Vec<VolumeSpec>,
    /// The files.
    pub files: Vec<FileSpec>,
    /// The tasks; their group numbers count from 1, and 0 is the root group.
    pub tasks: Vec<TaskSpec>,
    /// The tasks of each line of the report, in the order of [`Load::task_names`].
    pub named: Vec<Range<usize>>,
    /// Index of the root group among the groups, if it is one of them.
    pub root: Option<usize>,
    /// The disk on which each task works, if not on each; empty if all work on each.
    pub disk_of: Vec<Option<u32>>,
}

/// The name and the settings of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLabel {
    /// The group's name.
    pub name: String,
    /// The group's settings; the parent is given by its number in the machine.
    pub spec: GroupSpec,
}

/// A test of iozone and its processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Children {
    /// The name of the processes in iozone's report, such as `readers`.
    pub name: &'static str,
    /// The lines of the report on tasks, one for each process.
    pub lines: Range<usize>,
    /// Whether iozone's report has a line for each process (`-C`).
    pub each: bool,
}

impl Loaded {
    /// Leaves out the tasks of other disks than `disk`; their lines in the report stay, empty, and
    /// so do the numbers of their files.
    pub(super) fn keep_disk(&mut self, disk: u32) {
        if self.disk_of.iter().all(Option::is_none) {
            return;
        }
        let here: Vec<bool> =
            self.disk_of.iter().map(|own| own.is_none_or(|own| own == disk)).collect();
        let before = |at: usize| here[..at].iter().filter(|here| **here).count();
        self.named.iter_mut().for_each(|line| *line = before(line.start)..before(line.end));
        let mut at = here.iter();
        self.tasks.retain(|_| at.next().is_none_or(|here| *here));
        let used: BTreeSet<u32> = self.tasks.iter().flat_map(|task| &task.files).copied().collect();
        for (index, file) in (0..).zip(&mut self.files) {
            if !used.contains(&index) {
                (file.start, file.bytes) = (Lba(0), 0);
            }
        }
        self.disk_of.clear();
    }

    /// Adds the load of another partition of the disk, which starts at sector `start`.
    pub(super) fn add_partition(&mut self, mut part: Self, start: u64) {
        for volume in &mut part.volumes {
            volume.start.0 += start;
            if let Some(journal) = &mut volume.journal {
                journal.start.0 += start;
            }
        }
        part.files.iter_mut().for_each(|file| file.start.0 += start);
        self.add(part);
    }

    /// Adds the load of another disk of the machine, which has this number in it.
    pub(super) fn add_disk(&mut self, mut disk: Self, number: u32) {
        disk.volumes.iter_mut().for_each(|volume| volume.disk = number);
        self.add(disk);
    }

    /// Adds the same load in another place. The groups are the same.
    fn add(&mut self, mut part: Self) {
        let (volumes, files) = (self.volumes.len() as u32, self.files.len() as u32);
        let tasks = self.tasks.len();
        part.files.iter_mut().for_each(|file| file.volume += volumes);
        for task in &mut part.tasks {
            task.files.iter_mut().for_each(|file| *file += files);
        }
        (self.groups, self.root) = (part.groups, part.root);
        self.volumes.append(&mut part.volumes);
        self.files.append(&mut part.files);
        self.tasks.append(&mut part.tasks);
        self.named.extend(part.named.iter().map(|line| line.start + tasks..line.end + tasks));
    }
}

/// The number of sectors that the load needs, and the volume that reaches furthest.
pub(super) fn sectors_needed(loaded: &Loaded) -> (u64, usize) {
    let end = |file: &FileSpec| {
        file.start.0 + fairdisk_sim::host::ext_bytes_on_disk(file.bytes).div_ceil(512)
    };
    let raw_end = |file: &FileSpec| file.start.0 + file.bytes.div_ceil(512);
    let ends = loaded.files.iter().map(|file| {
        let volume = &loaded.volumes[file.volume as usize];
        let is_raw = volume.kind == fairdisk_sim::host::VolumeKind::Raw;
        (if is_raw { raw_end(file) } else { end(file) }, file.volume as usize)
    });
    ends.max().unwrap_or_default()
}

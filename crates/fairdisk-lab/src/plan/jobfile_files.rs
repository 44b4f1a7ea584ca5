//! The files of a job file: which part of them each clone of a job uses, and where they are on
//! disk.
//!
//! Files are contiguous, one after another, without a file system unless jobs ask for one. Jobs
//! that name the same file share it, and `/dev/...` is the whole disk.

use crate::catalog::host::Host;
use crate::jobfile::{BlockSize, Extent, FileBytes, FileSystem, Files, Job};
use fairdisk_core::{Lba, Prng, SECTOR_BYTES};
use fairdisk_sim::host::{FileSpec, VolumeKind, VolumeSpec, ext_bytes_on_disk};
use std::collections::BTreeMap;

/// Files start at multiples of this number of bytes.
const ALIGN_BYTES: u64 = 4096;

/// One clone of a job, with its files.
pub(super) struct Worker<'a> {
    pub(super) job: &'a Job,
    pub(super) clone: u32,
    pub(super) region: Region,
    /// The disk on which they are, if not on every one.
    disk: Option<u32>,
    names: Vec<String>,
}

/// The part of its files that a clone uses.
pub(super) struct Region {
    /// The first byte used of each file.
    pub(super) offset: u64,
    /// Bytes used of each file from there, as far as the file is that long.
    pub(super) bytes: u64,
    /// The size of each file in bytes.
    file_bytes: Vec<u64>,
}

impl Region {
    /// Bytes used of all files together.
    pub(super) fn total(&self) -> u64 {
        self.file_bytes.iter().map(|file| file.saturating_sub(self.offset).min(self.bytes)).sum()
    }

    /// The size of the shortest file.
    pub(super) fn shortest(&self) -> u64 {
        self.file_bytes.iter().copied().min().unwrap_or(0)
    }
}

impl<'a> Worker<'a> {
    /// Clone number `clone` of `job` on a disk of `disk_bytes`; file sizes given as a range are
    /// drawn.
    pub(super) fn new(
        job: &'a Job,
        clone: u32,
        (disk, disk_bytes): (Option<u32>, u64),
        prng: &mut Prng,
    ) -> Self {
        let names = names(job, clone);
        let region = region(job, clone, &names, disk_bytes, prng);
        Self { job, clone, region, disk, names }
    }
}

/// The names of all files, shared ones once.
fn names(job: &Job, clone: u32) -> Vec<String> {
    let directories = &job.target.directories;
    let folder = match directories.len() {
        0 => String::new(),
        count => format!("{}/", directories[clone as usize % count]),
    };
    match &job.target.files {
        Files::Named(names) => names
            .iter()
            .map(|name| if is_device(name) { name.clone() } else { format!("{folder}{name}") })
            .collect(),
        Files::PerClone { count } => {
            (0..*count).map(|file| format!("{folder}{}.{clone}.{file}", job.name)).collect()
        }
    }
}

pub(super) fn is_device(name: &str) -> bool {
    name.starts_with("/dev/")
}

fn region(job: &Job, clone: u32, names: &[String], disk_bytes: u64, prng: &mut Prng) -> Region {
    // Before the run, only devices and files of a given size have a known size.
    let mut known = |name: &String| match job.target.file_bytes {
        _ if is_device(name) => Some(disk_bytes),
        FileBytes::Fixed { bytes } => Some(bytes),
        FileBytes::Range { min_bytes, max_bytes } => Some(prng.between(min_bytes, max_bytes)),
        FileBytes::ShareOfSize => None,
    };
    let known: Vec<Option<u64>> = names.iter().map(&mut known).collect();
    let base = known.iter().flatten().min().copied().unwrap_or(0);
    let offset = offset(job, clone, base);
    let bytes = match job.size {
        // All files together get no more, so a pass ends there.
        Extent::Bytes(_) if job.target.file_bytes != FileBytes::ShareOfSize => u64::MAX,
        Extent::Bytes(size) => size / names.len().max(1) as u64,
        Extent::Percent(100) | Extent::Whole => u64::MAX,
        Extent::Percent(_) => {
            let bytes = job.size.of(base).min(base.saturating_sub(offset));
            bytes - bytes % smallest_block(job)
        }
    };
    let length = |known: &Option<u64>| known.unwrap_or_else(|| offset.saturating_add(bytes));
    Region { offset, bytes, file_bytes: known.iter().map(length).collect() }
}

/// Offsets given as percentages are rounded up to blocks, as in fio.
fn offset(job: &Job, clone: u32, base: u64) -> u64 {
    let increment = job.offset_increment.of(base).saturating_mul(u64::from(clone));
    let offset = job.offset.of(base).saturating_add(increment);
    let percent = |extent| matches!(extent, Extent::Percent(_));
    if !percent(job.offset) && !percent(job.offset_increment) {
        return offset;
    }
    offset.checked_next_multiple_of(smallest_block(job)).unwrap_or(offset)
}

/// The smallest block size of any direction.
fn smallest_block(job: &Job) -> u64 {
    job.blocks.iter().map(BlockSize::min_bytes).min().unwrap_or(1).max(1)
}

fn aligned(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(ALIGN_BYTES).unwrap_or(u64::MAX)
}

/// A file.
struct Laid {
    /// Its disk, if it is not on every one.
    disk: Option<u32>,
    /// Its size; `None` if it is the disk itself.
    bytes: Option<u64>,
    /// What it lies on.
    filesystem: FileSystem,
}

impl Laid {
    /// The bytes that it takes up of its disk.
    fn on_disk(&self) -> u64 {
        match (self.bytes, self.filesystem) {
            (None, _) => 0,
            (Some(bytes), FileSystem::None) => aligned(bytes),
            (Some(bytes), FileSystem::Ext2) => ext_bytes_on_disk(bytes),
        }
    }
}

/// The files, with their sizes and positions.
pub(super) struct Layout<'a> {
    /// Whether metadata is modelled: it takes up pages, so memory must be page by page.
    has_metadata: bool,
    index: BTreeMap<(Option<u32>, &'a str), u32>,
    files: Vec<Laid>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(workers: &'a [Worker<'_>], host: &Host) -> Self {
        let has_metadata = host.memory.kernel.is_some();
        let mut layout = Self { has_metadata, index: BTreeMap::new(), files: Vec::new() };
        for worker in workers {
            for (name, bytes) in worker.names.iter().zip(&worker.region.file_bytes) {
                layout.want(worker, name, *bytes);
            }
        }
        layout
    }

    fn want(&mut self, worker: &Worker<'_>, name: &'a str, bytes: u64) {
        let disk = worker.disk;
        let next = self.files.len() as u32;
        let index = *self.index.entry((disk, name)).or_insert(next);
        if index == next {
            let bytes = (!is_device(name)).then_some(0);
            self.files.push(Laid { disk, bytes, filesystem: FileSystem::None });
        }
        let file = &mut self.files[index as usize];
        if let Some(longest) = &mut file.bytes {
            *longest = bytes.max(*longest);
            if self.has_metadata && worker.job.target.filesystem == FileSystem::Ext2 {
                file.filesystem = FileSystem::Ext2;
            }
        }
    }

    /// The files of a worker, by index.
    pub(super) fn of(&self, worker: &Worker<'_>) -> Vec<u32> {
        let index = |name: &String| self.index.get(&(worker.disk, name.as_str())).copied();
        worker.names.iter().filter_map(index).collect()
    }

    /// The bytes taken up by all files of the fullest disk.
    pub(super) fn bytes(&self) -> u64 {
        self.ends().1.into_values().max().unwrap_or(0)
    }

    /// Where each file starts, and where those of each disk end: first those of every disk.
    fn ends(&self) -> (Vec<u64>, BTreeMap<Option<u32>, u64>) {
        let mut starts = vec![0; self.files.len()];
        let mut ends = BTreeMap::from([(None, 0_u64)]);
        let mut order: Vec<usize> = (0..starts.len()).collect();
        order.sort_by_key(|at| self.files[*at].disk);
        for at in order {
            let common = ends[&None];
            let end = ends.entry(self.files[at].disk).or_insert(common);
            starts[at] = *end;
            *end = end.saturating_add(self.files[at].on_disk());
        }
        (starts, ends)
    }

    /// What the files lie on: the disk itself, and a file system, if there is one.
    pub(super) fn volumes(&self) -> Vec<VolumeSpec> {
        let volume = |kind, warm| VolumeSpec { disk: 0, kind, start: Lba(0), warm, journal: None };
        let has_ext2 = self.files.iter().any(|file| file.filesystem == FileSystem::Ext2);
        let ext2 = has_ext2.then(|| volume(VolumeKind::Ext2, false));
        [volume(VolumeKind::Raw, true)].into_iter().chain(ext2).collect()
    }

    pub(super) fn place(&self, disk_bytes: u64) -> Vec<FileSpec> {
        let (starts, _) = self.ends();
        let place = |(inode, file): (usize, &Laid)| {
            let (start, bytes) = match file.bytes {
                None => (0, disk_bytes),
                Some(bytes) => (starts[inode], bytes),
            };
            let volume = u32::from(file.filesystem == FileSystem::Ext2);
            FileSpec { volume, start: Lba(start / SECTOR_BYTES), bytes, inode: inode as u32 }
        };
        self.files.iter().enumerate().map(place).collect()
    }
}

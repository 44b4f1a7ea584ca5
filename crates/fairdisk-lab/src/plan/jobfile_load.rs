//! The jobs of a fio job file, laid out on the disk.
//!
//! Files are contiguous stretches, one behind the other, without a file system; jobs that name the
//! same file share it, and `/dev/...` is the whole disk. Jobs without a group of their own share
//! the group `/`, as tasks that nobody moved share the root group.

use super::jobfile_stream::stream;
use super::setup::{GroupLabel, Load, Loaded};
use crate::catalog::host::Host;
use crate::jobfile::{
    Caching, Extent, FileBytes, Files, GroupShare, IoPrio as JobPrio, Job, SubmissionClass,
    WriteSync,
};
use fairdisk_core::{GroupId, Instant, IoClass, IoPrio, Lba, Prng, Share, Span, Weight};
use fairdisk_sim::host::{FileSpec, VolumeKind, VolumeSpec};
use fairdisk_sim::workload::{TaskSpec, Think};
use std::collections::BTreeMap;

/// Files begin on multiples of this.
const ALIGN_BYTES: u64 = 4096;
/// The group of jobs without one.
const ROOT: &str = "/";

/// The jobs of a file.
#[derive(Debug)]
pub(super) struct JobFileLoad {
    pub(super) jobs: Vec<Job>,
    pub(super) disk_bytes: u64,
}

/// The part of its files that a clone of a job uses.
struct Region {
    offset: u64,
    bytes: u64,
    file_bytes: u64,
}

impl Load for JobFileLoad {
    fn build(&self, _host: &Host, _ionice: bool, prng: &mut Prng) -> Loaded {
        let mut loaded = Loaded { groups: self.groups(), ..Loaded::default() };
        loaded.volumes.push(VolumeSpec {
            kind: VolumeKind::Raw,
            start: Lba(0),
            warm: true,
            journal: None,
        });
        let mut files = Layout::default();
        let regions: Vec<Region> =
            self.clones().map(|(job, clone)| self.region(job, clone, prng)).collect();
        for ((job, clone), region) in self.clones().zip(&regions) {
            files.want(job, clone, region);
        }
        loaded.files = files.place(self.disk_bytes);
        for ((job, clone), region) in self.clones().zip(&regions) {
            let used = files.of(job, clone);
            loaded.named.push((loaded.tasks.len(), job.name.clone()));
            loaded.tasks.push(self.task(job, clone, region, used, prng));
        }
        loaded
    }

    fn group_names(&self) -> Vec<String> {
        self.groups().into_iter().map(|group| group.name).collect()
    }

    fn task_names(&self) -> Vec<String> {
        let name = |(job, clone): (&Job, u32)| match job.clones.get() {
            1 => job.name.clone(),
            _ => format!("{}#{}", job.name, clone + 1),
        };
        self.clones().map(name).collect()
    }
}

impl JobFileLoad {
    /// Every clone of every job, in the order of the file.
    fn clones(&self) -> impl Iterator<Item = (&Job, u32)> {
        self.jobs.iter().flat_map(|job| (0..job.clones.get()).map(move |clone| (job, clone)))
    }

    /// The groups in the order in which they are first named.
    fn groups(&self) -> Vec<GroupLabel> {
        let mut groups: Vec<GroupLabel> = Vec::new();
        for job in &self.jobs {
            let (name, share) = match &job.group {
                Some(group) => (group.path.as_str(), share(group.share)),
                None => (ROOT, Share::DEFAULT),
            };
            if groups.iter().all(|group| group.name != name) {
                groups.push(GroupLabel { name: name.to_owned(), share });
            }
        }
        groups
    }

    fn group_of(&self, job: &Job) -> GroupId {
        let name = job.group.as_ref().map_or(ROOT, |group| group.path.as_str());
        let index = self.groups().iter().position(|group| group.name == name).unwrap_or(0);
        GroupId(index as u32 + 1)
    }

    fn region(&self, job: &Job, clone: u32, prng: &mut Prng) -> Region {
        let count = file_count(job);
        let whole = if names_device(job) { self.disk_bytes } else { 0 };
        let fixed = match job.target.file_bytes {
            FileBytes::Fixed { bytes } => Some(bytes),
            FileBytes::Range { min_bytes, max_bytes } => Some(prng.between(min_bytes, max_bytes)),
            FileBytes::ShareOfSize => (whole > 0).then_some(whole),
        };
        let of = |extent: Extent, base: u64| match extent {
            Extent::Bytes(bytes) => bytes,
            Extent::Percent(percent) => base / 100 * u64::from(percent),
            Extent::Whole => base,
        };
        let base = fixed.unwrap_or(0);
        let increment = of(job.offset_increment, base);
        let offset = match (job.offset, job.offset_increment) {
            (Extent::Whole, _) => 0,
            (first, Extent::Whole) => of(first, base),
            (first, _) => of(first, base) + increment * u64::from(clone),
        };
        let size = match job.size {
            Extent::Bytes(bytes) => bytes / count,
            other => of(other, base),
        };
        let bytes = fixed.map_or(size, |file| size.min(file.saturating_sub(offset)));
        let file_bytes = fixed.unwrap_or(offset + bytes).max(offset + bytes);
        Region { offset, bytes, file_bytes }
    }

    fn task(
        &self,
        job: &Job,
        clone: u32,
        region: &Region,
        files: Vec<u32>,
        prng: &mut Prng,
    ) -> TaskSpec {
        let delay = job.schedule.start_delay;
        let start = prng.between(delay.min_ns, delay.max_ns.max(delay.min_ns));
        let mut task = TaskSpec {
            group: self.group_of(job),
            ioprio: ioprio(job),
            files,
            buffered: job.caching == Caching::Buffered,
            write_through: job.flush.write_sync != WriteSync::None,
            think: job.pace.think.map(|think| Think {
                pause: Span::from_ns(think.pause_ns),
                every: think.every_ios.get(),
            }),
            phase: job.phase,
            start: Instant::from_ns(start),
            ramp: Span::from_ns(job.schedule.ramp_ns),
            stream: stream(job, clone, region.offset, region.bytes),
            ..TaskSpec::default()
        };
        match job.submission.class {
            SubmissionClass::Sync => {}
            SubmissionClass::Mapped => task.buffered = true,
            SubmissionClass::Null => task.nowhere = true,
            SubmissionClass::Async(queue) => {
                (task.depth, task.batch, task.refill_at) = (queue.depth, queue.batch, queue.low);
            }
        }
        task
    }
}

fn share(share: GroupShare) -> Share {
    match share {
        GroupShare::IoPrio(priority) => Share::Priority(priority),
        other => Weight::new(u32::from(other.weight())).map_or(Share::DEFAULT, Share::Weight),
    }
}

fn ioprio(job: &Job) -> IoPrio {
    match job.priority.io {
        JobPrio::FromNice => IoPrio::from_nice(job.priority.nice),
        JobPrio::RealTime { level } => IoPrio { class: IoClass::RealTime, level },
        JobPrio::BestEffort { level } => IoPrio::best_effort(level),
        JobPrio::Idle => IoPrio { class: IoClass::Idle, level: IoPrio::LEVELS - 1 },
    }
}

fn file_count(job: &Job) -> u64 {
    match &job.target.files {
        Files::Named(names) => names.len().max(1) as u64,
        Files::PerClone { count } => u64::from((*count).max(1)),
    }
}

fn is_device(name: &str) -> bool {
    name.starts_with("/dev/")
}

fn names_device(job: &Job) -> bool {
    matches!(&job.target.files, Files::Named(names) if names.iter().any(|name| is_device(name)))
}

/// Which files there are, how large each must be, and where it lies.
#[derive(Default)]
struct Layout {
    index: BTreeMap<String, u32>,
    bytes: Vec<u64>,
    device: Vec<bool>,
}

impl Layout {
    fn names(job: &Job, clone: u32) -> Vec<String> {
        let folder =
            job.target.directories.first().map_or(String::new(), |first| format!("{first}/"));
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

    fn want(&mut self, job: &Job, clone: u32, region: &Region) {
        for name in Self::names(job, clone) {
            let device = is_device(&name);
            let next = self.bytes.len() as u32;
            let index = *self.index.entry(name).or_insert(next) as usize;
            if index == self.bytes.len() {
                self.bytes.push(0);
                self.device.push(device);
            }
            self.bytes[index] = self.bytes[index].max(region.file_bytes);
        }
    }

    fn of(&self, job: &Job, clone: u32) -> Vec<u32> {
        Self::names(job, clone).iter().filter_map(|name| self.index.get(name).copied()).collect()
    }

    fn place(&self, disk_bytes: u64) -> Vec<FileSpec> {
        let mut at = 0;
        let sizes = self.bytes.iter().zip(&self.device).enumerate();
        sizes
            .map(|(inode, (bytes, device))| {
                let start = if *device { 0 } else { at };
                let bytes = if *device { disk_bytes } else { *bytes };
                if !device {
                    at += bytes.div_ceil(ALIGN_BYTES) * ALIGN_BYTES;
                }
                FileSpec { volume: 0, start: Lba(start / 512), bytes, inode: inode as u32 }
            })
            .collect()
    }
}

//! What a machine is made of and how its host behaves.

use super::group::GroupSpec;
use super::integrity::IntegrityWrites;
use super::plugging::Unplugs;
use super::reclaiming::MemoryConfig;
use crate::host::memory::Memory;
use crate::host::{CpuSpec, FileSpec, Kept, PageCache, SecondChance, VolumeSpec, WriteBackSpec};
use crate::workload::TaskSpec;
use fairdisk_core::{Change, CostModel, EngineConfig, GroupId, Prng, SECTOR_BYTES, Sectors};

pub(super) const PAGE_BYTES: u64 = 4096;
pub(super) const PAGE_SECTORS: Sectors = Sectors((PAGE_BYTES / SECTOR_BYTES) as u32);

/// The configuration of a machine.
#[derive(Clone, Debug)]
pub struct MachineConfig {
    /// The disks, at least one.
    pub disks: Vec<DiskConfig>,
    /// CPU times.
    pub cpu: CpuSpec,
    /// The largest read-ahead window, in pages of 4 KiB.
    pub read_ahead_pages: u64,
    /// Memory for the page cache, in pages of 4 KiB.
    pub memory_pages: u64,
    /// Memory page by page, for which tasks may have to wait. `None` makes it an amount that is
    /// always there at once.
    pub memory: Option<MemoryConfig>,
    /// Buffered bytes a task may have on their way to the disk before it must wait.
    pub write_behind_bytes: u64,
    /// How dirty pages are held in memory and written back; `None` sends buffered data to the disk
    /// at once. Throttled tasks sleep for timer ticks, so the ticks of no disk may be
    /// [`EXACT`](fairdisk_core::Ticks::EXACT).
    pub write_back: Option<WriteBackSpec>,
    /// Whether reads of indirect blocks carry the metadata hint.
    pub meta_hint: bool,
    /// Defect D5: buffered writes are charged to the root group, whose flusher submits them,
    /// instead of the group that wrote the data.
    pub async_of_submitter: bool,
    /// How writes that make data durable are marked.
    pub integrity_writes: IntegrityWrites,
    /// What unplugs a disk, besides a task that waits for I/O.
    pub unplugs: Unplugs,
    /// The settings of each group, by group number; group 0 is the root group.
    pub groups: Vec<GroupSpec>,
    /// Groups that are not there when a run begins.
    pub made_later: Vec<GroupId>,
    /// The file systems and partitions.
    pub volumes: Vec<VolumeSpec>,
    /// The files.
    pub files: Vec<FileSpec>,
    /// The tasks.
    pub tasks: Vec<TaskSpec>,
    /// Whether the journal keeps every entry (for explanations) or only its hash.
    pub keep_journal: bool,
}

/// What a machine knows of one of its disks, and how the queue of that disk behaves.
#[derive(Clone, Copy, Debug)]
pub struct DiskConfig {
    /// Seed of the random numbers of its tasks.
    pub seed: u64,
    /// The request queue.
    pub engine: EngineConfig,
    /// Whether the disk has a moving head; schedulers are told if it has none.
    pub rotational: bool,
    /// Whether the disk serves several requests together faster than one after another; schedulers
    /// are then told how many it accepts.
    pub serves_together: bool,
    /// The disk's cost model; schedulers are told if there is one.
    pub costs: Option<CostModel>,
}

impl Default for DiskConfig {
    /// A disk with a head, of which schedulers are told nothing.
    fn default() -> Self {
        Self {
            seed: 0,
            engine: EngineConfig::default(),
            rotational: true,
            serves_together: false,
            costs: None,
        }
    }
}

impl DiskConfig {
    /// The changes that tell a scheduler of the disk.
    pub(super) fn told(&self) -> impl Iterator<Item = Change> + use<> {
        let rotational = (!self.rotational).then_some(Change::Rotational { rotational: false });
        let depth = Change::Depth { depth: self.engine.depth };
        let depth = self.serves_together.then_some(depth);
        let costs = self.costs.map(Change::Costs);
        rotational.into_iter().chain(depth).chain(costs)
    }
}

impl MachineConfig {
    /// The number of groups, with the root group.
    pub(super) fn group_count(&self) -> usize {
        self.groups.len().max(1)
    }

    /// The changes that tell a scheduler of the groups.
    pub(super) fn told_of_groups(&self) -> impl Iterator<Item = Change> {
        let groups = (0u32..).map(GroupId).zip(&self.groups);
        let groups = groups.filter(|(group, _)| !self.made_later.contains(group));
        let added = groups.clone();
        let added = added.map(|(group, spec)| Change::GroupAdded { group, share: spec.share });
        added.chain(groups.flat_map(|(group, spec)| spec.more(group)))
    }

    /// The page cache, for those files that some task uses through it.
    pub(super) fn page_cache(&self) -> PageCache {
        let mut is_cached = vec![false; self.files.len()];
        let caching = self.tasks.iter().filter(|task| task.buffered || task.mapped.is_some());
        for file in caching.flat_map(|task| &task.files) {
            is_cached[*file as usize] = true;
        }
        let pages = self.files.iter().zip(is_cached).map(|(spec, is_cached)| match is_cached {
            true => spec.bytes.div_ceil(PAGE_BYTES),
            false => 0,
        });
        let file_pages: Vec<u64> = pages.collect();
        let seed = self.disks.first().map_or(0, |disk| disk.seed);
        let kept = match self.memory {
            Some(memory) => Kept::Frames(Box::new(
                Memory::new(memory.spec, &mut Prng::new(seed).fork(2)).expect("it was checked"),
            )),
            None => {
                let policy = SecondChance::new(self.memory_pages, file_pages.iter().copied());
                Kept::SecondChance(policy)
            }
        };
        PageCache::with(kept, file_pages.into_iter())
    }
}

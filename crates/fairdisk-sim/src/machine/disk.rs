//! The queue of one disk, and the numbers by which it knows tasks and I/Os.
//!
//! A disk counts only those of its own. So where nothing is scarce that disks share, its journal is
//! the one that it leaves in a machine of its own.

use super::MachineConfig;
use super::backlog::Backlog;
use super::io::Ios;
use super::numbers::Numbers;
use fairdisk_core::{
    Elevator, Engine, GroupId, Instant, Journal as Log, Op, SECTOR_BYTES, SegmentLimits, Span,
    TaskId, Ticks,
};
use std::ops::{Index, IndexMut};

/// The longest bio, in sectors, of a queue that merges nothing.
const BIO_SECTORS_MAX: u32 = 1024;

/// The queue of a disk. Its tasks are numbered: first the programs that use it, then the journal
/// tasks of its volumes, then one flusher per group.
#[derive(Debug)]
pub(super) struct Disk<E> {
    pub(super) engine: Engine<E>,
    pub(super) ios: Ios,
    /// The programs that use the disk, by their numbers.
    pub(super) programs: Vec<u32>,
    /// Indexed by the disk's task numbers.
    pub(super) backlogs: Vec<Backlog>,
    /// The task that writes back data of the first group.
    pub(super) flusher: TaskId,
    /// Programs of the disk that have not ended, or whose read-ahead or write-back is under way.
    pub(super) left: usize,
    /// Total turns of each group before counting started.
    pub(super) charged_before: Vec<Span>,
    /// The size of the longest bio, in bytes, whose pages may be anywhere in memory.
    pub(super) bio_bytes_max: u64,
    /// The size of the longest bio whose pages are known: an adapter may take more of those.
    pub(super) pages_bytes_max: u64,
    /// What the disk's adapter takes, if it counts segments.
    pub(super) segments: Option<SegmentLimits>,
    pub(super) ticks: Ticks,
}

/// The disks of a machine, by their numbers. The first one lies in the machine itself, because most
/// have no other: it is found without looking it up.
#[derive(Debug)]
pub(super) struct Disks<E> {
    first: Disk<E>,
    others: Vec<Disk<E>>,
}

impl<E> Index<u32> for Disks<E> {
    type Output = Disk<E>;

    #[inline(always)]
    fn index(&self, number: u32) -> &Disk<E> {
        match number {
            0 => &self.first,
            number => &self.others[number as usize - 1],
        }
    }
}

impl<E> IndexMut<u32> for Disks<E> {
    #[inline(always)]
    fn index_mut(&mut self, number: u32) -> &mut Disk<E> {
        match number {
            0 => &mut self.first,
            number => &mut self.others[number as usize - 1],
        }
    }
}

impl<E: Elevator> Disks<E> {
    /// The disks, each with one of the elevators.
    pub(super) fn new(
        config: &MachineConfig,
        elevators: impl IntoIterator<Item = E>,
        tasks: &[Numbers],
    ) -> Self {
        let elevators = (0..).zip(elevators);
        let mut disks = elevators.map(|(at, elevator)| Disk::new(config, at, elevator, tasks));
        let Some(first) = disks.next() else { panic!("a machine has a disk") };
        let disks = Self { first, others: disks.collect() };
        assert_eq!(disks.len(), config.disks.len(), "each disk has an elevator");
        disks
    }
}

impl<E> Disks<E> {
    /// The number of disks.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        1 + self.others.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Disk<E>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Disk<E>> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// Whether all disks are like this.
    #[inline]
    pub(super) fn all(&self, is_like: impl Fn(&Disk<E>) -> bool) -> bool {
        is_like(&self.first) && self.others.iter().all(is_like)
    }
}

impl<E: Elevator> Disk<E> {
    fn new(config: &MachineConfig, at: u32, elevator: E, tasks: &[Numbers]) -> Self {
        let engine = config.disks[at as usize].engine;
        let log = if config.keep_journal { Log::keeping() } else { Log::hashing() };
        let bio_sectors_max = match engine.merge_sectors_max {
            0 => BIO_SECTORS_MAX,
            sectors => sectors,
        };
        let scattered_max = engine.segments.map_or(u64::MAX, |it| it.scattered_max().bytes());
        let pages_bytes_max = u64::from(bio_sectors_max) * SECTOR_BYTES;
        let is_here = |task: &Numbers| task.all().any(|(disk, _)| disk == at);
        let programs = (0..).zip(tasks).filter(|(_, task)| is_here(task));
        let programs: Vec<u32> = programs.map(|(task, _)| task).collect();
        let journals = config.volumes.iter().filter(|volume| volume.disk == at).count();
        let of_host = journals + config.group_count();
        Self {
            engine: Engine::new(elevator, engine, log),
            ios: Ios::new(),
            left: programs.len(),
            flusher: TaskId((programs.len() + journals) as u32),
            backlogs: vec![Backlog::default(); programs.len() + of_host],
            programs,
            charged_before: vec![Span::ZERO; config.group_count()],
            bio_bytes_max: pages_bytes_max.min(scattered_max),
            pages_bytes_max,
            segments: engine.segments,
            ticks: engine.ticks,
        }
    }

    /// Whether there are many asynchronous writes of any group.
    pub(super) fn is_write_congested(&self) -> bool {
        let mut groups = (0..self.charged_before.len() as u32).map(GroupId);
        groups.any(|group| self.engine.is_congested(group, Op::Write, false))
    }

    /// The length of a group's turns while counting, if the elevator charges groups by time.
    pub(super) fn charged(&self, group: GroupId) -> Option<Span> {
        let charged = self.engine.charged(group)?;
        Some(charged - self.charged_before[group.0 as usize])
    }

    /// Starts all counting again from the disk's last event. Returns the time of that.
    pub(super) fn restart_accounts(&mut self, now: Instant) -> Instant {
        self.engine.restart_accounts(now);
        for (group, before) in (0..).map(GroupId).zip(&mut self.charged_before) {
            *before = self.engine.charged(group).unwrap_or_default();
        }
        self.engine.accounts().since
    }
}

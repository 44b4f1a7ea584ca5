//! The queue of one disk, and the numbers by which it knows tasks and I/Os.
//!
//! A disk counts only those of its own. So where nothing is scarce that disks share, its journal is
//! the one that it leaves in a machine of its own.

use super::MachineConfig;
use super::backlog::Backlog;
use super::io::Ios;
use super::numbers::Numbers;
use fairdisk_core::{
    Elevator, Engine, GroupId, Instant, Journal as Log, SECTOR_BYTES, Span, TaskId, Ticks,
};

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
    /// The size of the longest bio, in bytes.
    pub(super) bio_bytes_max: u64,
    pub(super) ticks: Ticks,
}

impl<E: Elevator> Disk<E> {
    /// The disks of a machine, each with one of the elevators.
    pub(super) fn all(
        config: &MachineConfig,
        elevators: impl IntoIterator<Item = E>,
        tasks: &[Numbers],
    ) -> Vec<Self> {
        let elevators = elevators.into_iter();
        let disks = elevators.enumerate().map(|(at, elevator)| Self::new(config, at, elevator));
        let mut disks: Vec<Self> = disks.collect();
        assert_eq!(disks.len(), config.disks.len(), "each disk has an elevator");
        for (task, numbers) in (0..).zip(tasks) {
            for (disk, _) in numbers.all() {
                disks[disk as usize].programs.push(task);
            }
        }
        let groups = config.group_count();
        for (at, disk) in (0..).zip(&mut disks) {
            let journals = config.volumes.iter().filter(|volume| volume.disk == at).count();
            disk.left = disk.programs.len();
            disk.flusher = TaskId((disk.left + journals) as u32);
            disk.backlogs = vec![Backlog::default(); disk.left + journals + groups];
        }
        disks
    }

    fn new(config: &MachineConfig, at: usize, elevator: E) -> Self {
        let engine = config.disks[at].engine;
        let log = if config.keep_journal { Log::keeping() } else { Log::hashing() };
        let bio_sectors_max = match engine.merge_sectors_max {
            0 => BIO_SECTORS_MAX,
            sectors => sectors,
        };
        Self {
            engine: Engine::new(elevator, engine, log),
            ios: Ios::new(),
            programs: Vec::new(),
            backlogs: Vec::new(),
            flusher: TaskId(0),
            left: 0,
            charged_before: vec![Span::ZERO; config.group_count()],
            bio_bytes_max: u64::from(bio_sectors_max) * SECTOR_BYTES,
            ticks: engine.ticks,
        }
    }

    /// The length of a group's turns while counting, if the elevator charges groups by time.
    pub(super) fn charged(&self, group: GroupId) -> Option<Span> {
        let charged = self.engine.charged(group)?;
        Some(charged - self.charged_before[group.0 as usize])
    }

    /// Starts all counting again from the disk's last event. Returns the time of that.
    pub(super) fn restart_accounts(&mut self) -> Instant {
        self.engine.restart_accounts();
        for (group, before) in (0..).map(GroupId).zip(&mut self.charged_before) {
            *before = self.engine.charged(group).unwrap_or_default();
        }
        self.engine.accounts().since
    }
}

//! The ext3 journal of a machine: commits, as writes to the log.

use super::disk::Disks;
use super::io::{Io, IoKind};
use super::task::Step;
use super::{Event, Machine, MachineConfig};
use crate::host::{FileSpec, Journal, JournalStep};
use fairdisk_core::{
    Bio, Elevator, GroupId, Instant, IoPrio, Lba, Op, SECTOR_BYTES, Sectors, TaskId,
};

/// A volume: its journal, and the tasks that wait for it.
#[derive(Debug)]
pub(super) struct Volume {
    disk: u32,
    /// The number of its journal task on the disk.
    task: TaskId,
    pub(super) journal: Option<Journal>,
    /// Tasks that sleep until the log write has ended.
    pub(super) log_waiters: Vec<u32>,
    /// Tasks that wait for a commit to end.
    commit_waiters: Vec<u32>,
}

impl Volume {
    /// The volumes of a machine.
    pub(super) fn all<E>(config: &MachineConfig, disks: &Disks<E>) -> Vec<Self> {
        let mut tasks: Vec<u32> = disks.iter().map(|disk| disk.programs.len() as u32).collect();
        let volumes = config.volumes.iter().map(|spec| {
            let at = spec.disk as usize;
            let task = TaskId(tasks[at]);
            tasks[at] += 1;
            Self {
                disk: spec.disk,
                task,
                journal: spec.journal.map(|journal| Journal::new(journal, disks[spec.disk].ticks)),
                log_waiters: Vec::new(),
                commit_waiters: Vec::new(),
            }
        });
        volumes.collect()
    }
}

impl<E: Elevator> Machine<E> {
    /// Lets the journal task check its transaction.
    pub(super) fn commit(&mut self, now: Instant, volume: u32) {
        let Some(journal) = &mut self.volumes[volume as usize].journal else { return };
        let step = journal.wake(now);
        self.journal_step(now, volume, step);
    }

    /// Waits for a journal commit if the task's data needs one to be durable; asks the journal for
    /// it. Returns whether the task waits.
    pub(super) fn await_commit(&mut self, now: Instant, index: u32) -> bool {
        let task = &self.tasks[index as usize];
        let (durable, called) = (task.durable, task.io_started);
        let volume = task.stream.used_files().find_map(|file| {
            let FileSpec { volume, inode, .. } = self.files[file as usize].spec;
            let journal = self.volumes[volume as usize].journal.as_ref()?;
            journal.holds(inode, durable, called).then_some((volume, inode))
        });
        let Some((volume, inode)) = volume else { return false };
        self.task(index).step = Step::Committing;
        self.volumes[volume as usize].commit_waiters.push(index);
        if let Some(journal) = &mut self.volumes[volume as usize].journal {
            let step = journal.ask(now, inode, durable, called);
            self.journal_step(now, volume, step);
        }
        true
    }

    fn journal_step(&mut self, now: Instant, volume: u32, step: JournalStep) {
        match step {
            JournalStep::Rest => {}
            JournalStep::At(at) => self.events.push(at, Event::Commit(volume)),
            JournalStep::Write(start, sectors) => {
                let at = self.volumes[volume as usize].disk;
                let disk = &mut self.disks[at];
                let io = disk.ios.insert(Io::new(IoKind::Journal { volume }, now, Op::Write));
                let (mut from, end) = (start.0, start.0 + u64::from(sectors.0));
                let most = disk.bio_bytes_max / SECTOR_BYTES;
                while from < end {
                    let sectors = (end - from).min(most);
                    let bio = self.journal_bio(io, volume, Lba(from), Sectors(sectors as u32));
                    self.submit(now, at, bio);
                    from += sectors;
                }
                self.all_made(now, at, io);
                // The journal task waits for its log write.
                self.unplug(now, at);
            }
        }
    }

    /// A bio of the journal task, which submits for the root group.
    fn journal_bio(&mut self, io: u32, volume: u32, start: Lba, sectors: Sectors) -> Bio {
        let integrity = self.config.integrity_writes;
        let Volume { disk, task, journal, .. } = &self.volumes[volume as usize];
        let mark = match journal.as_ref().is_some_and(Journal::is_writing_record) {
            true => integrity.record(),
            false => integrity.data(),
        };
        Bio {
            id: self.disks[*disk].ios.add_part(io).0,
            task: *task,
            group: GroupId::ROOT,
            op: Op::Write,
            start,
            sectors,
            sync: mark.sync,
            flags: mark.flags,
            ioprio: journal.as_ref().map_or(IoPrio::UNSET, Journal::ioprio),
        }
    }

    #[inline(never)]
    pub(super) fn journal_written(&mut self, now: Instant, volume: u32) {
        let Some(journal) = &mut self.volumes[volume as usize].journal else { return };
        let (step, released) = journal.written(now);
        if !released {
            // What these tasks wait for has been committed, or is next.
            let waiters = std::mem::take(&mut self.volumes[volume as usize].commit_waiters);
            waiters.into_iter().for_each(|task| self.wake(now, task));
        }
        if released {
            let empty = std::mem::take(&mut self.spare_waiters);
            let mut waiters =
                std::mem::replace(&mut self.volumes[volume as usize].log_waiters, empty);
            for task in waiters.drain(..) {
                self.after_log(now, task);
            }
            self.spare_waiters = waiters;
        }
        self.journal_step(now, volume, step);
    }
}

//! The ext3 journal of a machine: commits, as writes to the log.

use super::io::{Io, IoKind};
use super::task::Step;
use super::{Event, Machine};
use crate::host::{FileSpec, Journal, JournalStep};
use fairdisk_core::{
    Bio, Elevator, GroupId, Instant, IoPrio, Lba, Op, SECTOR_BYTES, Sectors, TaskId,
};

impl<E: Elevator> Machine<E> {
    /// Lets the journal task check its transaction.
    pub(super) fn commit(&mut self, now: Instant, volume: u32) {
        let Some(journal) = &mut self.journals[volume as usize] else { return };
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
            let journal = self.journals[volume as usize].as_ref()?;
            journal.holds(inode, durable, called).then_some((volume, inode))
        });
        let Some((volume, inode)) = volume else { return false };
        self.task(index).step = Step::Committing;
        self.commit_waiters[volume as usize].push(index);
        if let Some(journal) = &mut self.journals[volume as usize] {
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
                let io = self.ios.insert(Io::new(IoKind::Journal { volume }, now, Op::Write));
                let end = start.0 + u64::from(sectors.0);
                let mut at = start.0;
                while at < end {
                    let sectors = (end - at).min(self.bio_bytes_max() / SECTOR_BYTES);
                    let bio = self.journal_bio(io, volume, Lba(at), Sectors(sectors as u32));
                    self.submit(now, bio);
                    at += sectors;
                }
                self.all_made(now, io);
                // The journal task waits for its log write.
                self.unplug(now);
            }
        }
    }

    /// A bio of the journal task, which submits for the root group.
    fn journal_bio(&mut self, io: u32, volume: u32, start: Lba, sectors: Sectors) -> Bio {
        let integrity = self.config.integrity_writes;
        let journal = self.journals[volume as usize].as_ref();
        let mark = match journal.is_some_and(Journal::is_writing_record) {
            true => integrity.record(),
            false => integrity.data(),
        };
        let ioprio = journal.map_or(IoPrio::UNSET, Journal::ioprio);
        Bio {
            id: self.ios.add_part(io),
            task: TaskId(self.tasks.len() as u32 + volume),
            group: GroupId::ROOT,
            op: Op::Write,
            start,
            sectors,
            sync: mark.sync,
            flags: mark.flags,
            ioprio,
        }
    }

    #[inline(never)]
    pub(super) fn journal_written(&mut self, now: Instant, volume: u32) {
        let Some(journal) = &mut self.journals[volume as usize] else { return };
        let (step, released) = journal.written(now);
        if !released {
            // What these tasks wait for has been committed, or is next.
            let waiters = std::mem::take(&mut self.commit_waiters[volume as usize]);
            waiters.into_iter().for_each(|task| self.wake(now, task));
        }
        if released {
            let empty = std::mem::take(&mut self.spare_waiters);
            let mut waiters = std::mem::replace(&mut self.log_waiters[volume as usize], empty);
            for task in waiters.drain(..) {
                self.after_log(now, task);
            }
            self.spare_waiters = waiters;
        }
        self.journal_step(now, volume, step);
    }
}

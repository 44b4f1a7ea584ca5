//! Who is charged for buffered writes, and writers that wait because their group has too much dirty
//! (spec: memory, section 7).

use super::config::PAGE_BYTES;
use super::integrity::Mark;
use super::task::Step;
use super::writing_back::Writer;
use super::{Event, Machine};
use crate::host::{Domain, Payer, Stretch};
use fairdisk_core::{Bio, BioId, Elevator, GroupId, Instant, IoPrio, Lba, Op, Sectors, TaskId};

impl<E: Elevator> Machine<E> {
    // ---- who pays ------------------------------------------------------------------------

    /// A bio that writes back a stretch of dirty pages to a disk, and the program that submits it,
    /// if it is one. What is made durable is charged to the task that waits for it. Where the
    /// submitter pays, that is the flusher or a program.
    pub(super) fn back_bio(
        &self,
        writer: Writer,
        disk: u32,
        stretch: &Stretch,
    ) -> (Option<u32>, Bio) {
        let of = |index: u32| &self.tasks[index as usize];
        let payer = self.write_back.as_ref().map_or(Payer::Dirtier, |back| back.payer);
        let submitter = match writer {
            Writer::Syncing(by) => Some(by),
            Writer::Task(by) => (payer == Payer::Submitter).then_some(by),
            Writer::Flusher => None,
        };
        let (task, group, ioprio) = match submitter.map(of) {
            Some(task) => (task.numbers.on(disk), task.group, task.ioprio),
            None => {
                let group = self.payer_of(payer, writer, stretch, stretch.start);
                (TaskId(self.disks[disk].flusher.0 + group.0), group, IoPrio::UNSET)
            }
        };
        let mark = match writer {
            Writer::Syncing(_) => self.config.integrity_writes.data(),
            Writer::Flusher | Writer::Task(_) => Mark::ASYNC,
        };
        let bio = Bio {
            id: BioId(0),
            task,
            group,
            op: Op::Write,
            start: Lba(0),
            sectors: Sectors(0),
            sync: mark.sync,
            flags: mark.flags,
            ioprio,
        };
        (submitter, bio)
    }

    /// The group that a rule charges for a page of a stretch.
    fn payer_of(&self, rule: Payer, writer: Writer, stretch: &Stretch, page: u64) -> GroupId {
        let group = |task: u32| self.tasks[task as usize].group;
        let back = self.write_back.as_ref();
        match (rule, writer) {
            (_, Writer::Syncing(by)) | (Payer::Submitter, Writer::Task(by)) => group(by),
            (Payer::Submitter, Writer::Flusher) => GroupId::ROOT,
            (Payer::Dirtier, _) => group(stretch.owner),
            (Payer::LastWriter, _) => {
                let last = back.map(|back| back.pages.last_writer(stretch.file, page));
                group(last.unwrap_or(stretch.owner))
            }
            (Payer::InodeOwner, _) => {
                let ownership = back.and_then(|back| back.ownership.as_ref());
                ownership.map_or(GroupId::ROOT, |ownership| ownership.owner(stretch.file))
            }
        }
    }

    /// Counts what each rule charges for a stretch, if the host says who pays. All of it has the
    /// same dirtier and last writer.
    pub(super) fn count_charges(&mut self, writer: Writer, stretch: &Stretch) {
        if self.write_back.as_ref().is_none_or(|back| back.ownership.is_none()) {
            return;
        }
        let charged =
            Payer::ALL.map(|rule| (rule, self.payer_of(rule, writer, stretch, stretch.start)));
        let ownership = self.write_back.as_mut().and_then(|back| back.ownership.as_mut());
        if let Some(ownership) = ownership {
            for (rule, group) in charged {
                ownership.charge(rule, group, stretch.pages);
            }
        }
    }

    /// Counts a stretch as votes of whoever made it dirty.
    pub(super) fn vote(&mut self, stretch: &Stretch) {
        let group = self.tasks[stretch.owner as usize].group;
        let ownership = self.write_back.as_mut().and_then(|back| back.ownership.as_mut());
        if let Some(ownership) = ownership {
            ownership.vote(stretch.file, group, stretch.pages);
        }
    }

    /// Ends the round of a file, whose inode may have a new owner then.
    pub(super) fn end_round(&mut self, now: Instant, disk: u32, file: u32) {
        let Some(back) = &mut self.write_back else { return };
        let Some(ownership) = &mut back.ownership else { return };
        if let Some(owner) = ownership.end_round(disk, file) {
            back.pages.give_file(file, owner.0);
            self.let_go(now);
        }
    }

    /// The bytes of data written back that each rule would have charged a group, in the order of
    /// [`Payer::ALL`]; `None` if the host does not say who pays.
    #[must_use]
    pub fn charged_by_rule(&self, group: GroupId) -> Option<[u64; Payer::ALL.len()]> {
        let ownership = self.write_back.as_ref()?.ownership.as_ref()?;
        Some(ownership.charged(group).map(|pages| pages * PAGE_BYTES))
    }

    /// How often an inode changed its owner.
    #[must_use]
    pub fn owner_changes(&self) -> u64 {
        let ownership = self.write_back.as_ref().and_then(|back| back.ownership.as_ref());
        ownership.map_or(0, |ownership| ownership.changes)
    }

    // ---- limits of groups ----------------------------------------------------------------

    /// Holds a writer back while the domain into which it writes has more dirty than a group may
    /// have. Returns whether it has to wait.
    pub(super) fn is_held_back(&mut self, now: Instant, index: u32, domain: Domain) -> bool {
        self.write_out(now, domain.disk);
        let Some(back) = &mut self.write_back else { return false };
        let is_over =
            back.spec.of_group.is_some_and(|group| back.pages.held_in(domain) > group.limit);
        let waits = is_over && !self.stopping;
        let task = &mut self.tasks[index as usize];
        if waits {
            back.held_back.push(index);
            task.step = Step::AwaitRoom;
            task.paging.slept = true;
        }
        waits
    }

    /// Lets writers go on if pages of a file that have been written back make room for them.
    pub(super) fn room_made(&mut self, now: Instant, disk: u32, file: u32, pages: u64) {
        let Some(back) = &mut self.write_back else { return };
        if let Some(ownership) = &mut back.ownership {
            ownership.written(now, disk, file, pages);
        }
        if back.spec.of_group.is_some() {
            self.let_go(now);
        }
    }

    /// Lets those writers go on whose groups have no more dirty than they may.
    fn let_go(&mut self, now: Instant) {
        let Some(back) = &mut self.write_back else { return };
        let Some(limits) = back.spec.of_group else { return };
        let (tasks, events, stopping) = (&mut self.tasks, &mut self.events, self.stopping);
        let pages = &back.pages;
        back.held_back.retain(|index| {
            let task = &mut tasks[*index as usize];
            let domain = pages.domain(task.current.file, *index);
            let has_room = stopping || pages.held_in(domain) <= limits.limit;
            if has_room {
                task.step = Step::Balance;
                events.push(now, Event::Run(*index));
            }
            !has_room
        });
    }
}

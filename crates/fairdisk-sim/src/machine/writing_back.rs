//! Write-back of dirty pages by the flusher, by throttled writers and by tasks that need their data
//! to be durable (spec: memory, sections 7.1 and 7.2).

use super::allocating::TAKEN_MAX;
use super::config::PAGE_BYTES;
use super::disk::Disks;
use super::io::{Io, IoKind};
use super::task::{Step, Task};
use super::{Event, Machine, MachineConfig};
use crate::host::memory::PageId;
use crate::host::{
    DirtyPages, Dirtying, Division, Domain, Domains, File, Mapped, Ownership, PageCache, Payer,
    Stretch, Thresholds, Throttle, WriteBackSpec,
};
use crate::workload::{Drops, FileIo};
use fairdisk_core::{Bio, Elevator, Instant, Op, SECTOR_BYTES, Sectors, Span, TaskId};

/// The state of the flusher of a domain.
#[derive(Debug)]
struct Flusher {
    /// Whether it continues until what was due at its last check is written.
    is_at_work: bool,
    /// The task in whose name it last submitted; it continues once that task does not wait for a
    /// slot.
    submitted_as: TaskId,
}

/// The dirty pages of a machine, and what writes them back.
#[derive(Debug)]
pub(super) struct WriteBack {
    pub(super) spec: WriteBackSpec,
    /// Who pays.
    pub(super) payer: Payer,
    thresholds: Thresholds,
    dirtying: Dirtying,
    pub(super) pages: DirtyPages,
    /// Who pays by each rule, if the host says who does.
    pub(super) ownership: Option<Box<Ownership>>,
    /// Tasks that wait because their group has too much dirty.
    pub(super) held_back: Vec<u32>,
    /// The flusher of each domain, by its place.
    flushers: Domains<Flusher>,
    /// Whether the next check for old data of each disk is scheduled.
    will_look: Vec<bool>,
    /// The group whose flusher is the next to write to each disk.
    turns: Vec<u32>,
    /// Pages that tasks dirtied: the number of journal entries at that time, file and pages.
    #[cfg(test)]
    pub(super) made_dirty: Vec<(u64, u32, std::ops::Range<u64>)>,
}

impl WriteBack {
    pub(super) fn new<E>(
        spec: WriteBackSpec,
        config: &MachineConfig,
        cache: &PageCache,
        disks: &Disks<E>,
    ) -> Self {
        let memory = config.memory_pages;
        let groups = config.group_count();
        let by_submission =
            if config.async_of_submitter { Payer::Submitter } else { Payer::Dirtier };
        let payer = spec.payer.unwrap_or(by_submission);
        let division = match (spec.of_group, payer) {
            (None, _) => Division::Undivided,
            (Some(_), Payer::InodeOwner) => Division::ByFile(groups as u32),
            (Some(_), _) => {
                let of_tasks = config.tasks.iter().map(|task| task.group.0).collect();
                Division::ByDirtier(of_tasks, groups as u32)
            }
        };
        let files = (0..).zip(&config.files);
        let files = files.map(|(number, file)| {
            (config.volumes[file.volume as usize].disk, cache.of_file(number))
        });
        let pages = DirtyPages::new(disks.len(), files, division, spec.payer.is_some());
        let flusher = |domain: Domain| Flusher {
            is_at_work: false,
            submitted_as: disks[domain.disk].flusher,
        };
        let flushers = pages.each(disks.len(), flusher);
        Self {
            spec,
            payer,
            thresholds: Thresholds::new(&spec, memory),
            dirtying: Dirtying::new(config.cpu.cpus, memory),
            ownership: Ownership::new(&spec, config.files.len(), disks.len(), groups),
            held_back: Vec::with_capacity(config.tasks.len()),
            pages,
            flushers,
            will_look: vec![false; disks.len()],
            turns: vec![0; disks.len()],
            #[cfg(test)]
            made_dirty: Vec::new(),
        }
    }

    /// Whether whoever dirties pages of the disk must see to it that they become fewer: there are
    /// too many, and the disk has more than its share of what may be dirty (spec: memory, 7.1).
    /// Shares are equal here, as the disks of a machine are.
    fn has_too_many(&self, disk: u32) -> bool {
        let most = self.thresholds.throttle;
        self.pages.held() > most && self.pages.held_of(disk) > most / self.will_look.len() as u64
    }

    /// Whether the flusher of a domain writes although nothing of it is old.
    fn is_above_background(&self, domain: Domain) -> bool {
        let of_group = self.spec.of_group;
        of_group.is_some_and(|group| self.pages.waiting_in(domain) > group.background)
            || self.pages.waiting() > self.thresholds.background
    }

    /// Whether no page is dirty or being written back.
    pub(super) fn is_clean(&self) -> bool {
        self.pages.held() == 0
    }
}

/// The task that writes pages back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    Flusher,
    /// A task that does not wait for the write-back: it dirtied too many pages, or drops a file.
    Task(u32),
    /// A task that waits for its data to be durable.
    Syncing(u32),
}

impl<E: Elevator> Machine<E> {
    // ---- dirty pages ---------------------------------------------------------------------

    /// Keeps the current write in memory: reads the metadata that maps its pages from `at` on, then
    /// dirties them. A page that is partly written counts as wholly written.
    #[inline(never)]
    pub(super) fn dirty_pages(&mut self, now: Instant, index: u32, at: u64) -> bool {
        let task = &self.tasks[index as usize];
        let (FileIo { file, offset, bytes, .. }, is_mapped) = (task.current, task.is_mapped());
        let disk = self.files[file as usize].disk;
        let end = self.end_of_taken(at, offset + bytes);
        let mut mapped_to = at;
        while mapped_to < end {
            match self.map(index, file, mapped_to) {
                None => return self.take_for_write(index, at, 1),
                Some(Mapped::NeedsBlock(lba)) => {
                    self.task(index).step = Step::DirtyPages(at);
                    self.read_metadata(now, index, (disk, lba));
                    return false;
                }
                Some(Mapped::At(_, contiguous)) => mapped_to += contiguous,
            }
        }
        let pages = at / PAGE_BYTES..end.div_ceil(PAGE_BYTES);
        let missing = self.pages.count_missing(file, pages.clone());
        if !self.has_frames(index, missing) {
            return self.take_for_write(index, at, missing);
        }
        for page in pages.clone() {
            self.pages.written_by(&mut self.hands[index as usize], file, page..page + 1);
            self.pages.hold(file, page);
        }
        self.pages.count_writes(file, pages.clone());
        let Some(back) = &mut self.write_back else { return false };
        #[cfg(test)]
        back.made_dirty.push((self.disks[disk].engine.journal().len(), file, pages.clone()));
        let group = self.tasks[index as usize].group;
        if let Some(ownership) = &mut back.ownership {
            ownership.dirtied(file, group);
            back.pages.give_file(file, ownership.owner(file).0);
        }
        let dirtied = back.pages.dirtied(now, file, pages, index);
        if !back.will_look[disk as usize] {
            back.will_look[disk as usize] = true;
            self.events.push(back.spec.next_look(now), Event::LookForOld(disk));
        }
        let task = &mut self.tasks[index as usize];
        let throttle = back.dirtying.count(task.cpu, dirtied).map(Throttle::new);
        task.throttle = throttle.or(task.throttle);
        if end < offset + bytes {
            task.step = Step::DirtyPages(end);
            return true;
        }
        task.step = Step::Balance;
        if self.reclaiming.is_some() {
            self.give_frames_back(now, index);
        }
        if !is_mapped {
            let count = (offset + bytes).div_ceil(PAGE_BYTES) - offset / PAGE_BYTES;
            let burst = Span::from_ns(self.cpus.spec().page_copy.as_ns() * count);
            self.run_later(now, index, burst);
        }
        is_mapped
    }

    /// Has the task take pages for the part of a write from `at` on.
    fn take_for_write(&mut self, index: u32, at: u64, pages: u64) -> bool {
        self.task(index).step = Step::DirtyPages(at);
        self.begin_allocation(index, pages);
        true
    }

    /// The end of the part of a write from `at` to `end` whose pages are taken at once.
    fn end_of_taken(&self, at: u64, end: u64) -> u64 {
        let taken = (at / PAGE_BYTES + TAKEN_MAX) * PAGE_BYTES;
        if self.reclaiming.is_some() { end.min(taken) } else { end }
    }

    /// Throttles a task that has dirtied pages: while there are too many, it writes some back, of
    /// any file of that disk, or sleeps if there are none to write.
    #[inline(never)]
    pub(super) fn balance(&mut self, now: Instant, index: u32) -> bool {
        let file = self.tasks[index as usize].current.file;
        let disk = self.files[file as usize].disk;
        let domain = self
            .write_back
            .as_ref()
            .map(|back| (back.spec.of_group, back.pages.domain(file, index)));
        let Some((of_group, domain)) = domain else { return self.pages_used(now, index) };
        if of_group.is_some() && self.is_held_back(now, index, domain) {
            return false;
        }
        let Some(mut throttle) = self.task(index).throttle else {
            return self.pages_used(now, index);
        };
        while let Some(back) = &mut self.write_back {
            back.dirtying.is_exceeded = back.has_too_many(disk);
            if !back.dirtying.is_exceeded || throttle.left == 0 || self.stopping {
                break;
            }
            let queue = &self.disks[disk];
            let number = self.tasks[index as usize].numbers.on(disk);
            if queue.backlogs[number.0 as usize].asleep > 0 {
                self.hold_up(index, throttle);
                self.task(index).step = Step::AwaitSlots;
                return false;
            }
            if !back.pages.has_due(domain) {
                back.pages.make_due(domain, now);
            }
            if back.pages.has_due(domain) {
                let written = self.visit(now, Writer::Task(index), domain, throttle.left);
                throttle.left = throttle.left.saturating_sub(written);
            } else {
                let until = throttle.sleep(now, queue.ticks);
                self.events.push(until, Event::Run(index));
                self.hold_up(index, throttle);
                self.tell(index, |report| report.held_up += until - now);
                return false;
            }
        }
        self.task(index).throttle = None;
        self.write_out(now, disk);
        self.pages_used(now, index)
    }

    fn hold_up(&mut self, index: u32, throttle: Throttle) {
        let task = self.task(index);
        task.throttle = Some(throttle);
        task.paging.slept = true;
    }

    /// Resumes a throttled task that has got a request slot, if it waits for no other slot.
    pub(super) fn resume_with_slot(&mut self, now: Instant, index: u32) {
        let task = &self.tasks[index as usize];
        let is_asleep =
            |(disk, number): (u32, TaskId)| self.disks[disk].backlogs[number.0 as usize].asleep > 0;
        if task.step == Step::AwaitSlots && !task.numbers.all().any(is_asleep) {
            self.task(index).step = Step::Balance;
            self.run(now, index);
        }
    }

    /// Drops dirty data that is wholly overwritten past the page cache, or trimmed.
    pub(super) fn supersede(&mut self, file: u32, pages: std::ops::Range<u64>) {
        let Some(back) = &mut self.write_back else { return };
        back.pages.superseded(file, pages.clone());
        let end = pages.end.min(self.pages.of_file(file));
        let free = (pages.start..end).filter(|page| !back.pages.holds(file, *page));
        free.for_each(|page| self.pages.release(file, page));
    }

    /// Sends the dirty data of a file to the disk and drops the file from memory, with its metadata
    /// if the task does that. The task does not wait; pages that are not written yet stay there.
    #[inline(never)]
    pub(super) fn drop_file(&mut self, now: Instant, index: u32, file: u32) {
        if let Some(back) = &mut self.write_back {
            let mark = back.pages.mark();
            self.write_older(now, Writer::Task(index), file, 0..u64::MAX, mark);
        }
        let Task { paging, drops, .. } = &self.tasks[index as usize];
        self.pages.dropped_by(&mut self.hands[index as usize], file, paging.is_mapped());
        if *drops == Drops::Everything {
            self.drop_metadata(now, index, file);
        }
    }

    // ---- the flusher ---------------------------------------------------------------------

    /// Lets the flusher of a disk check for old data.
    pub(super) fn look_for_old(&mut self, now: Instant, disk: u32) {
        let Some(back) = &mut self.write_back else { return };
        let will_look = back.pages.held_of(disk) > 0;
        back.will_look[disk as usize] = will_look;
        if will_look {
            self.events.push(back.spec.next_look(now), Event::LookForOld(disk));
        }
        for domain in back.pages.domains(disk, 0) {
            if !back.flushers[domain].is_at_work && !back.is_above_background(domain) {
                // Files that were due because there was too much dirty data must become old first.
                back.pages.none_due(domain);
            }
            if let Some(until) = back.spec.old(now) {
                back.pages.make_due(domain, until);
            }
            back.flushers[domain].is_at_work = true;
        }
        self.write_out(now, disk);
    }

    /// Has the flushers write what is dirty now, because memory is short.
    pub(super) fn wake_flushers(&mut self, now: Instant) {
        for disk in 0..self.disks.len() as u32 {
            let Some(back) = &mut self.write_back else { return };
            if back.pages.waiting_of(disk) > 0 {
                for domain in back.pages.domains(disk, 0) {
                    back.pages.make_due(domain, now);
                    back.flushers[domain].is_at_work = true;
                }
                self.write_out(now, disk);
            }
        }
    }

    /// Lets the flushers of a disk write what is due, and more while too much is dirty. Once all
    /// tasks of the disk have ended they write everything; in a stopped machine they write nothing.
    pub(super) fn write_out(&mut self, now: Instant, disk: u32) {
        let Some(back) = &self.write_back else { return };
        let turn = back.turns[disk as usize];
        for domain in back.pages.domains(disk, turn) {
            self.write_out_of(now, domain);
        }
    }

    fn write_out_of(&mut self, now: Instant, domain: Domain) {
        let disk = domain.disk;
        while let Some(back) = &mut self.write_back {
            let is_wanted = match self.disks[disk].left {
                0 => back.pages.waiting_in(domain) > 0,
                _ => back.is_above_background(domain),
            };
            let flusher = &mut back.flushers[domain];
            let submitted_as = flusher.submitted_as.0 as usize;
            let is_asleep = self.disks[disk].backlogs[submitted_as].asleep > 0;
            if is_asleep || self.stopping || !is_wanted && !flusher.is_at_work {
                return;
            }
            if !back.pages.has_due(domain) {
                back.flushers[domain].is_at_work = false;
                if is_wanted {
                    back.pages.make_due(domain, now);
                }
                if !back.pages.has_due(domain) {
                    return;
                }
            }
            back.turns[disk as usize] = domain.group + 1;
            self.visit(now, Writer::Flusher, domain, u64::MAX);
        }
    }

    /// Writes back up to `pages_max` pages of the domain's next due file. Returns how many were
    /// written.
    fn visit(&mut self, now: Instant, writer: Writer, domain: Domain, pages_max: u64) -> u64 {
        let mut pages = 0;
        let visit = self.write_back.as_mut().and_then(|back| back.pages.visit(domain, pages_max));
        let Some(mut visit) = visit else { return 0 };
        while let Some(back) = &mut self.write_back
            && let Some(stretch) = back.pages.next_stretch(&mut visit)
        {
            pages += stretch.pages;
            self.vote(&stretch);
            self.write_stretch(now, writer, stretch);
        }
        if let Some(back) = &mut self.write_back {
            back.pages.leave(now, &visit);
        }
        self.end_round(now, domain.disk, visit.file);
        pages
    }

    // ---- to the disk ---------------------------------------------------------------------

    pub(super) fn write_stretch(&mut self, now: Instant, writer: Writer, stretch: Stretch) {
        let Stretch { file, start, pages, owner } = stretch;
        let &File { disk, spec, .. } = &self.files[file as usize];
        let (submitter, bio) = self.back_bio(writer, disk, &stretch);
        self.count_charges(writer, &stretch);
        if let Some(index) = submitter {
            self.tasks[index as usize].dirty_bytes += pages * PAGE_BYTES;
        }
        if writer == Writer::Flusher
            && let Some(back) = &mut self.write_back
        {
            let domain = back.pages.domain(file, owner);
            back.flushers[domain].submitted_as = bio.task;
        }
        let kind = IoKind::WriteBack { owner, submitter, file, start: start as u32 };
        let mut io = Io::new(kind, now, Op::Write);
        io.bytes = pages * PAGE_BYTES;
        let queue = &mut self.disks[disk];
        let io = queue.ios.insert(io);
        let mut at = start * PAGE_BYTES;
        let end = (at + pages * PAGE_BYTES).min(spec.bytes);
        while at < end {
            // The metadata that maps these pages was read when they were dirtied.
            let Mapped::At(lba, contiguous) = self.files[file as usize].map(at) else { continue };
            let (bytes, segments) = self.of_pages(disk, file, at, contiguous.min(end - at));
            let sectors = Sectors(bytes.div_ceil(SECTOR_BYTES) as u32);
            let (id, _) = self.disks[disk].ios.add_part(io);
            self.submit_pages(now, disk, Bio { id, start: lba, sectors, ..bio }, segments);
            at += bytes;
        }
        if let Some(memory) = self.pages.memory() {
            (start..start + pages).for_each(|page| memory.write_begun(PageId::of_file(file, page)));
        }
        self.all_made(now, disk, io);
    }

    /// Handles pages that have been written back.
    #[inline(never)]
    pub(super) fn written_back(&mut self, now: Instant, disk: u32, io: &Io) {
        let IoKind::WriteBack { owner, submitter, file, start } = io.kind else { return };
        let pages = u64::from(start)..u64::from(start) + io.bytes / PAGE_BYTES;
        let Some(back) = &mut self.write_back else { return };
        back.pages.written(file, pages.clone(), owner);
        if let Some(memory) = self.pages.memory() {
            pages.clone().for_each(|page| memory.written(PageId::of_file(file, page)));
        }
        let free = pages.clone().filter(|page| !back.pages.holds(file, *page));
        free.for_each(|page| self.pages.release(file, page));
        self.wake_waiters(now, file, pages);
        if let Some(index) = submitter {
            self.task(index).dirty_bytes -= io.bytes;
            self.forget(now, index);
        }
        self.room_made(now, disk, file, io.bytes / PAGE_BYTES);
        self.write_out(now, disk);
    }
}

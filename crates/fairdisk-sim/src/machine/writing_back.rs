//! Write-back of dirty pages by the flusher, by throttled writers and by tasks that need their data
//! to be durable (spec: memory, sections 7.1 and 7.2).

use super::allocating::TAKEN_MAX;
use super::config::PAGE_BYTES;
use super::disk::{Disk, Disks};
use super::integrity::Mark;
use super::io::{Io, IoKind};
use super::task::Step;
use super::{Event, Machine, MachineConfig};
use crate::host::memory::PageId;
use crate::host::{
    DirtyPages, Dirtying, File, Mapped, PageCache, Stretch, Thresholds, Throttle, WriteBackSpec,
};
use crate::workload::FileIo;
use fairdisk_core::{
    Bio, BioId, Elevator, GroupId, Instant, IoPrio, Lba, Op, SECTOR_BYTES, Sectors, Span, TaskId,
};

/// The state of a disk's flusher.
#[derive(Debug)]
struct Flusher {
    /// Whether it continues until what was due at its last check is written.
    is_at_work: bool,
    /// Whether its next check for old data is scheduled.
    will_look: bool,
    /// The task in whose name it last submitted; it continues once that task does not wait for a
    /// slot.
    submitted_as: TaskId,
}

/// The dirty pages of a machine, and what writes them back.
#[derive(Debug)]
pub(super) struct WriteBack {
    spec: WriteBackSpec,
    thresholds: Thresholds,
    dirtying: Dirtying,
    pub(super) pages: DirtyPages,
    /// The flusher of each disk.
    flushers: Vec<Flusher>,
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
        let flusher = |disk: &Disk<E>| Flusher {
            is_at_work: false,
            will_look: false,
            submitted_as: disk.flusher,
        };
        let files = (0..).zip(&config.files);
        let files = files.map(|(number, file)| {
            (config.volumes[file.volume as usize].disk, cache.of_file(number))
        });
        Self {
            spec,
            thresholds: Thresholds::new(&spec, memory),
            dirtying: Dirtying::new(config.cpu.cpus, memory),
            pages: DirtyPages::new(disks.len(), files),
            flushers: disks.iter().map(flusher).collect(),
            #[cfg(test)]
            made_dirty: Vec::new(),
        }
    }

    /// Whether whoever dirties pages of the disk must see to it that they become fewer: there are
    /// too many, and the disk has more than its share of what may be dirty (spec: memory, 7.1).
    /// Shares are equal here, as the disks of a machine are.
    fn has_too_many(&self, disk: u32) -> bool {
        let most = self.thresholds.throttle;
        self.pages.held() > most && self.pages.held_of(disk) > most / self.flushers.len() as u64
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
        let Some(back) = &mut self.write_back else { return false };
        #[cfg(test)]
        back.made_dirty.push((self.disks[disk].engine.journal().len(), file, pages.clone()));
        let dirtied = back.pages.dirtied(now, file, pages, index);
        let flusher = &mut back.flushers[disk as usize];
        if !flusher.will_look {
            flusher.will_look = true;
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
        let Some(mut throttle) = self.task(index).throttle else {
            return self.pages_used(now, index);
        };
        let file = self.tasks[index as usize].current.file;
        let disk = self.files[file as usize].disk;
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
            if !back.pages.has_due(disk) {
                back.pages.make_due(disk, now);
            }
            if back.pages.has_due(disk) {
                let written = self.visit(now, Writer::Task(index), disk, throttle.left);
                throttle.left = throttle.left.saturating_sub(written);
            } else {
                let until = throttle.sleep(now, queue.ticks);
                self.events.push(until, Event::Run(index));
                self.hold_up(index, throttle);
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

    /// Sends the dirty data of a file to the disk and drops the file from memory. The task does not
    /// wait; pages that are not written yet stay in memory.
    #[inline(never)]
    pub(super) fn drop_file(&mut self, now: Instant, index: u32, file: u32) {
        if let Some(back) = &mut self.write_back {
            let mark = back.pages.mark();
            self.write_older(now, Writer::Task(index), file, 0..u64::MAX, mark);
        }
        let is_mapped = self.tasks[index as usize].paging.is_mapped();
        self.pages.dropped_by(&mut self.hands[index as usize], file, is_mapped);
    }

    // ---- the flusher ---------------------------------------------------------------------

    /// Lets the flusher of a disk check for old data.
    pub(super) fn look_for_old(&mut self, now: Instant, disk: u32) {
        let Some(back) = &mut self.write_back else { return };
        let flusher = &mut back.flushers[disk as usize];
        flusher.will_look = back.pages.held_of(disk) > 0;
        if flusher.will_look {
            self.events.push(back.spec.next_look(now), Event::LookForOld(disk));
        }
        if !flusher.is_at_work && back.pages.waiting() <= back.thresholds.background {
            // Files that were due because there was too much dirty data must become old first.
            back.pages.none_due(disk);
        }
        if let Some(until) = back.spec.old(now) {
            back.pages.make_due(disk, until);
        }
        flusher.is_at_work = true;
        self.write_out(now, disk);
    }

    /// Has the flushers write what is dirty now, because memory is short.
    pub(super) fn wake_flushers(&mut self, now: Instant) {
        for disk in 0..self.disks.len() as u32 {
            let Some(back) = &mut self.write_back else { return };
            if back.pages.waiting_of(disk) > 0 {
                back.pages.make_due(disk, now);
                back.flushers[disk as usize].is_at_work = true;
                self.write_out(now, disk);
            }
        }
    }

    /// Lets the flusher of a disk write what is due, and more while too much is dirty. Once all
    /// tasks of the disk have ended it writes everything; in a stopped machine it writes nothing.
    pub(super) fn write_out(&mut self, now: Instant, disk: u32) {
        while let Some(back) = &mut self.write_back {
            let is_wanted = match self.disks[disk].left {
                0 => back.pages.waiting_of(disk) > 0,
                _ => back.pages.waiting() > back.thresholds.background,
            };
            let flusher = &mut back.flushers[disk as usize];
            let submitted_as = flusher.submitted_as.0 as usize;
            let is_asleep = self.disks[disk].backlogs[submitted_as].asleep > 0;
            if is_asleep || self.stopping || !is_wanted && !flusher.is_at_work {
                return;
            }
            if !back.pages.has_due(disk) {
                flusher.is_at_work = false;
                if is_wanted {
                    back.pages.make_due(disk, now);
                }
                if !back.pages.has_due(disk) {
                    return;
                }
            }
            self.visit(now, Writer::Flusher, disk, u64::MAX);
        }
    }

    /// Writes back up to `pages_max` pages of the disk's next due file. Returns how many were
    /// written.
    fn visit(&mut self, now: Instant, writer: Writer, disk: u32, pages_max: u64) -> u64 {
        let mut pages = 0;
        let visit = self.write_back.as_mut().and_then(|back| back.pages.visit(disk, pages_max));
        let Some(mut visit) = visit else { return 0 };
        while let Some(back) = &mut self.write_back
            && let Some(stretch) = back.pages.next_stretch(&mut visit)
        {
            pages += stretch.pages;
            self.write_stretch(now, writer, stretch);
        }
        if let Some(back) = &mut self.write_back {
            back.pages.leave(now, &visit);
        }
        pages
    }

    // ---- to the disk ---------------------------------------------------------------------

    pub(super) fn write_stretch(&mut self, now: Instant, writer: Writer, stretch: Stretch) {
        let Stretch { file, start, pages, owner } = stretch;
        let &File { disk, spec, .. } = &self.files[file as usize];
        let (submitter, bio) = self.back_bio(writer, disk, owner);
        if let Some(index) = submitter {
            self.tasks[index as usize].dirty_bytes += pages * PAGE_BYTES;
        }
        if writer == Writer::Flusher
            && let Some(back) = &mut self.write_back
        {
            back.flushers[disk as usize].submitted_as = bio.task;
        }
        let kind = IoKind::WriteBack { owner, submitter, file, start: start as u32 };
        let mut io = Io::new(kind, now, Op::Write);
        io.bytes = pages * PAGE_BYTES;
        let queue = &mut self.disks[disk];
        let (io, bio_bytes_max) = (queue.ios.insert(io), queue.bio_bytes_max);
        let mut at = start * PAGE_BYTES;
        let end = (at + pages * PAGE_BYTES).min(spec.bytes);
        while at < end {
            // The metadata that maps these pages was read when they were dirtied.
            let Mapped::At(lba, contiguous) = self.files[file as usize].map(at) else { continue };
            let bytes = contiguous.min(end - at).min(bio_bytes_max);
            let sectors = Sectors(bytes.div_ceil(SECTOR_BYTES) as u32);
            let (id, _) = self.disks[disk].ios.add_part(io);
            self.submit(now, disk, Bio { id, start: lba, sectors, ..bio });
            at += bytes;
        }
        if let Some(memory) = self.pages.memory() {
            (start..start + pages).for_each(|page| memory.write_begun(PageId::of_file(file, page)));
        }
        self.all_made(now, disk, io);
    }

    /// A bio that writes back data of `owner` to a disk, and the program that submits it, if it is
    /// one. With D5 the charge goes to the writer, whether that is the flusher or a program.
    fn back_bio(&self, writer: Writer, disk: u32, owner: u32) -> (Option<u32>, Bio) {
        let of = |index: u32| &self.tasks[index as usize];
        let with_d5 = self.config.async_of_submitter;
        let submitter = match writer {
            Writer::Syncing(by) => Some(by),
            Writer::Task(by) => with_d5.then_some(by),
            Writer::Flusher => None,
        };
        let (task, group, ioprio) = match submitter.map(of) {
            Some(task) => (task.numbers.on(disk), task.group, task.ioprio),
            None => {
                let group = if with_d5 { GroupId::ROOT } else { of(owner).group };
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

    /// Handles pages that have been written back.
    #[inline(never)]
    pub(super) fn written_back(&mut self, now: Instant, disk: u32, io: &Io) {
        let IoKind::WriteBack { submitter, file, start, .. } = io.kind else { return };
        let pages = u64::from(start)..u64::from(start) + io.bytes / PAGE_BYTES;
        let Some(back) = &mut self.write_back else { return };
        back.pages.written(file, pages.clone());
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
        self.write_out(now, disk);
    }
}

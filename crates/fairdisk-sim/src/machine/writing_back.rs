//! Write-back of dirty pages by the flusher, by throttled writers and by tasks that need their data
//! to be durable (spec: memory, sections 7.1 and 7.2).

use super::integrity::Mark;
use super::io::{Io, IoKind};
use super::task::{PAGE_BYTES, Step};
use super::{Event, Machine, MachineConfig};
use crate::host::{
    DirtyPages, Dirtying, Mapped, PageCache, Stretch, Thresholds, Throttle, WriteBackSpec,
};
use crate::workload::FileIo;
use fairdisk_core::{
    Bio, BioId, Elevator, GroupId, Instant, IoPrio, Lba, Op, SECTOR_BYTES, Sectors, Span, TaskId,
};

/// The dirty pages of a machine and the state of its flusher.
#[derive(Debug)]
pub(super) struct WriteBack {
    spec: WriteBackSpec,
    thresholds: Thresholds,
    dirtying: Dirtying,
    pub(super) pages: DirtyPages,
    /// Whether the flusher continues until what was due at its last check is written.
    is_at_work: bool,
    /// Whether the flusher's next check for old data is scheduled.
    will_look: bool,
    /// The task in whose name the flusher last submitted; it continues once that task does not wait
    /// for a slot.
    submitted_as: TaskId,
    /// Pages that tasks dirtied: the number of journal entries at that time, file and pages.
    #[cfg(test)]
    pub(super) made_dirty: Vec<(u64, u32, std::ops::Range<u64>)>,
}

impl WriteBack {
    pub(super) fn new(spec: WriteBackSpec, config: &MachineConfig, cache: &PageCache) -> Self {
        let memory = config.memory_pages;
        Self {
            spec,
            thresholds: Thresholds::new(&spec, memory),
            dirtying: Dirtying::new(config.cpu.cpus, memory),
            pages: DirtyPages::new((0..config.files.len()).map(|file| cache.of_file(file as u32))),
            is_at_work: false,
            will_look: false,
            submitted_as: TaskId((config.tasks.len() + config.volumes.len()) as u32),
            #[cfg(test)]
            made_dirty: Vec::new(),
        }
    }

    fn has_too_many(&self) -> bool {
        self.pages.held() > self.thresholds.throttle
    }

    /// Whether no page is dirty or being written back.
    pub(super) const fn is_clean(&self) -> bool {
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
    pub(super) fn dirty_pages(&mut self, now: Instant, index: u32, mut at: u64) -> bool {
        let task = &self.tasks[index as usize];
        let (FileIo { file, offset, bytes, .. }, is_mapped) = (task.current, task.is_mapped());
        while at < offset + bytes {
            match self.files[file as usize].map(at) {
                Mapped::NeedsBlock(lba) => {
                    self.task(index).step = Step::DirtyPages(at);
                    self.read_metadata(now, index, lba);
                    return false;
                }
                Mapped::At(_, contiguous) => at += contiguous,
            }
        }
        let pages = offset / PAGE_BYTES..(offset + bytes).div_ceil(PAGE_BYTES);
        let count = pages.end - pages.start;
        for page in pages.clone() {
            self.pages.written(file, page..page + 1);
            self.pages.hold(file, page);
        }
        let Some(back) = &mut self.write_back else { return false };
        #[cfg(test)]
        back.made_dirty.push((self.engine.journal().len(), file, pages.clone()));
        let dirtied = back.pages.dirtied(now, file, pages, index);
        if !back.will_look {
            back.will_look = true;
            self.events.push(back.spec.next_look(now), Event::LookForOld);
        }
        let task = &mut self.tasks[index as usize];
        task.throttle = back.dirtying.count(task.cpu, dirtied).map(Throttle::new);
        task.step = Step::Balance;
        if !is_mapped {
            let burst = Span::from_ns(self.cpus.spec().page_copy.as_ns() * count);
            self.run_later(now, index, burst);
        }
        is_mapped
    }

    /// Throttles a task that has dirtied pages: while there are too many, it writes some back, of
    /// any file, or sleeps if there are none to write.
    pub(super) fn balance(&mut self, now: Instant, index: u32) -> bool {
        let Some(mut throttle) = self.task(index).throttle else {
            return self.pages_used(now, index);
        };
        while let Some(back) = &mut self.write_back {
            back.dirtying.is_exceeded = back.has_too_many();
            if !back.dirtying.is_exceeded || throttle.left == 0 || self.stopping {
                break;
            }
            if self.backlogs[index as usize].asleep > 0 {
                self.hold_up(index, throttle);
                self.task(index).step = Step::AwaitSlots;
                return false;
            }
            if !back.pages.has_due() {
                back.pages.make_due(now);
            }
            if back.pages.has_due() {
                let written = self.visit(now, Writer::Task(index), throttle.left);
                throttle.left = throttle.left.saturating_sub(written);
            } else {
                let until = throttle.sleep(now, self.config.engine.ticks);
                self.events.push(until, Event::Run(index));
                self.hold_up(index, throttle);
                return false;
            }
        }
        self.task(index).throttle = None;
        self.write_out(now);
        self.pages_used(now, index)
    }

    fn hold_up(&mut self, index: u32, throttle: Throttle) {
        let task = self.task(index);
        task.throttle = Some(throttle);
        task.paging.slept = true;
    }

    /// Resumes a throttled task that has got a request slot, if it waits for no other slot.
    pub(super) fn resume_with_slot(&mut self, now: Instant, index: u32) {
        let is_asleep = self.backlogs[index as usize].asleep > 0;
        let task = self.task(index);
        if task.step == Step::AwaitSlots && !is_asleep {
            task.step = Step::Balance;
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

    /// Sends the dirty data of a file to the disk before the task drops the file from memory. The
    /// task does not wait; pages that are not written yet stay in memory.
    pub(super) fn send_dirty(&mut self, now: Instant, index: u32, file: u32) {
        let Some(back) = &mut self.write_back else { return };
        let mark = back.pages.mark();
        self.write_older(now, Writer::Task(index), file, 0..u64::MAX, mark);
    }

    // ---- the flusher ---------------------------------------------------------------------

    /// Lets the flusher check for old data.
    pub(super) fn look_for_old(&mut self, now: Instant) {
        let Some(back) = &mut self.write_back else { return };
        back.will_look = back.pages.held() > 0;
        if back.will_look {
            self.events.push(back.spec.next_look(now), Event::LookForOld);
        }
        if !back.is_at_work && back.pages.waiting() <= back.thresholds.background {
            // Files that were due because there was too much dirty data must become old first.
            back.pages.none_due();
        }
        if let Some(until) = back.spec.old(now) {
            back.pages.make_due(until);
        }
        back.is_at_work = true;
        self.write_out(now);
    }

    /// Lets the flusher write what is due, and more while too much is dirty. Once all tasks have
    /// ended it writes everything; in a stopped machine it writes nothing.
    pub(super) fn write_out(&mut self, now: Instant) {
        while let Some(back) = &mut self.write_back {
            let kept = if self.left == 0 { 0 } else { back.thresholds.background };
            let is_wanted = back.pages.waiting() > kept;
            let is_asleep = self.backlogs[back.submitted_as.0 as usize].asleep > 0;
            if is_asleep || self.stopping || !is_wanted && !back.is_at_work {
                return;
            }
            if !back.pages.has_due() {
                back.is_at_work = false;
                if is_wanted {
                    back.pages.make_due(now);
                }
                if !back.pages.has_due() {
                    return;
                }
            }
            self.visit(now, Writer::Flusher, u64::MAX);
        }
    }

    /// Writes back up to `pages_max` pages of the next due file. Returns how many were written.
    fn visit(&mut self, now: Instant, writer: Writer, pages_max: u64) -> u64 {
        let mut pages = 0;
        let visit = self.write_back.as_mut().and_then(|back| back.pages.visit(pages_max));
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
        let bio = self.back_bio(writer, owner);
        let submitter = self.tasks.get_mut(bio.task.0 as usize).map(|task| {
            task.dirty_bytes += pages * PAGE_BYTES;
            bio.task.0
        });
        if writer == Writer::Flusher
            && let Some(back) = &mut self.write_back
        {
            back.submitted_as = bio.task;
        }
        let kind = IoKind::WriteBack { owner, submitter, file, start: start as u32 };
        let mut io = Io::new(kind, now, Op::Write);
        io.bytes = pages * PAGE_BYTES;
        let io = self.ios.insert(io);
        let file = file as usize;
        let mut at = start * PAGE_BYTES;
        let end = (at + pages * PAGE_BYTES).min(self.files[file].spec.bytes);
        while at < end {
            // The metadata that maps these pages was read when they were dirtied.
            let Mapped::At(lba, contiguous) = self.files[file].map(at) else { continue };
            let bytes = contiguous.min(end - at).min(self.bio_bytes_max());
            let sectors = Sectors(bytes.div_ceil(SECTOR_BYTES) as u32);
            let bio = Bio { id: self.ios.add_part(io), start: lba, sectors, ..bio };
            self.submit(now, bio);
            at += bytes;
        }
        self.all_made(now, io);
    }

    /// A bio that writes back data of `owner`, with the task that submits it and the group that is
    /// charged. With D5 the charge goes to the writer, whether that is the flusher or a task.
    fn back_bio(&self, writer: Writer, owner: u32) -> Bio {
        let of = |index: u32| &self.tasks[index as usize];
        let with_d5 = self.config.async_of_submitter;
        let (task, group, ioprio) = match writer {
            Writer::Syncing(by) => (TaskId(by), of(by).group, of(by).ioprio),
            Writer::Task(by) if with_d5 => (TaskId(by), of(by).group, of(by).ioprio),
            Writer::Flusher | Writer::Task(_) => {
                let group = if with_d5 { GroupId::ROOT } else { of(owner).group };
                (TaskId(self.flusher().0 + group.0), group, IoPrio::UNSET)
            }
        };
        let mark = match writer {
            Writer::Syncing(_) => self.config.integrity_writes.data(),
            Writer::Flusher | Writer::Task(_) => Mark::ASYNC,
        };
        Bio {
            id: BioId(0),
            task,
            group,
            op: Op::Write,
            start: Lba(0),
            sectors: Sectors(0),
            sync: mark.sync,
            flags: mark.flags,
            ioprio,
        }
    }

    /// Handles pages that have been written back.
    #[inline(never)]
    pub(super) fn written_back(&mut self, now: Instant, io: &Io) {
        let IoKind::WriteBack { submitter, file, start, .. } = io.kind else { return };
        let pages = u64::from(start)..u64::from(start) + io.bytes / PAGE_BYTES;
        let Some(back) = &mut self.write_back else { return };
        back.pages.written(file, pages.clone());
        let free = pages.clone().filter(|page| !back.pages.holds(file, *page));
        free.for_each(|page| self.pages.release(file, page));
        self.wake_waiters(now, file, pages);
        if let Some(index) = submitter {
            self.task(index).dirty_bytes -= io.bytes;
            self.forget(now, index);
        }
        self.write_out(now);
    }
}

//! Tasks that need memory: they take it, have it reclaimed, reclaim it themselves, and wait (spec:
//! memory, 2.2, 2.4 and 2.5).

use super::Machine;
use super::config::PAGE_SECTORS;
use super::disk::Disk;
use super::reclaiming::{Sleeper, Wakes};
use super::stalls::StallStep;
use super::task::Step;
use crate::host::memory::{
    Arrival, Direct, DirectStep, Mark, PageId, Pass, Reclaimer, Taker, Want, WithoutPage,
};
use crate::host::{File, Mapped, Metadata, Pointer, Presence};
use fairdisk_core::{Elevator, Instant, Span};

/// The longest wait for congestion of a task that got no page (HZ/50), and of whoever reclaims
/// (HZ/10).
pub(super) const NO_PAGE_NAP: Span = Span::from_ms(20);
pub(super) const RECLAIM_NAP: Span = Span::from_ms(100);

/// Pages that a task takes at once at most, so that no window and no write is too large for the
/// memory.
pub(super) const TAKEN_MAX: u64 = 512;

/// How far a task is.
#[derive(Debug)]
enum Stage {
    /// It looks for pages.
    Look,
    /// It reclaims.
    Reclaim(Direct),
    /// It works on a chunk of pages.
    Chunk(Direct, Pass),
}

/// What a task wants that allocates.
#[derive(Debug)]
pub(super) struct Allocation {
    /// Pages it must have in hand.
    pages: u32,
    stage: Stage,
    /// Whether it has drained the CPUs' lists since it reclaimed last.
    has_drained: bool,
    /// When it began to reclaim, if it did.
    stalled_since: Option<Instant>,
    /// What it goes on with.
    then: Step,
}

impl<E: Elevator> Machine<E> {
    /// Whether the task has frames in hand for so many pages. Memory that is an amount is always
    /// there.
    pub(super) fn has_frames(&self, index: u32, pages: u64) -> bool {
        self.reclaiming.is_none() || u64::from(self.hands[index as usize].1.pages()) >= pages
    }

    /// Has the task take frames until it has so many in hand. Then it goes on with its present
    /// step.
    pub(super) fn begin_allocation(&mut self, index: u32, pages: u64) {
        let then = std::mem::replace(&mut self.task(index).step, Step::Allocate);
        let Some(reclaiming) = &mut self.reclaiming else { return };
        reclaiming.allocations[index as usize] = Some(Allocation {
            pages: pages as u32,
            stage: Stage::Look,
            has_drained: false,
            stalled_since: None,
            then,
        });
    }

    /// Where the byte of a file is; `None` if the task must take a frame first, for the metadata
    /// that says so.
    #[inline(always)]
    pub(super) fn map(&mut self, index: u32, file: u32, at: u64) -> Option<Mapped> {
        match self.pages.memory() {
            None => Some(self.files[file as usize].map(at)),
            Some(_) => self.map_by_pages(index, file, at),
        }
    }

    /// Where memory is page by page, the metadata is in the page cache, and may have left it.
    #[inline(never)]
    fn map_by_pages(&mut self, index: u32, file: u32, at: u64) -> Option<Mapped> {
        let memory = self.pages.memory()?;
        let of = &mut self.files[file as usize];
        let hand = &mut self.hands[index as usize].1;
        for pointer in of.pointers(at) {
            let id = page_of(of, pointer);
            if of.metadata(pointer) == Metadata::Cached && memory.presence(id) != Presence::Absent {
                memory.used(id);
                continue;
            }
            if hand.pages() == 0 {
                return None;
            }
            memory.insert(hand, id, Arrival::Written);
            let is_known = of.metadata(pointer) == Metadata::Known;
            of.set_metadata(pointer, Metadata::Cached);
            if !is_known {
                return Some(Mapped::NeedsBlock(of.place(pointer)));
            }
        }
        Some(of.map(at))
    }

    /// Drops the metadata of a file from memory, so that it must be read again.
    pub(super) fn drop_metadata(&mut self, now: Instant, index: u32, file: u32) {
        let cpu = self.hands[index as usize].1.cpu;
        let of = &mut self.files[file as usize];
        for pointer in of.all_pointers() {
            of.set_metadata(pointer, Metadata::Unread);
            if let Some(memory) = self.pages.memory() {
                memory.drop_page(now, cpu, page_of(of, pointer));
            }
        }
    }

    /// Frees the frames that the task has in hand and did not need.
    pub(super) fn give_frames_back(&mut self, now: Instant, index: u32) {
        if let Some(memory) = self.pages.memory() {
            memory.give_back(now, &mut self.hands[index as usize].1);
        }
    }

    /// Notes when and where a task runs, for what it takes and frees.
    #[inline(never)]
    pub(super) fn note_taker(&mut self, now: Instant, index: u32) {
        let cpu = self.tasks[index as usize].cpu % self.cpus.spec().cpus.max(1);
        let hand = &mut self.hands[index as usize];
        (hand.0, hand.1.cpu) = (now, cpu);
    }

    /// Goes on with a task that allocates. Returns whether it runs on at once.
    pub(super) fn allocate(&mut self, now: Instant, index: u32) -> bool {
        let cpu = self.hands[index as usize].1.cpu;
        let allocation =
            self.reclaiming.as_mut().and_then(|it| it.allocations[index as usize].take());
        let Some(mut allocation) = allocation else { return false };
        loop {
            let goes_on = match std::mem::replace(&mut allocation.stage, Stage::Look) {
                Stage::Look => self.look_for_pages(now, index, &mut allocation),
                Stage::Reclaim(direct) => self.reclaim(now, index, &mut allocation, direct),
                Stage::Chunk(direct, mut pass) => {
                    let may_write = direct.may_write();
                    self.evict(now, cpu, &mut pass, Sleeper::Task(index), may_write);
                    self.next_chunk(now, index, &mut allocation, (direct, pass))
                }
            };
            match goes_on {
                Progress::Again => {}
                Progress::Waits => {
                    let Some(reclaiming) = &mut self.reclaiming else { return false };
                    reclaiming.allocations[index as usize] = Some(allocation);
                    return false;
                }
                Progress::Done => return self.allocated(now, index, &allocation),
            }
        }
    }

    /// Looks for pages with both marks, and wakes kswapd if there are not enough.
    fn look_for_pages(&mut self, now: Instant, index: u32, it: &mut Allocation) -> Progress {
        if self.take_frames(now, index, it.pages, Mark::Low) {
            return Progress::Done;
        }
        self.wake_kswapd(now);
        if self.take_frames(now, index, it.pages, Mark::Min) {
            return Progress::Done;
        }
        let Some(memory) = self.pages.memory() else { return Progress::Done };
        it.stage = Stage::Reclaim(Direct::new(memory));
        if it.stalled_since.is_none() {
            it.stalled_since = Some(now);
            let stalls = self.reclaiming.as_mut().and_then(|it| it.stalls.as_mut());
            if let Some(stalls) = stalls {
                stalls.began(now, index, memory.vmstat());
            }
        }
        Progress::Again
    }

    /// Takes frames until the task has so many in hand. Returns whether it has.
    fn take_frames(&mut self, now: Instant, index: u32, pages: u32, mark: Mark) -> bool {
        let Some(memory) = self.pages.memory() else { return true };
        let taker: &mut Taker = &mut self.hands[index as usize].1;
        let want =
            Want { pages: pages.saturating_sub(taker.pages()), cold: true, ..Want::default() };
        memory.take(now, taker, want, mark) == want.pages
    }

    fn reclaim(
        &mut self,
        now: Instant,
        index: u32,
        it: &mut Allocation,
        mut direct: Direct,
    ) -> Progress {
        let Some(memory) = self.pages.memory() else { return Progress::Done };
        match direct.next(memory) {
            DirectStep::Pass(priority) => {
                let pass = memory.pass(Reclaimer::Direct, priority);
                self.next_chunk(now, index, it, (direct, pass))
            }
            DirectStep::WakeFlushers => {
                it.stage = Stage::Reclaim(direct);
                self.tell_stall(now, index, StallStep::WokeFlushers);
                self.wake_flushers(now);
                Progress::Again
            }
            DirectStep::AwaitOthers | DirectStep::Nap => {
                it.stage = Stage::Reclaim(direct);
                self.nap(now, Sleeper::Task(index), RECLAIM_NAP, Wakes::Completion);
                Progress::Waits
            }
            DirectStep::AwaitProgress => {
                it.stage = Stage::Reclaim(direct);
                self.nap(now, Sleeper::Task(index), RECLAIM_NAP, Wakes::Progress);
                Progress::Waits
            }
            DirectStep::Done(freed) => self.reclaimed(now, index, it, freed),
        }
    }

    /// Has the task work on the next chunk of a pass, or ends the pass.
    fn next_chunk(
        &mut self,
        now: Instant,
        index: u32,
        it: &mut Allocation,
        (mut direct, mut pass): (Direct, Pass),
    ) -> Progress {
        let cpu = self.hands[index as usize].1.cpu;
        let Some(memory) = self.pages.memory() else { return Progress::Done };
        let pages = memory.isolate(cpu, &mut pass);
        if pages == 0 {
            direct.passed(&pass);
            it.stage = Stage::Reclaim(direct);
            self.tell_pass(now, index, &pass);
            return Progress::Again;
        }
        it.stage = Stage::Chunk(direct, pass);
        let burst = self.reclaiming.as_ref().map_or(Span::ZERO, |it| it.scan(pages));
        self.run_later(now, index, burst);
        Progress::Waits
    }

    /// Keeps that a task has passed over the lists, if it found anything there.
    fn tell_pass(&mut self, now: Instant, index: u32, pass: &Pass) {
        let (priority, scanned, freed) = (pass.priority(), pass.scanned(), pass.freed());
        if scanned > 0 {
            self.tell_stall(now, index, StallStep::Passed { priority, scanned, freed });
        }
    }

    /// Looks once more after a reclaim. The pages that it put on the list of its own CPU do not
    /// count. A kernel takes page by page: who gets one looks for the next from the start.
    fn reclaimed(&mut self, now: Instant, index: u32, it: &mut Allocation, freed: u32) -> Progress {
        let in_hand = self.hands[index as usize].1.pages();
        if freed > 0 && self.take_frames(now, index, it.pages, Mark::Min) {
            return Progress::Done;
        }
        if self.hands[index as usize].1.pages() > in_hand {
            it.has_drained = false;
            return Progress::Again;
        }
        let is_congested = self.disks.iter().any(Disk::is_write_congested);
        let Some(memory) = self.pages.memory() else { return Progress::Done };
        let without = match freed {
            // The kernel would look for a program to end. Here whoever has a part of what it needs
            // leaves it to others.
            0 => {
                memory.give_back(now, &mut self.hands[index as usize].1);
                memory.without_progress()
            }
            _ => memory.without_page(it.has_drained, is_congested),
        };
        if without == WithoutPage::Drain {
            it.has_drained = true;
            memory.drain(now);
            self.tell_stall(now, index, StallStep::Drained);
            return self.reclaimed(now, index, it, freed);
        }
        if freed > 0 {
            memory.count_without_page();
        }
        it.has_drained = false;
        it.stage = Stage::Reclaim(Direct::new(memory));
        let came_to = if freed > 0 { StallStep::NoPage } else { StallStep::NoProgress };
        self.tell_stall(now, index, came_to);
        match without {
            WithoutPage::Nap => {
                self.nap(now, Sleeper::Task(index), NO_PAGE_NAP, Wakes::Completion);
                Progress::Waits
            }
            WithoutPage::AwaitProgress => {
                self.nap(now, Sleeper::Task(index), RECLAIM_NAP, Wakes::Progress);
                Progress::Waits
            }
            WithoutPage::AwaitLow => {
                self.nap(now, Sleeper::Task(index), NO_PAGE_NAP, Wakes::AboveLow);
                Progress::Waits
            }
            WithoutPage::Reclaim | WithoutPage::Drain => Progress::Again,
        }
    }

    /// Goes on with what the task needed the pages for, after the CPU time to take and insert them.
    fn allocated(&mut self, now: Instant, index: u32, it: &Allocation) -> bool {
        let pages = self.hands[index as usize].1.pages();
        if let Some(since) = it.stalled_since {
            self.tell(index, |report| report.count_memory_wait(since, now));
        }
        let Some(reclaiming) = &mut self.reclaiming else { return true };
        let burst = reclaiming.take(pages);
        let task = &mut self.tasks[index as usize];
        if it.stalled_since.is_some()
            && let (Some(stalls), Some(memory)) = (&mut reclaiming.stalls, self.pages.frames())
        {
            stalls.ended(now, index, memory.vmstat());
        }
        task.step = it.then;
        self.run_later(now, index, burst);
        false
    }
}

/// The page that a metadata block of a file is in.
const fn page_of(file: &File, at: Pointer) -> PageId {
    PageId::of_metadata(file.spec.volume, file.place(at).0 / PAGE_SECTORS.0 as u64)
}

/// What comes of a step of an allocation.
enum Progress {
    Again,
    Waits,
    Done,
}

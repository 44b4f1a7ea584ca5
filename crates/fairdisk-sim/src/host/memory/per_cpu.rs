//! Free pages that each CPU keeps for itself (spec: memory, 1.1, 1.4, 1.5).
//!
//! Requests for single pages are served from these lists: hot ones, whose pages the CPU is about to
//! use, from the head, cold ones from the tail. An empty list fetches a batch from the free blocks,
//! and a full one returns a batch from its tail. In which order pages get there differs between
//! kernels, and decides the order of frames that a reader gets.

use super::buddy::Buddies;
use super::frames::{End, Frames, List, PageType, Place};
use super::kernel::Kernel;
use super::sizes::CpuListSize;

/// What single pages are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Want {
    /// How many.
    pub pages: u32,
    /// Whether the CPU will not use them itself for now, as with pages that are read.
    pub cold: bool,
    /// What they are for.
    pub page_type: PageType,
}

/// Lists of a CPU.
const LISTS: usize = 3;

/// What the lists of a CPU are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// One for hot and one for cold pages.
    HotAndCold,
    /// One for all.
    One,
    /// One for each type.
    PerType,
}

#[derive(Debug)]
pub(super) struct PerCpu {
    cpus: Vec<[List; LISTS]>,
    layout: Layout,
    /// Whether pages fetched for a cold request are turned.
    cold_ascending: bool,
    size: CpuListSize,
    /// The size of the list of cold pages, if there is one.
    cold_size: CpuListSize,
    /// Pages on all lists.
    pages: u64,
}

impl PerCpu {
    /// A fraction of memory that a user has set changes the lists of hot pages only (the kernel's
    /// documentation of `percpu_pagelist_fraction`).
    pub(super) fn new(cpus: u32, kernel: &Kernel, present: u64, fraction: Option<u64>) -> Self {
        let layout = match (kernel.one_cpu_list, kernel.list_per_type) {
            (false, _) => Layout::HotAndCold,
            (true, false) => Layout::One,
            (true, true) => Layout::PerType,
        };
        Self {
            cpus: vec![[List::EMPTY; LISTS]; cpus as usize],
            layout,
            cold_ascending: kernel.cold_ascending,
            size: CpuListSize::new(present, fraction),
            cold_size: CpuListSize::new(present, None).cold(),
            pages: 0,
        }
    }

    /// Pages on the lists of all CPUs.
    pub(super) const fn pages(&self) -> u64 {
        self.pages
    }

    /// Pages on the lists of a CPU.
    pub(super) fn of_cpu(&self, cpu: u32) -> u32 {
        self.cpus[cpu as usize].iter().map(List::len).sum()
    }

    pub(super) fn cpus(&self) -> u32 {
        self.cpus.len() as u32
    }

    // ---- taking --------------------------------------------------------------------------

    /// Takes a page that is wanted like this from the lists of a CPU.
    pub(super) fn pop(&mut self, frames: &mut Frames, cpu: u32, want: &Want) -> Option<u32> {
        let which = self.which(want.cold, want.page_type);
        let list = &mut self.cpus[cpu as usize][which];
        let end =
            if want.cold && self.layout != Layout::HotAndCold { End::Tail } else { End::Head };
        let at = if self.layout == Layout::One {
            let of_type = |at: &u32| frames[*at].order_or_type == want.page_type as u8;
            let at = frames.iter(*list, end).find(of_type)?;
            frames.remove(list, at);
            at
        } else {
            frames.pop(list, end)?
        };
        self.pages -= 1;
        Some(at)
    }

    /// Fetches a batch for a CPU that has no page which is wanted like this, and takes one. Returns
    /// it, and how many were fetched.
    pub(super) fn fetch(
        &mut self,
        frames: &mut Frames,
        buddies: &mut Buddies,
        cpu: u32,
        want: &Want,
    ) -> Option<(u32, u32)> {
        let which = self.which(want.cold, want.page_type);
        let batch = self.size_of(which).batch;
        let list = &mut self.cpus[cpu as usize][which];
        let had_others = !list.is_empty();
        let turned = want.cold && self.cold_ascending && self.layout != Layout::HotAndCold;
        // Of pages that are not turned, the first is nearest the head; of others nearest the tail.
        let (end, back) = if turned { (End::Tail, End::Head) } else { (End::Head, End::Tail) };
        let mut fetched = List::EMPTY;
        while fetched.len() < batch
            && let Some(at) = buddies.take(frames, 0)
        {
            let frame = &mut frames[at];
            (frame.place, frame.order_or_type) = (Place::OnCpu, want.page_type as u8);
            frames.push(&mut fetched, back, at);
        }
        let count = fetched.len();
        frames.splice(list, end, fetched);
        self.pages += u64::from(count);
        if count == 0 {
            return None;
        }
        if self.layout == Layout::One && turned && had_others {
            // The page at the head is taken, which may be of another type (spec 1.4).
            let list = &mut self.cpus[cpu as usize][which];
            self.pages -= 1;
            return frames.pop(list, End::Head).map(|at| (at, count));
        }
        self.pop(frames, cpu, want).map(|at| (at, count))
    }

    // ---- returning -----------------------------------------------------------------------

    /// Puts a page on a list of a CPU. Returns how many pages that CPU has returned to free blocks
    /// because the list is full.
    pub(super) fn put(
        &mut self,
        frames: &mut Frames,
        buddies: &mut Buddies,
        cpu: u32,
        at: u32,
        cold: bool,
    ) -> u32 {
        let frame = &mut frames[at];
        frame.place = Place::OnCpu;
        let which = match self.layout {
            Layout::PerType => usize::from(frame.order_or_type),
            Layout::HotAndCold => usize::from(cold),
            Layout::One => 0,
        };
        let end = if cold && self.layout != Layout::HotAndCold { End::Tail } else { End::Head };
        frames.push(&mut self.cpus[cpu as usize][which], end, at);
        self.pages += 1;
        let CpuListSize { batch, high } = self.size_of(which);
        let count = match self.layout {
            Layout::HotAndCold => self.cpus[cpu as usize][which].len(),
            Layout::One | Layout::PerType => self.of_cpu(cpu),
        };
        if count < high {
            return 0;
        }
        match self.layout {
            Layout::PerType => self.give_of_types(frames, buddies, cpu, batch),
            Layout::HotAndCold | Layout::One => self.give(frames, buddies, cpu, which, batch),
        }
    }

    /// Returns all pages of a CPU to free blocks. Returns how many there were.
    pub(super) fn drain(&mut self, frames: &mut Frames, buddies: &mut Buddies, cpu: u32) -> u32 {
        (0..LISTS).map(|which| self.give(frames, buddies, cpu, which, u32::MAX)).sum()
    }

    /// Returns up to `pages_max` pages from the tail of a list. Returns how many.
    fn give(
        &mut self,
        frames: &mut Frames,
        buddies: &mut Buddies,
        cpu: u32,
        which: usize,
        pages_max: u32,
    ) -> u32 {
        let list = &mut self.cpus[cpu as usize][which];
        let mut count = 0;
        while count < pages_max
            && let Some(at) = frames.pop(list, End::Tail)
        {
            frames[at].place = Place::InBlock;
            buddies.give(frames, at, 0);
            count += 1;
        }
        self.pages -= u64::from(count);
        count
    }

    /// Returns `pages` pages, in turn from the lists of all types. For each list that is empty, one
    /// page more is taken from the next.
    fn give_of_types(
        &mut self,
        frames: &mut Frames,
        buddies: &mut Buddies,
        cpu: u32,
        pages: u32,
    ) -> u32 {
        let (mut which, mut turn, mut count) = (0, 1, 0);
        let wanted = pages.min(self.of_cpu(cpu));
        while count < wanted {
            if self.cpus[cpu as usize][which].is_empty() {
                turn += 1;
            } else {
                count += self.give(frames, buddies, cpu, which, turn.min(wanted - count));
                turn = 1;
            }
            which = (which + 1) % LISTS;
        }
        count
    }

    const fn which(&self, cold: bool, page_type: PageType) -> usize {
        match self.layout {
            Layout::HotAndCold => cold as usize,
            Layout::One => 0,
            Layout::PerType => page_type as usize,
        }
    }

    const fn size_of(&self, which: usize) -> CpuListSize {
        match (self.layout, which) {
            (Layout::HotAndCold, 1) => self.cold_size,
            _ => self.size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLD: Want = Want { pages: 1, cold: true, page_type: PageType::Movable };
    const HOT: Want = Want { cold: false, ..COLD };
    const FIXED: Want = Want { page_type: PageType::Unmovable, ..COLD };

    /// A CPU with lists of the size that 256 MiB have, and one free block of 1024 frames.
    struct Cpu {
        frames: Frames,
        buddies: Buddies,
        lists: PerCpu,
    }

    impl Cpu {
        fn new(release: &str) -> Self {
            let mut frames = Frames::new(1024);
            let buddies = Buddies::new(&mut frames, false);
            let kernel = Kernel::of_release(release).expect("it is listed");
            Self { frames, buddies, lists: PerCpu::new(1, &kernel, 64_640, None) }
        }

        fn take(&mut self, want: Want) -> u32 {
            let Self { frames, buddies, lists } = self;
            let popped = lists.pop(frames, 0, &want);
            let at = popped.or_else(|| Some(lists.fetch(frames, buddies, 0, &want)?.0));
            let at = at.expect("there are free frames");
            frames[at].place = Place::InHand;
            at
        }

        fn take_many(&mut self, want: Want, pages: u32) -> Vec<u32> {
            (0..pages).map(|_| self.take(want)).collect()
        }

        fn put(&mut self, at: u32, cold: bool) -> u32 {
            self.lists.put(&mut self.frames, &mut self.buddies, 0, at, cold)
        }
    }

    #[test]
    fn cold_requests_get_ascending_frames_with_the_order_turned_back() {
        for release in ["2.6.31", "2.6.32", "2.6.37"] {
            assert!(Cpu::new(release).take_many(COLD, 1024).into_iter().eq(0..1024), "{release}");
        }
    }

    #[test]
    fn cold_requests_get_descending_frames_in_each_batch_before() {
        let batches = (0..45).flat_map(|batch| (batch * 15..(batch + 1) * 15).rev());
        for release in ["2.6.25", "2.6.30"] {
            assert!(Cpu::new(release).take_many(COLD, 675).into_iter().eq(batches.clone()));
        }
    }

    #[test]
    fn hot_requests_get_ascending_frames_in_every_kernel() {
        for release in super::super::kernel::RELEASES {
            assert!(Cpu::new(release).take_many(HOT, 600).into_iter().eq(0..600), "{release}");
        }
    }

    #[test]
    fn hot_and_cold_lists_are_filled_apart() {
        let mut cpu = Cpu::new("2.6.24");
        assert_eq!(cpu.take(HOT), 0);
        assert_eq!(cpu.take(COLD), 15, "of a batch of its own");
        assert_eq!((cpu.take(HOT), cpu.take(COLD)), (1, 16));
        assert_eq!(cpu.lists.of_cpu(0), 13 + 5, "the batch of the cold list is half as large");
    }

    #[test]
    fn a_list_fetches_a_batch_at_a_time_and_returns_one_when_it_is_full() {
        let mut cpu = Cpu::new("2.6.32");
        let taken = cpu.take_many(COLD, 90);
        assert_eq!((cpu.lists.of_cpu(0), cpu.buddies.frames()), (0, 1024 - 90));
        let returned: Vec<u32> = taken.iter().map(|at| cpu.put(*at, true)).collect();
        assert!(returned[..89].iter().all(|pages| *pages == 0));
        assert_eq!(returned[89], 15, "at 90");
        assert_eq!((cpu.lists.of_cpu(0), cpu.buddies.frames()), (75, 1024 - 75));
        // Those freed last, at the cold end, went back.
        assert_eq!(cpu.take(COLD), 74);
        assert_eq!(cpu.take(HOT), 0);
    }

    #[test]
    fn a_hot_page_goes_to_the_head_and_a_cold_one_to_the_tail() {
        let mut cpu = Cpu::new("2.6.30");
        let taken = cpu.take_many(HOT, 15);
        cpu.put(taken[3], false);
        cpu.put(taken[5], true);
        cpu.put(taken[7], false);
        assert_eq!([cpu.take(COLD), cpu.take(HOT), cpu.take(HOT)], [5, 7, 3]);
    }

    #[test]
    fn pages_of_one_type_do_for_no_other() {
        for release in ["2.6.30", "2.6.32"] {
            let mut cpu = Cpu::new(release);
            let hot_fixed = Want { cold: false, ..FIXED };
            assert_eq!((cpu.take(HOT), cpu.take(hot_fixed)), (0, 15), "{release}");
            assert_eq!((cpu.take(HOT), cpu.take(hot_fixed)), (1, 16), "{release}");
        }
    }

    #[test]
    fn a_mixed_list_that_turns_the_order_may_give_one_page_of_another_type() {
        let mut cpu = Cpu::new("2.6.31");
        assert_eq!(cpu.take(COLD), 0);
        assert_eq!(cpu.take(FIXED), 14, "the other end of the movable ones");
        assert_eq!(cpu.take(FIXED), 15);
        let mut cpu = Cpu::new("2.6.32");
        assert_eq!((cpu.take(COLD), cpu.take(FIXED)), (0, 15));
    }

    #[test]
    fn a_batch_is_returned_from_the_lists_of_all_types_in_turn() {
        let mut cpu = Cpu::new("2.6.32");
        let fixed = cpu.take_many(FIXED, 15);
        let movable = cpu.take_many(COLD, 75);
        fixed.iter().for_each(|at| assert_eq!(cpu.put(*at, true), 0));
        let returned: u32 = movable.iter().map(|at| cpu.put(*at, true)).sum();
        assert_eq!(returned, 15);
        let left = |which: usize| cpu.lists.cpus[0][which].len();
        // One unmovable page, then two movable ones, as there are no reclaimable ones.
        assert_eq!([left(0), left(1), left(2)], [10, 0, 65]);
    }

    #[test]
    fn a_drained_cpu_has_no_pages() {
        let mut cpu = Cpu::new("2.6.32");
        cpu.take_many(COLD, 1);
        assert_eq!(cpu.lists.drain(&mut cpu.frames, &mut cpu.buddies, 0), 14);
        assert_eq!((cpu.lists.pages(), cpu.buddies.frames()), (0, 1023));
    }
}

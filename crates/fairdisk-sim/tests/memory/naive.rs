//! Memory in the slow and simple way: deques and searches instead of links, flags and an index.

mod reclaim;

use fairdisk_core::{Instant, Span};
use fairdisk_sim::host::memory::{
    Arrival, CpuListSize, Kernel, Mark, MemorySpec, PageId, PageType, Want, Watermarks, drift_max,
    present_pages,
};
pub(crate) use reclaim::NaivePass;
use std::collections::{BTreeMap, VecDeque};

/// What is known of a page in the page cache, by its frame.
#[derive(Clone, Debug, Default)]
struct Page {
    id: PageId,
    coming: bool,
    referenced: bool,
    mapped: bool,
    dirty: bool,
    writing: bool,
    to_be_evicted: bool,
}

#[derive(Debug)]
pub(crate) struct Naive {
    spec: MemorySpec,
    batch: [usize; 2],
    high: [usize; 2],
    marks: Watermarks,
    frames: u32,
    /// Free blocks of each order; the head is first.
    blocks: Vec<VecDeque<u32>>,
    /// Pages and their types; the head is first. With a list for each type, by type; with a list
    /// for hot and one for cold pages, in this order; else only the first is used.
    lists: Vec<[VecDeque<u32>; 3]>,
    types: Vec<PageType>,
    kept_max: i64,
    kept: Vec<i64>,
    counted: i64,
    on_the_way: Vec<(Instant, usize, i64)>,
    pages: BTreeMap<u32, Page>,
    buffers: Vec<Vec<u32>>,
    inactive: VecDeque<u32>,
    active: VecDeque<u32>,
    saved: [u64; 3],
    /// What was evicted and when, the last first, and by what that is measured.
    shadows: VecDeque<(PageId, u32)>,
    clock: u32,
    is_refaulting: bool,
    pub(crate) dirty_found: Vec<PageId>,
}

impl Naive {
    /// Fresh memory, with lists of these sizes for hot pages, or all, and for cold ones.
    pub(crate) fn new(spec: MemorySpec, sizes: [CpuListSize; 2]) -> Self {
        let present = present_pages(spec.mib);
        let cpus = spec.cpus as usize;
        let mut this = Self {
            spec,
            batch: sizes.map(|size| size.batch as usize),
            high: sizes.map(|size| size.high as usize),
            marks: Watermarks::new(present, spec.min_free_kib),
            frames: present as u32,
            blocks: vec![VecDeque::new(); 11],
            lists: vec![Default::default(); cpus],
            types: vec![PageType::Movable; present as usize],
            kept_max: i64::from(drift_max(present, spec.cpus)),
            kept: vec![0; cpus],
            counted: (present - spec.anonymous_pages) as i64,
            on_the_way: Vec::new(),
            pages: BTreeMap::new(),
            buffers: vec![Vec::new(); cpus],
            inactive: VecDeque::new(),
            active: VecDeque::new(),
            saved: [0; 3],
            shadows: VecDeque::new(),
            clock: 0,
            is_refaulting: false,
            dirty_found: Vec::new(),
        };
        (0..present as u32).for_each(|at| this.give(at));
        (0..spec.anonymous_pages as u32).for_each(|at| this.fix(at));
        this
    }

    fn kernel(&self) -> &Kernel {
        &self.spec.kernel
    }

    pub(crate) fn free(&self) -> u64 {
        (0..)
            .zip(&self.blocks)
            .map(|(order, blocks): (u32, _)| (blocks.len() as u64) << order)
            .sum()
    }

    pub(crate) fn on_cpus(&self) -> u64 {
        self.lists.iter().flatten().map(|list| list.len() as u64).sum()
    }

    pub(crate) fn listed(&self) -> [u64; 3] {
        let buffered: usize = self.buffers.iter().map(Vec::len).sum();
        [buffered, self.inactive.len(), self.active.len()].map(|pages| pages as u64)
    }

    // ---- free blocks ---------------------------------------------------------------------

    fn give(&mut self, frame: u32) {
        let (mut at, mut order) = (frame, 0);
        while order < 10 && self.blocks[order].contains(&(at ^ (1 << order))) {
            self.blocks[order].retain(|block| *block != at ^ (1 << order));
            at &= !(1 << order);
            order += 1;
        }
        let parent = at & !(1 << order);
        let joins = order < 9 && self.blocks[order + 1].contains(&(parent ^ (2 << order)));
        match self.kernel().buddies_kept && joins {
            true => self.blocks[order].push_back(at),
            false => self.blocks[order].push_front(at),
        }
    }

    /// Takes a frame for good.
    fn fix(&mut self, wanted: u32) {
        let first = |order: usize| wanted >> order << order;
        let found = (0..11).find(|order| self.blocks[*order].contains(&first(*order)));
        let order = found.expect("it is free");
        self.blocks[order].retain(|at| *at != first(order));
        for half in (0..order).rev() {
            self.blocks[half].push_front(first(half) ^ (1 << half));
        }
    }

    fn take_frame(&mut self) -> Option<u32> {
        let mut order = (0..11).find(|order| !self.blocks[*order].is_empty())?;
        let at = self.blocks[order].pop_front()?;
        while order > 0 {
            order -= 1;
            self.blocks[order].push_front(at + (1 << order));
        }
        Some(at)
    }

    // ---- the count -----------------------------------------------------------------------

    fn count(&mut self, cpu: usize, pages: i64) {
        self.kept[cpu] += pages;
        if self.kept[cpu].abs() > self.kept_max {
            self.counted += self.kept[cpu];
            self.kept[cpu] = 0;
        }
    }

    fn count_returned(&mut self, now: Instant, cpu: usize, pages: usize) {
        if pages == 0 {
            return;
        }
        if !self.kernel().count_after_lists {
            return self.count(cpu, pages as i64);
        }
        let begin = self.on_the_way.last().map_or(now, |last| last.0.max(now));
        let span = Span::from_ns(self.spec.page_return.as_ns() * pages as u64);
        self.on_the_way.push((begin + span, cpu, pages as i64));
    }

    pub(crate) fn seen(&mut self, now: Instant) -> i64 {
        for (_, cpu, pages) in self.on_the_way.extract_if(.., |it| it.0 <= now).collect::<Vec<_>>()
        {
            self.count(cpu, pages);
        }
        self.counted
    }

    fn is_above(&mut self, now: Instant, mark: Mark) -> bool {
        let pages = match mark {
            Mark::None => return true,
            Mark::Min => self.marks.min,
            Mark::Low => self.marks.low,
            Mark::High => self.marks.high,
        };
        self.seen(now) > pages as i64
    }

    // ---- lists of CPUs -------------------------------------------------------------------

    fn which(&self, cold: bool, page_type: PageType) -> usize {
        match (self.kernel().one_cpu_list, self.kernel().list_per_type) {
            (false, _) => usize::from(cold),
            (true, false) => 0,
            (true, true) => page_type as usize,
        }
    }

    pub(crate) fn take(&mut self, now: Instant, cpu: usize, want: Want, mark: Mark) -> Vec<u32> {
        let mut hand = Vec::new();
        while hand.len() < want.pages as usize && self.is_above(now, mark) {
            match self.take_one(cpu, want) {
                Some(at) => hand.push(at),
                None => break,
            }
        }
        hand
    }

    fn take_one(&mut self, cpu: usize, want: Want) -> Option<u32> {
        let which = self.which(want.cold, want.page_type);
        let separate = !self.kernel().one_cpu_list;
        let at_tail = want.cold && !separate;
        if let Some(at) = self.find(cpu, which, at_tail, want.page_type) {
            return Some(at);
        }
        let batch = self.batch[usize::from(separate && want.cold)];
        let fetched: Vec<u32> = (0..batch).map_while(|_| self.take_frame()).collect();
        if fetched.is_empty() {
            return None;
        }
        self.count(cpu, -(fetched.len() as i64));
        fetched.iter().for_each(|at| self.types[*at as usize] = want.page_type);
        let list = &mut self.lists[cpu][which];
        let had_others = !list.is_empty();
        if at_tail && self.spec.kernel.cold_ascending {
            list.extend(fetched.iter().rev());
            if had_others && !self.spec.kernel.list_per_type {
                return list.pop_front();
            }
        } else {
            fetched.iter().rev().for_each(|at| list.push_front(*at));
        }
        self.find(cpu, which, at_tail, want.page_type)
    }

    fn find(
        &mut self,
        cpu: usize,
        which: usize,
        at_tail: bool,
        page_type: PageType,
    ) -> Option<u32> {
        let any = !self.kernel().one_cpu_list;
        let (list, types) = (&mut self.lists[cpu][which], &self.types);
        let fits = |at: &u32| any || types[*at as usize] == page_type;
        let index = if at_tail { list.iter().rposition(fits) } else { list.iter().position(fits) };
        index.and_then(|index| list.remove(index))
    }

    pub(crate) fn put(&mut self, now: Instant, cpu: usize, at: u32, cold: bool) {
        let which = self.which(cold, self.types[at as usize]);
        let separate = !self.kernel().one_cpu_list;
        let list = &mut self.lists[cpu][which];
        if cold && !separate {
            list.push_back(at);
        } else {
            list.push_front(at);
        }
        let kind = usize::from(separate && cold);
        let count: usize = match separate {
            true => self.lists[cpu][which].len(),
            false => self.lists[cpu].iter().map(VecDeque::len).sum(),
        };
        if count < self.high[kind] {
            return;
        }
        let batch = self.batch[kind].min(count);
        let (mut returned, mut turn, mut at) = (0, 1, 0);
        while returned < batch {
            let list = if !separate && self.kernel().list_per_type { at % 3 } else { which };
            at += 1;
            if self.lists[cpu][list].is_empty() {
                turn += 1;
                continue;
            }
            for _ in 0..turn {
                if returned < batch
                    && let Some(at) = self.lists[cpu][list].pop_back()
                {
                    self.give(at);
                    returned += 1;
                }
            }
            turn = 1;
        }
        self.count_returned(now, cpu, returned);
    }

    pub(crate) fn drain(&mut self, now: Instant) {
        for cpu in 0..self.lists.len() {
            let mut returned = 0;
            for which in 0..3 {
                while let Some(at) = self.lists[cpu][which].pop_back() {
                    self.give(at);
                    returned += 1;
                }
            }
            self.count_returned(now, cpu, returned);
        }
    }

    // ---- the page cache ------------------------------------------------------------------

    pub(crate) fn frame(&self, id: PageId) -> Option<u32> {
        self.pages.iter().find(|(_, page)| page.id == id).map(|(at, _)| *at)
    }

    pub(crate) fn is_coming(&self, id: PageId) -> bool {
        self.frame(id).is_some_and(|at| self.pages[&at].coming)
    }

    fn page(&mut self, id: PageId) -> &mut Page {
        let at = self.frame(id).expect("it is in memory");
        self.pages.get_mut(&at).expect("it is in memory")
    }

    pub(crate) fn insert(&mut self, cpu: usize, at: u32, id: PageId, arrival: Arrival) {
        let coming = arrival == Arrival::Read;
        self.pages.insert(at, Page { id, coming, referenced: !coming, ..Page::default() });
        if self.comes_back(id) {
            self.active.push_front(at);
            return;
        }
        self.buffers[cpu].push(at);
        if self.buffers[cpu].len() == 14 {
            self.flush(cpu);
        }
    }

    fn comes_back(&mut self, id: PageId) -> bool {
        let known = self.shadows.iter().position(|(shadow, _)| *shadow == id);
        let Some(at) = known else { return false };
        let (_, time) = std::mem::replace(&mut self.shadows[at], (PageId::of_file(99, 0), 0));
        let is_near = (self.clock - time) as usize <= self.active.len();
        if is_near {
            self.is_refaulting = true;
            self.count_activated();
        }
        is_near
    }

    fn count_activated(&mut self) {
        self.clock += u32::from(self.spec.activations_age);
    }

    fn evicted(&mut self, id: PageId) {
        if self.kernel().refault_activates {
            self.shadows.push_front((id, self.clock));
            self.shadows.truncate(self.frames as usize / 2);
            self.clock += 1;
        }
    }

    fn flush(&mut self, cpu: usize) {
        for at in std::mem::take(&mut self.buffers[cpu]) {
            self.inactive.push_front(at);
        }
    }

    pub(crate) fn arrived(&mut self, id: PageId) {
        self.page(id).coming = false;
    }

    pub(crate) fn used(&mut self, id: PageId) {
        let at = self.frame(id).expect("it is in memory");
        let was_used = std::mem::replace(&mut self.page(id).referenced, true);
        if was_used && self.inactive.contains(&at) {
            self.page(id).referenced = false;
            self.inactive.retain(|it| *it != at);
            self.active.push_front(at);
            self.count_activated();
        }
    }

    pub(crate) fn used_through_mapping(&mut self, id: PageId) {
        self.page(id).mapped = true;
    }

    pub(crate) fn dirtied(&mut self, id: PageId) {
        self.page(id).dirty = true;
    }

    pub(crate) fn write_begun(&mut self, id: PageId) {
        (self.page(id).dirty, self.page(id).writing) = (false, true);
    }

    pub(crate) fn is_writing(&self, id: PageId) -> bool {
        self.frame(id).is_some_and(|at| self.pages[&at].writing)
    }

    pub(crate) fn is_held(&self, id: PageId) -> bool {
        self.frame(id).is_some_and(|at| self.pages[&at].writing || self.pages[&at].dirty)
    }

    pub(crate) fn written(&mut self, id: PageId) {
        let at = self.frame(id).expect("it is in memory");
        let page = self.page(id);
        page.writing = false;
        let is_next = std::mem::replace(&mut page.to_be_evicted, false) && !page.dirty;
        if is_next && self.inactive.contains(&at) {
            self.inactive.retain(|it| *it != at);
            self.inactive.push_back(at);
        }
    }

    pub(crate) fn drop_page(&mut self, now: Instant, cpu: usize, id: PageId) {
        let at = self.frame(id).expect("it is in memory");
        self.pages.remove(&at);
        let before: u64 = self.listed().iter().sum();
        self.inactive.retain(|it| *it != at);
        self.active.retain(|it| *it != at);
        self.buffers.iter_mut().for_each(|buffer| buffer.retain(|it| *it != at));
        if self.listed().iter().sum::<u64>() < before {
            self.put(now, cpu, at, false);
        }
    }

    pub(crate) const fn frames(&self) -> u32 {
        self.frames
    }
}

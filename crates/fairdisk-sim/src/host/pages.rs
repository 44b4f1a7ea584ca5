//! The page cache: which pages of files are in memory, and which of them go when it is full.
//!
//! Pages leave in the order in which they came. One in use stays for another round: one that was
//! touched through a mapping, as a page with a reference in a page table does at the end of the
//! inactive list, or read a second time, as one that went to the active list (spec: memory, 3.1).
//! A page that was written counts as read. One that holds what the disk does not have yet stays
//! until it is written back. Sizes are in pages of 4 KiB.

use std::collections::VecDeque;
use std::ops::Range;

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Page {
    Absent,
    /// On the way from the disk.
    Coming,
    /// In memory, and nobody used it since it came or was last passed over.
    Idle,
    /// In memory, and read once.
    Read,
    /// In memory, and in use.
    Used,
}

/// Beside a [`Page`]: it is dirty or being written back.
const HELD: u8 = 0x80;
/// Beside a [`Page`]: it was to go, had to stay, and has no entry in the queue until it may go.
const APART: u8 = 0x40;

impl Page {
    const ALL: [Self; 5] = [Self::Absent, Self::Coming, Self::Idle, Self::Read, Self::Used];
}

/// The pages of a file.
#[derive(Debug, Default)]
struct FilePages {
    /// A [`Page`] each, and whether it is [`HELD`] or [`APART`]. Zeroes, which the system hands out
    /// only where they are changed: a file may be a whole disk.
    states: Vec<u8>,
    /// How many entries of the queue each page has left behind. Zeroes, likewise.
    left_behind: Vec<u16>,
    /// Tasks that map it.
    mappings: u32,
}

impl FilePages {
    fn get(&self, page: u64) -> Page {
        let state = self.states.get(page as usize);
        state.map_or(Page::Absent, |state| Page::ALL[usize::from(*state & !(HELD | APART))])
    }

    fn set(&mut self, page: u64, page_state: Page) {
        let state = &mut self.states[page as usize];
        *state = *state & (HELD | APART) | page_state as u8;
    }

    fn is_held(&self, page: u64) -> bool {
        self.states.get(page as usize).is_some_and(|state| state & HELD != 0)
    }

    /// Whether it may not go.
    fn must_stay(&self, page: u64) -> bool {
        self.is_held(page) || self.get(page) == Page::Coming
    }

    /// The page, which may have been kept apart, may go; whether it needs an entry in the queue.
    fn come_back(&mut self, page: u64) -> bool {
        if self.must_stay(page) {
            return false;
        }
        let state = &mut self.states[page as usize];
        let was_apart = *state & APART != 0;
        *state &= !APART;
        was_apart
    }

    /// The first entry of the page leaves the queue; whether the page had left it behind. Of
    /// several entries only the last can be in use.
    fn leave(&mut self, page: u64) -> bool {
        let left_behind = &mut self.left_behind[page as usize];
        let is_one = *left_behind > 0;
        *left_behind -= u16::from(is_one);
        is_one
    }
}

/// The pages of all files.
#[derive(Debug)]
pub(crate) struct PageCache {
    files: Vec<FilePages>,
    /// All pages in memory or on the way to it but those kept apart, the first to go in front: file
    /// and page. Entries that pages left behind are passed over.
    queue: VecDeque<(u32, u32)>,
    /// How many pages are kept apart.
    apart: usize,
    /// How many those are.
    left_behind: usize,
    capacity: usize,
}

impl PageCache {
    /// A memory for `capacity` pages, empty. Of every file its size in pages, 0 if all tasks go
    /// past the page cache there.
    pub(crate) fn new(capacity: u64, file_pages: impl Iterator<Item = u64>) -> Self {
        let file = |pages: u64| FilePages {
            states: vec![0; pages as usize],
            left_behind: vec![0; pages as usize],
            mappings: 0,
        };
        let files: Vec<FilePages> = file_pages.map(file).collect();
        let all: usize = files.iter().map(|file| file.states.len()).sum();
        let capacity = (capacity as usize).min(all);
        let queue = VecDeque::with_capacity(capacity + capacity / 2 + 2);
        Self { files, queue, apart: 0, left_behind: 0, capacity }
    }

    /// How many pages the file has.
    pub(crate) fn of_file(&self, file: u32) -> u64 {
        self.files[file as usize].states.len() as u64
    }

    /// Whether the page is in memory.
    pub(crate) fn is_present(&self, file: u32, page: u64) -> bool {
        matches!(self.page(file, page), Page::Idle | Page::Read | Page::Used)
    }

    /// Whether the page is neither in memory nor on the way to it.
    pub(crate) fn is_absent(&self, file: u32, page: u64) -> bool {
        self.page(file, page) == Page::Absent
    }

    /// A task touched the page, which is in memory, through a mapping.
    pub(crate) fn touch(&mut self, file: u32, page: u64) {
        debug_assert!(self.is_present(file, page), "page {page} of file {file} is not in memory");
        self.files[file as usize].set(page, Page::Used);
    }

    /// A task read the pages, or wrote them; those in memory are in use when it is not the first
    /// time.
    pub(crate) fn read(&mut self, file: u32, pages: Range<u64>) {
        for page in pages {
            match self.page(file, page) {
                Page::Idle => self.files[file as usize].set(page, Page::Read),
                Page::Read => self.files[file as usize].set(page, Page::Used),
                Page::Absent | Page::Coming | Page::Used => {}
            }
        }
    }

    /// A task wrote the whole of the pages: they are in memory, without the disk.
    pub(crate) fn written(&mut self, file: u32, pages: Range<u64>) {
        for page in pages {
            if self.is_absent(file, page) {
                self.add(file, page, Page::Read);
            } else {
                self.read(file, page..page + 1);
            }
        }
    }

    /// The page, which is in memory or on the way to it, must stay.
    pub(crate) fn hold(&mut self, file: u32, page: u64) {
        debug_assert!(!self.is_absent(file, page), "page {page} of file {file} is not in memory");
        self.files[file as usize].states[page as usize] |= HELD;
    }

    /// The page need not stay any more. One that was to go while it had to goes first.
    pub(crate) fn release(&mut self, file: u32, page: u64) {
        let pages = &mut self.files[file as usize];
        pages.states[page as usize] &= !HELD;
        if pages.come_back(page) {
            self.apart -= 1;
            self.queue.push_front((file, page as u32));
        }
    }

    /// The first stretch of pages from `start` to before `end` that is neither in memory nor on the
    /// way to it.
    pub(crate) fn missing(&self, file: u32, start: u64, end: u64) -> Option<(u64, u64)> {
        let first = (start..end).find(|page| self.is_absent(file, *page))?;
        let behind = (first..end).find(|page| !self.is_absent(file, *page));
        Some((first, behind.unwrap_or(end)))
    }

    /// The pages from `start` to before `end`, all missing, are on the way; others make room.
    pub(crate) fn expect(&mut self, file: u32, start: u64, end: u64) {
        for page in start..end {
            debug_assert!(self.is_absent(file, page));
            self.add(file, page, Page::Coming);
        }
    }

    /// The pages from `start` to before `end` have come.
    pub(crate) fn arrived(&mut self, file: u32, start: u64, end: u64) {
        let pages = &mut self.files[file as usize];
        for page in start..end {
            pages.set(page, Page::Idle);
            if pages.come_back(page) {
                self.apart -= 1;
                self.queue.push_back((file, page as u32));
            }
        }
    }

    /// A task maps the file.
    pub(crate) fn map(&mut self, file: u32) {
        self.files[file as usize].mappings += 1;
    }

    /// A task that mapped the file is no more.
    pub(crate) fn unmap(&mut self, file: u32) {
        self.files[file as usize].mappings -= 1;
    }

    /// What the file has in memory is dropped, unless somebody maps it who does not ask for that
    /// (`posix_fadvise` with `DONTNEED`); what is on the way, or held, stays. The one who asks maps
    /// it himself or not.
    pub(crate) fn drop_file(&mut self, file: u32, is_mapped: bool) {
        let FilePages { states, mappings, .. } = &self.files[file as usize];
        if *mappings <= u32::from(is_mapped) && !states.is_empty() {
            self.sweep(Some(file));
        }
    }

    /// The pages are written or trimmed past the page cache: what is in memory of them is dropped.
    pub(crate) fn overtaken(&mut self, file: u32, pages: Range<u64>) {
        for page in pages {
            if self.is_present(file, page) && !self.files[file as usize].is_held(page) {
                self.drop_page(file, page);
            }
        }
    }

    /// The page, which is in memory, is dropped. Its entry stays in the queue: looking for it takes
    /// as long as there are pages in memory.
    fn drop_page(&mut self, file: u32, page: u64) {
        let pages = &mut self.files[file as usize];
        pages.set(page, Page::Absent);
        let left_behind = &mut pages.left_behind[page as usize];
        *left_behind += 1;
        self.left_behind += 1;
        if *left_behind == u16::MAX || self.left_behind > self.capacity / 2 {
            self.sweep(None);
        }
    }

    /// Takes what pages left behind off the queue, and what is in memory of `dropped`.
    fn sweep(&mut self, dropped: Option<u32>) {
        let files = &mut self.files;
        self.queue.retain(|&(file, page)| {
            let (pages, page) = (&mut files[file as usize], u64::from(page));
            if pages.leave(page) {
                return false;
            }
            let stays = dropped != Some(file) || pages.must_stay(page);
            if !stays {
                pages.set(page, Page::Absent);
            }
            stays
        });
        self.left_behind = 0;
    }

    /// How many pages are in memory or on the way to it.
    fn held(&self) -> usize {
        self.queue.len() + self.apart - self.left_behind
    }

    /// The page comes to memory; others make room.
    fn add(&mut self, file: u32, page: u64, state: Page) {
        // Several, where so many were on the way that none could go.
        while self.held() >= self.capacity && self.evict() {}
        self.files[file as usize].set(page, state);
        self.queue.push_back((file, page as u32));
    }

    /// The first page in the queue that may go goes; whether there was one. Pages on the way or
    /// held are kept apart until they may go, so that nobody looks at them again.
    fn evict(&mut self) -> bool {
        while let Some((file, page)) = self.queue.pop_front() {
            let (pages, at) = (&mut self.files[file as usize], u64::from(page));
            if pages.leave(at) {
                self.left_behind -= 1;
            } else if pages.must_stay(at) {
                pages.states[at as usize] |= APART;
                self.apart += 1;
            } else if pages.get(at) == Page::Used {
                pages.set(at, Page::Idle);
                self.queue.push_back((file, page));
            } else {
                pages.set(at, Page::Absent);
                return true;
            }
        }
        false
    }

    fn page(&self, file: u32, page: u64) -> Page {
        self.files[file as usize].get(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(cache: &mut PageCache, start: u64, end: u64) {
        cache.expect(0, start, end);
        cache.arrived(0, start, end);
    }

    fn is_coming(cache: &PageCache, page: u64) -> bool {
        cache.page(0, page) == Page::Coming
    }

    #[test]
    fn what_is_on_the_way_need_not_be_read_again() {
        let mut cache = PageCache::new(100, [20].into_iter());
        cache.expect(0, 4, 6);
        assert!(is_coming(&cache, 5) && !cache.is_present(0, 5));
        assert_eq!(cache.missing(0, 2, 10), Some((2, 4)));
        assert_eq!(cache.missing(0, 4, 10), Some((6, 10)));
        cache.arrived(0, 4, 6);
        assert!(cache.is_present(0, 5));
        assert_eq!(cache.missing(0, 4, 6), None);
    }

    #[test]
    fn the_first_page_goes_unless_it_was_touched() {
        let mut cache = PageCache::new(4, [20].into_iter());
        fill(&mut cache, 0, 4);
        cache.touch(0, 0);
        fill(&mut cache, 10, 11);
        assert!(cache.is_present(0, 0), "touched: it has another round");
        assert!(!cache.is_present(0, 1));
        fill(&mut cache, 11, 14);
        assert!(!cache.is_present(0, 0), "once");
    }

    #[test]
    fn a_page_read_once_goes_and_one_read_twice_stays() {
        let mut cache = PageCache::new(4, [20].into_iter());
        fill(&mut cache, 0, 4);
        cache.read(0, 0..4);
        cache.read(0, 1..2);
        fill(&mut cache, 10, 13);
        assert_eq!(
            (0..4).map(|page| cache.is_present(0, page)).collect::<Vec<_>>(),
            [false, true, false, false]
        );
    }

    #[test]
    fn what_was_written_is_there_and_what_was_overtaken_is_not() {
        let mut cache = PageCache::new(100, [20].into_iter());
        cache.written(0, 3..6);
        assert_eq!(cache.missing(0, 0, 9), Some((0, 3)));
        cache.overtaken(0, 4..40);
        assert!(cache.is_present(0, 3) && cache.is_absent(0, 4) && cache.is_absent(0, 5));
        assert_eq!(cache.held(), 1);
    }

    /// What stays and what goes is as if the entries of pages that are written past the cache were
    /// looked for and taken out at once.
    #[test]
    fn what_pages_leave_behind_in_the_queue_changes_nothing() {
        let mut prng = fairdisk_core::Prng::new(24);
        let mut cache = PageCache::new(24, [40, 40].into_iter());
        let mut plain = PageCache::new(24, [40, 40].into_iter());
        for _ in 0..20_000 {
            let (file, page) = (prng.below(2) as u32, prng.below(40));
            let end = (page + 1 + prng.below(6)).min(40);
            let what = prng.below(10);
            for cache in [&mut cache, &mut plain] {
                match what {
                    0 => cache.read(file, page..end),
                    1 => cache.written(file, page..end),
                    2 if cache.is_present(file, page) => cache.touch(file, page),
                    3 if cache.page(file, page) == Page::Coming => {
                        cache.arrived(file, page, page + 1);
                    }
                    4 | 5 => {
                        if let Some((start, end)) = cache.missing(file, page, end) {
                            cache.expect(file, start, end);
                        }
                    }
                    6 => cache.overtaken(file, page..end),
                    7 if page == 0 => cache.drop_file(file, false),
                    8 if !cache.is_absent(file, page) => cache.hold(file, page),
                    9 => (page..end).for_each(|page| cache.release(file, page)),
                    _ => {}
                }
            }
            plain.sweep(None);
            for file in 0..2 {
                let states = |cache: &PageCache| cache.files[file].states.clone();
                assert_eq!(states(&cache), states(&plain));
            }
            assert_eq!(cache.held(), plain.held());
            let in_memory =
                |pages: &FilePages| (0..40).filter(|page| pages.get(*page) != Page::Absent).count();
            assert_eq!(cache.held(), cache.files.iter().map(in_memory).sum());
            assert!(cache.left_behind <= 12, "{cache:?}");
        }
    }

    /// It takes no time to speak of; looking through all pages in memory for each takes minutes.
    #[test]
    fn writing_past_many_cached_pages_looks_at_those_alone() {
        const PAGES: u64 = 1 << 20;
        let mut cache = PageCache::new(PAGES, [PAGES].into_iter());
        fill(&mut cache, 0, PAGES);
        for page in 0..PAGES / 4 {
            cache.overtaken(0, page..page + 1);
        }
        assert_eq!(cache.queue.len() as u64, PAGES, "nobody has looked for them");
        assert_eq!(cache.held() as u64, PAGES / 4 * 3);
        cache.written(0, 0..PAGES / 4);
        assert!((0..PAGES).all(|page| cache.is_present(0, page)));
    }

    /// Likewise it takes no time to speak of.
    #[test]
    fn pages_that_may_not_go_are_looked_at_once() {
        const PAGES: u64 = 1 << 18;
        let mut cache = PageCache::new(PAGES, [2 * PAGES].into_iter());
        cache.written(0, 0..PAGES / 2);
        (0..PAGES / 2).for_each(|page| cache.hold(0, page));
        cache.expect(0, PAGES / 2, PAGES);
        cache.expect(0, PAGES, PAGES + PAGES / 2);
        assert_eq!(cache.held() as u64, PAGES / 2 * 3, "none could go");
        cache.arrived(0, PAGES, PAGES + 4);
        cache.release(0, 7);
        cache.expect(0, PAGES * 2 - 1, PAGES * 2);
        assert!(cache.is_absent(0, 7), "who was to go before goes first");
        assert!((0..PAGES / 2).all(|page| page == 7 || cache.is_present(0, page)));
        assert!((0..4).all(|page| cache.is_absent(0, PAGES + page)), "there is too much");
        assert_eq!(cache.held() as u64, PAGES / 2 * 3 - 4);
    }

    #[test]
    fn a_page_on_the_way_stays() {
        let mut cache = PageCache::new(2, [20].into_iter());
        cache.expect(0, 0, 3);
        assert!((0..3).all(|page| is_coming(&cache, page)));
        cache.drop_file(0, false);
        assert!((0..3).all(|page| is_coming(&cache, page)));
    }

    #[test]
    fn memory_is_no_larger_for_more_than_fits_having_been_on_the_way() {
        let mut cache = PageCache::new(2, [20].into_iter());
        fill(&mut cache, 0, 10);
        (0..10).for_each(|page| cache.touch(0, page));
        fill(&mut cache, 10, 11);
        assert_eq!((0..20).filter(|page| cache.is_present(0, *page)).count(), 2);
    }

    #[test]
    fn a_file_is_dropped_unless_another_task_maps_it() {
        let mut cache = PageCache::new(10, [5, 5].into_iter());
        cache.map(0);
        fill(&mut cache, 0, 5);
        cache.expect(1, 0, 1);
        cache.drop_file(0, false);
        assert!(cache.is_present(0, 0), "it is in use");
        cache.map(0);
        cache.drop_file(0, true);
        assert!(cache.is_present(0, 0), "by another");
        cache.unmap(0);
        cache.drop_file(0, true);
        assert!(cache.is_absent(0, 0) && !cache.is_absent(1, 0));
        fill(&mut cache, 0, 5);
        assert!(cache.is_present(0, 4));
    }

    #[test]
    fn memory_holds_what_it_holds() {
        let mut cache = PageCache::new(64, [4096].into_iter());
        for start in (0..4096).step_by(16) {
            fill(&mut cache, start, start + 16);
            (start..start + 16).for_each(|page| cache.touch(0, page));
        }
        let present = (0..4096).filter(|page| cache.is_present(0, *page)).count();
        assert_eq!(present, 64);
        assert!(cache.is_present(0, 4095) && !cache.is_present(0, 0));
    }
}

//! The page cache: which pages of files are in memory, and which are evicted when it is full.
//!
//! Pages are evicted in the order in which they arrived, but a page in use stays for another round.
//! In use are pages touched through a mapping, like a page with a reference in a page table at the
//! end of the inactive list, and pages read a second time, like one that has moved to the active
//! list (spec: memory, 3.1). Writing a page counts as reading it. A page with data that is not on
//! the disk stays until it is written back. Sizes are in pages of 4 KiB.

use std::collections::VecDeque;
use std::ops::Range;

/// Whether a page is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is not.
    Absent,
    /// It is on its way from the disk.
    Coming,
    /// It is.
    Present,
}

/// The state of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Page {
    Absent,
    /// On its way from the disk.
    Coming,
    /// In memory, and not used since it arrived or was last passed over.
    Idle,
    /// In memory, and read once.
    Read,
    /// In memory, and in use.
    Used,
}

/// Flag beside a [`Page`]: the page is dirty or being written back.
const HELD: u8 = 0x80;
/// Flag beside a [`Page`]: the page could not be evicted when it was due, and has no entry in the
/// queue until it may be.
const APART: u8 = 0x40;

impl Page {
    const ALL: [Self; 5] = [Self::Absent, Self::Coming, Self::Idle, Self::Read, Self::Used];
}

/// The pages of one file.
#[derive(Debug, Default)]
struct FilePages {
    /// A [`Page`] for each page, with the flags [`HELD`] and [`APART`]. Zero-filled memory, of
    /// which the system allocates only what is written to: a file may be a whole disk.
    states: Vec<u8>,
    /// How many stale entries each page has in the queue. Zero-filled memory as well.
    left_behind: Vec<u16>,
    /// Tasks that map the file.
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

    /// Whether the page may not be evicted.
    fn must_stay(&self, page: u64) -> bool {
        self.is_held(page) || self.get(page) == Page::Coming
    }

    /// Clears [`APART`] if the page may be evicted now. Returns whether it needs an entry in the
    /// queue.
    fn come_back(&mut self, page: u64) -> bool {
        if self.must_stay(page) {
            return false;
        }
        let state = &mut self.states[page as usize];
        let was_apart = *state & APART != 0;
        *state &= !APART;
        was_apart
    }

    /// Removes the first entry of the page from the queue. Returns whether that entry was stale; of
    /// several entries only the last can be valid.
    fn leave(&mut self, page: u64) -> bool {
        let left_behind = &mut self.left_behind[page as usize];
        let is_one = *left_behind > 0;
        *left_behind -= u16::from(is_one);
        is_one
    }
}

/// The page cache of all files.
#[derive(Debug)]
pub(crate) struct PageCache {
    files: Vec<FilePages>,
    /// The file and page number of every page in memory or on its way, except those set apart; the
    /// next to be evicted is first. Stale entries are skipped.
    queue: VecDeque<(u32, u32)>,
    /// The number of pages set apart.
    apart: usize,
    /// The number of stale entries in the queue.
    left_behind: usize,
    capacity: usize,
}

impl PageCache {
    /// An empty cache of `capacity` pages. `file_pages` gives the size of each file in pages, or 0
    /// if no task uses the page cache for that file.
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

    /// The number of pages of the file.
    pub(crate) fn of_file(&self, file: u32) -> u64 {
        self.files[file as usize].states.len() as u64
    }

    /// Whether the page is in memory.
    pub(crate) fn is_present(&self, file: u32, page: u64) -> bool {
        matches!(self.page(file, page), Page::Idle | Page::Read | Page::Used)
    }

    /// Whether the page is neither in memory nor on its way.
    pub(crate) fn is_absent(&self, file: u32, page: u64) -> bool {
        self.page(file, page) == Page::Absent
    }

    /// Records that a task touched the page, which is in memory, through a mapping.
    pub(crate) fn touch(&mut self, file: u32, page: u64) {
        debug_assert!(self.is_present(file, page), "page {page} of file {file} is not in memory");
        self.files[file as usize].set(page, Page::Used);
    }

    /// Records that a task read or wrote the pages. Pages in memory that were read before are in
    /// use from now on.
    pub(crate) fn read(&mut self, file: u32, pages: Range<u64>) {
        for page in pages {
            match self.page(file, page) {
                Page::Idle => self.files[file as usize].set(page, Page::Read),
                Page::Read => self.files[file as usize].set(page, Page::Used),
                Page::Absent | Page::Coming | Page::Used => {}
            }
        }
    }

    /// Records that a task wrote all of the pages: they are in memory without having been read.
    pub(crate) fn written(&mut self, file: u32, pages: Range<u64>) {
        for page in pages {
            if self.is_absent(file, page) {
                self.add(file, page, Page::Read);
            } else {
                self.read(file, page..page + 1);
            }
        }
    }

    /// Keeps a page that is in memory or on its way from being evicted.
    pub(crate) fn hold(&mut self, file: u32, page: u64) {
        debug_assert!(!self.is_absent(file, page), "page {page} of file {file} is not in memory");
        self.files[file as usize].states[page as usize] |= HELD;
    }

    /// Allows the page to be evicted again. A page that was due meanwhile is evicted first.
    pub(crate) fn release(&mut self, file: u32, page: u64) {
        let pages = &mut self.files[file as usize];
        pages.states[page as usize] &= !HELD;
        if pages.come_back(page) {
            self.apart -= 1;
            self.queue.push_front((file, page as u32));
        }
    }

    /// The first contiguous pages in `start..end` that are neither in memory nor on their way.
    pub(crate) fn missing(&self, file: u32, start: u64, end: u64) -> Option<(u64, u64)> {
        let first = (start..end).find(|page| self.is_absent(file, *page))?;
        let behind = (first..end).find(|page| !self.is_absent(file, *page));
        Some((first, behind.unwrap_or(end)))
    }

    /// Marks the pages `start..end`, all absent, as on their way, and evicts others to make room.
    pub(crate) fn expect(&mut self, file: u32, start: u64, end: u64) {
        for page in start..end {
            debug_assert!(self.is_absent(file, page));
            self.add(file, page, Page::Coming);
        }
    }

    /// Marks the pages `start..end` as having arrived.
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

    /// Counts a task that maps the file.
    pub(crate) fn map(&mut self, file: u32) {
        self.files[file as usize].mappings += 1;
    }

    /// Counts a task that no longer maps the file.
    pub(crate) fn unmap(&mut self, file: u32) {
        self.files[file as usize].mappings -= 1;
    }

    /// Drops the file's pages (`posix_fadvise` with `DONTNEED`), unless another task maps the file.
    /// Pages on their way or held stay. `is_mapped` says whether the caller itself maps the file.
    pub(crate) fn drop_file(&mut self, file: u32, is_mapped: bool) {
        let FilePages { states, mappings, .. } = &self.files[file as usize];
        if *mappings <= u32::from(is_mapped) && !states.is_empty() {
            self.sweep(Some(file));
        }
    }

    /// Drops the pages in memory because they are written or trimmed past the page cache.
    pub(crate) fn overtaken(&mut self, file: u32, pages: Range<u64>) {
        for page in pages {
            if self.is_present(file, page) && !self.files[file as usize].is_held(page) {
                self.drop_page(file, page);
            }
        }
    }

    /// Drops a page that is in memory. Its entry stays in the queue as stale, because finding it
    /// would take time proportional to the number of pages in memory.
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

    /// Removes all stale entries from the queue, and the pages of the file `dropped`.
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

    /// The number of pages in memory or on their way.
    fn held(&self) -> usize {
        self.queue.len() + self.apart - self.left_behind
    }

    /// Adds a page, and evicts others to make room.
    fn add(&mut self, file: u32, page: u64, state: Page) {
        // Several, if none could be evicted earlier because so many were on their way.
        while self.held() >= self.capacity && self.evict() {}
        self.files[file as usize].set(page, state);
        self.queue.push_back((file, page as u32));
    }

    /// Evicts the first page in the queue that may be evicted. Returns whether there was one. Pages
    /// on their way or held are set apart until they may be evicted, so that they are not examined
    /// again.
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

    /// Stale entries of pages written past the cache make no difference compared with removing them
    /// at once.
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

    /// Runs in almost no time; scanning all pages in memory for each write would take minutes.
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

    /// Runs in almost no time, too.
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

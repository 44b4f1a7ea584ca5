//! Eviction with a second chance.
//!
//! Pages are evicted in the order in which they arrived, but a page in use stays for another round.
//! In use are pages touched through a mapping, like a page with a reference in a page table at the
//! end of the inactive list, and pages read a second time, like one that has moved to the active
//! list (spec: memory, 3.1). A page with data that is not on the disk stays until it is written
//! back.

use super::{Arrival, Policy, Presence};
use std::collections::VecDeque;
use std::ops::Range;

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
#[derive(Debug)]
struct FilePages {
    /// A [`Page`] for each page, with the flags [`HELD`] and [`APART`]. Zero-filled memory, of
    /// which the system allocates only what is written to: a file may be a whole disk.
    states: Vec<u8>,
    /// How many stale entries each page has in the queue. Zero-filled memory as well.
    left_behind: Vec<u16>,
}

impl FilePages {
    fn new(pages: u64) -> Self {
        Self { states: vec![0; pages as usize], left_behind: vec![0; pages as usize] }
    }

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

/// The pages in memory, in the order in which they are evicted.
#[derive(Debug)]
pub(crate) struct SecondChance {
    files: Vec<FilePages>,
    /// The file and page number of every page in memory or on its way, except those set apart; the
    /// next to be evicted is first. Stale entries are skipped.
    queue: VecDeque<(u32, u32)>,
    /// The number of pages set apart.
    apart: usize,
    /// The number of stale entries in the queue.
    left_behind: usize,
    capacity: usize,
    /// Whether a page has left for one that is read.
    left_for_reads: bool,
}

impl SecondChance {
    /// Memory of `capacity` pages, for files of these sizes.
    pub(crate) fn new(capacity: u64, file_pages: impl Iterator<Item = u64>) -> Self {
        let files: Vec<FilePages> = file_pages.map(FilePages::new).collect();
        let all: usize = files.iter().map(|file| file.states.len()).sum();
        let capacity = (capacity as usize).min(all);
        let queue = VecDeque::with_capacity(capacity + capacity / 2 + 2);
        Self { files, queue, apart: 0, left_for_reads: false, left_behind: 0, capacity }
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

    /// Whether a page has left for one that is read.
    pub(super) const fn left_for_reads(&self) -> bool {
        self.left_for_reads
    }

    /// The number of pages in memory or on their way.
    pub(super) fn held(&self) -> usize {
        self.queue.len() + self.apart - self.left_behind
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
}

impl Policy for SecondChance {
    type By = ();

    #[inline]
    fn presence(&self, file: u32, page: u64) -> Presence {
        match self.files[file as usize].get(page) {
            Page::Absent => Presence::Absent,
            Page::Coming => Presence::Coming,
            Page::Idle | Page::Read | Page::Used => Presence::Present,
        }
    }

    fn is_held(&self, file: u32, page: u64) -> bool {
        self.files[file as usize].is_held(page)
    }

    /// Pages that were read before are in use from now on.
    #[inline]
    fn used(&mut self, file: u32, page: u64) -> bool {
        let pages = &mut self.files[file as usize];
        match pages.get(page) {
            Page::Idle => pages.set(page, Page::Read),
            Page::Read => pages.set(page, Page::Used),
            Page::Absent | Page::Coming | Page::Used => {}
        }
        false
    }

    fn used_through_mapping(&mut self, file: u32, page: u64) -> bool {
        self.files[file as usize].set(page, Page::Used);
        false
    }

    /// Evicts others to make room.
    #[inline]
    fn add(&mut self, (): &mut (), file: u32, page: u64, arrival: Arrival) {
        // Several, if none could be evicted earlier because so many were on their way.
        while self.held() >= self.capacity && self.evict() {
            self.left_for_reads |= arrival == Arrival::Read;
        }
        let state = match arrival {
            Arrival::Read => Page::Coming,
            Arrival::Written => Page::Read,
        };
        self.files[file as usize].set(page, state);
        self.queue.push_back((file, page as u32));
    }

    fn arrived(&mut self, file: u32, pages: Range<u64>) {
        let of_file = &mut self.files[file as usize];
        for page in pages {
            of_file.set(page, Page::Idle);
            if of_file.come_back(page) {
                self.apart -= 1;
                self.queue.push_back((file, page as u32));
            }
        }
    }

    fn hold(&mut self, file: u32, page: u64) {
        self.files[file as usize].states[page as usize] |= HELD;
    }

    /// A page that was due meanwhile is evicted first.
    fn release(&mut self, file: u32, page: u64) {
        let pages = &mut self.files[file as usize];
        pages.states[page as usize] &= !HELD;
        if pages.come_back(page) {
            self.apart -= 1;
            self.queue.push_front((file, page as u32));
        }
    }

    /// The page's entry stays in the queue as stale, because finding it would take time
    /// proportional to the number of pages in memory.
    fn drop_page(&mut self, (): &mut (), file: u32, page: u64) {
        let pages = &mut self.files[file as usize];
        pages.set(page, Page::Absent);
        let left_behind = &mut pages.left_behind[page as usize];
        *left_behind += 1;
        self.left_behind += 1;
        if *left_behind == u16::MAX || self.left_behind > self.capacity / 2 {
            self.sweep(None);
        }
    }

    fn drop_file(&mut self, (): &mut (), file: u32, _pages: u64) {
        self.sweep(Some(file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type PageCache = super::super::PageCache<SecondChance>;

    fn fill(cache: &mut PageCache, start: u64, end: u64) {
        cache.expect(0, start, end);
        cache.arrived(0, start, end);
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
                    0 => {
                        cache.read(file, page..end);
                    }
                    1 => cache.written(file, page..end),
                    2 if cache.is_present(file, page) => {
                        cache.touch(file, page);
                    }
                    3 if cache.policy.presence(file, page) == Presence::Coming => {
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
            plain.policy.sweep(None);
            for file in 0..2 {
                let states = |cache: &PageCache| cache.policy.files[file].states.clone();
                assert_eq!(states(&cache), states(&plain));
            }
            assert_eq!(cache.policy.held(), plain.policy.held());
            let in_memory =
                |pages: &FilePages| (0..40).filter(|page| pages.get(*page) != Page::Absent).count();
            assert_eq!(cache.policy.held(), cache.policy.files.iter().map(in_memory).sum());
            assert!(cache.policy.left_behind <= 12, "{cache:?}");
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
        assert_eq!(cache.policy.queue.len() as u64, PAGES, "nobody has looked for them");
        assert_eq!(cache.policy.held() as u64, PAGES / 4 * 3);
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
        assert_eq!(cache.policy.held() as u64, PAGES / 2 * 3, "none could go");
        cache.arrived(0, PAGES, PAGES + 4);
        cache.release(0, 7);
        cache.expect(0, PAGES * 2 - 1, PAGES * 2);
        assert!(cache.is_absent(0, 7), "who was to go before goes first");
        assert!((0..PAGES / 2).all(|page| page == 7 || cache.is_present(0, page)));
        assert!((0..4).all(|page| cache.is_absent(0, PAGES + page)), "there is too much");
        assert_eq!(cache.policy.held() as u64, PAGES / 2 * 3 - 4);
    }
}

//! The page cache: which pages of files are in memory. A [`Policy`] decides which leave it when it
//! is full. Writing a page counts as reading it. Sizes are in pages of 4 KiB.

mod kept;
mod second_chance;

pub(crate) use kept::Kept;
pub(crate) use second_chance::SecondChance;

use super::memory::{Arrival, Memory, PageId};
use super::page_set::PageSet;
use super::windows::{Nearby, Windows};
use fairdisk_core::Instant;
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

/// What holds the pages in memory, and decides which leave it for others.
///
/// Pages on their way, and held ones, whose data is not on the disk, never leave.
pub(crate) trait Policy {
    /// On whose behalf pages come and go.
    type By;

    /// Whether the page is in memory.
    fn presence(&self, file: u32, page: u64) -> Presence;
    /// Whether the page is held.
    fn is_held(&self, file: u32, page: u64) -> bool;
    /// Records a use by a call, if the page is in memory. Returns whether it is known to be the
    /// first since the page was read.
    fn used(&mut self, file: u32, page: u64) -> bool;
    /// Records a use through a mapping of a page that is in memory. Returns the same.
    fn used_through_mapping(&mut self, file: u32, page: u64) -> bool;
    /// Adds a page that is absent.
    fn add(&mut self, by: &mut Self::By, file: u32, page: u64, arrival: Arrival);
    /// Records that pages have been read from the disk.
    fn arrived(&mut self, file: u32, pages: Range<u64>);
    /// Holds a page that is not absent.
    fn hold(&mut self, file: u32, page: u64);
    /// Holds a page no longer.
    fn release(&mut self, file: u32, page: u64);
    /// Drops a page that is in memory and not held.
    fn drop_page(&mut self, by: &mut Self::By, file: u32, page: u64);
    /// Drops those of a file's first `pages` pages that are in memory and not held.
    fn drop_file(&mut self, by: &mut Self::By, file: u32, pages: u64) {
        for page in 0..pages {
            if self.presence(file, page) == Presence::Present && !self.is_held(file, page) {
                self.drop_page(by, file, page);
            }
        }
    }
}

/// A file that some task uses through the page cache.
#[derive(Debug)]
struct CachedFile {
    pages: u64,
    /// Tasks that map the file.
    mappings: u32,
    /// Pages that were read from the disk or written, once one was counted.
    known: Option<Box<PageSet>>,
}

/// The page cache of all files.
#[derive(Debug)]
pub(crate) struct PageCache<P = Kept> {
    files: Vec<CachedFile>,
    policy: P,
}

#[cfg(test)]
impl PageCache<SecondChance> {
    /// An empty cache of `capacity` pages, for files of these sizes in pages.
    pub(crate) fn new(capacity: u64, file_pages: impl Iterator<Item = u64>) -> Self {
        let file_pages: Vec<u64> = file_pages.collect();
        let policy = SecondChance::new(capacity, file_pages.iter().copied());
        Self::with(policy, file_pages.into_iter())
    }

    pub(crate) fn written(&mut self, file: u32, pages: Range<u64>) {
        self.written_by(&mut (), file, pages);
    }

    pub(crate) fn expect(&mut self, file: u32, start: u64, end: u64) {
        self.expected_by(&mut (), file, start..end);
    }

    pub(crate) fn drop_file(&mut self, file: u32, is_mapped: bool) {
        self.dropped_by(&mut (), file, is_mapped);
    }

    pub(crate) fn overtaken(&mut self, file: u32, pages: Range<u64>) {
        self.overtaken_by(&mut (), file, pages);
    }
}

impl PageCache {
    /// The memory, if it is modelled page by page.
    pub(crate) fn memory(&mut self) -> Option<&mut Memory> {
        self.policy.memory()
    }

    /// Whether reading a page of a file reads ahead: it carries a mark. Where memory is an amount,
    /// the mark is the reader's own.
    #[inline]
    pub(crate) fn has_mark(&self, file: u32, page: u64, own: Option<u64>) -> bool {
        match &self.policy {
            Kept::SecondChance(_) => own == Some(page),
            Kept::Frames(memory) => memory.has_mark(PageId::of_file(file, page)),
        }
    }

    /// Whether the page is in memory, and reading it reads nothing ahead.
    #[inline]
    pub(crate) fn is_unmarked(&self, file: u32, page: u64, own: Option<u64>) -> bool {
        match &self.policy {
            Kept::SecondChance(_) => own != Some(page) && self.is_present(file, page),
            Kept::Frames(memory) => memory.is_unmarked(PageId::of_file(file, page)),
        }
    }

    /// Takes the mark off a page, which is reached.
    pub(crate) fn clear_mark(&mut self, file: u32, page: u64) {
        if let Kept::Frames(memory) = &mut self.policy {
            memory.clear_mark(PageId::of_file(file, page));
        }
    }

    /// Puts the mark of a window on its page, if it is among these.
    pub(crate) fn set_mark(&mut self, file: u32, mark: Option<u64>, pages: Range<u64>) {
        if let Kept::Frames(memory) = &mut self.policy
            && let Some(mark) = mark.filter(|mark| pages.contains(mark))
        {
            memory.set_mark(PageId::of_file(file, mark));
        }
    }

    /// Whether memory that is an amount was too little for what was read.
    pub(crate) const fn was_full(&self) -> bool {
        match &self.policy {
            Kept::SecondChance(policy) => policy.left_for_reads(),
            Kept::Frames(_) => false,
        }
    }

    /// Counts uses of pages by tasks, where memory is page by page.
    pub(crate) const fn count_used(&mut self, pages: u64) {
        if let Kept::Frames(memory) = &mut self.policy {
            memory.count_used(pages);
        }
    }

    /// Counts pages that are read from the disk, where memory is page by page.
    pub(crate) fn count_reads(&mut self, file: u32, pages: Range<u64>) {
        if let Some((memory, known)) = self.known(file) {
            pages.for_each(|page| memory.count_read(known.insert(page)));
        }
    }

    /// Counts pages that are written, where memory is page by page.
    pub(crate) fn count_writes(&mut self, file: u32, pages: Range<u64>) {
        if let Some((memory, known)) = self.known(file) {
            pages.for_each(|page| memory.count_known(known.insert(page)));
        }
    }

    fn known(&mut self, file: u32) -> Option<(&mut Memory, &mut PageSet)> {
        let Kept::Frames(memory) = &mut self.policy else { return None };
        let CachedFile { pages, known, .. } = &mut self.files[file as usize];
        Some((memory, known.get_or_insert_with(|| Box::new(PageSet::new(*pages)))))
    }

    /// What is around a reader of a file that has reached a page.
    pub(crate) fn nearby(
        &mut self,
        now: Instant,
        (file, page): (u32, u64),
        is_absent: bool,
        windows: &Windows,
    ) -> Nearby {
        let Kept::Frames(memory) = &mut self.policy else { return Nearby::UNKNOWN };
        let pages_max = memory.window_max(now);
        let (max, file_pages) = (windows.max().min(pages_max), self.files[file as usize].pages);
        let is_in_memory =
            |page: &u64| memory.presence(PageId::of_file(file, *page)) != Presence::Absent;
        let is_expected = windows.expects(page, false);
        let run = match is_absent && !is_expected {
            true => (page.saturating_sub(max)..page).rev().take_while(is_in_memory).count() as u64,
            false => 0,
        };
        let hole = match !is_absent && !is_expected {
            true => (page + 1..(page + 1 + max).min(file_pages)).find(|page| !is_in_memory(page)),
            false => None,
        };
        Nearby { is_known: true, pages_max, hole, run }
    }

    /// The memory, if it is modelled page by page, to look at.
    pub(crate) const fn frames(&self) -> Option<&Memory> {
        match &self.policy {
            Kept::SecondChance(_) => None,
            Kept::Frames(memory) => Some(memory),
        }
    }
}

impl<P: Policy> PageCache<P> {
    /// An empty cache with a policy, for files of these sizes in pages.
    pub(crate) fn with(policy: P, file_pages: impl Iterator<Item = u64>) -> Self {
        let file = |pages| CachedFile { pages, mappings: 0, known: None };
        Self { files: file_pages.map(file).collect(), policy }
    }

    /// The number of pages of the file.
    pub(crate) fn of_file(&self, file: u32) -> u64 {
        self.files[file as usize].pages
    }

    /// Whether the page is in memory.
    pub(crate) fn is_present(&self, file: u32, page: u64) -> bool {
        self.policy.presence(file, page) == Presence::Present
    }

    /// Whether the page is neither in memory nor on its way.
    pub(crate) fn is_absent(&self, file: u32, page: u64) -> bool {
        self.policy.presence(file, page) == Presence::Absent
    }

    /// Records that a task touched the page, which is in memory, through a mapping. Returns whether
    /// it is known to be the first to use it since it was read.
    pub(crate) fn touch(&mut self, file: u32, page: u64) -> bool {
        debug_assert!(self.is_present(file, page), "page {page} of file {file} is not in memory");
        self.policy.used_through_mapping(file, page)
    }

    /// Records that a task read or wrote the pages. Returns how many of them it is known to be the
    /// first to use since they were read.
    pub(crate) fn read(&mut self, file: u32, pages: Range<u64>) -> u64 {
        pages.map(|page| u64::from(self.policy.used(file, page))).sum()
    }

    /// Records that a task wrote all of the pages: they are in memory without having been read.
    pub(crate) fn written_by(&mut self, by: &mut P::By, file: u32, pages: Range<u64>) {
        for page in pages {
            if self.is_absent(file, page) {
                self.policy.add(by, file, page, Arrival::Written);
            } else {
                self.policy.used(file, page);
            }
        }
    }

    /// Keeps a page that is in memory or on its way from being evicted.
    pub(crate) fn hold(&mut self, file: u32, page: u64) {
        debug_assert!(!self.is_absent(file, page), "page {page} of file {file} is not in memory");
        self.policy.hold(file, page);
    }

    /// Allows the page to be evicted again. A page that was due meanwhile is evicted first.
    pub(crate) fn release(&mut self, file: u32, page: u64) {
        self.policy.release(file, page);
    }

    /// The number of pages in `start..end` that are neither in memory nor on their way.
    pub(crate) fn count_missing(&self, file: u32, pages: Range<u64>) -> u64 {
        pages.filter(|page| self.is_absent(file, *page)).count() as u64
    }

    /// The first contiguous pages in `start..end` that are neither in memory nor on their way.
    pub(crate) fn missing(&self, file: u32, start: u64, end: u64) -> Option<(u64, u64)> {
        let first = (start..end).find(|page| self.is_absent(file, *page))?;
        let behind = (first..end).find(|page| !self.is_absent(file, *page));
        Some((first, behind.unwrap_or(end)))
    }

    /// Marks the pages, all absent, as on their way.
    pub(crate) fn expected_by(&mut self, by: &mut P::By, file: u32, pages: Range<u64>) {
        for page in pages {
            debug_assert!(self.is_absent(file, page));
            self.policy.add(by, file, page, Arrival::Read);
        }
    }

    /// Marks the pages `start..end` as having arrived.
    pub(crate) fn arrived(&mut self, file: u32, start: u64, end: u64) {
        self.policy.arrived(file, start..end);
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
    pub(crate) fn dropped_by(&mut self, by: &mut P::By, file: u32, is_mapped: bool) {
        let CachedFile { pages, mappings, .. } = self.files[file as usize];
        if mappings <= u32::from(is_mapped) && pages > 0 {
            self.policy.drop_file(by, file, pages);
        }
    }

    /// Drops the pages in memory because they are written or trimmed past the page cache.
    pub(crate) fn overtaken_by(&mut self, by: &mut P::By, file: u32, pages: Range<u64>) {
        for page in pages {
            if self.is_present(file, page) && !self.policy.is_held(file, page) {
                self.policy.drop_page(by, file, page);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type PageCache = super::PageCache<SecondChance>;

    fn fill(cache: &mut PageCache, start: u64, end: u64) {
        cache.expect(0, start, end);
        cache.arrived(0, start, end);
    }

    fn is_coming(cache: &PageCache, page: u64) -> bool {
        cache.policy.presence(0, page) == Presence::Coming
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
        assert_eq!(cache.policy.held(), 1);
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
        (0..10).for_each(|page| {
            cache.touch(0, page);
        });
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
            (start..start + 16).for_each(|page| {
                cache.touch(0, page);
            });
        }
        let present = (0..4096).filter(|page| cache.is_present(0, *page)).count();
        assert_eq!(present, 64);
        assert!(cache.is_present(0, 4095) && !cache.is_present(0, 0));
    }
}

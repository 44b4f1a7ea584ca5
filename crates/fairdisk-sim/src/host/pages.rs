//! The page cache of mapped files: which pages are in memory, and which of them go when it is full.
//!
//! Pages leave in the order in which they came. One that was touched stays for another round, as a
//! page with a reference in a page table does at the end of the inactive list (spec: memory, 3.1).
//! Sizes are in pages of 4 KiB.

use std::collections::VecDeque;

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Absent,
    /// On the way from the disk.
    Coming,
    /// In memory, and nobody touched it since it came or was last passed over.
    Idle,
    /// In memory, and touched.
    Touched,
}

/// The pages of the mapped files.
#[derive(Debug)]
pub(crate) struct PageCache {
    /// By file; nothing for a file that no task maps.
    files: Vec<Vec<Page>>,
    /// How many tasks map each file.
    mapped: Vec<u32>,
    /// All pages in memory or on the way to it, the first to go in front: file and page.
    queue: VecDeque<(u32, u32)>,
    capacity: usize,
}

impl PageCache {
    /// A memory for `capacity` pages, empty. Of every file its size in pages, 0 if no task maps it.
    pub(crate) fn new(capacity: u64, file_pages: impl Iterator<Item = u64>) -> Self {
        let files: Vec<Vec<Page>> =
            file_pages.map(|pages| vec![Page::Absent; pages as usize]).collect();
        let all: usize = files.iter().map(Vec::len).sum();
        let capacity = (capacity as usize).min(all);
        Self {
            mapped: vec![0; files.len()],
            files,
            queue: VecDeque::with_capacity(capacity + 1),
            capacity,
        }
    }

    /// Whether the page is in memory.
    pub(crate) fn is_present(&self, file: u32, page: u64) -> bool {
        matches!(self.page(file, page), Page::Idle | Page::Touched)
    }

    /// Whether the page is on the way to memory.
    pub(crate) fn is_coming(&self, file: u32, page: u64) -> bool {
        self.page(file, page) == Page::Coming
    }

    /// A task touched the page, which is in memory.
    pub(crate) fn touch(&mut self, file: u32, page: u64) {
        debug_assert!(self.is_present(file, page), "page {page} of file {file} is not in memory");
        self.files[file as usize][page as usize] = Page::Touched;
    }

    /// The first stretch of pages from `start` to before `end` that is neither in memory nor on the
    /// way to it.
    pub(crate) fn missing(&self, file: u32, start: u64, end: u64) -> Option<(u64, u64)> {
        let absent = |page: &u64| self.page(file, *page) == Page::Absent;
        let first = (start..end).find(absent)?;
        let behind = (first..end).find(|page| !absent(page));
        Some((first, behind.unwrap_or(end)))
    }

    /// The pages from `start` to before `end`, all missing, are on the way; others make room.
    pub(crate) fn expect(&mut self, file: u32, start: u64, end: u64) {
        for page in start..end {
            // Several, where so many were on the way that none could go.
            while self.queue.len() >= self.capacity && self.evict() {}
            debug_assert!(self.page(file, page) == Page::Absent);
            self.files[file as usize][page as usize] = Page::Coming;
            self.queue.push_back((file, page as u32));
        }
    }

    /// The pages from `start` to before `end` have come.
    pub(crate) fn arrived(&mut self, file: u32, start: u64, end: u64) {
        self.files[file as usize][start as usize..end as usize].fill(Page::Idle);
    }

    /// A task maps the file; what a file holds in memory that nobody maps is dropped, as fio does
    /// before it opens one.
    pub(crate) fn map(&mut self, file: u32) {
        self.mapped[file as usize] += 1;
        self.drop_unshared(file);
    }

    /// A task that mapped the file is no more.
    pub(crate) fn unmap(&mut self, file: u32) {
        self.mapped[file as usize] -= 1;
    }

    /// The one task that maps the file begins again with it: it is dropped from memory. What others
    /// map stays.
    pub(crate) fn drop_unshared(&mut self, file: u32) {
        if self.mapped[file as usize] > 1 {
            return;
        }
        let pages = &mut self.files[file as usize];
        self.queue.retain(|(owner, page)| {
            let stays = *owner != file || pages[*page as usize] == Page::Coming;
            if !stays {
                pages[*page as usize] = Page::Absent;
            }
            stays
        });
    }

    /// The first page in the queue that may go goes; whether there was one, since none does that is
    /// on the way.
    fn evict(&mut self) -> bool {
        for _ in 0..2 * self.queue.len() {
            let Some((file, page)) = self.queue.pop_front() else { return false };
            let state = &mut self.files[file as usize][page as usize];
            match *state {
                Page::Idle | Page::Absent => {
                    *state = Page::Absent;
                    return true;
                }
                Page::Touched => *state = Page::Idle,
                Page::Coming => {}
            }
            self.queue.push_back((file, page));
        }
        false
    }

    fn page(&self, file: u32, page: u64) -> Page {
        self.files[file as usize][page as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(cache: &mut PageCache, start: u64, end: u64) {
        cache.expect(0, start, end);
        cache.arrived(0, start, end);
    }

    #[test]
    fn what_is_on_the_way_need_not_be_read_again() {
        let mut cache = PageCache::new(100, [20].into_iter());
        cache.expect(0, 4, 6);
        assert!(cache.is_coming(0, 5) && !cache.is_present(0, 5));
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
    fn a_page_on_the_way_stays() {
        let mut cache = PageCache::new(2, [20].into_iter());
        cache.expect(0, 0, 3);
        assert!((0..3).all(|page| cache.is_coming(0, page)));
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
        cache.map(0);
        assert!(cache.is_present(0, 0), "it is in use");
        cache.unmap(0);
        cache.drop_unshared(0);
        assert!(!cache.is_present(0, 0) && cache.is_coming(1, 0));
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

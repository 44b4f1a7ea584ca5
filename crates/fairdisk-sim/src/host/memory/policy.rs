//! Memory as a policy of the page cache. Frames are taken before pages are added.

use super::{Arrival, Memory, PageId, Taker};
use crate::host::pages::{Policy, Presence};
use fairdisk_core::Instant;
use std::ops::Range;

impl Policy for Memory {
    /// When, and who.
    type By = (Instant, Taker);

    fn presence(&self, file: u32, page: u64) -> Presence {
        self.presence(PageId::of_file(file, page))
    }

    fn is_held(&self, file: u32, page: u64) -> bool {
        self.is_held(PageId::of_file(file, page))
    }

    fn used(&mut self, file: u32, page: u64) -> bool {
        self.used(PageId::of_file(file, page))
    }

    fn used_through_mapping(&mut self, file: u32, page: u64) -> bool {
        self.used_through_mapping(PageId::of_file(file, page))
    }

    fn add(&mut self, (_, by): &mut Self::By, file: u32, page: u64, arrival: Arrival) {
        self.insert(by, PageId::of_file(file, page), arrival);
    }

    fn arrived(&mut self, file: u32, pages: Range<u64>) {
        pages.for_each(|page| self.arrived(PageId::of_file(file, page)));
    }

    fn hold(&mut self, file: u32, page: u64) {
        self.dirtied(PageId::of_file(file, page));
    }

    fn release(&mut self, file: u32, page: u64) {
        self.cleaned(PageId::of_file(file, page));
    }

    fn drop_page(&mut self, (now, by): &mut Self::By, file: u32, page: u64) {
        self.drop_page(*now, by.cpu, PageId::of_file(file, page));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kernel, Mark, MemorySpec, Want};
    use super::*;
    use crate::host::PageCache;
    use fairdisk_core::Prng;

    /// A page cache for a file of 20 pages and one of 5, and a task with some pages to add.
    fn cache() -> (PageCache<Memory>, (Instant, Taker)) {
        let kernel = Kernel::of_release("2.6.32").expect("it is listed");
        let spec = MemorySpec::new(kernel, 16, 1);
        let mut memory = Memory::new(spec, &mut Prng::new(0)).expect("it fits");
        let mut by = Taker::new(0);
        let want = Want { pages: 40, ..Want::default() };
        assert_eq!(memory.take(Instant::ZERO, &mut by, want, Mark::Low), 40);
        (PageCache::with(memory, [20, 5].into_iter()), (Instant::ZERO, by))
    }

    #[test]
    fn what_is_on_the_way_need_not_be_read_again() {
        let (mut cache, mut by) = cache();
        cache.expected_by(&mut by, 0, 4..6);
        assert!(!cache.is_present(0, 5) && !cache.is_absent(0, 5));
        assert_eq!(cache.missing(0, 2, 10), Some((2, 4)));
        assert_eq!(cache.missing(0, 4, 10), Some((6, 10)));
        cache.arrived(0, 4, 6);
        assert!(cache.is_present(0, 5));
        assert_eq!(cache.missing(0, 4, 6), None);
    }

    #[test]
    fn what_was_written_is_there_and_what_was_overtaken_is_not_unless_it_is_held() {
        let (mut cache, mut by) = cache();
        cache.written_by(&mut by, 0, 3..7);
        cache.hold(0, 5);
        cache.overtaken_by(&mut by, 0, 4..20);
        let present = |cache: &PageCache<Memory>| {
            (0..20).filter(|page| cache.is_present(0, *page)).collect::<Vec<_>>()
        };
        assert_eq!(present(&cache), [3, 5]);
        cache.release(0, 5);
        cache.overtaken_by(&mut by, 0, 4..20);
        assert_eq!(present(&cache), [3]);
    }

    #[test]
    fn a_file_is_dropped_unless_another_task_maps_it() {
        let (mut cache, mut by) = cache();
        cache.written_by(&mut by, 0, 0..20);
        cache.expected_by(&mut by, 1, 0..5);
        cache.map(0);
        cache.dropped_by(&mut by, 0, false);
        assert!(cache.is_present(0, 7));
        cache.unmap(0);
        cache.dropped_by(&mut by, 0, false);
        cache.dropped_by(&mut by, 1, false);
        assert!((0..20).all(|page| cache.is_absent(0, page)));
        assert!((0..5).all(|page| !cache.is_absent(1, page)), "they are on their way");
    }
}

//! Pages that have left the page cache, and when: what a page that comes back is judged by (public
//! description: LWN 495543).
//!
//! The refault distance of a page is how many others were evicted since it was. With so much more
//! memory it would have stayed. A page that comes back within the length of the active list may be
//! used as often as those there, so it joins them.
//!
//! As many are remembered as half of memory has pages. The active list is seldom longer, and what
//! was evicted before that is not told from a page that never was in memory.

use super::frames::{NONE, PageId};
use super::index::{Chained, Index};

/// A page that was evicted.
#[derive(Clone, Copy, Debug)]
struct Shadow {
    id: PageId,
    /// The next shadow whose page has the same place in the index.
    next_in_index: u32,
    /// What the clock said, modulo its range.
    time: u32,
    is_known: bool,
}

/// The pages evicted last.
#[derive(Debug)]
pub(super) struct Shadows {
    /// A ring.
    ring: Vec<Shadow>,
    /// The oldest, which the next one replaces once there are so many.
    oldest: u32,
    most: u32,
    index: Index,
    /// What distances are measured by: evictions, and what else makes pages older.
    clock: u32,
}

impl Chained for Vec<Shadow> {
    fn id(&self, at: u32) -> PageId {
        self[at as usize].id
    }

    fn next(&self, at: u32) -> u32 {
        self[at as usize].next_in_index
    }

    fn set_next(&mut self, at: u32, next: u32) {
        self[at as usize].next_in_index = next;
    }
}

impl Shadows {
    /// Nothing was evicted from memory of so many pages.
    pub(super) fn new(pages: u32) -> Self {
        let most = pages / 2;
        Self { ring: Vec::new(), oldest: 0, most, index: Index::new(most), clock: 0 }
    }

    /// Makes all evicted pages older.
    pub(super) const fn age(&mut self) {
        self.clock = self.clock.wrapping_add(1);
    }

    /// Remembers a page that is evicted.
    pub(super) fn evicted(&mut self, id: PageId) {
        let shadow = Shadow { id, next_in_index: NONE, time: self.clock, is_known: true };
        self.age();
        let at = self.oldest;
        if self.ring.len() < self.most as usize {
            self.ring.push(shadow);
        } else {
            self.forget(at);
            self.ring[at as usize] = shadow;
        }
        self.index.insert(&mut self.ring, at);
        self.oldest = (at + 1) % self.most;
    }

    /// Forgets a page that comes into memory. Returns its refault distance, if it is remembered.
    pub(super) fn returned(&mut self, id: PageId) -> Option<u32> {
        let at = self.index.find(&self.ring, id)?;
        self.forget(at);
        Some(self.clock.wrapping_sub(self.ring[at as usize].time))
    }

    fn forget(&mut self, at: u32) {
        if std::mem::take(&mut self.ring[at as usize].is_known) {
            self.index.remove(&mut self.ring, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(page: u64) -> PageId {
        PageId::of_file(0, page)
    }

    #[test]
    fn the_distance_is_the_number_of_evictions_since() {
        let mut shadows = Shadows::new(100);
        (0..10).for_each(|at| shadows.evicted(page(at)));
        assert_eq!(shadows.returned(page(9)), Some(1));
        assert_eq!(shadows.returned(page(2)), Some(8));
        assert_eq!(shadows.returned(page(2)), None, "it is in memory");
        assert_eq!(shadows.returned(page(10)), None);
    }

    #[test]
    fn as_many_are_remembered_as_half_of_memory_has_pages() {
        let mut shadows = Shadows::new(100);
        (0..1000).for_each(|at| shadows.evicted(page(at % 60)));
        let known: Vec<u64> = (0..60).filter(|at| shadows.returned(page(*at)).is_some()).collect();
        assert_eq!(known, (0..40).chain(50..60).collect::<Vec<_>>());
        (0..1000).for_each(|at| {
            shadows.evicted(page(at % 3));
            assert_eq!(shadows.returned(page(at % 3)), Some(1));
        });
    }
}

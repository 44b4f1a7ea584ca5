//! The parts of a file that the kernel above may have in its page cache.
//!
//! A direct write changes the file behind these pages. The kernel drops them before the write, but
//! readers may bring them back before the data is there, and after an asynchronous write the kernel
//! does not look again. So the mount has the kernel drop whatever may have come back before it
//! answers the write. Which pages the kernel evicts by itself is not known here; they count as
//! cached.

use rangemap::RangeSet;
use std::ops::Range;

/// The size of a page in bytes.
const PAGE_BYTES: u64 = 4096;

/// The most ranges that are told apart. A file with more counts as cached everywhere.
const RANGES_MAX: usize = 1024;

/// All of a file.
pub(crate) const WHOLE: Range<u64> = 0..u64::MAX;

/// What the kernel may have cached of a file, as ranges of offsets in bytes.
#[derive(Debug)]
pub(crate) struct Cached {
    filled: RangeSet<u64>,
    /// Whether nothing is known of what was cached before.
    is_unknown: bool,
    drops: Vec<Drop>,
    begun: u64,
}

/// A drop under way, and what was filled again since it began.
#[derive(Debug)]
struct Drop {
    number: u64,
    range: Range<u64>,
    refilled: RangeSet<u64>,
}

/// A range that the kernel is to drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dropping {
    pub(crate) range: Range<u64>,
    number: u64,
}

impl Cached {
    /// The state of a file of which nothing is cached.
    pub(crate) fn nothing() -> Self {
        Self { filled: RangeSet::new(), is_unknown: false, drops: Vec::new(), begun: 0 }
    }

    /// The state of a file of which anything may be cached.
    pub(crate) fn anything() -> Self {
        Self { filled: RangeSet::from_iter([WHOLE]), is_unknown: true, ..Self::nothing() }
    }

    /// Whether nothing is cached.
    pub(crate) fn is_empty(&self) -> bool {
        self.filled.is_empty()
    }

    /// Notes that the kernel is about to fill pages. To be called before the data is read.
    pub(crate) fn fill(&mut self, range: Range<u64>) {
        let pages = pages(&range);
        if pages.is_empty() {
            return;
        }
        for drop in &mut self.drops {
            if overlap(&drop.range, &pages) {
                insert(&mut drop.refilled, &pages);
            }
        }
        insert(&mut self.filled, &pages);
    }

    /// Begins to drop the pages of `range`, whose data has changed; `None` if none of them can be
    /// cached.
    pub(crate) fn begin_drop(&mut self, range: Range<u64>) -> Option<Dropping> {
        let pages = pages(&range);
        if pages.is_empty() || !self.filled.overlaps(&pages) {
            return None;
        }
        // One drop of everything tells what is cached, and later writes need none.
        let range = if self.is_unknown { WHOLE } else { pages };
        self.is_unknown = false;
        self.begun += 1;
        let number = self.begun;
        self.drops.push(Drop { number, range: range.clone(), refilled: RangeSet::new() });
        Some(Dropping { range, number })
    }

    /// Notes that the kernel has dropped the pages.
    pub(crate) fn dropped(&mut self, dropping: &Dropping) {
        let at = self.drops.iter().position(|drop| drop.number == dropping.number);
        let drop = self.drops.swap_remove(at.expect("a drop ends once"));
        self.filled.remove(drop.range);
        drop.refilled.iter().for_each(|range| insert(&mut self.filled, range));
    }
}

fn insert(set: &mut RangeSet<u64>, range: &Range<u64>) {
    set.insert(range.clone());
    if set.len() > RANGES_MAX {
        *set = RangeSet::from_iter([WHOLE]);
    }
}

/// The range extended to whole pages.
fn pages(range: &Range<u64>) -> Range<u64> {
    let end = range.end.checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX);
    range.start / PAGE_BYTES * PAGE_BYTES..end
}

const fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = PAGE_BYTES;

    #[test]
    fn only_pages_that_may_be_cached_are_dropped() {
        let mut cached = Cached::nothing();
        assert_eq!(cached.begin_drop(0..PAGE), None);
        cached.fill(PAGE..PAGE + 1);
        assert_eq!(cached.begin_drop(0..PAGE), None);
        assert_eq!(cached.begin_drop(2 * PAGE..3 * PAGE), None);
        let dropping = cached.begin_drop(2 * PAGE - 1..2 * PAGE).unwrap();
        assert_eq!(dropping.range, PAGE..2 * PAGE);
        cached.dropped(&dropping);
        assert!(cached.is_empty());
    }

    #[test]
    fn a_write_beside_a_drop_that_is_under_way_has_its_own() {
        let mut cached = Cached::nothing();
        cached.fill(0..PAGE);
        let one = cached.begin_drop(0..PAGE).unwrap();
        let other = cached.begin_drop(0..PAGE).unwrap();
        cached.dropped(&one);
        cached.dropped(&other);
        assert!(cached.is_empty());
    }

    #[test]
    fn pages_filled_during_a_drop_may_be_cached_after_it() {
        let mut cached = Cached::anything();
        let dropping = cached.begin_drop(0..PAGE).unwrap();
        assert_eq!(dropping.range, WHOLE);
        cached.fill(8 * PAGE..9 * PAGE);
        cached.dropped(&dropping);
        assert_eq!(cached.begin_drop(0..8 * PAGE), None);
        assert_eq!(cached.begin_drop(0..9 * PAGE).unwrap().range, 0..9 * PAGE);
    }

    #[test]
    fn a_file_cached_in_many_places_counts_as_cached_everywhere() {
        let mut cached = Cached::nothing();
        (0..=RANGES_MAX as u64).for_each(|at| cached.fill(2 * at * PAGE..(2 * at + 1) * PAGE));
        let dropping = cached.begin_drop(PAGE..2 * PAGE).unwrap();
        assert_eq!(dropping.range, PAGE..2 * PAGE);
        cached.dropped(&dropping);
        assert_eq!(cached.begin_drop(PAGE..2 * PAGE), None);
        assert!(cached.filled.len() <= RANGES_MAX);
    }
}

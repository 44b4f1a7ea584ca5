//! Where the record of a page is: the frame it is in, or its shadow.
//!
//! A hash table whose chains run through the records, so that its size follows from the memory of
//! the machine, whatever the files. Neighbouring pages have neighbouring places.

use super::frames::{NONE, PageId};
use fairdisk_core::prng::mix;

/// Pages whose places lie together.
const TOGETHER: u32 = 16;

/// Records of pages, by number, with links for chains.
pub(super) trait Chained {
    /// The page that a record is of.
    fn id(&self, at: u32) -> PageId;
    /// The next record of its chain.
    fn next(&self, at: u32) -> u32;
    /// Makes another record the next one.
    fn set_next(&mut self, at: u32, next: u32);
}

#[derive(Debug)]
pub(super) struct Index {
    /// The first record of each chain.
    first: Vec<u32>,
}

impl Index {
    pub(super) fn new(records: u32) -> Self {
        Self { first: vec![NONE; records.next_multiple_of(TOGETHER).max(TOGETHER) as usize] }
    }

    /// The record of the page.
    pub(super) fn find(&self, records: &impl Chained, id: PageId) -> Option<u32> {
        let mut at = self.first[self.place(id)];
        while at != NONE && records.id(at) != id {
            at = records.next(at);
        }
        (at != NONE).then_some(at)
    }

    /// Adds the record of a page that has none.
    pub(super) fn insert(&mut self, records: &mut impl Chained, at: u32) {
        let id = records.id(at);
        debug_assert!(self.find(records, id).is_none(), "{id:?} is there already");
        let place = self.place(id);
        records.set_next(at, std::mem::replace(&mut self.first[place], at));
    }

    /// Removes the record of a page.
    pub(super) fn remove(&mut self, records: &mut impl Chained, at: u32) {
        let place = self.place(records.id(at));
        let next = records.next(at);
        let mut before = self.first[place];
        if before == at {
            self.first[place] = next;
            return;
        }
        while records.next(before) != at {
            before = records.next(before);
        }
        records.set_next(before, next);
    }

    fn place(&self, id: PageId) -> usize {
        let (file, page) = id.key();
        let hash = mix(u64::from(file) << 32 | u64::from(page / TOGETHER));
        let groups = self.first.len() as u64 / u64::from(TOGETHER);
        let group = (u128::from(hash) * u128::from(groups)) >> 64;
        group as usize * TOGETHER as usize + (page % TOGETHER) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::Frames;
    use super::*;
    use fairdisk_core::Prng;
    use std::collections::BTreeMap;
    use std::collections::btree_map::Entry;

    #[test]
    fn agrees_with_a_map() {
        let (mut prng, mut frames) = (Prng::new(1), Frames::new(100));
        let (mut index, mut map) = (Index::new(100), BTreeMap::new());
        for _ in 0..20_000 {
            let at = prng.below(100) as u32;
            let id = PageId::of_file(prng.below(3) as u32, prng.below(64));
            let frame_of = map.iter().find(|(_, frame)| **frame == at).map(|(id, _)| *id);
            if let Some(id) = frame_of {
                index.remove(&mut frames, at);
                map.remove(&id);
            } else if let Entry::Vacant(entry) = map.entry(id) {
                frames[at].id = id;
                index.insert(&mut frames, at);
                entry.insert(at);
            }
            assert_eq!(index.find(&frames, id), map.get(&id).copied());
        }
    }

    #[test]
    fn chains_are_short() {
        let (mut frames, mut index) = (Frames::new(65_536), Index::new(65_536));
        for at in 0..65_536 {
            frames[at].id = PageId::of_file(at % 16, u64::from(at / 16));
            index.insert(&mut frames, at);
        }
        let length = |first: &u32| {
            std::iter::successors(Some(*first).filter(|at| *at != NONE), |at| {
                Some(frames[*at].next_in_index).filter(|at| *at != NONE)
            })
            .count()
        };
        let steps: usize =
            index.first.iter().map(length).map(|length| length * (length + 1) / 2).sum();
        assert!(steps < 65_536 * 2, "{steps} steps to find 65536 pages");
    }
}

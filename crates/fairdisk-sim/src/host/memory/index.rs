//! Which frame a page of the page cache is in.
//!
//! A hash table whose chains run through the frames, so that its size follows from the memory of
//! the machine, whatever the files. Neighbouring pages have neighbouring places.

use super::frames::{Frames, NONE, PageId};
use fairdisk_core::prng::mix;

/// Pages whose places lie together.
const TOGETHER: u32 = 16;

#[derive(Debug)]
pub(super) struct Index {
    /// The first frame of each chain.
    first: Vec<u32>,
}

impl Index {
    pub(super) fn new(frames: u32) -> Self {
        Self { first: vec![NONE; frames.next_multiple_of(TOGETHER).max(TOGETHER) as usize] }
    }

    /// The frame that the page is in.
    pub(super) fn find(&self, frames: &Frames, id: PageId) -> Option<u32> {
        let mut at = self.first[self.place(id)];
        while at != NONE && frames[at].id != id {
            at = frames[at].next_in_index;
        }
        (at != NONE).then_some(at)
    }

    /// Adds the frame of a page that is in none.
    pub(super) fn insert(&mut self, frames: &mut Frames, at: u32) {
        let id = frames[at].id;
        debug_assert!(self.find(frames, id).is_none(), "{id:?} is in memory already");
        let place = self.place(id);
        frames[at].next_in_index = std::mem::replace(&mut self.first[place], at);
    }

    /// Removes the frame of a page.
    pub(super) fn remove(&mut self, frames: &mut Frames, at: u32) {
        let place = self.place(frames[at].id);
        let next = frames[at].next_in_index;
        let mut before = self.first[place];
        if before == at {
            self.first[place] = next;
            return;
        }
        while frames[before].next_in_index != at {
            before = frames[before].next_in_index;
        }
        frames[before].next_in_index = next;
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

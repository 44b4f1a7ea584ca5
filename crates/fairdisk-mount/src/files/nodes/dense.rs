//! A compact table for nodes that consist of an inode number and a generation: millions of them
//! take a few megabytes.
//!
//! Files that are used together tend to have inode numbers close to one another, so neighbouring
//! numbers share a page. A node takes ten bytes in a full page, and 160 if it is alone in one.

use std::collections::HashMap;

/// The number of neighbouring inode numbers in a page.
const NEIGHBOURS: u64 = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    generation: u32,
    /// The number of lookups; 0 for a node that the kernel does not know. At the maximum it stays
    /// there, and the node is never forgotten.
    count: u32,
}

type Page = Box<[Slot; NEIGHBOURS as usize]>;

/// Generations and lookup counts by inode number.
#[derive(Debug, Default)]
pub(super) struct Dense {
    pages: HashMap<u64, Page>,
    len: usize,
}

const fn split(inode: u64) -> (u64, usize) {
    (inode / NEIGHBOURS, (inode % NEIGHBOURS) as usize)
}

impl Dense {
    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The generation of a node.
    pub(super) fn generation(&self, inode: u64) -> Option<u32> {
        let (page, at) = split(inode);
        let slot = self.pages.get(&page)?[at];
        (slot.count > 0).then_some(slot.generation)
    }

    /// Counts a lookup of a node, and records its current generation.
    pub(super) fn know(&mut self, inode: u64, generation: u32) {
        let (page, at) = split(inode);
        let slot = &mut self.pages.entry(page).or_default()[at];
        self.len += usize::from(slot.count == 0);
        *slot = Slot { generation, count: slot.count.saturating_add(1) };
    }

    /// Subtracts `count` lookups.
    pub(super) fn forget(&mut self, inode: u64, count: u64) {
        let (page, at) = split(inode);
        let Some(slots) = self.pages.get_mut(&page) else { return };
        let slot = &mut slots[at];
        if slot.count == 0 || slot.count == u32::MAX {
            return;
        }
        slot.count = slot.count.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX));
        if slot.count == 0 {
            self.gone(page);
        }
    }

    /// Removes a node and returns its lookup count.
    pub(super) fn take(&mut self, inode: u64) -> Option<u64> {
        let (page, at) = split(inode);
        let slot = std::mem::take(&mut self.pages.get_mut(&page)?[at]);
        if slot.count == 0 {
            return None;
        }
        self.gone(page);
        Some(u64::from(slot.count))
    }

    fn gone(&mut self, page: u64) {
        self.len -= 1;
        if self.pages.get(&page).is_some_and(|slots| slots.iter().all(|slot| slot.count == 0)) {
            self.pages.remove(&page);
        }
        let (used, room) = (self.pages.len(), self.pages.capacity());
        if room > 1024 && used < room / 8 {
            self.pages.shrink_to(used * 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_come_and_go_one_by_one() {
        let mut dense = Dense::default();
        dense.know(32, 7);
        dense.know(33, 8);
        dense.know(33, 9);
        assert_eq!((dense.generation(32), dense.generation(33)), (Some(7), Some(9)));
        assert_eq!((dense.generation(34), dense.generation(99), dense.len()), (None, None, 2));
        dense.forget(33, 1);
        dense.forget(34, 1);
        assert_eq!(dense.generation(33), Some(9));
        assert_eq!((dense.take(33), dense.take(33)), (Some(1), None));
        dense.forget(32, 5);
        assert!(dense.len() == 0 && dense.pages.is_empty());
    }

    #[test]
    fn memory_goes_with_the_nodes() {
        let mut dense = Dense::default();
        (100..100_000).for_each(|inode| dense.know(inode, 1));
        assert!(dense.pages.capacity() < 20_000);
        (100..100_000).for_each(|inode| dense.forget(inode, 1));
        assert!(dense.pages.capacity() < 4096);
    }
}

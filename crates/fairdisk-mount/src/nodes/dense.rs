//! Nodes that are an inode number and a generation: millions of them in a few megabytes.
//!
//! Inode numbers of files that are looked at together are near one another, so the nodes of a few
//! neighbouring numbers share a page. Dense, a node costs ten bytes; all alone, 160.

use std::collections::HashMap;

/// Neighbouring inode numbers that share a page.
const NEIGHBOURS: u64 = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    generation: u32,
    /// How often the kernel was told; 0 if it does not know the node. At the largest number it
    /// stays: such a node is never forgotten.
    count: u32,
}

type Page = Box<[Slot; NEIGHBOURS as usize]>;

/// Generations and counts by inode number.
#[derive(Debug, Default)]
pub(super) struct Dense {
    pages: HashMap<u64, Page>,
    len: usize,
}

const fn split(inode: u64) -> (u64, usize) {
    (inode / NEIGHBOURS, (inode % NEIGHBOURS) as usize)
}

impl Dense {
    /// Nodes known.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The generation of a node.
    pub(super) fn generation(&self, inode: u64) -> Option<u32> {
        let (page, at) = split(inode);
        let slot = self.pages.get(&page)?[at];
        (slot.count > 0).then_some(slot.generation)
    }

    /// The kernel is told of a node once more; the last generation counts.
    pub(super) fn know(&mut self, inode: u64, generation: u32) {
        let (page, at) = split(inode);
        let slot = &mut self.pages.entry(page).or_default()[at];
        self.len += usize::from(slot.count == 0);
        *slot = Slot { generation, count: slot.count.saturating_add(1) };
    }

    /// The kernel forgets a node `count` times.
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

    /// Takes a node out; how often the kernel was told of it is the answer.
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

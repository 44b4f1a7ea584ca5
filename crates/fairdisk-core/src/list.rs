//! Sorted lists without an allocation per element, for keys that arrive nearly in order. One
//! [`Lists`] holds the nodes, indexed by small numbers such as request slots, and many [`List`]s
//! share it.
//!
//! An element is inserted from the end, past all larger keys. Keys that never decrease take one
//! step; a smaller key takes one step for each element it passes.

use alloc::vec::Vec;

const NIL: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node<K> {
    key: K,
    previous: u32,
    next: u32,
}

/// The nodes of any number of lists. An element is in at most one list at a time.
#[derive(Clone, Debug)]
pub struct Lists<K> {
    nodes: Vec<Node<K>>,
}

/// One sorted list in a [`Lists`]. Elements with equal keys keep their order of insertion.
#[derive(Clone, Debug)]
pub struct List {
    first: u32,
    last: u32,
}

impl Default for List {
    fn default() -> Self {
        Self::new()
    }
}

impl List {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { first: NIL, last: NIL }
    }

    /// The element with the smallest key; of equal keys the oldest.
    #[must_use]
    pub const fn first(&self) -> Option<u32> {
        if self.first == NIL { None } else { Some(self.first) }
    }

    /// The element with the largest key; of equal keys the newest.
    #[must_use]
    pub const fn last(&self) -> Option<u32> {
        if self.last == NIL { None } else { Some(self.last) }
    }
}

impl<K: Ord + Copy> Default for Lists<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord + Copy> Lists<K> {
    /// A set of nodes for lists, initially without any.
    #[must_use]
    pub const fn new() -> Self {
        Self { nodes: Vec::new() }
    }

    /// The key of element `index`, which must be in a list.
    #[must_use]
    pub fn key(&self, index: u32) -> K {
        self.nodes[index as usize].key
    }

    /// The element before `index` in its list.
    #[must_use]
    pub fn previous(&self, index: u32) -> Option<u32> {
        let previous = self.nodes[index as usize].previous;
        (previous != NIL).then_some(previous)
    }

    /// The element after `index` in its list.
    #[must_use]
    pub fn next(&self, index: u32) -> Option<u32> {
        let next = self.nodes[index as usize].next;
        (next != NIL).then_some(next)
    }

    /// Inserts element `index` into `list`, after any equal keys. It must not be in a list.
    pub fn insert(&mut self, list: &mut List, index: u32, key: K) {
        let (mut previous, mut next) = (list.last, NIL);
        while let Some(node) = self.nodes.get(previous as usize)
            && node.key > key
        {
            (previous, next) = (node.previous, previous);
        }
        let node = Node { key, previous, next };
        match self.nodes.get_mut(index as usize) {
            Some(free) => *free = node,
            None => self.nodes.resize(index as usize + 1, node),
        }
        *self.next_of(list, previous) = index;
        *self.previous_of(list, next) = index;
    }

    /// Removes element `index` from `list`, which must contain it.
    pub fn remove(&mut self, list: &mut List, index: u32) {
        let Node { previous, next, .. } = self.nodes[index as usize];
        *self.next_of(list, previous) = next;
        *self.previous_of(list, next) = previous;
    }

    fn next_of<'a>(&'a mut self, list: &'a mut List, index: u32) -> &'a mut u32 {
        if index == NIL { &mut list.first } else { &mut self.nodes[index as usize].next }
    }

    fn previous_of<'a>(&'a mut self, list: &'a mut List, index: u32) -> &'a mut u32 {
        if index == NIL { &mut list.last } else { &mut self.nodes[index as usize].previous }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prng::Prng;
    use std::vec::Vec;

    /// Compares random insertions and removals with a sorted vector.
    #[test]
    fn agrees_with_a_sorted_vector() {
        let mut prng = Prng::new(7);
        let mut lists = Lists::new();
        let mut both = [List::new(), List::new()];
        let mut model: [Vec<(u64, u32)>; 2] = [Vec::new(), Vec::new()];
        for step in 0..20_000 {
            let (which, index) = (prng.below(2) as usize, prng.below(64) as u32);
            if let Some(at) = model[which].iter().position(|entry| entry.1 == index) {
                lists.remove(&mut both[which], index);
                model[which].remove(at);
            } else if model[1 - which].iter().all(|entry| entry.1 != index) {
                let key = step / 8 + prng.below(20);
                lists.insert(&mut both[which], index, key);
                let at = model[which].partition_point(|entry| entry.0 <= key);
                model[which].insert(at, (key, index));
            }
            for (list, model) in both.iter().zip(&model) {
                assert_eq!(in_order(&lists, list), *model);
                assert_eq!(list.last, model.last().map_or(NIL, |entry| entry.1));
            }
        }
    }

    fn in_order(lists: &Lists<u64>, list: &List) -> Vec<(u64, u32)> {
        let some = |at: u32| Some(at).filter(|at| *at != NIL);
        let next = |at: &u32| some(lists.nodes[*at as usize].next);
        let all = core::iter::successors(list.first(), next);
        all.map(|at| (lists.key(at), at)).collect()
    }
}

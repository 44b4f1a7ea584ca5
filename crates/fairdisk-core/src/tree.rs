//! Sorted sets without an allocation per element. One [`Forest`] holds the nodes, and many
//! [`Tree`]s share it. Elements are small numbers such as request slots or queue numbers.
//!
//! The trees are B+ trees: elements are stored contiguously in leaves, so an operation touches few
//! cache lines, however large the tree. A tree with one element needs no node. All operations take
//! O(log n) time.

mod node;

use alloc::vec::Vec;
use node::{Node, count};

const NIL: u32 = u32::MAX;
/// Takes the place of a leaf number for the only element of a tree without nodes.
const ALONE: u32 = NIL - 1;
/// The most elements in a leaf, and the most children of an inner node.
const WIDTH: usize = 16;
/// A node with fewer entries than this is joined with a neighbour, if [`JOINED`] allows it.
const FEW: usize = WIDTH / 4;
/// The most entries a joined node may have; the rest is kept free so that it does not soon split
/// again.
const JOINED: usize = WIDTH * 3 / 4;

/// The key of an element and the leaf that contains it.
#[derive(Clone, Copy, Debug)]
struct Place<K> {
    key: K,
    leaf: u32,
}

/// The nodes of any number of trees. An element is in at most one tree at a time.
#[derive(Clone, Debug)]
pub struct Forest<K> {
    places: Vec<Place<K>>,
    nodes: Vec<Node<K>>,
    /// The first free node; the others follow by `next`.
    free: u32,
}

/// One sorted set in a [`Forest`]. Elements with equal keys keep their order of insertion.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The root node; `NIL` while the tree has at most one element.
    root: u32,
    /// The element with the smallest key.
    first: u32,
    len: u32,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// An empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { root: NIL, first: NIL, len: 0 }
    }

    /// The number of elements.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<K: Ord + Copy> Default for Forest<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord + Copy> Forest<K> {
    /// A forest without trees.
    #[must_use]
    pub const fn new() -> Self {
        Self { places: Vec::new(), nodes: Vec::new(), free: NIL }
    }

    /// Whether element `index` is in any tree.
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        self.places.get(index as usize).is_some_and(|place| place.leaf != NIL)
    }

    /// The key of element `index`, which must be in a tree.
    #[must_use]
    pub fn key(&self, index: u32) -> K {
        debug_assert!(self.contains(index));
        self.places[index as usize].key
    }

    /// Inserts element `index` into `tree`, after any equal keys. It must not be in a tree.
    #[inline]
    pub fn insert(&mut self, tree: &mut Tree, index: u32, key: K) {
        debug_assert!(!self.contains(index), "element {index} is in a tree already");
        if index as usize >= self.places.len() {
            self.make_room(index, key);
        }
        self.places[index as usize] = Place { key, leaf: ALONE };
        tree.len += 1;
        if tree.len == 1 {
            tree.first = index;
        } else {
            self.insert_among(tree, index, key);
        }
    }

    /// Removes element `index` from `tree`, which must contain it.
    #[inline]
    pub fn remove(&mut self, tree: &mut Tree, index: u32) {
        debug_assert!(self.contains(index), "element {index} is in no tree");
        let leaf = core::mem::replace(&mut self.places[index as usize].leaf, NIL);
        tree.len -= 1;
        if leaf == ALONE {
            tree.first = NIL;
        } else {
            self.remove_from(tree, leaf, index);
        }
    }

    /// Changes the key of element `index` of `tree`; the element goes after any equal keys.
    #[inline]
    pub fn set_key(&mut self, tree: &mut Tree, index: u32, key: K) {
        debug_assert!(self.contains(index), "element {index} is in no tree");
        let place = &mut self.places[index as usize];
        if place.leaf == ALONE {
            place.key = key;
        } else {
            self.set_key_among(tree, index, key);
        }
    }

    /// The element with the smallest key.
    #[must_use]
    #[inline]
    pub fn first(&self, tree: &Tree) -> Option<u32> {
        (tree.first != NIL).then_some(tree.first)
    }

    /// The element with the largest key.
    #[must_use]
    pub fn last(&self, tree: &Tree) -> Option<u32> {
        if tree.root == NIL {
            return self.first(tree);
        }
        let mut node = self.node(tree.root);
        while !node.is_leaf {
            node = self.node(node.entries[node.len - 1]);
        }
        Some(node.entries[node.len - 1])
    }

    /// The element after `index` in its tree.
    #[must_use]
    pub fn next(&self, index: u32) -> Option<u32> {
        let leaf = self.nodes.get(self.places[index as usize].leaf as usize)?;
        self.entry_or_next(leaf, leaf.find(index) + 1)
    }

    /// The element before `index` in its tree.
    #[must_use]
    pub fn prev(&self, index: u32) -> Option<u32> {
        let leaf = self.nodes.get(self.places[index as usize].leaf as usize)?;
        match leaf.find(index) {
            0 => self.nodes.get(leaf.previous as usize)?.entries().last().copied(),
            at => Some(leaf.entries[at - 1]),
        }
    }

    /// The first element whose key is at least `key`.
    #[must_use]
    #[inline]
    pub fn lower_bound(&self, tree: &Tree, key: K) -> Option<u32> {
        if tree.root == NIL {
            return self.first(tree).filter(|only| self.key(*only) >= key);
        }
        self.lower_bound_among(tree, key)
    }

    // ---- finding -------------------------------------------------------------------------

    #[inline(never)]
    fn lower_bound_among(&self, tree: &Tree, key: K) -> Option<u32> {
        let leaf = self.node(self.leaf_where(tree, |one| *one < key));
        self.entry_or_next(leaf, count(leaf.keys(), |one| *one < key))
    }

    fn node(&self, node: u32) -> &Node<K> {
        &self.nodes[node as usize]
    }

    fn node_mut(&mut self, node: u32) -> &mut Node<K> {
        &mut self.nodes[node as usize]
    }

    /// Entry number `at` of a leaf, or the first entry of the next leaf if this one is shorter.
    fn entry_or_next(&self, leaf: &Node<K>, at: usize) -> Option<u32> {
        let here = leaf.entries().get(at).copied();
        here.or_else(|| self.nodes.get(leaf.next as usize).map(|next| next.entries[0]))
    }

    /// The leaf in which the keys that are `below` end: the last leaf whose separator key is
    /// `below`, or the first leaf of the tree.
    fn leaf_where(&self, tree: &Tree, below: impl Fn(&K) -> bool) -> u32 {
        let mut at = tree.root;
        loop {
            let node = self.node(at);
            if node.is_leaf {
                return at;
            }
            at = node.entries[count(&node.keys()[1..], &below)];
        }
    }

    // ---- growing -------------------------------------------------------------------------

    /// Makes room for elements up to `index` and for every node they can ever need, so that later
    /// operations do not allocate.
    #[cold]
    fn make_room(&mut self, index: u32, key: K) {
        self.places.resize(index as usize + 1, Place { key, leaf: NIL });
        let nodes = self.places.capacity();
        self.nodes.reserve(nodes.saturating_sub(self.nodes.len()));
    }

    /// Inserts an element into a non-empty tree.
    #[inline(never)]
    fn insert_among(&mut self, tree: &mut Tree, index: u32, key: K) {
        if tree.root == NIL {
            let only = tree.first;
            tree.root = self.new_node(true, key);
            self.put(tree, tree.root, 0, self.key(only), only);
        }
        let leaf = self.leaf_where(tree, |one| *one <= key);
        let node = self.node_mut(leaf);
        let at = count(node.keys(), |one| *one <= key);
        if at == 0 && node.previous == NIL {
            tree.first = index;
        }
        if node.len == WIDTH {
            return self.put(tree, leaf, at, key, index);
        }
        node.insert(at, key, index);
        self.places[index as usize].leaf = leaf;
    }

    /// Inserts an entry into a node, splitting the node if it is full.
    fn put(&mut self, tree: &mut Tree, mut node: u32, mut at: usize, key: K, entry: u32) {
        if self.node(node).len == WIDTH {
            let right = self.split(tree, node);
            let half = self.node(node).len;
            if at > half {
                (node, at) = (right, at - half);
            }
        }
        self.node_mut(node).insert(at, key, entry);
        if self.node(node).is_leaf {
            self.places[entry as usize].leaf = node;
        } else {
            self.node_mut(entry).parent = node;
        }
    }

    /// Moves the upper half of a node's entries into a new node to its right.
    #[cold]
    fn split(&mut self, tree: &mut Tree, left: u32) -> u32 {
        let (is_leaf, key) = (self.node(left).is_leaf, self.node(left).keys[WIDTH / 2]);
        let right = self.new_node(is_leaf, key);
        self.move_entries(left, WIDTH / 2, right);
        self.node_mut(right).end = core::mem::replace(&mut self.node_mut(left).end, key);
        self.link(left, right);
        if self.node(left).parent == NIL {
            tree.root = self.new_node(false, key);
            self.put(tree, tree.root, 0, key, left);
        }
        let parent = self.node(left).parent;
        let at = self.node(parent).find(left) + 1;
        self.put(tree, parent, at, key, right);
        right
    }

    /// Moves the entries of `from`, starting with number `at`, to the end of `to`.
    fn move_entries(&mut self, from: u32, at: usize, to: u32) {
        let source = self.node(from).clone();
        for entry in &source.entries()[at..] {
            if source.is_leaf {
                self.places[*entry as usize].leaf = to;
            } else {
                self.node_mut(*entry).parent = to;
            }
        }
        self.node_mut(to).append(&source, at);
        self.node_mut(from).len = at;
    }

    fn new_node(&mut self, is_leaf: bool, key: K) -> u32 {
        let node = match self.nodes.get(self.free as usize) {
            Some(free) => core::mem::replace(&mut self.free, free.next),
            None => {
                let (keys, entries, end) = ([key; WIDTH], [NIL; WIDTH], key);
                let (parent, previous, next) = (NIL, NIL, NIL);
                let node = Node { keys, entries, end, len: 0, is_leaf, parent, previous, next };
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        let new = self.node_mut(node);
        (new.len, new.is_leaf) = (0, is_leaf);
        (new.parent, new.previous, new.next) = (NIL, NIL, NIL);
        node
    }

    /// Makes `right` the right neighbour of `left`.
    fn link(&mut self, left: u32, right: u32) {
        let next = core::mem::replace(&mut self.node_mut(left).next, right);
        (self.node_mut(right).previous, self.node_mut(right).next) = (left, next);
        if next != NIL {
            self.node_mut(next).previous = right;
        }
    }

    /// Changes the key of an element in a tree with more than one.
    #[inline(never)]
    fn set_key_among(&mut self, tree: &mut Tree, index: u32, key: K) {
        let place = &mut self.places[index as usize];
        let leaf = &mut self.nodes[place.leaf as usize];
        if !leaf.set_key(index, key) {
            self.remove(tree, index);
            return self.insert(tree, index, key);
        }
        place.key = key;
        if leaf.previous == NIL {
            tree.first = leaf.entries[0];
        }
    }

    // ---- shrinking -----------------------------------------------------------------------

    /// Removes an element from the leaf that contains it.
    #[inline(never)]
    fn remove_from(&mut self, tree: &mut Tree, leaf: u32, index: u32) {
        if index == tree.first {
            tree.first = self.entry_or_next(self.node(leaf), 1).unwrap_or(NIL);
        }
        self.take(tree, leaf, index);
    }

    /// Removes an entry from a node, which may become too small to keep.
    #[inline]
    fn take(&mut self, tree: &mut Tree, node: u32, entry: u32) {
        let from = self.node_mut(node);
        from.remove(from.find(entry));
        if from.len < FEW {
            self.keep_few_small(tree, node);
        }
    }

    /// Joins a node that has become small with a neighbour, or frees it if it is empty.
    #[inline(never)]
    fn keep_few_small(&mut self, tree: &mut Tree, node: u32) {
        let Node { len, parent, previous, next, .. } = *self.node(node);
        if parent == NIL {
            self.lower(tree);
        } else if self.may_join(previous, node) {
            self.join(tree, previous, node);
        } else if self.may_join(node, next) {
            self.join(tree, node, next);
        } else if len == 0 {
            self.dissolve(tree, node);
        }
    }

    fn may_join(&self, left: u32, right: u32) -> bool {
        let (Some(left), Some(right)) =
            (self.nodes.get(left as usize), self.nodes.get(right as usize))
        else {
            return false;
        };
        left.parent == right.parent && left.len + right.len <= JOINED
    }

    /// Moves all entries of `right` to its left neighbour `left` and frees `right`.
    fn join(&mut self, tree: &mut Tree, left: u32, right: u32) {
        let Node { is_leaf, parent, .. } = *self.node(right);
        if !is_leaf {
            // `keys[0]` of an inner node is not kept up to date; the parent has the true separator.
            let parent = self.node(parent);
            let key = parent.keys[parent.find(right)];
            self.node_mut(right).keys[0] = key;
        }
        self.move_entries(right, 0, left);
        self.dissolve(tree, right);
    }

    /// Removes an empty node from its neighbours and its parent, and frees it.
    fn dissolve(&mut self, tree: &mut Tree, node: u32) {
        let Node { end, parent, previous, next, .. } = *self.node(node);
        if previous != NIL {
            let before = self.node_mut(previous);
            before.next = next;
            if before.parent == parent {
                before.end = end;
            }
        }
        if next != NIL {
            self.node_mut(next).previous = previous;
        }
        self.release(node);
        self.take(tree, parent, node);
    }

    /// Removes a root that has no entries left, or only one child.
    fn lower(&mut self, tree: &mut Tree) {
        let Node { len, is_leaf, entries: [only, ..], .. } = *self.node(tree.root);
        if is_leaf && len == 0 {
            self.release(tree.root);
            tree.root = NIL;
        } else if !is_leaf && len == 1 {
            self.release(tree.root);
            tree.root = only;
            self.node_mut(only).parent = NIL;
        }
    }

    fn release(&mut self, node: u32) {
        self.node_mut(node).next = core::mem::replace(&mut self.free, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prng::Prng;
    use std::vec::Vec;

    /// Compares random insertions, removals and key changes with sorted lists, while the trees grow
    /// and shrink.
    fn agrees_with_sorted_lists(elements: u64, keys: u64, steps: u64) {
        let mut prng = Prng::new(7);
        let mut forest = Forest::new();
        let mut trees = [Tree::new(), Tree::new()];
        let mut model: [Vec<(u64, u64, u32)>; 2] = [Vec::new(), Vec::new()];
        for step in 0..steps {
            let which = prng.below(2) as usize;
            // Alternate between phases of mostly insertions and mostly removals.
            let growing = (step / (4 * elements)).is_multiple_of(2);
            let index = prng.below(elements) as u32;
            let at = prng.below(model[which].len().max(1) as u64) as usize;
            if !forest.contains(index) && prng.chance(if growing { 2 } else { 1 }, 3) {
                let key = prng.below(keys);
                forest.insert(&mut trees[which], index, key);
                let at = model[which].partition_point(|e| (e.0, e.1) <= (key, step));
                model[which].insert(at, (key, step, index));
            } else if at < model[which].len() {
                let (_, _, index) = model[which].remove(at);
                if prng.chance(3, 4) {
                    forest.remove(&mut trees[which], index);
                } else {
                    let key = prng.below(keys);
                    forest.set_key(&mut trees[which], index, key);
                    let at = model[which].partition_point(|e| (e.0, e.1) <= (key, step));
                    model[which].insert(at, (key, step, index));
                }
            }
            for (tree, model) in trees.iter().zip(&model) {
                check(&forest, tree, model, prng.below(keys + 2));
            }
            check_nodes(&forest, &trees);
        }
    }

    #[test]
    fn small_trees_agree_with_sorted_lists() {
        agrees_with_sorted_lists(6, 4, 20_000);
        agrees_with_sorted_lists(64, 20, 20_000);
    }

    #[test]
    fn trees_of_several_levels_agree_with_sorted_lists() {
        agrees_with_sorted_lists(3000, 100_000, 60_000);
        agrees_with_sorted_lists(3000, 3, 60_000);
    }

    fn check(forest: &Forest<u64>, tree: &Tree, model: &[(u64, u64, u32)], probe: u64) {
        assert_eq!(tree.len() as usize, model.len());
        let want = |at: usize| model.get(at).map(|entry| entry.2);
        assert_eq!(forest.first(tree), want(0));
        assert_eq!(forest.last(tree), want(model.len().wrapping_sub(1)));
        let bound = model.partition_point(|entry| entry.0 < probe);
        assert_eq!(forest.lower_bound(tree, probe), want(bound));
        // Check a few neighbours each time, and all elements now and then.
        let few = if probe.is_multiple_of(64) { model.len() } else { 8 };
        for (at, (key, _, index)) in model.iter().enumerate().skip(bound).take(few) {
            assert_eq!(forest.key(*index), *key);
            assert_eq!(forest.next(*index), want(at + 1));
            assert_eq!(forest.prev(*index), want(at.wrapping_sub(1)));
        }
    }

    /// Checks that nodes for every possible element are reserved, so that nothing is allocated
    /// later.
    fn check_nodes(forest: &Forest<u64>, trees: &[Tree]) {
        let free = core::iter::successors(forest.nodes.get(forest.free as usize), |node| {
            forest.nodes.get(node.next as usize)
        });
        let used = forest.nodes.len() - free.count();
        let elements: u32 = trees.iter().map(Tree::len).sum();
        assert!(used <= elements as usize, "{used} nodes for {elements} elements");
        for (index, place) in (0..).zip(&forest.places) {
            // Every key inserted below `end` stays before all keys of the next leaf.
            let Some(leaf) = forest.nodes.get(place.leaf as usize) else { continue };
            assert_eq!(leaf.keys[leaf.find(index)], place.key);
            let next = forest.nodes.get(leaf.next as usize);
            assert!(next.is_none_or(|next| leaf.end <= next.keys[0]));
        }
    }
}

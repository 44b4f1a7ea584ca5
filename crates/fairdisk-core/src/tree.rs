//! Ordered sets without allocation per element: one [`Forest`] holds the nodes, indexed by small
//! numbers (request slots, queue numbers), and many [`Tree`]s share it.
//!
//! The trees are treaps. A node's heap priority is a hash of its index, so the shape, and with it
//! the cost, is the same on every machine. All operations take O(log n) expected time.

use crate::prng::mix;
use alloc::vec::Vec;

const NIL: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node<K> {
    key: K,
    left: u32,
    right: u32,
    parent: u32,
    linked: bool,
}

/// The nodes of any number of trees. An element is in at most one tree at a time.
#[derive(Clone, Debug)]
pub struct Forest<K> {
    nodes: Vec<Node<K>>,
}

/// One ordered set in a [`Forest`]. Equal keys keep their order of insertion.
#[derive(Clone, Debug)]
pub struct Tree {
    root: u32,
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
        Self { root: NIL, len: 0 }
    }

    /// Number of elements.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is no element.
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
    /// A forest without nodes.
    #[must_use]
    pub const fn new() -> Self {
        Self { nodes: Vec::new() }
    }

    /// Whether element `index` is in some tree.
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        self.nodes.get(index as usize).is_some_and(|node| node.linked)
    }

    /// The key of element `index`, which must be in a tree.
    #[must_use]
    pub fn key(&self, index: u32) -> K {
        debug_assert!(self.contains(index));
        self.nodes[index as usize].key
    }

    /// Puts element `index` into `tree`, after any equal keys. It must not be in a tree.
    pub fn insert(&mut self, tree: &mut Tree, index: u32, key: K) {
        debug_assert!(!self.contains(index), "element {index} is in a tree already");
        self.make_room(index, key);
        let (mut parent, mut at, mut goes_left) = (NIL, tree.root, false);
        while at != NIL {
            parent = at;
            let node = &self.nodes[at as usize];
            goes_left = key < node.key;
            at = if goes_left { node.left } else { node.right };
        }
        self.nodes[index as usize] = Node { key, left: NIL, right: NIL, parent, linked: true };
        match parent {
            NIL => tree.root = index,
            parent if goes_left => self.nodes[parent as usize].left = index,
            parent => self.nodes[parent as usize].right = index,
        }
        tree.len += 1;
        loop {
            let parent = self.nodes[index as usize].parent;
            if parent == NIL || rank(index) < rank(parent) {
                break;
            }
            self.rotate_up(tree, index);
        }
    }

    /// Takes element `index` out of `tree`, in which it must be.
    pub fn remove(&mut self, tree: &mut Tree, index: u32) {
        debug_assert!(self.contains(index), "element {index} is in no tree");
        loop {
            let Node { left, right, parent, .. } = self.nodes[index as usize];
            if left != NIL && right != NIL {
                self.rotate_up(tree, if rank(left) > rank(right) { left } else { right });
                continue;
            }
            let child = if left == NIL { right } else { left };
            if child != NIL {
                self.nodes[child as usize].parent = parent;
            }
            self.replace_child(tree, parent, index, child);
            break;
        }
        self.nodes[index as usize].linked = false;
        tree.len -= 1;
    }

    /// The element with the smallest key.
    #[must_use]
    pub fn first(&self, tree: &Tree) -> Option<u32> {
        self.leftmost(tree.root)
    }

    /// The element with the largest key.
    #[must_use]
    pub fn last(&self, tree: &Tree) -> Option<u32> {
        self.rightmost(tree.root)
    }

    /// The element after `index` in its tree.
    #[must_use]
    pub fn next(&self, index: u32) -> Option<u32> {
        let node = &self.nodes[index as usize];
        if node.right != NIL {
            return self.leftmost(node.right);
        }
        self.ancestor(index, |node, child| node.left == child)
    }

    /// The element before `index` in its tree.
    #[must_use]
    pub fn prev(&self, index: u32) -> Option<u32> {
        let node = &self.nodes[index as usize];
        if node.left != NIL {
            return self.rightmost(node.left);
        }
        self.ancestor(index, |node, child| node.right == child)
    }

    /// The first element whose key is at least `key`.
    #[must_use]
    pub fn lower_bound(&self, tree: &Tree, key: K) -> Option<u32> {
        let (mut at, mut best) = (tree.root, None);
        while at != NIL {
            let node = &self.nodes[at as usize];
            if node.key < key {
                at = node.right;
            } else {
                best = Some(at);
                at = node.left;
            }
        }
        best
    }

    #[inline]
    fn make_room(&mut self, index: u32, key: K) {
        while self.nodes.len() <= index as usize {
            let free = Node { key, left: NIL, right: NIL, parent: NIL, linked: false };
            self.nodes.push(free);
        }
    }

    fn leftmost(&self, mut at: u32) -> Option<u32> {
        let mut found = None;
        while at != NIL {
            found = Some(at);
            at = self.nodes[at as usize].left;
        }
        found
    }

    fn rightmost(&self, mut at: u32) -> Option<u32> {
        let mut found = None;
        while at != NIL {
            found = Some(at);
            at = self.nodes[at as usize].right;
        }
        found
    }

    /// The nearest ancestor reached through the side `came_from` recognises.
    fn ancestor(&self, mut index: u32, came_from: impl Fn(&Node<K>, u32) -> bool) -> Option<u32> {
        loop {
            let parent = self.nodes[index as usize].parent;
            if parent == NIL {
                return None;
            }
            if came_from(&self.nodes[parent as usize], index) {
                return Some(parent);
            }
            index = parent;
        }
    }

    /// Lifts `index` above its parent, keeping the order of keys.
    #[inline]
    fn rotate_up(&mut self, tree: &mut Tree, index: u32) {
        let parent = self.nodes[index as usize].parent;
        let grand = self.nodes[parent as usize].parent;
        let moved;
        if self.nodes[parent as usize].left == index {
            moved = self.nodes[index as usize].right;
            self.nodes[parent as usize].left = moved;
            self.nodes[index as usize].right = parent;
        } else {
            moved = self.nodes[index as usize].left;
            self.nodes[parent as usize].right = moved;
            self.nodes[index as usize].left = parent;
        }
        if moved != NIL {
            self.nodes[moved as usize].parent = parent;
        }
        self.nodes[parent as usize].parent = index;
        self.nodes[index as usize].parent = grand;
        self.replace_child(tree, grand, parent, index);
    }

    #[inline]
    fn replace_child(&mut self, tree: &mut Tree, parent: u32, old: u32, new: u32) {
        match parent {
            NIL => tree.root = new,
            parent => {
                let node = &mut self.nodes[parent as usize];
                if node.left == old {
                    node.left = new;
                } else {
                    node.right = new;
                }
            }
        }
    }
}

/// The heap priority of element `index`; distinct for distinct elements.
const fn rank(index: u32) -> u64 {
    mix(index as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prng::Prng;
    use std::vec::Vec;

    /// Random insertions and removals against a sorted list.
    #[test]
    fn agrees_with_a_sorted_list() {
        let mut prng = Prng::new(7);
        let mut forest = Forest::new();
        let mut trees = [Tree::new(), Tree::new()];
        let mut model: [Vec<(u64, u64, u32)>; 2] = [Vec::new(), Vec::new()];
        for step in 0..20_000u64 {
            let (which, index) = (prng.below(2) as usize, prng.below(64) as u32);
            if let Some(at) = model[which].iter().position(|entry| entry.2 == index) {
                forest.remove(&mut trees[which], index);
                model[which].remove(at);
            } else if !forest.contains(index) {
                let key = prng.below(20);
                forest.insert(&mut trees[which], index, key);
                let at = model[which].partition_point(|e| (e.0, e.1) <= (key, step));
                model[which].insert(at, (key, step, index));
            }
            for (tree, model) in trees.iter().zip(&model) {
                check(&forest, tree, model, prng.below(22));
            }
        }
    }

    fn check(forest: &Forest<u64>, tree: &Tree, model: &[(u64, u64, u32)], probe: u64) {
        let want: Vec<u32> = model.iter().map(|entry| entry.2).collect();
        let mut got = Vec::new();
        let mut at = forest.first(tree);
        while let Some(index) = at {
            got.push(index);
            at = forest.next(index);
        }
        assert_eq!(got, want);
        assert_eq!(tree.len() as usize, want.len());
        assert_eq!(forest.last(tree), want.last().copied());
        let bound = model.iter().find(|entry| entry.0 >= probe).map(|entry| entry.2);
        assert_eq!(forest.lower_bound(tree, probe), bound);
        if let Some(last) = forest.last(tree) {
            assert_eq!(forest.prev(last), want.iter().rev().nth(1).copied());
        }
    }
}

//! A node of a tree: a leaf that holds elements, or an inner node that holds child nodes.

use super::{NIL, WIDTH};

/// The node's keys and entries, in separate arrays, and its place in the tree.
#[derive(Clone, Debug)]
pub(super) struct Node<K> {
    /// In a leaf, the keys of the elements. In an inner node, `keys[i]` separates the children: no
    /// key in child `i` is below it and none in child `i - 1` is above it. `keys[0]` is not used.
    pub(super) keys: [K; WIDTH],
    /// Elements in a leaf, numbers of child nodes in an inner node.
    pub(super) entries: [u32; WIDTH],
    /// In a leaf: an inserted key below this belongs into this leaf or one before it.
    pub(super) end: K,
    pub(super) len: usize,
    pub(super) is_leaf: bool,
    pub(super) parent: u32,
    /// The neighbours at the same height. Free nodes are chained by `next`.
    pub(super) previous: u32,
    pub(super) next: u32,
}

impl<K: Ord + Copy> Node<K> {
    pub(super) fn keys(&self) -> &[K] {
        &self.keys[..self.len]
    }

    pub(super) fn entries(&self) -> &[u32] {
        &self.entries[..self.len]
    }

    /// The index of `entry`, which must be in this node. Stale entries after the last one therefore
    /// do not matter.
    pub(super) fn find(&self, entry: u32) -> usize {
        self.entries.iter().position(|one| *one == entry).unwrap_or(WIDTH)
    }

    pub(super) fn insert(&mut self, at: usize, key: K, entry: u32) {
        if at < self.len {
            self.keys.copy_within(at..self.len, at + 1);
            self.entries.copy_within(at..self.len, at + 1);
        }
        (self.keys[at], self.entries[at]) = (key, entry);
        self.len += 1;
    }

    pub(super) fn remove(&mut self, at: usize) {
        if at + 1 < self.len {
            self.keys.copy_within(at + 1..self.len, at);
            self.entries.copy_within(at + 1..self.len, at);
        }
        self.len -= 1;
    }

    /// Changes the key of a leaf's entry and moves it to its new place, after equal keys. Returns
    /// `false` and changes nothing if the new place may be in another leaf.
    pub(super) fn set_key(&mut self, entry: u32, key: K) -> bool {
        let may_be_behind = key >= self.end && self.next != NIL;
        if may_be_behind {
            return false;
        }
        let at = self.find(entry);
        let to = if key >= self.keys[at] {
            at + self.keys()[at + 1..].iter().take_while(|one| **one <= key).count()
        } else {
            let to = count(&self.keys[..at], |one| *one <= key);
            let may_be_before = to == 0 && self.previous != NIL;
            if may_be_before {
                return false;
            }
            to
        };
        if to != at {
            self.remove(at);
            self.insert(to, key, entry);
        }
        self.keys[to] = key;
        true
    }

    /// Appends the entries of `other`, starting with number `from`.
    pub(super) fn append(&mut self, other: &Self, from: usize) {
        let len = self.len + other.len - from;
        self.keys[self.len..len].copy_from_slice(&other.keys()[from..]);
        self.entries[self.len..len].copy_from_slice(&other.entries()[from..]);
        self.len = len;
    }
}

/// The number of leading keys that are `below`. With so few keys a linear search is fastest, and it
/// starts from the end because most insertions go there.
pub(super) fn count<K>(keys: &[K], below: impl Fn(&K) -> bool) -> usize {
    keys.iter().rposition(below).map_or(0, |last| last + 1)
}

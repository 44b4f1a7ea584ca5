//! A node of a tree: a leaf with elements, or an inner node with nodes.

use super::{NIL, WIDTH};

/// Keys and what they are of, side by side, and where the node is in its tree.
#[derive(Clone, Debug)]
pub(super) struct Node<K> {
    /// In a leaf the keys of the elements. In an inner node: nothing in a child is below its key,
    /// nothing in the child before is above it; the first is not looked at.
    pub(super) keys: [K; WIDTH],
    /// Elements, or the numbers of child nodes.
    pub(super) entries: [u32; WIDTH],
    /// Of a leaf: what is put into the tree and is less does not go behind it.
    pub(super) end: K,
    pub(super) len: usize,
    pub(super) is_leaf: bool,
    pub(super) parent: u32,
    /// Neighbours at the same height. Free nodes are chained by `next`.
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

    /// Where `entry` is, which must be here: then what is left behind the last one does not matter.
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

    /// Gives an entry of a leaf another key and moves it to where that belongs, behind equal ones.
    /// Whether it did: not where that may be in another leaf.
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

    /// Takes the entries of `other` from `from` on, to its own end.
    pub(super) fn append(&mut self, other: &Self, from: usize) {
        let len = self.len + other.len - from;
        self.keys[self.len..len].copy_from_slice(&other.keys()[from..]);
        self.entries[self.len..len].copy_from_slice(&other.entries()[from..]);
        self.len = len;
    }
}

/// How many keys at the start are `below`. There are few: one after the other is fastest, and from
/// the end, since what is put into a tree mostly goes behind what is there.
pub(super) fn count<K>(keys: &[K], below: impl Fn(&K) -> bool) -> usize {
    keys.iter().rposition(below).map_or(0, |last| last + 1)
}

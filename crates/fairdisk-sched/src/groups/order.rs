//! Groups in the order of a key: whose turn is next, or who is let go next.

use fairdisk_core::tree::{Forest, Tree};

/// Groups by a key. Those with equal keys keep the order in which they came.
#[derive(Debug)]
pub(crate) struct Order<K> {
    forest: Forest<K>,
    tree: Tree,
}

impl<K: Ord + Copy> Order<K> {
    /// No group.
    pub(crate) const fn new() -> Self {
        Self { forest: Forest::new(), tree: Tree::new() }
    }

    /// Gives the group a key, or takes it out.
    pub(crate) fn place(&mut self, group: u32, key: Option<K>) {
        if self.forest.contains(group) {
            self.forest.remove(&mut self.tree, group);
        }
        if let Some(key) = key {
            self.forest.insert(&mut self.tree, group, key);
        }
    }

    /// The group with the smallest key.
    pub(crate) fn first(&self) -> Option<(u32, K)> {
        let group = self.forest.first(&self.tree)?;
        Some((group, self.forest.key(group)))
    }

    /// The group's key.
    pub(crate) fn key(&self, group: u32) -> Option<K> {
        self.forest.contains(group).then(|| self.forest.key(group))
    }
}

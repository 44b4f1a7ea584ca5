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
        let (forest, tree) = (&mut self.forest, &mut self.tree);
        match (key, forest.contains(group)) {
            (Some(key), true) => forest.set_key(tree, group, key),
            (Some(key), false) => forest.insert(tree, group, key),
            (None, true) => forest.remove(tree, group),
            (None, false) => {}
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

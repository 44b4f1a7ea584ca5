//! Groups sorted by a key, for example by who is served or released next.

use fairdisk_core::tree::{Forest, Tree};

/// Groups sorted by key. Groups with equal keys keep the order in which they were placed.
#[derive(Debug)]
pub(crate) struct Order<K> {
    forest: Forest<K>,
    tree: Tree,
}

impl<K: Ord + Copy> Order<K> {
    /// An empty order.
    pub(crate) const fn new() -> Self {
        Self { forest: Forest::new(), tree: Tree::new() }
    }

    /// Sets the key of a group, or removes the group for `None`.
    pub(crate) fn place(&mut self, group: u32, key: Option<K>) {
        let (forest, tree) = (&mut self.forest, &mut self.tree);
        match (key, forest.contains(group)) {
            (Some(key), true) => forest.set_key(tree, group, key),
            (Some(key), false) => forest.insert(tree, group, key),
            (None, true) => forest.remove(tree, group),
            (None, false) => {}
        }
    }

    /// The group with the smallest key, and that key.
    pub(crate) fn first(&self) -> Option<(u32, K)> {
        let group = self.forest.first(&self.tree)?;
        Some((group, self.forest.key(group)))
    }

    /// All groups, from the smallest key on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, K)> {
        let groups =
            core::iter::successors(self.forest.first(&self.tree), |at| self.forest.next(*at));
        groups.map(|group| (group, self.forest.key(group)))
    }

    /// The number of groups.
    pub(crate) const fn len(&self) -> u32 {
        self.tree.len()
    }

    /// The key of a group; `None` if it has not been placed.
    pub(crate) fn key(&self, group: u32) -> Option<K> {
        self.forest.contains(group).then(|| self.forest.key(group))
    }
}

//! The queues of a layer that have a pending request, in the order in which they get the disk.

use super::jiffies::Jiffies;
use super::queue::NIL;
use fairdisk_core::IoClass;
use fairdisk_core::tree::{Forest, Tree};

/// Where a queue stands in the service tree: class first, then key, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ServiceKey(i64);

/// What lies between two classes. Keys are tick counts, smaller than half of it either way.
const CLASS_STEP: Jiffies = 1 << 60;

impl ServiceKey {
    pub(crate) const fn new(class: IoClass, key: Jiffies) -> Self {
        let rank = class.rank() as i64 - IoClass::BestEffort.rank() as i64;
        Self(rank * CLASS_STEP + key)
    }

    /// The key within the class.
    pub(crate) const fn key(self) -> Jiffies {
        (self.0 + CLASS_STEP / 2).rem_euclid(CLASS_STEP) - CLASS_STEP / 2
    }
}

/// The queues of a layer with a pending request. The one that came last is beside the tree until
/// another comes: a queue that has the disk for one request after the other is mostly gone before.
#[derive(Clone, Debug)]
pub(crate) struct ServiceTree {
    tree: Tree,
    /// The queue beside the tree, or [`NIL`], and its key.
    newest: u32,
    key: ServiceKey,
}

impl ServiceTree {
    pub(crate) const fn new() -> Self {
        Self { tree: Tree::new(), newest: NIL, key: ServiceKey(0) }
    }

    /// A queue has a pending request from now on.
    #[inline]
    pub(crate) fn insert(&mut self, service: &mut Forest<ServiceKey>, queue: u32, key: ServiceKey) {
        self.whole(service);
        (self.newest, self.key) = (queue, key);
    }

    /// A queue has none any more.
    #[inline]
    pub(crate) fn remove(&mut self, service: &mut Forest<ServiceKey>, queue: u32) {
        if queue == self.newest {
            self.newest = NIL;
        } else {
            service.remove(&mut self.tree, queue);
        }
    }

    /// The tree with all of them in it.
    #[inline]
    pub(crate) fn whole(&mut self, service: &mut Forest<ServiceKey>) -> &mut Tree {
        if self.newest != NIL {
            service.insert(&mut self.tree, self.newest, self.key);
            self.newest = NIL;
        }
        &mut self.tree
    }
}

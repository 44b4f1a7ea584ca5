//! The service tree: the queues of a layer that have pending requests, in the order in which they
//! get the disk.

use super::jiffies::Jiffies;
use super::queue::NIL;
use fairdisk_core::IoClass;
use fairdisk_core::tree::{Forest, Tree};

/// A queue's place in the service tree: class and key combined into one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ServiceKey(i64);

/// The distance between two classes. Keys are tick counts, whose magnitude stays below half of it.
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

/// The queues of a layer that have pending requests. The latest one is kept beside the tree until
/// another arrives, because a queue that is being served one request at a time has usually left by
/// then.
#[derive(Clone, Debug)]
pub(crate) struct ServiceTree {
    tree: Tree,
    /// The queue kept beside the tree, or [`NIL`], and its key.
    newest: u32,
    key: ServiceKey,
}

impl ServiceTree {
    pub(crate) const fn new() -> Self {
        Self { tree: Tree::new(), newest: NIL, key: ServiceKey(0) }
    }

    /// Adds a queue that has got its first pending request.
    #[inline]
    pub(crate) fn insert(&mut self, service: &mut Forest<ServiceKey>, queue: u32, key: ServiceKey) {
        self.whole(service);
        (self.newest, self.key) = (queue, key);
    }

    /// Removes a queue that has no pending request left.
    #[inline]
    pub(crate) fn remove(&mut self, service: &mut Forest<ServiceKey>, queue: u32) {
        if queue == self.newest {
            self.newest = NIL;
        } else {
            service.remove(&mut self.tree, queue);
        }
    }

    /// The tree with every queue in it, including the latest.
    #[inline]
    pub(crate) fn whole(&mut self, service: &mut Forest<ServiceKey>) -> &mut Tree {
        if self.newest != NIL {
            service.insert(&mut self.tree, self.newest, self.key);
            self.newest = NIL;
        }
        &mut self.tree
    }
}

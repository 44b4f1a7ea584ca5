//! Nesting of groups in other groups.

use core::iter;
use fairdisk_core::Weight;

/// The weight of a group's own tasks among the groups inside it: they count as one more such group
/// with the default weight.
pub(crate) const OWN_TASKS: u64 = Weight::DEFAULT.get() as u64;

/// A structure that knows the parent of each group.
pub(crate) trait Nested {
    /// The parent of `group`; `None` for a top-level group.
    fn outer(&self, group: u32) -> Option<u32>;

    /// The group itself and its ancestors, innermost first.
    fn path(&self, group: u32) -> impl Iterator<Item = u32> {
        iter::successors(Some(group), |at| self.outer(*at))
    }

    /// Whether `group` is `outer` or nested in it at any depth.
    fn lies_in(&self, group: u32, outer: u32) -> bool {
        self.path(group).any(|at| at == outer)
    }

    /// Whether `group` may be moved into `outer`, or to the top level for `None`. A move that would
    /// make a circle is not allowed.
    fn may_lie_in(&self, group: u32, outer: Option<u32>) -> bool {
        outer.is_none_or(|outer| !self.lies_in(outer, group))
    }
}

//! Groups that lie in groups.

use core::iter;
use fairdisk_core::Weight;

/// What the own tasks of a group weigh among the groups inside it: they are like one more of these
/// that asks for nothing.
pub(crate) const OWN_TASKS: u64 = Weight::DEFAULT.get() as u64;

/// What knows for each group in which other it lies.
pub(crate) trait Nested {
    /// The group that this one lies in directly.
    fn outer(&self, group: u32) -> Option<u32>;

    /// The group and those it lies in, from the inside.
    fn path(&self, group: u32) -> impl Iterator<Item = u32> {
        iter::successors(Some(group), |at| self.outer(*at))
    }

    /// Whether `group` is `outer` or lies in it, however deep.
    fn lies_in(&self, group: u32, outer: u32) -> bool {
        self.path(group).any(|at| at == outer)
    }

    /// Whether `group` may be put into `outer`, or beside all others: a circle of groups has no
    /// place, and what would make one is not done.
    fn may_lie_in(&self, group: u32, outer: Option<u32>) -> bool {
        outer.is_none_or(|outer| !self.lies_in(outer, group))
    }
}

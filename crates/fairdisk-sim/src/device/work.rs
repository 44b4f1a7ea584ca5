//! Accounting of the device's work by group, in time of the whole device.

use fairdisk_core::{GroupId, Span, dense};

/// The work that a device did for each group, in seconds of the whole device. A request that keeps
/// one of eight equal units busy for 8 ms is 1 ms of work, so the work of a second in which the
/// device was fully loaded adds up to about a second.
///
/// Work that continues after a request has completed (destaging a write-back cache, programming
/// flash) counts for the group that wrote the data.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// Nanoseconds of device time, indexed by group number.
    by_group: Vec<u64>,
}

impl Ledger {
    /// Adds `ns` nanoseconds of work for `group`.
    #[inline]
    pub(super) fn add(&mut self, group: GroupId, ns: u64) {
        *dense::entry(&mut self.by_group, group.0, || 0) += ns;
    }

    /// The work done for `group`.
    pub(super) fn of(&self, group: GroupId) -> Span {
        Span::from_ns(self.by_group.get(group.0 as usize).copied().unwrap_or(0))
    }
}

//! Who used the device: work, in time of the whole device.

use fairdisk_core::{GroupId, Span, dense};

/// What a device did for each group. The unit is a second of the whole device: a request that keeps
/// one of eight equal units busy for 8 ms is 1 ms of work, so that all of a second in which the
/// device had as much to do as it could adds up to about a second.
///
/// Work that goes on behind a completed request (a write-back cache is emptied, flash is
/// programmed) is work for the group that wrote.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// Nanoseconds of the device, by group number.
    by_group: Vec<u64>,
}

impl Ledger {
    /// So much was done for `group`.
    #[inline]
    pub(super) fn add(&mut self, group: GroupId, ns: u64) {
        *dense::entry(&mut self.by_group, group.0, || 0) += ns;
    }

    /// What was done for `group`.
    pub(super) fn of(&self, group: GroupId) -> Span {
        Span::from_ns(self.by_group.get(group.0 as usize).copied().unwrap_or(0))
    }
}

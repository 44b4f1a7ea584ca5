//! Per-group accounting: what each group got from the disk in requests, bytes, device time, latency
//! and waits.

use crate::by_kind::{ByKind, OpKind};
use crate::dense;
use crate::histogram::Histogram;
use crate::request::{Bio, GroupId};
use crate::time::{Instant, Span};
use alloc::vec::Vec;

/// What one group got of one kind of operation.
#[derive(Clone, Debug, Default)]
pub struct OpAccount {
    /// Bytes of successful bios; a failed bio counts no bytes. A flush has none.
    pub bytes: u64,
    /// Latency of each completed bio, from submission to completion. Merging does not reduce their
    /// number; see [`GroupAccount::device_requests`].
    pub latency: Histogram,
    /// Longest time a bio waited from submission until it was issued to the device, or until it was
    /// withdrawn. Covers only bios whose wait is over; [`Engine::accounts_at`] includes those still
    /// waiting.
    ///
    /// [`Engine::accounts_at`]: crate::engine::Engine::accounts_at
    pub wait_max: Span,
    /// The longest of these waits lately.
    pub lately: Lately,
}

/// A longest wait that is forgotten after a while: that of the current period and the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lately([Span; 2]);

impl Lately {
    /// The longest wait of both periods.
    #[must_use]
    pub fn longest(&self) -> Span {
        self.0[0].max(self.0[1])
    }

    /// Notes a wait.
    #[inline]
    fn waited(&mut self, wait: Span) {
        self.0[0] = self.0[0].max(wait);
    }

    /// Begins a period, and forgets the waits before the last one.
    const fn begin_period(&mut self) {
        self.0 = [Span::ZERO, self.0[0]];
    }
}

impl OpAccount {
    /// Completed bios.
    #[must_use]
    pub const fn ios(&self) -> u64 {
        self.latency.count()
    }
}

/// What one group got since counting began.
#[derive(Clone, Debug, Default)]
pub struct GroupAccount {
    /// What it got of each kind of operation.
    pub ops: ByKind<OpAccount>,
    /// Requests the device completed; fewer than the bios when bios were merged.
    pub device_requests: u64,
    /// Device busy time charged to this group; the sum of [`Completion::device_time`].
    ///
    /// [`Completion::device_time`]: crate::elevator::Completion::device_time
    pub device_time: Span,
    /// Times a task had to sleep for a request slot.
    pub slot_waits: u64,
    /// Total time tasks slept for request slots.
    pub slot_wait_time: Span,
    /// Bios that completed with an error.
    pub errors: u64,
}

/// A group's outstanding requests at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupLoad {
    /// Requests not yet issued to the device.
    pub queued: u32,
    /// Requests issued to the device and not yet completed.
    pub in_flight: u32,
}

impl GroupAccount {
    /// Completed bios of every operation.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.ops.iter().map(|(_, op)| op.ios()).sum()
    }

    /// Bytes read, written, zeroed and discarded.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ops.iter().map(|(_, op)| op.bytes).sum()
    }

    /// The longest time that a bio waited for the device, of any kind.
    #[must_use]
    pub fn wait_max(&self) -> Span {
        self.ops.iter().map(|(_, op)| op.wait_max).fold(Span::ZERO, Span::max)
    }

    /// Records how long a bio waited before it was issued.
    #[inline]
    pub fn waited(&mut self, kind: OpKind, wait: Span) {
        let op = &mut self.ops[kind];
        op.wait_max = op.wait_max.max(wait);
        op.lately.waited(wait);
    }

    #[inline]
    pub(crate) fn finished(&mut self, bio: &Bio, latency: Span, ok: bool) {
        let op = &mut self.ops[bio.op.into()];
        op.bytes += if ok { bio.sectors.bytes() } else { 0 };
        op.latency.record(latency);
        self.errors += u64::from(!ok);
    }
}

/// The accounts of every group, counted from a common start.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    groups: Vec<GroupAccount>,
    /// When per-group counting last started.
    pub since: Instant,
    /// Bios submitted during the whole run; [`restart`](Self::restart) does not reset it.
    pub submitted: u64,
    /// Bios completed during the whole run.
    pub completed: u64,
    /// Bios withdrawn before they completed, during the whole run.
    pub cancelled: u64,
}

impl Accounts {
    /// The account of `group`, created empty on first use.
    #[inline]
    pub fn group_mut(&mut self, group: GroupId) -> &mut GroupAccount {
        dense::entry(&mut self.groups, group.0, GroupAccount::default)
    }

    /// The account of `group`, or `None` if no account was ever created for it.
    #[must_use]
    pub fn group(&self, group: GroupId) -> Option<&GroupAccount> {
        self.groups.get(group.0 as usize)
    }

    /// Clears the account of `group`, whose number is being reused by a new group.
    pub(crate) fn begin(&mut self, group: GroupId) {
        if let Some(account) = self.groups.get_mut(group.0 as usize) {
            *account = GroupAccount::default();
        }
    }

    /// All accounts in order of group number.
    pub fn iter(&self) -> impl Iterator<Item = (GroupId, &GroupAccount)> {
        self.groups.iter().enumerate().map(|(index, account)| (GroupId(index as u32), account))
    }

    /// Bios submitted and neither completed nor withdrawn.
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        self.submitted - self.completed - self.cancelled
    }

    /// Begins a period of the longest waits [lately](OpAccount::lately).
    pub fn begin_period(&mut self) {
        let all = self.groups.iter_mut().flat_map(|account| account.ops.values_mut());
        all.for_each(|op| op.lately.begin_period());
    }

    /// Clears the per-group accounts and starts counting at `now`. The whole-run counters continue.
    pub fn restart(&mut self, now: Instant) {
        self.groups.iter_mut().for_each(|account| *account = GroupAccount::default());
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_lately_is_forgotten_after_two_periods() {
        let (mut accounts, group) = (Accounts::default(), GroupId(1));
        let wait = |accounts: &mut Accounts, ms| {
            accounts.group_mut(group).waited(OpKind::Read, Span::from_ms(ms));
        };
        let lately = |accounts: &Accounts| {
            let op = &accounts.group(group).expect("it has waited").ops[OpKind::Read];
            (op.lately.longest().as_ms(), op.wait_max.as_ms())
        };
        wait(&mut accounts, 50);
        accounts.begin_period();
        wait(&mut accounts, 20);
        assert_eq!(lately(&accounts), (50, 50));
        accounts.begin_period();
        assert_eq!(lately(&accounts), (20, 50));
        accounts.begin_period();
        assert_eq!(lately(&accounts), (0, 50));
    }
}

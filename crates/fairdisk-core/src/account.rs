//! What every group got: requests, bytes, device time, latency, waits.

use crate::dense;
use crate::histogram::Histogram;
use crate::request::{Bio, GroupId, Op};
use crate::time::{Instant, Span};
use alloc::vec::Vec;

/// One group's account.
#[derive(Clone, Debug, Default)]
pub struct GroupAccount {
    /// Finished reads, as the tasks count them (bios, not merged requests).
    pub reads: u64,
    /// Finished writes and zeroings.
    pub writes: u64,
    /// Finished discards.
    pub discards: u64,
    /// Finished flushes.
    pub flushes: u64,
    /// Bytes read. What failed moved nothing.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Requests the device finished; fewer than bios when bios were merged.
    pub device_requests: u64,
    /// How long the device was busy for this group, as [`Completion::device_time`] says.
    ///
    /// [`Completion::device_time`]: crate::elevator::Completion::device_time
    pub device_time: Span,
    /// From submission to completion.
    pub latency: Histogram,
    /// The longest time from submission to the device, or to when the submitter had it back. Of
    /// those that still wait only [`Engine::accounts_at`] knows.
    ///
    /// [`Engine::accounts_at`]: crate::engine::Engine::accounts_at
    pub wait_max: Span,
    /// How often a task had to wait for a request slot.
    pub slot_waits: u64,
    /// How long tasks waited for request slots, all together.
    pub slot_wait_time: Span,
    /// Bios that failed.
    pub errors: u64,
}

/// What a group has at the disk at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupLoad {
    /// Requests queued.
    pub queued: u32,
    /// Requests at the device.
    pub in_flight: u32,
}

impl GroupAccount {
    /// Finished bios of all kinds.
    #[must_use]
    pub const fn ios(&self) -> u64 {
        self.reads + self.writes + self.discards + self.flushes
    }

    /// Bytes read, written and discarded.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.read_bytes + self.written_bytes + self.discarded_bytes
    }

    /// A bio has waited this long for the device.
    #[inline]
    pub(crate) fn waited(&mut self, wait: Span) {
        self.wait_max = self.wait_max.max(wait);
    }

    #[inline]
    pub(crate) fn finished(&mut self, bio: &Bio, latency: Span, ok: bool) {
        let bytes = if ok { bio.sectors.bytes() } else { 0 };
        match bio.op {
            Op::Read => {
                self.reads += 1;
                self.read_bytes += bytes;
            }
            Op::Write | Op::WriteZeroes => {
                self.writes += 1;
                self.written_bytes += bytes;
            }
            Op::Discard => {
                self.discards += 1;
                self.discarded_bytes += bytes;
            }
            Op::Flush => self.flushes += 1,
        }
        self.latency.record(latency);
        self.errors += u64::from(!ok);
    }
}

/// The accounts of all groups since a common start.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    groups: Vec<GroupAccount>,
    /// When counting began.
    pub since: Instant,
    /// Bios submitted, over the whole run.
    pub submitted: u64,
    /// Bios finished, over the whole run.
    pub completed: u64,
    /// Bios withdrawn before they finished, over the whole run.
    pub cancelled: u64,
}

impl Accounts {
    /// The account of `group`, made on first use.
    #[inline]
    pub fn group_mut(&mut self, group: GroupId) -> &mut GroupAccount {
        dense::entry(&mut self.groups, group.0, GroupAccount::default)
    }

    /// The account of `group`, if it ever had one.
    #[must_use]
    pub fn group(&self, group: GroupId) -> Option<&GroupAccount> {
        self.groups.get(group.0 as usize)
    }

    /// A group of this number begins: what another of that number got is forgotten.
    pub(crate) fn begin(&mut self, group: GroupId) {
        if let Some(account) = self.groups.get_mut(group.0 as usize) {
            *account = GroupAccount::default();
        }
    }

    /// All accounts in the order of their groups.
    pub fn iter(&self) -> impl Iterator<Item = (GroupId, &GroupAccount)> {
        self.groups.iter().enumerate().map(|(index, account)| (GroupId(index as u32), account))
    }

    /// Bios that are submitted and not yet finished.
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        self.submitted - self.completed - self.cancelled
    }

    /// Starts counting anew; the whole-run counters go on.
    pub fn restart(&mut self, now: Instant) {
        self.groups.iter_mut().for_each(|account| *account = GroupAccount::default());
        self.since = now;
    }
}

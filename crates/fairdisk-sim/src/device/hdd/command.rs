//! The commands that the disk has accepted and not yet completed.

use super::cache::{Barrier, WriteCache};
use super::geometry::Extent;
use super::mechanism::Access;
use crate::device::DeviceIo;
use fairdisk_core::GroupId;
use fairdisk_core::request::{RequestId, SECTOR_BYTES};

/// One command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    /// The host's identifier of the command.
    pub(super) id: RequestId,
    /// The group for which the work is done.
    pub(super) group: GroupId,
    /// The first sector.
    pub(super) start: u64,
    /// The sector after the last.
    pub(super) end: u64,
    /// The location on the medium; meaningless for a flush.
    pub(super) extent: Extent,
    /// When the controller has processed the command.
    pub(super) ready: u64,
    /// The command's progress.
    pub(super) state: State,
}

/// The progress of a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Needs the medium, once its barrier is passed.
    WantsMedium(Access, Barrier),
    /// A write that needs a place in the cache.
    WantsPlace,
    /// A flush that waits behind its barrier.
    WantsFlush(Barrier),
    /// Completes at this time without further work; the flag says whether it succeeds.
    Completes(u64, bool),
}

impl Command {
    /// A command as it arrives.
    pub(super) fn new(io: &DeviceIo, ready: u64) -> Self {
        Self {
            id: io.id,
            group: io.group,
            start: io.start.0,
            end: io.start.0.saturating_add(io.sectors.0.into()),
            extent: Extent::default(),
            ready,
            state: State::Completes(ready, true),
        }
    }

    /// Whether the command still waits for something.
    #[inline]
    pub(super) const fn waits(&self) -> bool {
        !matches!(self.state, State::Completes(..))
    }

    /// The number of bytes to transfer over the bus.
    pub(super) const fn bytes(&self) -> u64 {
        (self.end - self.start) * SECTOR_BYTES
    }

    /// Whether `barrier` still holds the command back because of a write in the cache.
    pub(super) fn blocked(&self, cache: &WriteCache, barrier: Barrier) -> bool {
        cache.blocks(barrier, self.start, self.end)
    }
}

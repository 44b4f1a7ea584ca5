//! The commands the disk has taken and not completed yet.

use super::cache::{Barrier, WriteCache};
use super::geometry::Extent;
use super::mechanism::Access;
use crate::device::DeviceIo;
use fairdisk_core::GroupId;
use fairdisk_core::request::{RequestId, SECTOR_BYTES};

/// One command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    /// The host's name for it.
    pub(super) id: RequestId,
    /// For whom it is done.
    pub(super) group: GroupId,
    /// First sector.
    pub(super) start: u64,
    /// The sector after the last.
    pub(super) end: u64,
    /// Where that is on the medium; meaningless for a flush.
    pub(super) extent: Extent,
    /// When the controller has understood it.
    pub(super) ready: u64,
    /// How far it is.
    pub(super) state: State,
}

/// How far a command is.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Needs the medium, once its barrier is passed.
    WantsMedium(Access, Barrier),
    /// A write that needs a place in the cache.
    WantsPlace,
    /// A flush behind its barrier.
    WantsFlush(Barrier),
    /// Completes by itself at this time.
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

    /// Whether it still waits for something.
    #[inline]
    pub(super) const fn waits(&self) -> bool {
        !matches!(self.state, State::Completes(..))
    }

    /// How many bytes pass the bus.
    pub(super) const fn bytes(&self) -> u64 {
        (self.end - self.start) * SECTOR_BYTES
    }

    /// Whether a write in the cache still has to reach the medium before `barrier` is passed.
    pub(super) fn blocked(&self, cache: &WriteCache, barrier: Barrier) -> bool {
        cache.blocks(barrier, self.start, self.end)
    }
}

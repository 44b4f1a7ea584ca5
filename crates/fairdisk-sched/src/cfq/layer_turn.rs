//! Where layers take turns: which has the disk, and why its turn began.

use super::queue::NIL;
use fairdisk_core::Why;

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerTurn {
    /// The layer that has the disk, or [`NIL`].
    pub(crate) active: u32,
    ended: Why,
    /// A turn has just begun, for this reason.
    begun: Option<Why>,
}

impl LayerTurn {
    /// Nobody's.
    pub(crate) const NOBODYS: Self = Self { active: NIL, ended: Why::GroupEmptied, begun: None };

    /// The layer gets the disk.
    pub(crate) const fn begin(&mut self, layer: u32) {
        self.active = layer;
        self.begun = Some(self.ended);
    }

    /// The active layer, which is returned, loses the disk.
    pub(crate) const fn end(&mut self, why: Why) -> u32 {
        self.ended = why;
        core::mem::replace(&mut self.active, NIL)
    }

    /// Why the turn began, told once.
    pub(crate) const fn tell(&mut self) -> Option<Why> {
        self.begun.take()
    }
}

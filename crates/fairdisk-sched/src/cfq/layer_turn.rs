//! Turns among layers: which layer has the disk, and why its turn began.

use super::queue::NIL;
use fairdisk_core::Why;

/// The current turn of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerTurn {
    /// The layer that has the disk, or [`NIL`].
    pub(crate) active: u32,
    ended: Why,
    /// Why the turn began, until [`tell`](Self::tell) has reported it.
    begun: Option<Why>,
}

impl LayerTurn {
    /// No layer has the disk.
    pub(crate) const NOBODYS: Self = Self { active: NIL, ended: Why::GroupEmptied, begun: None };

    /// Gives the disk to `layer`.
    pub(crate) const fn begin(&mut self, layer: u32) {
        self.active = layer;
        self.begun = Some(self.ended);
    }

    /// Takes the disk from the active layer and returns that layer.
    pub(crate) const fn end(&mut self, why: Why) -> u32 {
        self.ended = why;
        core::mem::replace(&mut self.active, NIL)
    }

    /// Why the turn began; returned once.
    pub(crate) const fn tell(&mut self) -> Option<Why> {
        self.begun.take()
    }
}

//! What a solid-state disk is built from.

use crate::device::spec::{CAPACITY_MAX, SpecError, within};
use crate::device::{Check, Checked};

/// When cells that hold old data are made ready for new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionParams {
    /// Data that a run may write before there are no fresh cells left.
    pub fresh_mib: u64,
    /// From then on a unit collects after this much data.
    pub every_kib: u32,
    /// For so long it does nothing else.
    pub busy_us: u32,
}

/// Parameters of an [`Ssd`](super::Ssd).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SsdParams {
    /// Size.
    pub capacity_sectors: u64,
    /// Commands it takes at once.
    pub depth: u32,
    /// Flash units that work at the same time.
    pub units: u32,
    /// What a unit reads or programs in one go. Neighbouring pages lie on neighbouring units.
    pub page_kib: u32,
    /// Time to read a page.
    pub read_us: u32,
    /// Time to program a page.
    pub program_us: u32,
    /// Time a command takes on its way, whatever it asks.
    pub command_us: u32,
    /// Commands the controller takes in a second, at most.
    pub commands_per_s: u32,
    /// Rate of the bus in million bytes per second, for all commands together.
    pub bus_mb_per_s: u32,
    /// Data that is accepted before it is programmed.
    pub write_buffer_kib: u32,
    /// Whether a flush waits for that data. Disks with capacitors need not.
    pub flush_drains: bool,
    /// Without it, cells never run out.
    pub collection: Option<CollectionParams>,
}

/// Checked [`SsdParams`].
pub type SsdSpec = Checked<SsdParams>;

impl Check for SsdParams {
    fn check(&self) -> Result<(), SpecError> {
        within("capacity_sectors", self.capacity_sectors, 1, CAPACITY_MAX)?;
        within("depth", self.depth, 1, 65_536)?;
        within("units", self.units, 1, 4_096)?;
        within("page_kib", self.page_kib, 1, 65_536)?;
        within("commands_per_s", self.commands_per_s, 1, 1_000_000_000)?;
        within("bus_mb_per_s", self.bus_mb_per_s, 1, u64::from(u32::MAX))?;
        within("write_buffer_kib", self.write_buffer_kib, self.page_kib.into(), u32::MAX.into())?;
        match &self.collection {
            Some(collection) => {
                within("collection.every_kib", collection.every_kib, 1, u32::MAX.into())
            }
            None => Ok(()),
        }
    }
}

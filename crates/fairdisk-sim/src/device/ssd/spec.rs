//! The parameters of a solid-state disk.

use crate::device::spec::{CAPACITY_MAX, SpecError, within};
use crate::device::{Check, Checked};

/// Garbage collection: when and for how long units prepare old cells for new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionParams {
    /// Data that a run may write before the fresh cells are used up.
    pub fresh_mib: u64,
    /// Amount of data a unit programs between collections, once there are no fresh cells.
    pub every_kib: u32,
    /// How long a collection keeps a unit from doing anything else.
    pub busy_us: u32,
}

/// Parameters of an [`Ssd`](super::Ssd).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SsdParams {
    /// The disk's size in 512-byte sectors.
    pub capacity_sectors: u64,
    /// The number of commands the disk accepts at once.
    pub depth: u32,
    /// Flash units that work in parallel.
    pub units: u32,
    /// The size of a page, which a unit reads or programs in one go. Adjacent pages are on adjacent
    /// units.
    pub page_kib: u32,
    /// Time to read a page.
    pub read_us: u32,
    /// Time to program a page.
    pub program_us: u32,
    /// Fixed latency of a command, whatever its operation.
    pub command_us: u32,
    /// The highest rate at which the controller takes commands.
    pub commands_per_s: u32,
    /// Bus rate in millions of bytes per second, shared by all commands.
    pub bus_mb_per_s: u32,
    /// Capacity of the write buffer, whose data is acknowledged before it is programmed.
    pub write_buffer_kib: u32,
    /// Whether a flush waits for buffered data. Disks with capacitors need not.
    pub flush_drains: bool,
    /// Garbage collection; `None` means that cells never run out.
    pub collection: Option<CollectionParams>,
}

/// [`SsdParams`] that have been checked.
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

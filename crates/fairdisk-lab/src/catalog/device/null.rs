//! Device files of kind `null`: devices that take no time.

use super::device_file;
use fairdisk_sim::device::NullParams;

device_file! {
    /// A device file of kind `null`.
    pub(super) struct NullFile {
        capacity_sectors: u64,
        depth: u32,
        #[serde(rename = "queue")]
        _queue: Option<super::adapter::SegmentsTable>,
    }
}

impl NullFile {
    /// The parameters given by the file.
    pub(super) fn params(self) -> NullParams {
        NullParams { capacity_sectors: self.capacity_sectors, depth: self.depth }
    }
}

//! Device files of kind `fixed`: a fixed time per request.

use super::device_file;
use fairdisk_sim::device::{FixedCost, FixedParams};

device_file! {
    /// A device file of kind `fixed`.
    pub(super) struct FixedFile {
        capacity_sectors: u64,
        parallel: u32,
        latency_us: u32,
        mb_per_s: Option<u32>,
        write_latency_us: Option<u32>,
        write_mb_per_s: Option<u32>,
        #[serde(default)]
        flush_us: u32,
        #[serde(rename = "queue")]
        _queue: Option<super::adapter::SegmentsTable>,
    }
}

impl FixedFile {
    /// The parameters given by the file. A write costs as much as a read unless the file says
    /// otherwise.
    pub(super) fn params(self) -> FixedParams {
        let read = FixedCost { latency_us: self.latency_us, mb_per_s: self.mb_per_s };
        let write = FixedCost {
            latency_us: self.write_latency_us.unwrap_or(self.latency_us),
            mb_per_s: self.write_mb_per_s.or(self.mb_per_s),
        };
        let Self { capacity_sectors, parallel, flush_us, .. } = self;
        FixedParams { capacity_sectors, parallel, read, write, flush_us }
    }
}

//! Device files of kind `ssd`: solid-state disks.

use super::device_file;
use super::hdd::FlushName;
use fairdisk_sim::device::{CollectionParams, SsdParams};
use serde::Deserialize;

device_file! {
    /// A device file of kind `ssd`.
    pub(super) struct SsdFile {
        capacity_sectors: u64,
        depth: u32,
        units: u32,
        page_kib: u32,
        read_us: u32,
        program_us: u32,
        command_us: u32,
        commands_per_s: u32,
        bus_mb_per_s: u32,
        write_buffer_kib: u32,
        flush: FlushName,
        collection: Option<CollectionTable>,
        #[serde(rename = "queue")]
        _queue: Option<super::adapter::SegmentsTable>,
    }
}

impl SsdFile {
    /// The parameters given by the file.
    pub(super) fn params(self) -> SsdParams {
        SsdParams {
            capacity_sectors: self.capacity_sectors,
            depth: self.depth,
            units: self.units,
            page_kib: self.page_kib,
            read_us: self.read_us,
            program_us: self.program_us,
            command_us: self.command_us,
            commands_per_s: self.commands_per_s,
            bus_mb_per_s: self.bus_mb_per_s,
            write_buffer_kib: self.write_buffer_kib,
            flush_drains: matches!(self.flush, FlushName::Drain),
            collection: self.collection.map(CollectionTable::params),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CollectionTable {
    fresh_mib: u64,
    every_kib: u32,
    busy_us: u32,
}

impl CollectionTable {
    const fn params(self) -> CollectionParams {
        let Self { fresh_mib, every_kib, busy_us } = self;
        CollectionParams { fresh_mib, every_kib, busy_us }
    }
}

//! Device files of kind `raid5`: arrays of disks with parity.

use super::{Array, DeviceEntry, Head, device_file, find_flat, parse_entry};
use crate::catalog::error::CatalogError;
use crate::catalog::library::{Kind, beside, find};
use crate::catalog::source::Source;
use fairdisk_sim::device::{DeviceSpec, Raid5Params};

device_file! {
    /// A device file of kind `raid5`.
    pub(super) struct Raid5File {
        disk: String,
        disks: u32,
        chunk_kib: u32,
        depth: u32,
        #[serde(rename = "queue")]
        _queue: Option<super::adapter::SegmentsTable>,
    }
}

impl Raid5File {
    /// The parameters given by the file and by the file of its disks.
    pub(super) fn params(self, source: Source<'_>) -> Result<Raid5Params, CatalogError> {
        let refuse = |message: String| source.error_at_key("disk", message);
        let name = beside(source.path(), &self.disk);
        find(Kind::Device, &name).map_err(|error| refuse(error.naming(&name)))?;
        let document = find_flat(&name)?;
        // A file of another kind is not read further: it may be this file.
        let Head { kind, .. } = Source::of(&document).parse()?;
        let entry = (kind == "hdd").then(|| parse_entry(Source::of(&document)));
        let Some(DeviceEntry { spec: DeviceSpec::Hdd(disk), array: Array::SINGLE, .. }) =
            entry.transpose()?
        else {
            return Err(refuse(format!(
                "`disk`: `{}` is of kind `{kind}`; allowed: a single one of kind `hdd`",
                self.disk
            )));
        };
        let Self { disks, chunk_kib, depth, .. } = self;
        Ok(Raid5Params { disk, disks, chunk_kib, depth })
    }
}

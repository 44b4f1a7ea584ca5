//! Device files of kind `virtual`: disks of virtual machines.

use super::hdd::FlushName;
use super::{Array, DeviceEntry, Head, device_file, find_flat, parse_entry};
use crate::catalog::error::CatalogError;
use crate::catalog::library::{Kind, beside, find};
use crate::catalog::source::Source;
use fairdisk_sim::device::{HostCacheParams, VirtualDiskParams};
use serde::Deserialize;

device_file! {
    /// A device file of kind `virtual`.
    pub(super) struct VirtualFile {
        disk: String,
        depth: u32,
        cpus: u32,
        io_cpu_us: u32,
        #[serde(default)]
        page_cpu_ns: u32,
        cache: Option<CacheTable>,
        #[serde(rename = "queue")]
        _queue: Option<super::adapter::SegmentsTable>,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheTable {
    mib: u32,
    background_percent: u32,
    limit_percent: u32,
    age_ms: u32,
    flush: FlushName,
}

impl VirtualFile {
    /// The parameters given by the file and by the file of the disk below.
    pub(super) fn params(self, source: Source<'_>) -> Result<VirtualDiskParams, CatalogError> {
        let refuse = |message: String| source.error_at_key("disk", message);
        let name = beside(source.path(), &self.disk);
        find(Kind::Device, &name).map_err(|error| refuse(error.naming(&name)))?;
        let document = find_flat(&name)?;
        // A file of the same kind is not read further: it may be this file.
        let Head { kind, .. } = Source::of(&document).parse()?;
        let entry = (kind != "virtual").then(|| parse_entry(Source::of(&document)));
        let Some(DeviceEntry { spec: below, array: Array::SINGLE, .. }) = entry.transpose()? else {
            return Err(refuse(format!(
                "`disk`: `{}` is of kind `{kind}` or an array; allowed: a single disk of another \
                 kind",
                self.disk
            )));
        };
        let Self { depth, cpus, io_cpu_us, page_cpu_ns, cache, .. } = self;
        let cache = cache.map(CacheTable::params);
        Ok(VirtualDiskParams { below, depth, cpus, io_cpu_us, page_cpu_ns, cache })
    }
}

impl CacheTable {
    fn params(self) -> HostCacheParams {
        let Self { mib, background_percent, limit_percent, age_ms, flush } = self;
        let flush = flush.policy();
        HostCacheParams { mib, background_percent, limit_percent, age_ms, flush }
    }
}

//! Device files of kind `hdd`: rotating disks.

use super::device_file;
use crate::catalog::error::CatalogError;
use crate::catalog::pair::Pair;
use crate::catalog::source::Source;
use fairdisk_sim::device::{
    FlushPolicy, HddParams, Order, QueueParams, ReadAheadParams, SeekParams, SeekPoint,
    WriteCacheParams,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

device_file! {
    /// A device file of kind `hdd`.
    pub(super) struct HddFile {
        capacity_sectors: u64,
        rpm: u32,
        #[serde(default)]
        phase_ns: u64,
        heads: u32,
        zones: u32,
        sectors_per_track_outer: u32,
        sectors_per_track_inner: u32,
        head_switch_us: u32,
        cylinder_switch_us: u32,
        write_settle_us: u32,
        command_overhead_us: u32,
        bus_overhead_us: u32,
        bus_mb_per_s: u32,
        seek: SeekTable,
        read_ahead: Option<ReadAheadTable>,
        write_cache: Option<WriteCacheTable>,
        queue: Option<QueueTable>,
    }
}

impl HddFile {
    /// The parameters given by the file.
    pub(super) fn params(self, source: Source<'_>) -> Result<HddParams, CatalogError> {
        Ok(HddParams {
            capacity_sectors: self.capacity_sectors,
            rpm: self.rpm,
            phase_ns: self.phase_ns,
            heads: self.heads,
            zones: self.zones,
            sectors_per_track_outer: self.sectors_per_track_outer,
            sectors_per_track_inner: self.sectors_per_track_inner,
            head_switch_us: self.head_switch_us,
            cylinder_switch_us: self.cylinder_switch_us,
            seek: self.seek.params(source)?,
            write_settle_us: self.write_settle_us,
            command_overhead_us: self.command_overhead_us,
            bus_overhead_us: self.bus_overhead_us,
            bus_mb_per_s: self.bus_mb_per_s,
            read_ahead: self.read_ahead.map(ReadAheadTable::params),
            write_cache: self.write_cache.and_then(WriteCacheTable::params),
            queue: self.queue.map_or(NO_QUEUE, QueueTable::params),
        })
    }
}

/// The queue of a disk without command queueing.
const NO_QUEUE: QueueParams = QueueParams { depth: 1, order: Order::Fifo, age_limit_ms: None };

/// The seek curve: either the three numbers of a data sheet, or measured points `[cylinders, us]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeekTable {
    min_us: Option<u32>,
    average_us: Option<u32>,
    max_us: Option<u32>,
    points: Option<Vec<Pair<u32>>>,
}

impl SeekTable {
    fn params(self, source: Source<'_>) -> Result<SeekParams, CatalogError> {
        match (self.min_us, self.average_us, self.max_us, self.points) {
            (Some(min_us), Some(average_us), Some(max_us), None) => {
                Ok(SeekParams::Lee { min_us, average_us, max_us })
            }
            (None, None, None, Some(points)) => {
                let point = |Pair([cylinders, us]): Pair<u32>| SeekPoint { cylinders, us };
                Ok(SeekParams::Points(points.into_iter().map(point).collect()))
            }
            _ => Err(source.error_at_key(
                "seek",
                "`seek` needs either `min_us`, `average_us` and `max_us`, or `points`",
            )),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadAheadTable {
    segments: u32,
    segment_kib: u32,
}

impl ReadAheadTable {
    const fn params(self) -> ReadAheadParams {
        ReadAheadParams { segments: self.segments, segment_kib: self.segment_kib }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteCacheTable {
    /// Whether the cache is used; a disk may have one that is switched off.
    enabled: bool,
    depth: u32,
    kib: Option<u32>,
    order: OrderName,
    reads_wait_for_dirty: bool,
    flush: FlushName,
}

/// The capacity of each place in KiB if the file gives no total: the longest request of most hosts.
const PLACE_KIB: u32 = 512;

impl WriteCacheTable {
    fn params(self) -> Option<WriteCacheParams> {
        self.enabled.then(|| WriteCacheParams {
            depth: self.depth,
            kib: self.kib.unwrap_or_else(|| {
                self.depth.saturating_mul(PLACE_KIB).min(WriteCacheParams::KIB_MAX)
            }),
            order: self.order.into(),
            reads_wait_for_dirty: self.reads_wait_for_dirty,
            flush: self.flush.policy(),
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueTable {
    depth: u32,
    order: OrderName,
    age_limit_ms: Option<u32>,
    #[serde(rename = "segments_max")]
    _segments_max: Option<IgnoredAny>,
    #[serde(rename = "segment_kib_max")]
    _segment_kib_max: Option<IgnoredAny>,
}

impl QueueTable {
    fn params(self) -> QueueParams {
        QueueParams { depth: self.depth, order: self.order.into(), age_limit_ms: self.age_limit_ms }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OrderName {
    Fifo,
    Satf,
    Elevator,
}

impl From<OrderName> for Order {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Fifo => Self::Fifo,
            OrderName::Satf => Self::Satf,
            OrderName::Elevator => Self::Elevator,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FlushName {
    Drain,
    Ignore,
}

impl FlushName {
    pub(super) const fn policy(self) -> FlushPolicy {
        match self {
            Self::Drain => FlushPolicy::Drain,
            Self::Ignore => FlushPolicy::Ignore,
        }
    }
}

//! What device files of every kind say of the adapter between host and disk: how many segments it
//! takes, in the table `queue`, and what commands cost it, in the table `adapter`.

use super::super::allowed::{Wrong, demand, demand_in, demand_within};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::{SegmentLimits, Span};
use fairdisk_sim::device::AdapterCost;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The adapter of each disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adapter {
    /// The segments it takes; `None` if it does not count them.
    pub segments: Option<SegmentLimits>,
    /// The rate of the disk's own transport, in each direction.
    pub link_mb_per_s: Option<u32>,
    /// What commands cost.
    pub cost: AdapterCost,
}

/// The keys of the table `queue` that devices of every kind have.
#[derive(Deserialize)]
pub(super) struct QueueHead {
    segments_max: Option<u32>,
    segment_kib_max: Option<u32>,
}

/// The table `queue` of kinds that have no other keys in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SegmentsTable {
    #[serde(rename = "segments_max")]
    _segments_max: Option<IgnoredAny>,
    #[serde(rename = "segment_kib_max")]
    _segment_kib_max: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AdapterTable {
    #[serde(default)]
    command_us: u32,
    #[serde(default)]
    segment_ns: u32,
    #[serde(default)]
    page_ns: u32,
    link_mb_per_s: Option<u32>,
}

/// The largest segment unless the file says otherwise: Linux's default.
const SEGMENT_KIB: u32 = 64;
const PAGE_KIB: u32 = 4;
const SECOND_US: u32 = 1_000_000;

impl QueueHead {
    fn limits(&self) -> Result<Option<SegmentLimits>, Wrong> {
        let kib = self.segment_kib_max.unwrap_or(SEGMENT_KIB);
        let fits = (PAGE_KIB..=1 << 20).contains(&kib) && kib.is_multiple_of(PAGE_KIB);
        demand(fits, "queue.segment_kib_max", kib, "4 to 1048576, by whole pages of 4")?;
        let Some(segments_max) = self.segments_max else { return Ok(None) };
        demand_within(1..=65_536, "queue.segments_max", segments_max)?;
        Ok(Some(SegmentLimits { segments_max, pages_max: kib / PAGE_KIB }))
    }
}

impl AdapterTable {
    fn check(&self) -> Result<(), Wrong> {
        demand_within(0..=SECOND_US, "adapter.command_us", self.command_us)?;
        demand_within(0..=SECOND_US, "adapter.segment_ns", self.segment_ns)?;
        demand_within(0..=SECOND_US, "adapter.page_ns", self.page_ns)?;
        let path = "adapter.link_mb_per_s";
        demand_in(1..=1_000_000, path, self.link_mb_per_s, "1 to 1000000")
    }
}

impl Adapter {
    /// The adapter that a file describes, whose disks share a transport or not.
    pub(super) fn of(
        source: Source<'_>,
        queue: Option<&QueueHead>,
        table: Option<&AdapterTable>,
        shares_link: bool,
    ) -> Result<Self, CatalogError> {
        let limits = queue.map_or(Ok(None), QueueHead::limits);
        let segments = limits.map_err(|wrong| source.wrong(wrong))?;
        if segments.is_none() && queue.is_some_and(|queue| queue.segment_kib_max.is_some()) {
            return Err(source.error_at_key(
                "queue.segment_kib_max",
                "`segment_kib_max` is the size of segments, and nothing says how many the adapter \
                 takes; add `segments_max` to [queue], or drop it",
            ));
        }
        let Some(table) = table else { return Ok(Self { segments, ..Self::default() }) };
        table.check().map_err(|wrong| source.wrong(wrong))?;
        if segments.is_none() {
            return Err(source.error_at_key(
                "adapter",
                "an adapter takes so many segments, and nothing says how many; add `segments_max` \
                 to [queue], such as 128, or drop [adapter]",
            ));
        }
        if shares_link && table.link_mb_per_s.is_some() {
            return Err(source.error_at_key(
                "link_mb_per_s",
                "disks share a transport or have one each; drop `link_mb_per_s` here or in \
                 [adapter]",
            ));
        }
        let cost = AdapterCost {
            command: Span::from_us(table.command_us.into()),
            segment: Span::from_ns(table.segment_ns.into()),
            page: Span::from_ns(table.page_ns.into()),
        };
        Ok(Self { segments, link_mb_per_s: table.link_mb_per_s, cost })
    }
}

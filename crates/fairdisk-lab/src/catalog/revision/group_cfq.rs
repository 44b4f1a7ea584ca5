//! The family `group-cfq`: tables `[group_layer]` and `[defects]`, and those of the CFQ inside.

use super::two_layer::DefectsFile;
use super::{File, MOST, demand, need, weight_map};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_sched::group_cfq::{GroupCfqParams, WAIT_MAX};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupLayerFile {
    slice_ms: u32,
    weight_map: String,
    reads_of_group: bool,
    writes_of_group: bool,
    turn_ends_when_empty: bool,
    device_wide_busy_count: bool,
    foreign_preemption: bool,
}

impl File {
    pub(super) fn group_cfq(
        &self,
        source: Source<'_>,
        defects: &DefectsFile,
    ) -> Result<GroupCfqParams, CatalogError> {
        let layer = need(self.group_layer.as_ref(), "group_layer", source)?;
        defects.demand_none_of_two_layer(source)?;
        demand(source, 1..=MOST, &[("group_layer.slice_ms", layer.slice_ms)])?;
        Ok(GroupCfqParams {
            cfq: self.cfq(source)?,
            group_slice_ms: layer.slice_ms,
            weight_map: weight_map(source, "group_layer.weight_map", &layer.weight_map)?,
            reads_of_group: layer.reads_of_group,
            writes_of_group: layer.writes_of_group,
            turn_ends_when_empty: layer.turn_ends_when_empty,
            device_wide_busy_count: layer.device_wide_busy_count,
            foreign_preemption: layer.foreign_preemption,
            d3_unbounded_wait: defects.d3_unbounded_wait,
            wait_max: WAIT_MAX,
        })
    }
}

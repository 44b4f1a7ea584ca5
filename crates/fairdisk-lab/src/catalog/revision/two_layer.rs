//! The family `two-layer-cfq`: tables `[groups]` and `[defects]`, and those of the CFQ inside.

use super::{File, MOST, demand, need, weight_map};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_sched::two_layer::{TwoLayerParams, WAIT_MAX};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupsFile {
    slice_ms: u32,
    idle: bool,
    inner_turn_resumes: bool,
    weight_map: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DefectsFile {
    d1_stale_group_records: bool,
    pub(super) d2_shared_request_slots: bool,
    d3_unbounded_wait: bool,
    d4_nominal_turns: bool,
    pub(super) d5_async_of_submitter: bool,
}

impl File {
    pub(super) fn two_layer(
        &self,
        source: Source<'_>,
        defects: &DefectsFile,
    ) -> Result<TwoLayerParams, CatalogError> {
        let groups = need(self.groups.as_ref(), "groups", source)?;
        let map = weight_map(source, "groups.weight_map", &groups.weight_map)?;
        demand(source, 1..=MOST, &[("groups.slice_ms", groups.slice_ms)])?;
        Ok(TwoLayerParams {
            cfq: self.cfq(source)?,
            group_slice_ms: groups.slice_ms,
            group_idle: groups.idle,
            inner_turn_resumes: groups.inner_turn_resumes,
            weight_map: map,
            d1_stale_group_records: defects.d1_stale_group_records,
            d3_unbounded_wait: defects.d3_unbounded_wait,
            wait_max: WAIT_MAX,
            d4_nominal_turns: defects.d4_nominal_turns,
        })
    }
}

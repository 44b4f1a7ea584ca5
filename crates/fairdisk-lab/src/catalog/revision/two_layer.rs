//! The family `two-layer-cfq`: tables `[groups]` and `[defects]`, and those of the CFQ inside.

use super::{File, MOST, demand, need, weight_map};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::two_layer::{TwoLayerParams, WAIT_MAX};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupsFile {
    slice_ms: u32,
    idle: bool,
    inner_turn_resumes: bool,
    weight_map: String,
    #[serde(default = "wait_max_ms")]
    wait_max_ms: u32,
}

const fn wait_max_ms() -> u32 {
    WAIT_MAX.as_ms() as u32
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DefectsFile {
    d1_stale_group_records: bool,
    pub(super) d2_shared_request_slots: bool,
    pub(super) d3_unbounded_wait: bool,
    d4_nominal_turns: bool,
    pub(super) d5_async_of_submitter: bool,
}

impl DefectsFile {
    /// Refuses the defects that only schedulers with a layer of groups above CFQ have.
    pub(super) fn demand_none_of_layers(&self, source: Source<'_>) -> Result<(), CatalogError> {
        self.demand_none_of_two_layer(source)?;
        if !self.d3_unbounded_wait {
            return Ok(());
        }
        let message = "`d3_unbounded_wait` is a defect of the families two-layer-cfq and \
                       group-cfq, not of this one";
        Err(source.error_at_key("defects.d3_unbounded_wait", message))
    }

    /// Refuses the defects that only two-layer CFQ has.
    pub(super) fn demand_none_of_two_layer(&self, source: Source<'_>) -> Result<(), CatalogError> {
        let own = [
            ("d1_stale_group_records", self.d1_stale_group_records),
            ("d4_nominal_turns", self.d4_nominal_turns),
        ];
        let Some((name, _)) = own.iter().find(|(_, on)| *on) else { return Ok(()) };
        let message = format!("`{name}` is a defect of the family two-layer-cfq, not of this one");
        Err(source.error_at_key(&format!("defects.{name}"), message))
    }
}

impl File {
    pub(super) fn two_layer(
        &self,
        source: Source<'_>,
        defects: &DefectsFile,
    ) -> Result<TwoLayerParams, CatalogError> {
        let groups = need(self.groups.as_ref(), "groups", source)?;
        let values =
            [("groups.slice_ms", groups.slice_ms), ("groups.wait_max_ms", groups.wait_max_ms)];
        demand(source, 1..=MOST, &values)?;
        Ok(TwoLayerParams {
            cfq: self.cfq(source)?,
            group_slice_ms: groups.slice_ms,
            group_idle: groups.idle,
            inner_turn_resumes: groups.inner_turn_resumes,
            weight_map: weight_map(source, "groups.weight_map", &groups.weight_map)?,
            d1_stale_group_records: defects.d1_stale_group_records,
            d3_unbounded_wait: defects.d3_unbounded_wait,
            wait_max: Span::from_ms(groups.wait_max_ms.into()),
            d4_nominal_turns: defects.d4_nominal_turns,
        })
    }
}

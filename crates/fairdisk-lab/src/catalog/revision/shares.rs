//! The family `shares`: table `[shares]`.

use super::{File, MOST, demand, need, weight_map};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::shares::SharesParams;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SharesFile {
    latency_goal_us: u32,
    forgiven_us: u32,
    weight_map: String,
}

impl File {
    pub(super) fn shares(&self, source: Source<'_>) -> Result<SharesParams, CatalogError> {
        let file = need(self.shares.as_ref(), "shares", source)?;
        demand(source, 1..=MOST, &[("shares.latency_goal_us", file.latency_goal_us)])?;
        demand(source, 0..=MOST, &[("shares.forgiven_us", file.forgiven_us)])?;
        Ok(SharesParams {
            latency_goal: Span::from_us(file.latency_goal_us.into()),
            forgiven: Span::from_us(file.forgiven_us.into()),
            weight_map: weight_map(source, "shares.weight_map", &file.weight_map)?,
        })
    }
}

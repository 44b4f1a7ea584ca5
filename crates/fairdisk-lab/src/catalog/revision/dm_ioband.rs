//! The family `dm-ioband`: table `[dm_ioband]`.

use super::{File, MOST, demand, need, weight_map};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_sched::dm_ioband::DmIobandParams;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DmIobandFile {
    token_base: u32,
    carryover: u32,
    io_throttle: u32,
    weight_map: String,
}

impl File {
    pub(super) fn dm_ioband(&self, source: Source<'_>) -> Result<DmIobandParams, CatalogError> {
        let file = need(self.dm_ioband.as_ref(), "dm_ioband", source)?;
        demand(source, 1..=MOST, &[("dm_ioband.token_base", file.token_base)])?;
        let may_be_none =
            [("dm_ioband.carryover", file.carryover), ("dm_ioband.io_throttle", file.io_throttle)];
        demand(source, 0..=MOST, &may_be_none)?;
        Ok(DmIobandParams {
            token_base: file.token_base,
            carryover: file.carryover,
            io_throttle: file.io_throttle,
            weight_map: weight_map(source, "dm_ioband.weight_map", &file.weight_map)?,
        })
    }
}

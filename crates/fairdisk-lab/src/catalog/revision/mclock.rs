//! The family `mclock`: table `[mclock]`.

use super::{File, MOST, demand, need, weight_map};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::mclock::{AtLimit, MclockParams};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MclockFile {
    at_limit: AtLimitFile,
    io_kib: u32,
    anticipation_ms: u32,
    weight_map: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AtLimitFile {
    Wait,
    Allow,
}

impl File {
    pub(super) fn mclock(&self, source: Source<'_>) -> Result<MclockParams, CatalogError> {
        let file = need(self.mclock.as_ref(), "mclock", source)?;
        demand(source, 0..=MOST, &[("mclock.anticipation_ms", file.anticipation_ms)])?;
        demand(source, 1..=MOST, &[("mclock.io_kib", file.io_kib)])?;
        Ok(MclockParams {
            at_limit: match file.at_limit {
                AtLimitFile::Wait => AtLimit::Wait,
                AtLimitFile::Allow => AtLimit::Allow,
            },
            io_bytes: file.io_kib << 10,
            anticipation: Span::from_ms(file.anticipation_ms.into()),
            weight_map: weight_map(source, "mclock.weight_map", &file.weight_map)?,
        })
    }
}

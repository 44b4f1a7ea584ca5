//! The family `fair`: table `[fair]`.

use super::{File, MOST, demand, need};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::fair::FairParams;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FairFile {
    round_ms: u32,
    idle_max_ms: u32,
    credit_ms: u32,
    expire_ms: u32,
    #[serde(default)]
    direction_ms: u32,
}

impl File {
    pub(super) fn fair(&self, source: Source<'_>) -> Result<FairParams, CatalogError> {
        let file = need(self.fair.as_ref(), "fair", source)?;
        let values = [("fair.round_ms", file.round_ms), ("fair.expire_ms", file.expire_ms)];
        demand(source, 1..=MOST, &values)?;
        let values = [
            ("fair.idle_max_ms", file.idle_max_ms),
            ("fair.credit_ms", file.credit_ms),
            ("fair.direction_ms", file.direction_ms),
        ];
        demand(source, 0..=MOST, &values)?;
        Ok(FairParams {
            round: Span::from_ms(file.round_ms.into()),
            idle_max: Span::from_ms(file.idle_max_ms.into()),
            credit: Span::from_ms(file.credit_ms.into()),
            expire: Span::from_ms(file.expire_ms.into()),
            direction: Span::from_ms(file.direction_ms.into()),
        })
    }
}

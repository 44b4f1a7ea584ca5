//! The family `iolatency`: table `[iolatency]`.

use super::{File, MOST, demand, need};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::iolatency::IolatencyParams;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IolatencyFile {
    window_ms: u32,
    missed_percent: u32,
    recovery_requests: u32,
    depth_max: u32,
    delay_max_ms: u32,
}

impl File {
    pub(super) fn iolatency(&self, source: Source<'_>) -> Result<IolatencyParams, CatalogError> {
        let file = need(self.iolatency.as_ref(), "iolatency", source)?;
        demand(source, 0..=100, &[("iolatency.missed_percent", file.missed_percent)])?;
        let values = [
            ("iolatency.window_ms", file.window_ms),
            ("iolatency.recovery_requests", file.recovery_requests),
            ("iolatency.depth_max", file.depth_max),
            ("iolatency.delay_max_ms", file.delay_max_ms),
        ];
        demand(source, 1..=MOST, &values)?;
        Ok(IolatencyParams {
            window: Span::from_ms(file.window_ms.into()),
            missed_percent: file.missed_percent,
            recovery_requests: file.recovery_requests,
            depth_max: file.depth_max,
            delay_max: Span::from_ms(file.delay_max_ms.into()),
        })
    }
}

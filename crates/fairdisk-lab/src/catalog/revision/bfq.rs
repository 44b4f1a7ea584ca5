//! The family `bfq`: tables `[bfq]`, `[raising]` and `[switches]`.

use super::{File, MOST, demand, need};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::bfq::{BfqParams, RaisingParams, Switches};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BfqFile {
    slice_idle_ms: u32,
    #[serde(default)]
    seeky_idle_ms: u32,
    timeout_ms: u32,
    max_budget_sectors: u32,
    back_seek_max_kib: u32,
    back_seek_penalty: u32,
    fifo_expire_sync_ms: u32,
    fifo_expire_async_ms: u32,
    strict_guarantees: bool,
    low_latency: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RaisingFile {
    interactive_factor: u32,
    soft_real_time_factor: u32,
    interactive_ms: u32,
    soft_real_time_ms: u32,
    idle_min_ms: u32,
    soft_real_time_sectors_per_s_max: u32,
}

const fn ms(ms: u32) -> Span {
    Span::from_ms(ms as u64)
}

impl File {
    pub(super) fn bfq(&self, source: Source<'_>) -> Result<BfqParams, CatalogError> {
        let file = need(self.bfq.as_ref(), "bfq", source)?;
        demand(source, 0..=MOST, &[("bfq.slice_idle_ms", file.slice_idle_ms)])?;
        demand(source, 0..=MOST, &[("bfq.seeky_idle_ms", file.seeky_idle_ms)])?;
        demand(source, 0..=MOST, &[("bfq.max_budget_sectors", file.max_budget_sectors)])?;
        let values = [
            ("bfq.timeout_ms", file.timeout_ms),
            ("bfq.back_seek_penalty", file.back_seek_penalty),
            ("bfq.fifo_expire_sync_ms", file.fifo_expire_sync_ms),
            ("bfq.fifo_expire_async_ms", file.fifo_expire_async_ms),
        ];
        demand(source, 1..=MOST, &values)?;
        let mut switches = Switches::NONE;
        self.switch(source, "bfq", |name, on| switches.set(name, on))?;
        Ok(BfqParams {
            slice_idle: ms(file.slice_idle_ms),
            seeky_idle: ms(file.seeky_idle_ms),
            timeout: ms(file.timeout_ms),
            max_budget_sectors: file.max_budget_sectors,
            back_seek_max_kib: file.back_seek_max_kib,
            back_seek_penalty: file.back_seek_penalty,
            fifo_expire_sync: ms(file.fifo_expire_sync_ms),
            fifo_expire_async: ms(file.fifo_expire_async_ms),
            strict_guarantees: file.strict_guarantees,
            low_latency: file.low_latency,
            raising: self.raising(source)?,
            switches,
        })
    }

    fn raising(&self, source: Source<'_>) -> Result<RaisingParams, CatalogError> {
        let file = need(self.raising.as_ref(), "raising", source)?;
        let factors = [
            ("raising.interactive_factor", file.interactive_factor),
            ("raising.soft_real_time_factor", file.soft_real_time_factor),
        ];
        demand(source, 1..=1000, &factors)?;
        let values = [
            ("raising.interactive_ms", file.interactive_ms),
            ("raising.soft_real_time_ms", file.soft_real_time_ms),
            ("raising.idle_min_ms", file.idle_min_ms),
            ("raising.soft_real_time_sectors_per_s_max", file.soft_real_time_sectors_per_s_max),
        ];
        demand(source, 0..=MOST, &values)?;
        Ok(RaisingParams {
            interactive_factor: file.interactive_factor,
            soft_real_time_factor: file.soft_real_time_factor,
            interactive_span: ms(file.interactive_ms),
            soft_real_time_span: ms(file.soft_real_time_ms),
            idle_min: ms(file.idle_min_ms),
            soft_real_time_rate_max: file.soft_real_time_sectors_per_s_max,
        })
    }
}

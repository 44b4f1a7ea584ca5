//! The family `cfq`: tables `[cfq]`, `[quirks]` and `[switches]`.

use super::{File, MOST, demand, need};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::cfq::{CfqParams, Quirks, Switches};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CfqFile {
    quantum: u32,
    fifo_expire_sync_ms: u32,
    fifo_expire_async_ms: u32,
    back_seek_max_kib: u32,
    back_seek_penalty: u32,
    slice_sync_ms: u32,
    slice_async_ms: u32,
    slice_async_rq: u32,
    slice_idle_ms: u32,
    #[serde(default = "seeky_idle_ms")]
    seeky_idle_ms: u32,
    #[serde(default)]
    target_latency_ms: u32,
    #[serde(default)]
    serve_together: bool,
    key_offset: bool,
    slice_from_completion: bool,
    #[serde(default)]
    queueing_seen: bool,
    #[serde(default = "yes")]
    low_latency: bool,
    #[serde(default)]
    group_isolation: bool,
}

fn seeky_idle_ms() -> u32 {
    CfqParams::default().seeky_idle_ms
}

const fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuirksFile {
    q1_residual_sign: bool,
    q2_unsigned_keys: bool,
    q3_async_budget_per_round: bool,
    q4_no_fifo_inheritance: bool,
    q5_first_request_seeks: bool,
    q6_queueing_latched: bool,
    q7_reference_is_driver: bool,
    q8_idle_while_busy: bool,
}

impl File {
    pub(super) fn cfq(&self, source: Source<'_>) -> Result<CfqParams, CatalogError> {
        let file = need(self.cfq.as_ref(), "cfq", source)?;
        let quirks = need(self.quirks.as_ref(), "quirks", source)?;
        let values = [
            ("cfq.quantum", file.quantum),
            ("cfq.fifo_expire_sync_ms", file.fifo_expire_sync_ms),
            ("cfq.fifo_expire_async_ms", file.fifo_expire_async_ms),
            ("cfq.back_seek_penalty", file.back_seek_penalty),
            ("cfq.slice_sync_ms", file.slice_sync_ms),
            ("cfq.slice_async_ms", file.slice_async_ms),
            ("cfq.slice_async_rq", file.slice_async_rq),
            ("cfq.seeky_idle_ms", file.seeky_idle_ms),
        ];
        demand(source, 1..=MOST, &values)?;
        let values = [
            ("cfq.slice_idle_ms", file.slice_idle_ms),
            ("cfq.target_latency_ms", file.target_latency_ms),
        ];
        demand(source, 0..=MOST, &values)?;
        let mut switches = Switches::NONE;
        self.switch(source, "cfq", |name, on| switches.set(name, on))?;
        if switches != Switches::NONE {
            // Only CFQ as it was at first has been taught these.
            let own = [
                ("serve_together", file.serve_together),
                ("target_latency_ms", file.target_latency_ms > 0),
            ];
            if let Some((key, _)) = own.iter().find(|(_, is_set)| *is_set) {
                let message = format!("`{key}` does not go with `[switches]`; drop it or them");
                return Err(source.error_at_key(&format!("cfq.{key}"), message));
            }
        }
        Ok(CfqParams {
            hz: 1000,
            tick_phase: Span::ZERO,
            quantum: file.quantum,
            fifo_expire_sync_ms: file.fifo_expire_sync_ms,
            fifo_expire_async_ms: file.fifo_expire_async_ms,
            back_seek_max_kib: file.back_seek_max_kib,
            back_seek_penalty: file.back_seek_penalty,
            slice_sync_ms: file.slice_sync_ms,
            slice_async_ms: file.slice_async_ms,
            slice_async_rq: file.slice_async_rq,
            slice_idle_ms: file.slice_idle_ms,
            seeky_idle_ms: file.seeky_idle_ms,
            target_latency_ms: file.target_latency_ms,
            serve_together: file.serve_together,
            key_offset: file.key_offset,
            slice_from_completion: file.slice_from_completion,
            queueing_seen: file.queueing_seen,
            low_latency: file.low_latency,
            group_isolation: file.group_isolation,
            switches,
            quirks: Quirks {
                q1_residual_sign: quirks.q1_residual_sign,
                q2_unsigned_keys: quirks.q2_unsigned_keys,
                q3_async_budget_per_round: quirks.q3_async_budget_per_round,
                q4_no_fifo_inheritance: quirks.q4_no_fifo_inheritance,
                q5_first_request_seeks: quirks.q5_first_request_seeks,
                q6_queueing_latched: quirks.q6_queueing_latched,
                q7_reference_is_driver: quirks.q7_reference_is_driver,
                q8_idle_while_busy: quirks.q8_idle_while_busy,
            },
        })
    }
}

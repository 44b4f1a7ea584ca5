//! The family `kyber`: table `[kyber]`.

use super::{File, MOST, demand, need};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::kyber::KyberParams;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KyberFile {
    read_target_us: u32,
    write_target_us: u32,
    discard_target_us: u32,
    window_ms: u32,
    window_requests: u32,
    batch_requests: u32,
}

impl File {
    pub(super) fn kyber(&self, source: Source<'_>) -> Result<KyberParams, CatalogError> {
        let file = need(self.kyber, "kyber", source)?;
        let counts = [
            ("kyber.read_target_us", file.read_target_us),
            ("kyber.write_target_us", file.write_target_us),
            ("kyber.discard_target_us", file.discard_target_us),
            ("kyber.window_requests", file.window_requests),
            ("kyber.batch_requests", file.batch_requests),
        ];
        demand(source, 1..=10 * MOST, &counts)?;
        demand(source, 0..=MOST, &[("kyber.window_ms", file.window_ms)])?;
        let us = |us: u32| Span::from_us(u64::from(us));
        Ok(KyberParams {
            read_target: us(file.read_target_us),
            write_target: us(file.write_target_us),
            discard_target: us(file.discard_target_us),
            window: Span::from_ms(u64::from(file.window_ms)),
            window_requests: file.window_requests,
            batch_requests: file.batch_requests,
        })
    }
}

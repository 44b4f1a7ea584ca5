//! The family `deadline`: table `[deadline]`.

use super::{File, MOST, demand, need};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::deadline::DeadlineParams;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeadlineFile {
    read_expire_ms: u64,
    write_expire_ms: u64,
    writes_starved: u32,
    fifo_batch: u32,
    front_merges: bool,
}

impl File {
    pub(super) fn deadline(&self, source: Source<'_>) -> Result<DeadlineParams, CatalogError> {
        let file = need(self.deadline.as_ref(), "deadline", source)?;
        let expire = |ms: u64| u32::try_from(ms).unwrap_or(u32::MAX);
        let times = [
            ("deadline.read_expire_ms", expire(file.read_expire_ms)),
            ("deadline.write_expire_ms", expire(file.write_expire_ms)),
        ];
        demand(source, 0..=MOST, &times)?;
        demand(source, 1..=MOST, &[("deadline.fifo_batch", file.fifo_batch)])?;
        Ok(DeadlineParams {
            read_expire: Span::from_ms(file.read_expire_ms),
            write_expire: Span::from_ms(file.write_expire_ms),
            writes_starved_batches: file.writes_starved,
            fifo_batch_requests: file.fifo_batch,
            front_merges: file.front_merges,
        })
    }
}

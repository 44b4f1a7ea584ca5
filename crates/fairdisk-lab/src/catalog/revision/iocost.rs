//! The family `iocost`: table `[iocost]`.

use super::{File, MOST, demand, need, weight_map};
use crate::catalog::error::CatalogError;
use crate::catalog::source::Source;
use fairdisk_core::Span;
use fairdisk_sched::iocost::{IocostParams, LatencyGoal};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IocostFile {
    read_percent: u32,
    read_latency_us: u32,
    write_percent: u32,
    write_latency_us: u32,
    rate_min_percent: u32,
    rate_max_percent: u32,
    rate_step_percent: u32,
    wait_percent: u32,
    period_ms: u32,
    saved_percent: u32,
    weight_map: String,
}

impl File {
    pub(super) fn iocost(&self, source: Source<'_>) -> Result<IocostParams, CatalogError> {
        let file = need(self.iocost.as_ref(), "iocost", source)?;
        let parts = [
            ("iocost.read_percent", file.read_percent),
            ("iocost.write_percent", file.write_percent),
            ("iocost.wait_percent", file.wait_percent),
            ("iocost.saved_percent", file.saved_percent),
            ("iocost.rate_step_percent", file.rate_step_percent),
        ];
        demand(source, 0..=100, &parts)?;
        let times = [
            ("iocost.read_latency_us", file.read_latency_us),
            ("iocost.write_latency_us", file.write_latency_us),
            ("iocost.period_ms", file.period_ms),
        ];
        demand(source, 1..=MOST, &times)?;
        // The bounds of `min` and `max` in the documentation of io.cost.qos.
        let rates = [
            ("iocost.rate_min_percent", file.rate_min_percent),
            ("iocost.rate_max_percent", file.rate_max_percent),
        ];
        demand(source, 1..=10_000, &rates)?;
        demand(source, file.rate_min_percent..=10_000, &rates[1..])?;
        let goal = |percent: u32, us: u32| LatencyGoal { percent, time: Span::from_us(us.into()) };
        Ok(IocostParams {
            reads: goal(file.read_percent, file.read_latency_us),
            writes: goal(file.write_percent, file.write_latency_us),
            rate_min_percent: file.rate_min_percent,
            rate_max_percent: file.rate_max_percent,
            rate_step_percent: file.rate_step_percent,
            wait_percent: file.wait_percent,
            period: Span::from_ms(file.period_ms.into()),
            saved_percent: file.saved_percent,
            weight_map: weight_map(source, "iocost.weight_map", &file.weight_map)?,
        })
    }
}

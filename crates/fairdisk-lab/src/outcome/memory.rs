//! What happened to the memory of a host that has it page by page.

use crate::catalog::experiment::MemoryFigure;
use crate::run::{MemoryRun, RunResult};
use serde_json::{Value, json};

/// KiB of a page.
const PAGE_KIB: u64 = 4;

impl MemoryRun {
    /// A figure of it.
    pub(crate) fn figure(&self, figure: MemoryFigure) -> f64 {
        let Self { vmstat, places, .. } = self;
        let count = match figure {
            MemoryFigure::WaitS => return self.wait.as_ns() as f64 / 1e9,
            MemoryFigure::Allocstall => vmstat.allocstall,
            MemoryFigure::WithoutPage => vmstat.without_page,
            MemoryFigure::Pageoutrun => vmstat.pageoutrun,
            MemoryFigure::Pgalloc => vmstat.pgalloc,
            MemoryFigure::Pgfree => vmstat.pgfree,
            MemoryFigure::PgscanKswapd => vmstat.pgscan_kswapd,
            MemoryFigure::PgscanDirect => vmstat.pgscan_direct,
            MemoryFigure::Pgsteal => vmstat.pgsteal,
            MemoryFigure::KswapdSteal => vmstat.kswapd_steal,
            MemoryFigure::Pgactivate => vmstat.pgactivate,
            MemoryFigure::Pgdeactivate => vmstat.pgdeactivate,
            MemoryFigure::NrVmscanWrite => vmstat.nr_vmscan_write,
            MemoryFigure::ThrownAway => vmstat.thrown_away,
            MemoryFigure::PagesUsed => vmstat.pages_used,
            MemoryFigure::PagesIn => vmstat.pages_in,
            MemoryFigure::PagesAgain => vmstat.pages_again,
            MemoryFigure::FreeKib => places.free * PAGE_KIB,
            MemoryFigure::InactiveKib => places.inactive * PAGE_KIB,
            MemoryFigure::ActiveKib => places.active * PAGE_KIB,
            MemoryFigure::BuffersKib => self.buffers * PAGE_KIB,
        };
        count as f64
    }
}

/// The mean of the runs of a row.
#[derive(Clone, Copy, Debug)]
pub struct MemoryOutcome {
    /// The sum over the runs.
    sum: MemoryRun,
    runs: f64,
}

impl MemoryOutcome {
    /// The mean of some runs, if they have such memory.
    pub(super) fn of(runs: &[RunResult]) -> Option<Self> {
        let sum = runs.iter().filter_map(|run| run.memory).reduce(MemoryRun::with)?;
        Some(Self { sum, runs: runs.len() as f64 })
    }

    fn mean(&self, figure: MemoryFigure) -> f64 {
        self.sum.figure(figure) / self.runs
    }

    /// As JSON, by the names of the figures.
    #[must_use]
    pub fn json(&self) -> Value {
        let named = |(figure, key, _): &(MemoryFigure, &'static str, _)| {
            let name = key.strip_prefix("memory_").unwrap_or(key);
            (name.to_owned(), json!(self.mean(*figure)))
        };
        MemoryFigure::ALL.iter().map(named).collect()
    }

    /// The lines for tables.
    pub(super) fn lines(&self) -> [String; 2] {
        use MemoryFigure::{
            ActiveKib, Allocstall, BuffersKib, FreeKib, InactiveKib, KswapdSteal, Pgsteal, WaitS,
            WithoutPage,
        };
        let mib = |figure| self.mean(figure) / 1024.0;
        [
            format!(
                "memory: tasks waited {:.1} s in all; {:.0} direct reclaims, {:.0} of them got no \
                 page; kswapd freed {:.0} of {:.0} pages",
                self.mean(WaitS),
                self.mean(Allocstall),
                self.mean(WithoutPage),
                self.mean(KswapdSteal),
                self.mean(Pgsteal),
            ),
            format!(
                "memory at the end: {:.1} MiB inactive, {:.1} active, {:.1} of both buffers; \
                 {:.1} free",
                mib(InactiveKib),
                mib(ActiveKib),
                mib(BuffersKib),
                mib(FreeKib),
            ),
        ]
    }
}

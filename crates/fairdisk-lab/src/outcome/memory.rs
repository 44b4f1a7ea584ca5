//! What happened to the memory of a host that has it page by page.

use crate::run::{MemoryRun, RunResult};
use serde_json::{Value, json};

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

    fn mean(&self, count: u64) -> f64 {
        count as f64 / self.runs
    }

    /// The seconds that tasks reclaimed themselves or waited for memory, all tasks together.
    fn wait_s(&self) -> f64 {
        self.mean(self.sum.wait.as_ns()) / 1e9
    }

    /// As JSON, under the names of `/proc/vmstat` where that has one.
    pub(super) fn json(&self) -> Value {
        let vmstat = &self.sum.vmstat;
        json!({
            "wait_s": self.wait_s(),
            "allocstall": self.mean(vmstat.allocstall),
            "without_page": self.mean(vmstat.without_page),
            "pageoutrun": self.mean(vmstat.pageoutrun),
            "pgalloc": self.mean(vmstat.pgalloc),
            "pgfree": self.mean(vmstat.pgfree),
            "pgscan_kswapd": self.mean(vmstat.pgscan_kswapd),
            "pgscan_direct": self.mean(vmstat.pgscan_direct),
            "pgsteal": self.mean(vmstat.pgsteal),
            "kswapd_steal": self.mean(vmstat.kswapd_steal),
            "pgactivate": self.mean(vmstat.pgactivate),
            "pgdeactivate": self.mean(vmstat.pgdeactivate),
            "nr_vmscan_write": self.mean(vmstat.nr_vmscan_write),
            "thrown_away": self.mean(vmstat.thrown_away),
        })
    }

    /// A line for tables.
    pub(super) fn line(&self) -> String {
        let vmstat = &self.sum.vmstat;
        let (steal, kswapd) = (self.mean(vmstat.pgsteal), self.mean(vmstat.kswapd_steal));
        format!(
            "memory: tasks waited {:.1} s in all; {:.0} direct reclaims, {:.0} of them got no \
             page; kswapd freed {kswapd:.0} of {steal:.0} pages",
            self.wait_s(),
            self.mean(vmstat.allocstall),
            self.mean(vmstat.without_page),
        )
    }
}

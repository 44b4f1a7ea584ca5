//! What happened to the memory of a host that has it page by page.

use super::RowOutcome;
use super::table::digits;
use crate::plan::Plan;
use crate::results::Figures;
use crate::run::{Ensemble, MemoryRun, RunResult, had};
use crate::seconds::in_seconds;
use fairdisk_sim::machine::MemoryUse;

/// Pages of 4 KiB in a MiB.
const MIB_PAGES: f64 = 256.0;

/// The mean of the runs of a row: their sum, and how many there are.
#[derive(Clone, Copy, Debug)]
pub struct Mean<T> {
    sum: T,
    runs: f64,
}

/// What happened to memory.
pub type MemoryOutcome = Mean<MemoryRun>;

/// What a group or tasks had of the memory.
pub type MemoryShare = Mean<MemoryUse>;

impl<T> Mean<T> {
    fn of_one(&self, amount: f64) -> f64 {
        amount / self.runs
    }
}

impl MemoryOutcome {
    /// The mean of some runs, if they have such memory.
    pub(super) fn of(runs: &[RunResult]) -> Option<Self> {
        let sum = runs.iter().filter_map(|run| run.memory).reduce(MemoryRun::with)?;
        Some(Self { sum, runs: runs.len() as f64 })
    }

    /// The figures by their names.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let figures = self.sum.figures(&self.sum.tasks);
        figures.map(|(figure, sum)| (figure.name(), Some(self.of_one(sum)))).collect()
    }

    /// Lines on the machine, for tables.
    pub(super) fn lines(&self) -> [String; 3] {
        let MemoryRun { vmstat, places, buffers, tasks, .. } = &self.sum;
        let of = |count: u64| format!("{:.0}", self.of_one(count as f64));
        let mib = |pages: u64| format!("{:.1}", self.of_one(pages as f64) / MIB_PAGES);
        [
            format!(
                "memory: tasks waited {:.1} s in all; {} direct reclaims, {} of them got no page; \
                 kswapd freed {} of {} pages",
                self.of_one(in_seconds(tasks.wait)),
                of(vmstat.allocstall),
                of(vmstat.without_page),
                of(vmstat.kswapd_steal),
                of(vmstat.pgsteal),
            ),
            format!(
                "memory: {} pages read, {} of them again; {} thrown away unused; kswapd scanned {} \
                 and napped {} times, tasks scanned {}",
                of(vmstat.pages_in),
                of(vmstat.pages_again),
                of(vmstat.thrown_away),
                of(vmstat.pgscan_kswapd),
                of(vmstat.kswapd_naps),
                of(vmstat.pgscan_direct),
            ),
            format!(
                "memory at the end: {} MiB inactive, {} active, {} of both are metadata; {} free",
                mib(places.inactive),
                mib(places.active),
                mib(*buffers),
                mib(places.free),
            ),
        ]
    }
}

impl MemoryShare {
    /// The mean of some runs; `None` if their memory is not page by page.
    pub(super) fn of<'a>(
        runs: &[RunResult],
        each: impl Iterator<Item = &'a MemoryUse>,
    ) -> Option<Self> {
        runs.first()?.memory?;
        let mut sum = MemoryUse::default();
        each.for_each(|one| sum.add(one));
        Some(Self { sum, runs: runs.len() as f64 })
    }

    /// Both together.
    pub(super) fn with(mut self, other: Self) -> Self {
        self.sum.add(&other.sum);
        self
    }

    /// The figures by their names.
    pub(super) fn figures(self) -> Figures {
        had(&self.sum).map(|(name, sum)| (name.to_owned(), Some(self.of_one(sum)))).collect()
    }
}

/// The headings of the block of memory.
pub(super) const HEAD: [&str; 4] = ["memory", "hits", "misses", "waited s"];

/// The lines of the block of memory: of groups, of all together, and of named tasks.
pub(super) fn columns(row: &RowOutcome) -> Vec<[String; 4]> {
    let line = |name: String, share: MemoryShare| {
        let MemoryUse { hits, misses, wait } = share.sum;
        let of = |count: u64| format!("{:.0}", share.of_one(count as f64));
        [name, of(hits), of(misses), digits(share.of_one(in_seconds(wait)))]
    };
    let groups = row.groups.iter().filter_map(|group| Some((group.name.clone(), group.memory?)));
    let groups: Vec<_> = groups.collect();
    let total = groups.iter().map(|(_, share)| *share).reduce(MemoryShare::with);
    let total = total.filter(|_| groups.len() > 1).map(|share| ("total".to_owned(), share));
    let tasks =
        row.tasks.iter().filter_map(|task| Some((format!("task {}", task.name), task.memory?)));
    groups.into_iter().chain(total).chain(tasks).map(|(name, share)| line(name, share)).collect()
}

/// A note on rows for which the memory of the host, which is an amount, was too little.
pub(super) fn note(plan: &Plan, ensembles: &[Ensemble]) -> Option<String> {
    let mut rows: Vec<&str> = Vec::new();
    for ensemble in ensembles {
        let label = plan.rows[ensemble.row].label.as_str();
        if ensemble.runs.iter().any(|run| run.memory_was_full) && !rows.contains(&label) {
            rows.push(label);
        }
    }
    (!rows.is_empty()).then(|| {
        format!(
            "{}: more is read than fits the memory of the host, and waiting for memory is not \
             modelled; with --set host.memory.kernel=now it is.",
            rows.join(", ")
        )
    })
}

//! What happened to the memory of a host that has it page by page.

use super::RowOutcome;
use super::table::digits;
use crate::catalog::experiment::MemoryFigure;
use crate::plan::Plan;
use crate::run::{Ensemble, MemoryRun, RunResult};
use crate::seconds::in_seconds;
use fairdisk_sim::machine::MemoryUse;
use serde_json::{Value, json};

/// KiB of a page.
const PAGE_KIB: u64 = 4;

impl MemoryRun {
    /// A figure of it, and of what a subject had of it.
    pub(crate) fn figure(&self, figure: MemoryFigure, by: &MemoryUse) -> f64 {
        let Self { vmstat, places, .. } = self;
        let count = match figure {
            MemoryFigure::WaitS => return in_seconds(by.wait),
            MemoryFigure::Hits => by.hits,
            MemoryFigure::Misses => by.misses,
            MemoryFigure::KswapdNaps => vmstat.kswapd_naps,
            MemoryFigure::Pgrefill => vmstat.pgrefill,
            MemoryFigure::WorkingsetRefault => vmstat.workingset_refault,
            MemoryFigure::WorkingsetActivate => vmstat.workingset_activate,
            MemoryFigure::Pgrotated => vmstat.pgrotated,
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
        self.sum.figure(figure, &self.sum.tasks) / self.runs
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

    /// Lines on the machine, for tables.
    pub(super) fn lines(&self) -> [String; 3] {
        use MemoryFigure::{
            ActiveKib, Allocstall, BuffersKib, FreeKib, InactiveKib, KswapdNaps, KswapdSteal,
            PagesAgain, PagesIn, PgscanDirect, PgscanKswapd, Pgsteal, ThrownAway, WaitS,
            WithoutPage,
        };
        let of = |figure| format!("{:.0}", self.mean(figure));
        let mib = |figure| format!("{:.1}", self.mean(figure) / 1024.0);
        [
            format!(
                "memory: tasks waited {:.1} s in all; {} direct reclaims, {} of them got no page; \
                 kswapd freed {} of {} pages",
                self.mean(WaitS),
                of(Allocstall),
                of(WithoutPage),
                of(KswapdSteal),
                of(Pgsteal),
            ),
            format!(
                "memory: {} pages read, {} of them again; {} thrown away unused; kswapd scanned {} \
                 and napped {} times, tasks scanned {}",
                of(PagesIn),
                of(PagesAgain),
                of(ThrownAway),
                of(PgscanKswapd),
                of(KswapdNaps),
                of(PgscanDirect),
            ),
            format!(
                "memory at the end: {} MiB inactive, {} active, {} of both buffers; {} free",
                mib(InactiveKib),
                mib(ActiveKib),
                mib(BuffersKib),
                mib(FreeKib),
            ),
        ]
    }
}

/// What a group or tasks had of the memory, as the mean of the runs of a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryShare {
    hits: f64,
    misses: f64,
    wait_s: f64,
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
        let mean = |amount: f64| amount / runs.len() as f64;
        let MemoryUse { hits, misses, wait } = sum;
        let [hits, misses] = [hits, misses].map(|count| mean(count as f64));
        Some(Self { hits, misses, wait_s: mean(in_seconds(wait)) })
    }

    /// Both together.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            wait_s: self.wait_s + other.wait_s,
        }
    }

    /// As JSON.
    pub(super) fn json(self) -> Value {
        json!({ "hits": self.hits, "misses": self.misses, "wait_s": self.wait_s })
    }
}

/// The headings of the block of memory.
pub(super) const HEAD: [&str; 4] = ["memory", "hits", "misses", "waited s"];

/// The lines of the block of memory: of groups, of all together, and of named tasks.
pub(super) fn columns(row: &RowOutcome) -> Vec<[String; 4]> {
    let line = |name: String, MemoryShare { hits, misses, wait_s }: MemoryShare| {
        [name, format!("{hits:.0}"), format!("{misses:.0}"), digits(wait_s)]
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

//! What happened to the memory of a host that has it page by page.

use super::RowOutcome;
use super::table::digits;
use crate::catalog::experiment::MemoryFigure;
use crate::plan::Plan;
use crate::run::{Ensemble, MemoryRun, RunResult};
use crate::seconds::in_seconds;
use fairdisk_sim::machine::MemoryUse;
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

    fn mean(&self, figure: MemoryFigure) -> f64 {
        figure.of(&self.sum, &self.sum.tasks) / self.runs
    }

    /// As JSON, under the names of `/proc/vmstat` where that has one.
    pub(super) fn json(&self) -> Value {
        let pair = |figure: MemoryFigure| (figure.short_key().to_owned(), self.mean(figure).into());
        Value::Object(MemoryFigure::all().map(pair).collect())
    }

    /// Lines on the machine, for tables.
    pub(super) fn lines(&self) -> [String; 3] {
        use MemoryFigure::{
            ActiveAtEnd, Buffers, FreeAtEnd, InactiveAtEnd, Naps, Read, ReadAgain, ScanDirect,
            ScanKswapd, Stalls, Steal, StealKswapd, ThrownAway, WaitS, WithoutPage,
        };
        let of = |figure: MemoryFigure| format!("{:.0}", self.mean(figure));
        [
            format!(
                "memory: tasks waited {:.1} s in all; {} direct reclaims, {} of them got no page; \
                 kswapd freed {} of {} pages",
                self.mean(WaitS),
                of(Stalls),
                of(WithoutPage),
                of(StealKswapd),
                of(Steal),
            ),
            format!(
                "memory: {} pages read, {} of them again; {} thrown away unused; kswapd scanned {} \
                 and napped {} times, tasks scanned {}",
                of(Read),
                of(ReadAgain),
                of(ThrownAway),
                of(ScanKswapd),
                of(Naps),
                of(ScanDirect),
            ),
            format!(
                "memory at the end, in pages: {} free, {} inactive, {} active; {} of them buffers",
                of(FreeAtEnd),
                of(InactiveAtEnd),
                of(ActiveAtEnd),
                of(Buffers),
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

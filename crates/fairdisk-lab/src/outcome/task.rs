//! The results of named tasks.

use super::{Directions, MemoryShare, Series, part};
use crate::plan::{Figures, Plan};
use crate::run::Ensemble;
use crate::seconds::in_seconds;
use fairdisk_core::Histogram;

/// The results of one named task in a row.
#[derive(Clone, Debug)]
pub struct TaskOutcome {
    /// The task's name.
    pub name: String,
    /// Run time, in seconds.
    pub seconds: Series,
    /// Mean number of I/Os per run.
    pub ios: f64,
    /// Rate over the task's lifetime, in millions of bytes per second.
    pub mb_per_s: Series,
    /// Latencies over all seeds.
    pub latency: Histogram,
    /// Reads, writes and flushes separately.
    pub directions: Directions,
    /// What it had of the memory, where the host has it page by page.
    pub memory: Option<MemoryShare>,
    /// Whether the task finished in every run.
    pub finished: bool,
    /// Whether the task ends by itself.
    pub has_end: bool,
    /// The rate that the source gives.
    pub published_mb_per_s: Option<f64>,
    /// The run time in seconds that the source gives.
    pub published_seconds: Option<f64>,
}

impl TaskOutcome {
    /// How much faster the task was than published, as a fraction; computed from the run time if no
    /// rate is published.
    #[must_use]
    pub fn rate_error(&self) -> Option<f64> {
        match (self.published_mb_per_s, self.published_seconds) {
            (Some(published), _) => Some(self.mb_per_s.mean / published - 1.0),
            (None, Some(seconds)) => {
                (self.seconds.mean > 0.0).then(|| seconds / self.seconds.mean - 1.0)
            }
            (None, None) => None,
        }
    }
}

/// The named tasks of a row.
pub(super) fn tasks(
    plan: &Plan,
    ensemble: &Ensemble,
    figures: Option<&Figures>,
) -> Vec<TaskOutcome> {
    let published = figures.map(|figures| &figures.published);
    let load = &plan.rows[ensemble.row].load;
    let names = load.task_names();
    let figure = |list: Option<&Vec<f64>>, at: usize| {
        list.and_then(|list| list.get(at)).copied().filter(|it| !it.is_nan())
    };
    let outcome = |(at, name): (usize, String)| {
        let runs: Vec<_> = ensemble.runs.iter().filter_map(|run| run.tasks.get(at)).collect();
        let seconds: Vec<f64> = runs.iter().map(|task| in_seconds(task.elapsed)).collect();
        let rates: Vec<f64> = runs
            .iter()
            .zip(&seconds)
            .map(|(task, seconds)| part(task.bytes as f64 / 1e6, *seconds))
            .collect();
        // The rate of a task that was cut off cannot be compared.
        let finished = runs.iter().all(|task| task.finished);
        let mut latency = Histogram::new();
        runs.iter().for_each(|task| latency.merge(&task.latency));
        let has_end = load.has_end(at);
        let rate = published.filter(|_| finished || !has_end);
        let published = published.filter(|_| finished);
        TaskOutcome {
            name,
            ios: runs.iter().map(|task| task.ios as f64).sum::<f64>() / runs.len().max(1) as f64,
            seconds: Series::of(seconds),
            mb_per_s: Series::of(rates),
            latency,
            directions: Directions::of(runs.iter().map(|task| task.directions())),
            memory: MemoryShare::of(&ensemble.runs, runs.iter().map(|task| &task.memory)),
            finished,
            has_end,
            published_mb_per_s: rate.and_then(|published| published.mb_per_s(at)),
            published_seconds: figure(published.and_then(|p| p.seconds.as_ref()), at),
        }
    };
    names.into_iter().enumerate().map(outcome).collect()
}

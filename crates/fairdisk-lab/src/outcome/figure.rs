//! Figures that have no column of their own, beside what the source prints.

use super::{Spread, part};
use crate::catalog::experiment::Quantity;
use crate::plan::{Figure, Load, Whom};
use crate::run::{Ensemble, GroupRun, RunEnd, RunResult};
use fairdisk_core::{Histogram, Span};

/// What somebody came to in one figure.
#[derive(Clone, Debug)]
pub struct FigureOutcome {
    /// Who.
    pub whom: Whom,
    /// The figure.
    pub quantity: Quantity,
    /// What runs came to; `None` of no run that knows it.
    pub ours: Option<Spread>,
    /// What the source prints.
    pub published: f64,
}

impl FigureOutcome {
    /// How much more it is than the source prints: in percentage points of what is a percentage,
    /// in percent of the published figure otherwise.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        let ours = self.ours?.mean;
        Some(match self.quantity.is_percent() {
            true => ours - self.published,
            false => (ours / self.published - 1.0) * 100.0,
        })
    }
}

/// What the runs came to in these figures.
pub(super) fn figures(
    load: &dyn Load,
    ensemble: &Ensemble,
    wanted: &[Figure],
) -> Vec<FigureOutcome> {
    let outcome = |figure: &Figure| {
        let Figure { whom, quantity, published } = figure.clone();
        let runs: Option<Vec<f64>> =
            ensemble.runs.iter().map(|run| measure(load, run, &whom, quantity)).collect();
        let ours = runs.filter(|runs| !runs.is_empty()).map(|runs| Spread::of(&runs));
        FigureOutcome { whom, quantity, ours, published }
    };
    wanted.iter().map(outcome).collect()
}

/// What somebody did in one run.
struct Deeds {
    ios: u64,
    bytes: u64,
    /// How long it was at it.
    elapsed: Span,
    /// How long it had the disk; zero of tasks, of which nobody knows.
    disk_time: Span,
    latency: Histogram,
    /// Whether it came to its end.
    is_finished: bool,
    /// Whether it has one, and did not come to it.
    is_cut_off: bool,
}

/// A figure of somebody in one run, if there is one: who was cut off has no rate that compares, and
/// who did nothing no latency.
pub(super) fn measure(
    load: &dyn Load,
    run: &RunResult,
    whom: &Whom,
    quantity: Quantity,
) -> Option<f64> {
    let deeds = deeds(load, run, whom)?;
    let seconds = deeds.elapsed.as_ns() as f64 / 1e9;
    let bytes = deeds.bytes as f64;
    let per_second = |amount: f64| (seconds > 0.0 && !deeds.is_cut_off).then(|| amount / seconds);
    let ms = |span: Span| span.as_ns() as f64 / 1e6;
    let latency = |span: Span| (deeds.latency.count() > 0).then(|| ms(span));
    match quantity {
        Quantity::Ios => Some(deeds.ios as f64),
        Quantity::Iops => per_second(deeds.ios as f64),
        Quantity::Mib => Some(bytes / MIB),
        Quantity::Sectors => Some(bytes / 512.0),
        Quantity::MbPerS => per_second(bytes / 1e6),
        Quantity::MibPerS => per_second(bytes / MIB),
        Quantity::KibPerS => per_second(bytes / 1024.0),
        Quantity::BytesPercent => {
            Some(100.0 * part(bytes, GroupRun::together(&run.groups).bytes as f64))
        }
        Quantity::Seconds => deeds.is_finished.then_some(seconds),
        Quantity::TimeMs => Some(ms(deeds.disk_time)),
        Quantity::TimePercent => {
            let all = GroupRun::together(run.groups.iter().chain([&run.root])).disk_time();
            Some(100.0 * part(deeds.disk_time.as_ns() as f64, all.as_ns() as f64))
        }
        Quantity::LatencyMeanMs => {
            latency(deeds.latency.sum()).map(|sum| sum / deeds.latency.count() as f64)
        }
        Quantity::LatencyP50Ms => latency(deeds.latency.quantile(500)),
        Quantity::LatencyP95Ms => latency(deeds.latency.quantile(950)),
        Quantity::LatencyP99Ms => latency(deeds.latency.quantile(990)),
        Quantity::LatencyMaxMs => latency(deeds.latency.max()),
    }
}

const MIB: f64 = 1_048_576.0;

fn deeds(load: &dyn Load, run: &RunResult, whom: &Whom) -> Option<Deeds> {
    // Of a day of which nobody saw the end nothing compares.
    if run.end == RunEnd::GivenUp {
        return None;
    }
    let groups = match whom {
        Whom::All => GroupRun::together(&run.groups),
        Whom::Group { members, .. } => {
            GroupRun::together(members.iter().filter_map(|at| run.groups.get(*at)))
        }
        Whom::Task { at, .. } => {
            let task = run.tasks.get(*at)?;
            return Some(Deeds {
                ios: task.ios,
                bytes: task.bytes,
                elapsed: task.elapsed,
                disk_time: Span::ZERO,
                latency: task.latency.clone(),
                is_finished: task.finished,
                is_cut_off: !task.finished && load.has_end(*at),
            });
        }
    };
    Some(Deeds {
        ios: groups.ios,
        bytes: groups.bytes,
        elapsed: run.elapsed,
        disk_time: groups.disk_time(),
        latency: groups.latency,
        is_finished: run.done,
        is_cut_off: false,
    })
}

//! Figures without a column of their own, beside the published ones.

use super::{Series, part};
use crate::catalog::experiment::{Ios, Measure, Quantity};
use crate::plan::{Figure, Load, Whom};
use crate::run::{Ensemble, GroupRun, RunEnd, RunResult};
use crate::seconds::in_seconds;
use fairdisk_core::{Histogram, Span};
use fairdisk_sim::machine::{MemoryUse, OpTally};

/// A measured figure beside the published one.
#[derive(Clone, Debug)]
pub struct FigureOutcome {
    /// The subject.
    pub whom: Whom,
    /// The quantity.
    pub quantity: Quantity,
    /// The measured figure; `None` if no run has it.
    pub ours: Option<Series>,
    /// The published figure.
    pub published: f64,
}

impl FigureOutcome {
    /// The difference from the published figure: in percentage points for a share, otherwise in
    /// percent of the published figure.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        let ours = self.ours.as_ref()?.mean;
        Some(match self.quantity.is_percent() {
            true => ours - self.published,
            false => (ours / self.published - 1.0) * 100.0,
        })
    }
}

/// The measured figures of an ensemble beside the published ones.
pub(super) fn figures(
    load: &dyn Load,
    ensemble: &Ensemble,
    wanted: &[Figure],
) -> Vec<FigureOutcome> {
    let outcome = |figure: &Figure| {
        let Figure { whom, quantity, published } = figure.clone();
        let runs: Option<Vec<f64>> = ensemble
            .runs
            .iter()
            .map(|run| measure(&|at| load.has_end(at), run, &whom, quantity))
            .collect();
        let ours = runs.filter(|runs| !runs.is_empty()).map(Series::of);
        FigureOutcome { whom, quantity, ours, published }
    };
    wanted.iter().map(outcome).collect()
}

/// What a subject did in one run, over all I/Os or only over reads or writes.
struct Deeds {
    ios: u64,
    bytes: u64,
    /// The time during which it was active.
    elapsed: Span,
    /// Run time of the subject, if it finished.
    seconds: Option<f64>,
    /// The run times of each of several tasks, if all finished.
    each: Vec<Span>,
    /// How long it had the disk; zero for tasks, for which this is not known.
    disk_time: Span,
    latency: Histogram,
    memory: MemoryUse,
    /// Whether it has an end that it did not reach.
    is_cut_off: bool,
}

/// The figure of a subject in one run, if there is one: the rate of a subject that was cut off
/// cannot be compared, and one without I/Os has no latency. `has_end` tells whether the named task
/// of an index ends by itself.
pub(crate) fn measure(
    has_end: &dyn Fn(usize) -> bool,
    run: &RunResult,
    whom: &Whom,
    quantity: Quantity,
) -> Option<f64> {
    if let Measure::Disk(figure) = quantity.measure {
        return figure.of(&run.disk()?);
    }
    let deeds = deeds(has_end, run, whom, quantity.ios)?;
    if let Measure::Memory(figure) = quantity.measure {
        return run.memory?.figure(figure, &deeds.memory);
    }
    let bytes = deeds.bytes as f64;
    let elapsed = in_seconds(deeds.elapsed);
    let per_second = |amount: f64| (elapsed > 0.0 && !deeds.is_cut_off).then(|| amount / elapsed);
    let ms = |span: Span| span.as_ns() as f64 / 1e6;
    let count = deeds.latency.count() as f64;
    let latency = |span: Span| (count > 0.0).then(|| ms(span));
    let each = || deeds.each.iter().map(|span| in_seconds(*span));
    match quantity.measure {
        Measure::Ios => Some(deeds.ios as f64),
        Measure::Iops => per_second(deeds.ios as f64),
        Measure::Mib => Some(bytes / MIB),
        Measure::Sectors => Some(bytes / 512.0),
        Measure::MbPerS => per_second(bytes / 1e6),
        Measure::MibPerS => per_second(bytes / MIB),
        Measure::KibPerS => per_second(bytes / 1024.0),
        Measure::BytesPercent => {
            Some(100.0 * part(bytes, GroupRun::together(&run.groups).bytes as f64))
        }
        Measure::Seconds => deeds.seconds,
        Measure::SecondsMean => {
            (!deeds.each.is_empty()).then(|| each().sum::<f64>() / each().len() as f64)
        }
        Measure::SecondsMin => each().reduce(f64::min),
        Measure::TimeMs => Some(ms(deeds.disk_time)),
        Measure::TimePercent => {
            let all = GroupRun::together(run.groups.iter().chain([&run.root])).disk_time();
            Some(100.0 * part(deeds.disk_time.as_ns() as f64, all.as_ns() as f64))
        }
        Measure::LatencyMeanMs => latency(deeds.latency.sum()).map(|sum| sum / count),
        Measure::LatencySdMs => latency(deeds.latency.sum()).map(|sum| {
            let squares = deeds.latency.squares_ns2() as f64 / 1e12;
            (squares / count - (sum / count).powi(2)).max(0.0).sqrt()
        }),
        Measure::LatencyMinMs => latency(deeds.latency.min()),
        Measure::LatencyP50Ms => latency(deeds.latency.quantile(500)),
        Measure::LatencyP90Ms => latency(deeds.latency.quantile(900)),
        Measure::LatencyP95Ms => latency(deeds.latency.quantile(950)),
        Measure::LatencyP99Ms => latency(deeds.latency.quantile(990)),
        Measure::LatencyP99_9Ms => latency(deeds.latency.quantile(999)),
        Measure::LatencyMaxMs => latency(deeds.latency.max()),
        Measure::Disk(_) | Measure::Memory(_) => None,
    }
}

const MIB: f64 = 1_048_576.0;

fn deeds(has_end: &dyn Fn(usize) -> bool, run: &RunResult, whom: &Whom, ios: Ios) -> Option<Deeds> {
    // Nothing can be compared in a run that was given up after a day.
    if run.end == RunEnd::GivenUp {
        return None;
    }
    let (all, [read, write]) = match whom {
        Whom::Task { at, .. } => {
            let task = run.tasks.get(*at)?.clone();
            let deeds = Deeds {
                ios: task.ios,
                bytes: task.bytes,
                elapsed: task.elapsed,
                seconds: task.finished.then(|| in_seconds(task.elapsed)),
                each: if task.finished { task.each } else { Vec::new() },
                disk_time: Span::ZERO,
                latency: task.latency,
                memory: task.memory,
                is_cut_off: !task.finished && has_end(*at),
            };
            (deeds, [task.read, task.write])
        }
        Whom::All => {
            let groups = GroupRun::together(&run.groups);
            let done = run.done.then(|| in_seconds(run.elapsed));
            of_groups(run, groups, done)
        }
        Whom::Group { members, .. } => {
            let members = members.iter().filter_map(|at| run.groups.get(*at));
            let groups = GroupRun::together(members);
            let done = groups.lifetime().map(in_seconds);
            of_groups(run, groups, done)
        }
    };
    let one = match ios {
        Ios::All => return Some(all),
        Ios::Reads => read,
        Ios::Writes => write,
    };
    let latency = one.latency().cloned().unwrap_or_default();
    Some(Deeds { ios: one.ios, bytes: one.bytes, latency, ..all })
}

fn of_groups(run: &RunResult, groups: GroupRun, seconds: Option<f64>) -> (Deeds, [OpTally; 2]) {
    let deeds = Deeds {
        ios: groups.ios,
        bytes: groups.bytes,
        elapsed: run.elapsed,
        seconds,
        each: Vec::new(),
        disk_time: groups.disk_time(),
        latency: groups.latency,
        memory: groups.memory,
        is_cut_off: false,
    };
    (deeds, [groups.read, groups.write])
}

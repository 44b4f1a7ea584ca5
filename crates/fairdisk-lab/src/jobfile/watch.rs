//! What a job does about what it measures of itself: it ends (`rate_min`, `max_latency`,
//! `steadystate`), or changes how many requests it keeps in flight (`latency_target`).

use serde::Serialize;

use super::check::{NEUTRAL, say};
use super::draft::{Draft, List, Slot, value};
use super::error::{Error, ErrorKind};
use super::finish;
use super::note::Notes;
use super::per_op::PerOp;
use super::render::{Lines, limits, micros};
use super::setting::{Given, Placed};
use super::value::{Read, ValueError};

/// The keys of what a job measures.
#[derive(Debug, Clone, Default)]
pub(super) struct WatchKeys {
    pub(super) rate_min: List<u64>,
    pub(super) rate_iops_min: List<u64>,
    pub(super) rate_cycle_ms: Slot<u32>,
    pub(super) latency_max_ns: Slot<u64>,
    pub(super) steady: Slot<Criterion>,
    pub(super) steady_ns: Slot<u64>,
    pub(super) steady_ramp_ns: Slot<u64>,
    pub(super) target_ns: Slot<u64>,
    pub(super) window_ns: Slot<u64>,
    pub(super) percentile: Slot<f64>,
    pub(super) goes_on: Slot<bool>,
}

/// What a job does about what it measures of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Watch {
    /// The least that it must do; a job that does less ends.
    pub least: Option<LeastRate>,
    /// The longest that a request may take (`max_latency`), in nanoseconds; then the job ends.
    pub latency_max_ns: Option<u64>,
    /// When the job ends because it is steady.
    pub steady: Option<Steady>,
    /// The latency for which the depth of the queue is searched.
    pub target: Option<LatencyTarget>,
}

/// The least that a job must do in each cycle after its first two seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LeastRate {
    /// Bytes a second (`rate_min`).
    pub bytes_per_s: PerOp<Option<u64>>,
    /// Requests a second (`rate_iops_min`).
    pub ios_per_s: PerOp<Option<u64>>,
    /// The length of a cycle (`rate_cycle`), in milliseconds.
    pub cycle_ms: u32,
}

/// A criterion and its limit (`steadystate`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Criterion {
    /// Whether bytes count, or requests.
    pub bytes: bool,
    /// Whether the slope over time is limited, or the distance of each second from the mean.
    pub slope: bool,
    /// The limit.
    pub limit: f64,
    /// Whether the limit is a percentage of the mean.
    pub percent: bool,
}

/// When a job is steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Steady {
    /// The criterion.
    pub criterion: Criterion,
    /// For how long it must hold (`steadystate_duration`), in nanoseconds.
    pub lasting_ns: u64,
    /// Time before it is measured (`steadystate_ramp_time`), in nanoseconds.
    pub ramp_ns: u64,
}

/// A latency for which the depth of the queue is searched.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyTarget {
    /// The latency (`latency_target`), in nanoseconds.
    pub latency_ns: u64,
    /// How long each depth is tried (`latency_window`), in nanoseconds.
    pub window_ns: u64,
    /// The percentage of requests that must have the latency (`latency_percentile`).
    pub percent: f64,
    /// Whether the job goes on when the depth is found (`latency_run`).
    pub goes_on: bool,
}

/// The length of a cycle in fio, in milliseconds.
const CYCLE_MS: u32 = 1000;

/// Parses `steadystate=`.
pub(super) fn criterion(given: Given<'_>) -> Read<Criterion> {
    let expected = "a criterion and a limit, such as iops:2% or bw_slope:0.1%";
    let Some((word, limit)) = given.word(expected)?.split_once(':') else {
        return ValueError::bad(expected);
    };
    let words = [
        ("iops", (false, false)),
        ("iops_slope", (false, true)),
        ("bw", (true, false)),
        ("bw_slope", (true, true)),
    ];
    let (bytes, slope) = Given { raw: Some(word), ..given }.choice(&words)?;
    let (text, percent) = match limit.strip_suffix('%') {
        Some(text) => (text, true),
        None => (limit, false),
    };
    match text.parse::<f64>() {
        Ok(limit) if limit.is_finite() && limit >= 0.0 => {
            Ok(Criterion { bytes, slope, limit, percent })
        }
        _ => ValueError::bad(expected),
    }
}

/// Parses `latency_percentile=`.
pub(super) fn percentile(given: Given<'_>) -> Read<f64> {
    let expected = "a number from 0 to 100";
    match given.word(expected)?.trim().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => ValueError::bad(expected),
    }
}

impl WatchKeys {
    pub(super) fn watch(&self) -> Watch {
        let set = |slot: &Slot<u64>| value(slot).filter(|ns| *ns > 0);
        let least = |slot: &List<u64>| {
            let list = value(slot).unwrap_or_else(|| PerOp::all(None));
            list.map(|least| least.filter(|least| *least > 0))
        };
        let least = LeastRate {
            bytes_per_s: least(&self.rate_min),
            ios_per_s: least(&self.rate_iops_min),
            cycle_ms: value(&self.rate_cycle_ms).unwrap_or(CYCLE_MS),
        };
        let any = |list: &PerOp<Option<u64>>| list.iter().any(Option::is_some);
        let is_least = any(&least.bytes_per_s) || any(&least.ios_per_s);
        let steady = value(&self.steady).zip(set(&self.steady_ns));
        let steady = steady.map(|(criterion, lasting_ns)| Steady {
            criterion,
            lasting_ns,
            ramp_ns: value(&self.steady_ramp_ns).unwrap_or(0),
        });
        let target = set(&self.target_ns).map(|latency_ns| LatencyTarget {
            latency_ns,
            window_ns: value(&self.window_ns).unwrap_or(0),
            percent: value(&self.percentile).unwrap_or(100.0),
            goes_on: value(&self.goes_on).unwrap_or(false),
        });
        let latency_max_ns = set(&self.latency_max_ns);
        Watch { least: is_least.then_some(least), latency_max_ns, steady, target }
    }
}

/// fio refuses a least rate above the highest.
pub(super) fn least_exceeds_rate(draft: &Draft) -> Option<Error> {
    let above = |least: &List<u64>, most: &List<u64>| {
        let Placed { value: least, place, key } = least.as_ref()?;
        let most = value(most)?;
        let mut pairs = least.iter().zip(most.iter());
        let is_above = pairs.any(|(least, most)| least.zip(*most).is_some_and(|(a, b)| a > b));
        let text = format!("{key} is above the rate itself; lower it");
        let error = Error { place: place.clone(), kind: ErrorKind::Conflict { text } };
        is_above.then_some(error)
    };
    let keys = &draft.watch;
    above(&keys.rate_min, &draft.rate).or_else(|| above(&keys.rate_iops_min, &draft.rate_iops))
}

pub(super) fn remarks(draft: &Draft, notes: &mut Notes) {
    let keys = &draft.watch;
    let Watch { least, latency_max_ns, steady, target } = keys.watch();
    let takes = |key: &str| format!("no effect: it takes {key}, which is not in force");
    say(notes, &keys.rate_min, least.is_none(), NEUTRAL);
    say(notes, &keys.rate_iops_min, least.is_none(), NEUTRAL);
    say(notes, &keys.rate_cycle_ms, least.is_none(), &takes("rate_min or rate_iops_min"));
    say(notes, &keys.latency_max_ns, latency_max_ns.is_none(), NEUTRAL);
    say(notes, &keys.steady, steady.is_none(), &takes("steadystate_duration"));
    let no_criterion = keys.steady.is_none();
    say(notes, &keys.steady_ns, no_criterion, &takes("steadystate"));
    say(notes, &keys.steady_ramp_ns, steady.is_none(), &takes("steadystate"));
    say(notes, &keys.target_ns, target.is_none(), NEUTRAL);
    let text = takes("latency_target");
    say(notes, &keys.window_ns, target.is_none(), &text);
    say(notes, &keys.percentile, target.is_none(), &text);
    say(notes, &keys.goes_on, target.is_none(), &text);
    let searches = target.is_some() && finish::one_by_one(draft).is_none();
    say(notes, &draft.iodepth, searches, "the most that the search for latency_target tries");
}

impl Watch {
    pub(super) fn lines(&self, lines: &mut Lines) {
        if let Some(least) = &self.least {
            limits(lines, "rate_min", &least.bytes_per_s, "bytes/s, or the job ends");
            limits(lines, "rate_iops_min", &least.ios_per_s, "requests/s, or the job ends");
            lines.set("rate_cycle", least.cycle_ms, "ms");
        }
        if let Some(ns) = self.latency_max_ns {
            lines.set("max_latency", micros(ns), "the job ends when a request takes longer");
        }
        if let Some(steady) = &self.steady {
            let Criterion { bytes, slope, limit, percent } = steady.criterion;
            let (unit, slope) =
                (if bytes { "bw" } else { "iops" }, if slope { "_slope" } else { "" });
            let percent = if percent { "%" } else { "" };
            let text = format!("{unit}{slope}:{limit}{percent}");
            lines.set("steadystate", text, "the job ends when it is steady");
            lines.set("steadystate_duration", micros(steady.lasting_ns), "");
            lines.set("steadystate_ramp_time", micros(steady.ramp_ns), "");
        }
        if let Some(target) = &self.target {
            let text = "iodepth is searched for";
            lines.set("latency_target", micros(target.latency_ns), text);
            lines.set("latency_window", micros(target.window_ns), "for each depth");
            lines.set("latency_percentile", target.percent, "of requests have the latency");
            lines.set("latency_run", u8::from(target.goes_on), "1: goes on when it is found");
        }
    }
}

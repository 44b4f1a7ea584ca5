//! Is the lab right about this disk? A recording is replayed under the scheduler that it was made
//! under, and laid beside the replay.

mod fit;
mod side;
mod text;

pub use fit::{Fit, KeyChange, KeyFit, fit};

use crate::catalog::error::CatalogError;
use crate::plan::{Obstacle, Options, Plan, Recorded};
use crate::run::record_once;
use crate::threads::Progress;
use fairdisk_core::{Instant, Span};
use schemars::JsonSchema;
use serde::Serialize;
use side::{Kind, Side};
use std::fmt;
use std::sync::atomic::AtomicBool;

/// A recording beside its replay.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Validation {
    /// The scheduler of both.
    pub scheduler: String,
    /// The device of the replay.
    pub device: String,
    /// The time that is compared: until the recording ends, or a group that lasted to its end has
    /// done all of it in the replay.
    pub seconds: f64,
    /// All groups together.
    pub total: Throughput,
    /// The groups.
    pub groups: Vec<GroupCheck>,
    /// The times of each kind of operation of each group.
    pub times: Vec<TimesCheck>,
    /// Operations of groups that the recording has and the replay lacks, or nearly.
    pub absent: Vec<String>,
    /// How each of the device's values fits, the worst first.
    pub device_values: Vec<KeyFit>,
    /// What to know before reading the figures.
    pub notes: Vec<String>,
}

/// A figure of the recording and the same of the replay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Beside {
    /// Of the recording.
    pub recorded: f64,
    /// Of the replay.
    pub replayed: f64,
}

impl Beside {
    /// By how many percent the replay is above the recording.
    #[must_use]
    pub fn off_percent(self) -> f64 {
        if self.recorded > 0.0 { 100.0 * (self.replayed / self.recorded - 1.0) } else { 0.0 }
    }
}

/// How much was done.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Throughput {
    /// I/Os per second.
    pub ios_per_s: Beside,
    /// Millions of bytes per second.
    pub mb_per_s: Beside,
}

/// How much a group did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GroupCheck {
    /// The group.
    pub group: String,
    /// How much it did.
    #[serde(flatten)]
    pub throughput: Throughput,
    /// Its percentage of all I/Os.
    pub ios_percent: Beside,
}

/// How long operations took.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimesCheck {
    /// The group.
    pub group: String,
    /// The operation: `reads`, `writes`, `write-back`, `flushes` or `discards`.
    pub op: &'static str,
    /// How many there were.
    pub count: Beside,
    /// From queueing to the end, in milliseconds: half of them are not longer.
    pub p50_ms: Beside,
    /// See `p50_ms`.
    pub p90_ms: Beside,
    /// See `p50_ms`.
    pub p99_ms: Beside,
    /// The root mean square of the horizontal distance of the two distributions, as a percentage of
    /// the recording's mean: the relative demerit figure.
    pub demerit_percent: f64,
}

/// The most by which a figure may be off without being called a miss: parts in points, the rest in
/// percent.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A group's part, in points.
    pub part_points: f64,
    /// I/Os a second.
    pub throughput_percent: f64,
    /// The median.
    pub p50_percent: f64,
    /// The 99th percentile.
    pub p99_percent: f64,
}

impl Limits {
    /// What a device file that fits keeps.
    pub const GOOD: Self =
        Self { part_points: 3.0, throughput_percent: 10.0, p50_percent: 15.0, p99_percent: 30.0 };
}

/// Why nothing was compared.
#[derive(Debug)]
pub enum ValidateError {
    /// The trace or an option is wrong.
    Plan(CatalogError),
    /// The load cannot be run.
    Run(Obstacle),
    /// The recording cannot be judged.
    Recording(String),
}

impl fmt::Display for ValidateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
            Self::Recording(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for ValidateError {}

/// A distribution of fewer than this many times has no 99th percentile.
const COUNT_LEAST: usize = 100;

/// What a replay does not know.
const NOT_RECORDED: &str = "Of settings a recording has the scheduler with its tunables, a mount's \
                            depth and whether it knew costs, and weights, floors, ceilings and \
                            targets of groups, of which the kernel has weights alone. None are as they were changed later.";

/// Replays the recording as `options` say and lays both beside each other. Values of the device are
/// varied to see which fits worst, if `fits`.
///
/// # Errors
/// Returns an error if the recording has no ends or cannot be replayed.
pub fn validate(
    recorded: &Recorded,
    options: &Options,
    fits: bool,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Validation, ValidateError> {
    let plan = one_plan(recorded, options)?;
    let this = Side::recorded(recorded, options);
    this.demand_ends(&recorded.name)?;
    let that = replayed(&plan, stop)?;
    let until = this.common_end(&that);
    if until == Instant::ZERO {
        return Err(ValidateError::Recording(format!(
            "{}: a group that lasts to its end did nothing in the replay, so nothing can be compared",
            recorded.name
        )));
    }
    let (this, that) = (this.until(until), that.until(until));
    let seconds = until.since(Instant::ZERO).as_ns() as f64 / 1e9;
    let device_values = match fits {
        true => fit(recorded, options, 1, progress, stop)?.keys,
        false => Vec::new(),
    };
    Ok(Validation {
        scheduler: plan.arms[0].name.clone(),
        device: plan.rig.device_id.clone(),
        seconds,
        total: throughput(
            (this.ios(None), this.bytes(None)),
            (that.ios(None), that.bytes(None)),
            seconds,
        ),
        groups: groups(&this, &that, seconds),
        absent: absent(&this, &that),
        times: times(&this, &that),
        device_values,
        notes: plan.caveats.iter().cloned().chain([NOT_RECORDED.to_owned()]).collect(),
    })
}

/// The plan of one replay.
fn one_plan(recorded: &Recorded, options: &Options) -> Result<Plan, ValidateError> {
    let options = Options { seeds: Some(1), ..options.clone() };
    Plan::recording(recorded, &options).map_err(ValidateError::Plan)
}

fn replayed(plan: &Plan, stop: &AtomicBool) -> Result<Side, ValidateError> {
    let (arm, row) = (&plan.arms[0], &plan.rows[0]);
    let run = record_once(plan, (arm, row), 0, stop).map_err(ValidateError::Run)?;
    let group = |request: &fairdisk_trace::Request| &*run.origins.get(request.origin).group;
    Ok(Side::of(run.requests.iter().map(|request| (group(request), request)), Span::ZERO))
}

fn throughput(this: (usize, u64), that: (usize, u64), seconds: f64) -> Throughput {
    let per_s = |amount: f64| amount / seconds.max(1e-9);
    let of = |this: f64, that: f64| Beside { recorded: per_s(this), replayed: per_s(that) };
    Throughput {
        ios_per_s: of(this.0 as f64, that.0 as f64),
        mb_per_s: of(this.1 as f64 / 1e6, that.1 as f64 / 1e6),
    }
}

fn groups(this: &Side, that: &Side, seconds: f64) -> Vec<GroupCheck> {
    let percent = |side: &Side, name: &str| {
        100.0 * side.ios(Some(name)) as f64 / (side.ios(None) as f64).max(1.0)
    };
    let check = |name: &str| {
        let of = |side: &Side| (side.ios(Some(name)), side.bytes(Some(name)));
        GroupCheck {
            group: name.to_owned(),
            throughput: throughput(of(this), of(that), seconds),
            ios_percent: Beside { recorded: percent(this, name), replayed: percent(that, name) },
        }
    };
    this.groups().iter().map(|name| check(name)).collect()
}

fn times(this: &Side, that: &Side) -> Vec<TimesCheck> {
    let mut all = Vec::new();
    for ((group, kind), line) in &this.lines {
        let Some(other) = that.lines.get(&(group.clone(), *kind)) else { continue };
        if line.took.len().min(other.took.len()) < COUNT_LEAST {
            continue;
        }
        let at = |per_mille| Beside {
            recorded: line.quantile_ms(per_mille),
            replayed: other.quantile_ms(per_mille),
        };
        all.push(TimesCheck {
            group: group.clone(),
            op: kind.name(),
            count: Beside { recorded: line.took.len() as f64, replayed: other.took.len() as f64 },
            p50_ms: at(500),
            p90_ms: at(900),
            p99_ms: at(990),
            demerit_percent: line.demerit_percent(other),
        });
    }
    all
}

fn absent(this: &Side, that: &Side) -> Vec<String> {
    let enough = this.lines.iter().filter(|(_, line)| line.took.len() >= COUNT_LEAST);
    let replayed = |key| that.lines.get(key).map_or(0, |other| other.took.len());
    let lacks = enough.filter(|(key, _)| replayed(key) < COUNT_LEAST);
    lacks.map(|((group, kind), _)| format!("{group} {}", kind.name())).collect()
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::WriteBack => "write-back",
            Self::Flush => "flushes",
            Self::Discard => "discards",
        }
    }
}

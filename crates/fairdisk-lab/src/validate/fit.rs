//! Which of a device's values fit a recording, and which would fit better.

use super::side::Side;
use super::{COUNT_LEAST, ValidateError, one_plan, replayed};
use crate::catalog::device::table;
use crate::catalog::overrides::Override;
use crate::plan::{Options, Recorded};
use crate::threads::{Progress, on_cores};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use toml::{Table, Value};

/// How well the values of a device fit a recording.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// How far the replay is off: the mean distance of the logarithms of times and of throughput,
    /// before and after.
    pub before: f64,
    /// See `before`.
    pub after: f64,
    /// The values, the one whose change helped most first.
    pub keys: Vec<KeyFit>,
    /// The values that were changed.
    pub changes: Vec<KeyChange>,
}

/// A value that was changed to fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyChange {
    /// The key in the device's file.
    pub key: String,
    /// Its value before and after.
    pub was: f64,
    /// See `was`.
    pub is: f64,
    /// Whether it is a whole number.
    pub is_whole: bool,
}

/// How well a value fits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeyFit {
    /// The key in the device's file.
    pub key: String,
    /// Its value.
    pub value: f64,
    /// The value that fits best of those tried.
    pub fits: f64,
    /// How far the replay is off with the value, and with the one that fits best, in percent.
    pub off_percent: f64,
    /// See `off_percent`.
    pub off_percent_then: f64,
    /// Whether the recording says nothing about it: no change matters.
    pub is_unknown: bool,
}

/// The changes that are tried of each value.
const FACTORS: [f64; 6] = [0.5, 0.8, 0.93, 1.07, 1.25, 2.0];
/// The requests that are replayed for each try.
const REQUESTS_MOST: usize = 100_000;
/// A change that matters moves the distance by this.
const MATTERS: f64 = 0.005;
/// The endings of keys that are times or rates; others say how a device is built.
const ENDINGS: [&str; 5] = ["_us", "_ms", "_iops", "_per_s", "rpm"];

/// Varies one value of the device after the other, as long as that helps and for at most so many
/// rounds, beginning with those in `options`.
///
/// # Errors
/// Returns an error if the recording cannot be replayed.
pub fn fit(
    recorded: &Recorded,
    options: &Options,
    rounds: u32,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Fit, ValidateError> {
    let recorded = recorded.first(REQUESTS_MOST);
    let this = Side::recorded(&recorded, options);
    this.demand_ends(&recorded.name)?;
    let distance = |changes: &[Override]| {
        let overrides = without(&options.overrides, changes).chain(changes.iter().cloned());
        let options = Options { overrides: overrides.collect(), ..options.clone() };
        let that = replayed(&one_plan(&recorded, &options)?, stop)?;
        Ok::<f64, ValidateError>(apart(&this, &that))
    };
    let before = distance(&[])?;
    let device = one_plan(&recorded, options)?.rig.device_id.clone();
    let mut first = speeds(&table(&device).unwrap_or_default());
    for speed in &mut first {
        let key = format!("device.{}", speed.key);
        let changed = options.overrides.iter().rev().find(|change| change.key() == key);
        speed.value = changed.and_then(Override::number).unwrap_or(speed.value);
    }
    let mut values = first.clone();
    let (mut changes, mut now) = (Vec::<Override>::new(), before);
    let mut keys: Vec<KeyFit> = Vec::new();
    for round in 0..rounds {
        let tries: Vec<(usize, Override)> = tries(&values);
        let tried = on_cores(
            &tries,
            |(_, change)| format!("round {}, {}", round + 1, change.key()),
            progress,
            stop,
            |(_, change)| {
                let others = without(&changes, core::slice::from_ref(change));
                // A value that the device cannot have is none to try.
                distance(&others.chain([change.clone()]).collect::<Vec<_>>()).ok()
            },
        );
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let found =
            tries.iter().zip(tried).filter_map(|((at, change), off)| Some((*at, change, off??)));
        let found: Vec<(usize, &Override, f64)> = found.collect();
        if round == 0 {
            keys =
                values.iter().enumerate().map(|(at, value)| value.fit(at, now, &found)).collect();
        }
        let best = found.iter().min_by(|one, other| one.2.total_cmp(&other.2));
        let Some((at, change, off)) = best.filter(|(.., off)| *off + MATTERS < now) else { break };
        values[*at].value = change.number().unwrap_or(values[*at].value);
        changes =
            without(&changes, core::slice::from_ref(*change)).chain([(*change).clone()]).collect();
        now = *off;
    }
    keys.sort_by(|one, other| one.off_percent_then.total_cmp(&other.off_percent_then));
    let changed = first.iter().zip(&values).filter(|(one, other)| one.value != other.value);
    let changes = changed.map(|(Speed { key, value, is_whole }, now)| KeyChange {
        key: key.clone(),
        was: *value,
        is: now.value,
        is_whole: *is_whole,
    });
    let changes = changes.collect();
    Ok(Fit { before: percent(before), after: percent(now), keys, changes })
}

/// A distance of logarithms in percent.
fn percent(distance: f64) -> f64 {
    100.0 * distance.exp_m1()
}

/// The changes of `all` whose values `others` do not set.
fn without<'a>(all: &'a [Override], others: &'a [Override]) -> impl Iterator<Item = Override> + 'a {
    all.iter().filter(|one| others.iter().all(|other| !other.replaces(one))).cloned()
}

/// What a line counts of which the replay has too little to compare.
const ABSENT: f64 = 1.0;

/// How far both are apart, over all that the recording has enough of.
fn apart(this: &Side, that: &Side) -> f64 {
    let until = this.common_end(that);
    let (early, that) = (this.until(until), that.until(until));
    let mut all = Vec::new();
    for (key, line) in this.lines.iter().filter(|(_, line)| line.took.len() >= COUNT_LEAST) {
        let both = early.lines.get(key).zip(that.lines.get(key));
        let both = both.filter(|(one, other)| one.is_enough_beside(other, line.took.len()));
        all.push(both.map_or(ABSENT, |(one, other)| one.log_distance(other)));
    }
    for group in this.groups() {
        let ios = |side: &Side| side.ios(Some(&group)).max(1) as f64;
        all.push((ios(&that) / ios(&early)).ln().abs());
    }
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// A value of a device: a time or a rate.
#[derive(Clone, Debug)]
struct Speed {
    key: String,
    value: f64,
    is_whole: bool,
}

impl Speed {
    fn change(&self, factor: f64) -> Option<Override> {
        let value = self.value * factor;
        let text = match self.is_whole {
            true => format!("{}", value.round().max(1.0)),
            false => format!("{value:?}"),
        };
        Override::parse(&format!("device.{}={text}", self.key)).ok()
    }

    fn fit(&self, at: usize, now: f64, found: &[(usize, &Override, f64)]) -> KeyFit {
        let mine = || found.iter().filter(|(of, ..)| *of == at);
        let best = mine().min_by(|one, other| one.2.total_cmp(&other.2));
        let best = best.filter(|(.., off)| *off + MATTERS < now);
        let (fits, then) = best.map_or((self.value, now), |(_, change, off)| {
            (change.number().unwrap_or(self.value), *off)
        });
        KeyFit {
            key: self.key.clone(),
            value: self.value,
            fits,
            off_percent: percent(now),
            off_percent_then: percent(then),
            is_unknown: mine().all(|(.., off)| (off - now).abs() < MATTERS),
        }
    }
}

/// The values of each change that is tried, with the place of what it changes.
fn tries(values: &[Speed]) -> Vec<(usize, Override)> {
    let of = |(at, speed): (usize, &Speed)| {
        FACTORS.iter().filter_map(|factor| Some((at, speed.change(*factor)?))).collect::<Vec<_>>()
    };
    values.iter().enumerate().flat_map(of).collect()
}

/// The times and rates in a device's file.
fn speeds(file: &Table) -> Vec<Speed> {
    let mut all = Vec::new();
    for (key, value) in file {
        let (value, is_whole) = match value {
            Value::Integer(value) => (*value as f64, true),
            Value::Float(value) => (*value, false),
            Value::Table(inner) => {
                let below = |one: Speed| Speed { key: format!("{key}.{}", one.key), ..one };
                all.extend(speeds(inner).into_iter().map(below));
                continue;
            }
            _ => continue,
        };
        let is_speed = ENDINGS.iter().any(|ending| key.ends_with(ending)) || key.contains("_iops_");
        if value > 0.0 && is_speed {
            all.push(Speed { key: key.clone(), value, is_whole });
        }
    }
    all
}

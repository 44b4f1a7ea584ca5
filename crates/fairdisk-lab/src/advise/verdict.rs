//! Verdicts: whether a run grants a wish.

use super::wish::{Kind, Wish};
use crate::byte_rate::Unit;
use crate::compare::{Cell, CellGroup, Parts, Target, excess};
use crate::digits::ms;
use crate::outcome::milliseconds;
use fairdisk_core::{Qos, Rates};
use fairdisk_sched::{Honours, Nesting};
use fairdisk_sim::GroupSpec;
use std::num::NonZeroU64;

/// Whether and how closely a wish was granted.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the wish was granted.
    pub met: bool,
    /// Whether it was granted because the scheduler sees to it. If not, it came true under this
    /// load and may not under another.
    pub enforced: bool,
    /// What the group got, in words.
    pub got: String,
    /// The distance from the wish as a fraction of it; 0 if it was granted.
    pub off: f64,
    /// The other wish that a wish for a share contradicts, and what that leaves, in words.
    pub contradicts: Option<String>,
}

impl Verdict {
    /// The verdict in a word.
    pub(super) const fn word(&self) -> &'static str {
        match (self.met, self.enforced) {
            (true, true) => "yes",
            (true, false) => "held",
            (false, _) => "no",
        }
    }
}

/// By how much a share may miss its wish: percentage points, and for small shares a fraction of the
/// share.
const SHARE_POINTS: f64 = 3.0;
const SHARE_PART: f64 = 0.25;

/// The fraction of the rate that is missing.
fn shortfall(asked: Option<NonZeroU64>, got: f64) -> f64 {
    asked.map_or(0.0, |asked| (1.0 - got / asked.get() as f64).max(0.0))
}

/// What a group asked for, and what it was run with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms<'a> {
    pub(super) asked: &'a GroupSpec,
    pub(super) given: &'a GroupSpec,
    /// Whether the scheduler takes the settings of the group into account at all.
    pub(super) is_seen: bool,
    /// What the scheduler honours.
    pub(super) honours: &'a Honours,
}

impl Terms<'_> {
    /// Whether the scheduler sees to it that a wish of this kind comes true.
    fn enforce(&self, kind: Kind) -> bool {
        let Self { asked, given, is_seen, honours } = self;
        let honoured = match kind {
            Kind::Share => {
                honours.shares && (given.parent.is_none() || honours.nesting != Nesting::None)
            }
            Kind::Floor => honours.floors && given.qos.floor == asked.qos.floor,
            Kind::Ceiling => honours.ceilings,
            Kind::Latency => honours.latency_targets,
            Kind::Fsync => honours.flush_targets,
        };
        *is_seen && honoured
    }
}

/// The verdict on `wish` in `cell`, which was run on these terms.
pub(super) fn verdict(wish: &Wish, terms: Terms<'_>, cell: &Cell) -> Verdict {
    let Some(group) = cell.group(wish.group) else {
        let got = "-".to_owned();
        let off = f64::INFINITY;
        return Verdict { met: false, enforced: false, got, off, contradicts: None };
    };
    let [asked, given] = [terms.asked, terms.given].map(|spec| &spec.qos);
    let promises = &group.promises;
    let (met, got, off) = match wish.kind {
        Kind::Share => share(group.parts, wish.is_percentage),
        Kind::Floor => floor(asked, given, group, cell.duration_s),
        Kind::Ceiling => {
            let over = promises.ceiling.map_or(0.0, |ceiling| ceiling.over_ms);
            let got = match over > 0.0 {
                true => format!("over, by {}", excess(over)),
                false => "kept".to_owned(),
            };
            (over <= 0.0, got, over / 1000.0)
        }
        Kind::Latency => target(promises.latency.as_ref(), |p99| match p99 {
            Some(p99) => format!("p99 {} ms{}", ms(p99), of_flushes(group)),
            None => "no I/Os".to_owned(),
        }),
        Kind::Fsync => target(promises.fsync.as_ref(), |p99| match p99 {
            Some(p99) => format!("fsync p99 {} ms", ms(p99)),
            None => "no fsyncs".to_owned(),
        }),
    };
    // A run that does not finish grants nothing.
    let met = met && !cell.given_up;
    let enforced = met && terms.enforce(wish.kind);
    let contradicts = match (wish.kind, group.parts) {
        (Kind::Share, Some(parts)) => contradicted(parts, wish.is_percentage),
        _ => None,
    };
    let off = if met { 0.0 } else { off.max(0.0) };
    Verdict { met, enforced, got, off, contradicts }
}

/// Whether a target is met, what was got by its 99th percentile in words, and how far that is off.
fn target(asked: Option<&Target>, got: impl FnOnce(Option<f64>) -> String) -> (bool, String, f64) {
    let Some(target) = asked else { return (true, "-".to_owned(), 0.0) };
    let off = target.p99_ms.map_or(f64::INFINITY, |p99| p99 / target.asked_ms - 1.0);
    (target.is_met(), got(target.p99_ms), off)
}

/// What a group with these parts has to get for its share, in percent. A percentage is wished for
/// whatever else is wished. A weight is worth what it is within the group's ceiling; no floor
/// changes that.
fn wished_share(parts: Parts, is_percentage: bool) -> f64 {
    100.0 * if is_percentage { parts.by_weight } else { parts.but_for_floors }
}

/// By how many percentage points a share may miss this many percent.
fn tolerated(wished: f64) -> f64 {
    SHARE_POINTS.min(wished * SHARE_PART)
}

fn share(parts: Option<Parts>, is_percentage: bool) -> (bool, String, f64) {
    let Some(parts) = parts else { return (false, "no I/Os".to_owned(), f64::INFINITY) };
    let (wished, got) = (wished_share(parts, is_percentage), parts.got * 100.0);
    let by_weight = parts.by_weight * 100.0;
    let capped = by_weight - wished > tolerated(by_weight);
    let rest = match capped {
        true => format!(", all that its ceiling allows of the {by_weight:.1} % of its weight"),
        false => String::new(),
    };
    let missing = wished - got;
    let words = format!("{got:.1} of {wished:.1} %{rest}");
    (missing <= tolerated(wished), words, missing / wished.max(1e-9))
}

/// The other wish that leaves a group less than the share it wishes for, in words.
fn contradicted(parts: Parts, is_percentage: bool) -> Option<String> {
    let wished = wished_share(parts, is_percentage);
    let [asked, capped] = [parts.asked, parts.but_for_floors].map(|part| part * 100.0);
    let (what, leaves) = match wished - capped > tolerated(wished) {
        true => ("contradicts its ceiling, which leaves", asked.min(capped)),
        false => ("contradicts the floors, which leave", asked),
    };
    (wished - leaves > tolerated(wished)).then(|| format!("{what} it {leaves:.1} %"))
}

/// Measured rates of I/Os and bytes: those of the two that `asked` has, in its units.
pub(super) fn rates_like(asked: &Rates, ios: f64, bytes: f64) -> String {
    let ios = asked.iops.map(|_| format!("{ios:.0} I/Os/s"));
    let bytes = asked.bytes_per_s.map(|rate| Unit::of(rate.get()).measured(bytes));
    let all: Vec<String> = ios.into_iter().chain(bytes).collect();
    all.join(" and ")
}

/// Words for how long flushes took, which are no I/Os and count for a target of their own.
fn of_flushes(group: &CellGroup) -> String {
    let flushes = &group.outcome.directions.flush.latency;
    match flushes.count() {
        _ if group.promises.fsync.is_some() => String::new(),
        0 => String::new(),
        _ => format!(" (fsync, not counted: {} ms)", milliseconds(flushes, 990)),
    }
}

fn floor(asked: &Qos, given: &Qos, group: &CellGroup, duration_s: f64) -> (bool, String, f64) {
    let per_second = |amount: f64| amount / duration_s.max(1e-9);
    let [rate, bytes] = [group.outcome.ios.mean, group.outcome.bytes].map(per_second);
    let short = shortfall(asked.floor.iops, rate).max(shortfall(asked.floor.bytes_per_s, bytes));
    let (below, seconds) =
        group.promises.floor.map_or((0, 0), |floor| (floor.below, floor.seconds));
    // The run counted the seconds below a floor that was lowered because no more was to be had. Of
    // the one asked for it is only known that the rate is below it.
    let got = rates_like(&asked.floor, rate, bytes);
    if given.floor != asked.floor && short > 0.0 {
        return (false, format!("{got} on average, below"), f64::midpoint(1.0, short));
    }
    let got = match below {
        0 => got,
        _ => format!("{got}, below in {below} of {seconds} s"),
    };
    // Half by how often and half by how much the group is below its floor, so that tries in which
    // it always is can be ranked.
    let often = f64::from(below) / f64::from(seconds.max(1));
    (below == 0, got, f64::midpoint(often, short))
}

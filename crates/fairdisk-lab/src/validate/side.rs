//! A recording, or its replay, as distributions of times.

use super::ValidateError;
use crate::plan::{Options, Recorded};
use fairdisk_core::{Instant, Op, Span};
use fairdisk_trace::{Request, Traits};
use std::collections::BTreeMap;

/// The kinds of operations whose times are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Read,
    Write,
    /// Writes for which nobody waits.
    WriteBack,
    Flush,
    Discard,
}

impl Kind {
    fn of(request: &Request) -> Self {
        match request.op {
            Op::Read => Self::Read,
            Op::Write | Op::WriteZeroes if request.traits.contains(Traits::SYNC) => Self::Write,
            Op::Write | Op::WriteZeroes => Self::WriteBack,
            Op::Flush => Self::Flush,
            Op::Discard => Self::Discard,
        }
    }
}

/// A request that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct One {
    done: Instant,
    bytes: u64,
    took: Span,
}

/// The requests of a kind of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// In the order in which they were done.
    all: Vec<One>,
    /// How long each took, the shortest first.
    pub(super) took: Vec<Span>,
}

/// By group and kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    pub(super) lines: BTreeMap<(String, Kind), Line>,
}

/// A group whose last request is done after this part of the recording lasted to its end.
const LASTS: (u64, u64) = (9, 10);

impl Side {
    pub(super) fn recorded(recorded: &Recorded, options: &Options) -> Self {
        let begins = options.replay.window.map_or(Span::ZERO, |(from, _)| from);
        Self::of(recorded.requests(), begins)
    }

    /// The requests that were done, with times counted from `begins`.
    pub(super) fn of<'a>(
        requests: impl Iterator<Item = (&'a str, &'a Request)>,
        begins: Span,
    ) -> Self {
        let mut lines: BTreeMap<(String, Kind), Vec<One>> = BTreeMap::new();
        let start = Instant::ZERO + begins;
        for (group, request) in requests {
            let Some((done, took)) = request.done.zip(request.took()) else { continue };
            let done = Instant::ZERO + done.since(start);
            let one = One { done, bytes: request.sectors.bytes(), took };
            lines.entry((group.to_owned(), Kind::of(request))).or_default().push(one);
        }
        let lines = lines.into_iter().map(|(key, mut all)| {
            all.sort_unstable();
            (key, Line::of(all))
        });
        Self { lines: lines.collect() }
    }

    /// Checks that the recording says when requests were done.
    ///
    /// # Errors
    /// It does not.
    pub(super) fn demand_ends(&self, name: &str) -> Result<(), ValidateError> {
        if !self.lines.is_empty() {
            return Ok(());
        }
        let why = "it does not say when requests were done, so nothing can be compared";
        Err(ValidateError::Recording(format!("{name}: {why}")))
    }

    /// What was done until then.
    pub(super) fn until(&self, until: Instant) -> Self {
        let cut = |line: &Line| {
            let end = line.all.partition_point(|one| one.done <= until);
            Line::of(line.all[..end].to_vec())
        };
        Self { lines: self.lines.iter().map(|(key, line)| (key.clone(), cut(line))).collect() }
    }

    /// Until when this recording can be compared with its replay.
    pub(super) fn common_end(&self, replay: &Self) -> Instant {
        let end = self.end(None);
        let lasts = |group: &String| {
            let last = self.end(Some(group)).since(Instant::ZERO);
            last >= end.since(Instant::ZERO).scaled(LASTS.0, LASTS.1)
        };
        let ends = self.groups().into_iter().filter(lasts).map(|group| replay.end(Some(&group)));
        ends.fold(end, Instant::min)
    }

    fn of_group<'a>(&'a self, group: Option<&'a str>) -> impl Iterator<Item = &'a Line> {
        let is_it = move |name: &str| group.is_none_or(|group| group == name);
        self.lines.iter().filter(move |((name, _), _)| is_it(name)).map(|(_, line)| line)
    }

    fn end(&self, group: Option<&str>) -> Instant {
        let last = |line: &Line| line.all.last().map(|one| one.done);
        self.of_group(group).filter_map(last).max().unwrap_or(Instant::ZERO)
    }

    /// The groups, by name.
    pub(super) fn groups(&self) -> Vec<String> {
        let mut names: Vec<String> = self.lines.keys().map(|(name, _)| name.clone()).collect();
        names.dedup();
        names
    }

    /// The I/Os of a group, or of all.
    pub(super) fn ios(&self, group: Option<&str>) -> usize {
        self.of_group(group).map(|line| line.all.len()).sum()
    }

    /// The bytes of a group, or of all.
    pub(super) fn bytes(&self, group: Option<&str>) -> u64 {
        self.of_group(group).flat_map(|line| &line.all).map(|one| one.bytes).sum()
    }
}

impl Line {
    /// From requests in the order in which they were done.
    fn of(all: Vec<One>) -> Self {
        let mut took: Vec<Span> = all.iter().map(|one| one.took).collect();
        took.sort_unstable();
        Self { all, took }
    }

    /// Whether both have enough of the `recorded` times to be compared.
    pub(super) fn is_enough_beside(&self, other: &Self, recorded: usize) -> bool {
        let least = (recorded / 20).clamp(1, super::COUNT_LEAST);
        self.took.len().min(other.took.len()) >= least
    }

    /// The time that so many of 1000 do not exceed.
    fn quantile(&self, per_mille: usize) -> Span {
        let last = self.took.len().saturating_sub(1);
        let at = (self.took.len() * per_mille).div_ceil(1000).saturating_sub(1).min(last);
        self.took.get(at).copied().unwrap_or(Span::ZERO)
    }

    pub(super) fn quantile_ms(&self, per_mille: usize) -> f64 {
        self.quantile(per_mille).as_ns() as f64 / 1e6
    }

    /// The root mean square of the distances between equal quantiles of both, as a percentage of
    /// the mean of this one.
    pub(super) fn demerit_percent(&self, other: &Self) -> f64 {
        let points = || (0..1000).map(|at| at + 1);
        let ns = |line: &Self, at| line.quantile(at).as_ns() as f64;
        let squares = points().map(|at| (ns(self, at) - ns(other, at)).powi(2));
        let mean = points().map(|at| ns(self, at)).sum::<f64>() / 1000.0;
        if mean > 0.0 { 100.0 * (squares.sum::<f64>() / 1000.0).sqrt() / mean } else { 0.0 }
    }

    /// The mean distance of the logarithms of both, at every twentieth and in the tail.
    pub(super) fn log_distance(&self, other: &Self) -> f64 {
        let ns = |line: &Self, at| line.quantile(at).as_ns().max(1) as f64;
        let points: Vec<usize> = (1..20).map(|at| at * 50).chain(TAIL).collect();
        let apart = |at: &usize| (ns(other, *at) / ns(self, *at)).ln().abs();
        points.iter().map(apart).sum::<f64>() / points.len() as f64
    }
}

/// Of 1000 times, those that tell how long the longest are.
const TAIL: [usize; 3] = [970, 980, 990];
